//! Where the processes of a run are: from a file, from Slurm, from Kubernetes, or on this machine.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use stubborn::base::Worker;

use crate::Error;
use crate::network::SILENCE;

/// The port of the first process on a machine, where nobody says another one.
const PORT: u16 = 27100;

/// More processes than this are a mistake.
const MOST: usize = 4096;

/// Where a process listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// `host:port`.
    Named(String),
    /// On this machine, at a port that the process writes into this file.
    InFile(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Named(name) => f.write_str(name),
            Address::InFile(_) => f.write_str("this machine"),
        }
    }
}

impl Address {
    /// Where to connect, as far as that is known by now.
    pub(crate) fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        match self {
            Address::Named(name) => Ok(name.to_socket_addrs()?.collect()),
            Address::InFile(path) => {
                let text = std::fs::read_to_string(path)?;
                let port: u16 = text.trim().parse().map_err(io::Error::other)?;
                Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))])
            }
        }
    }

    /// Listens there, and nowhere else.
    pub(crate) fn listen(&self) -> io::Result<TcpListener> {
        match self {
            Address::Named(name) => TcpListener::bind(name),
            Address::InFile(path) => {
                let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
                let beside = path.with_extension("new");
                std::fs::write(&beside, listener.local_addr()?.port().to_string())?;
                std::fs::rename(beside, path)?;
                Ok(listener)
            }
        }
    }
}

/// Where all processes are, and which one this is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(crate) addresses: Vec<Address>,
    index: usize,
    /// A process that was not heard of for so long is gone.
    pub(crate) silence: Duration,
}

impl Plan {
    /// What `--hosts` says: a file with one `host:port` per line, `slurm`, or `kubernetes:SERVICE:N`; and which process this is, if
    /// that was said. `variable` knows the environment.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(
        hosts: &str,
        process: Option<usize>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Plan, Error> {
        let (names, index) = if hosts == "slurm" {
            slurm(variable)?
        } else if let Some(what) = hosts.strip_prefix("kubernetes:") {
            kubernetes(what, variable)?
        } else if let Some(what) = hosts.strip_prefix("local:") {
            return Plan::local(what, process);
        } else {
            let text = std::fs::read_to_string(hosts)
                .map_err(|error| wrong(format!("cannot read the list of hosts `{hosts}`: {error}")))?;
            (listed(hosts, &text)?, None)
        };
        let index = process.or(index).ok_or_else(|| {
            wrong("say which of the processes this is: --process 0 for the first, which reports".to_owned())
        })?;
        let addresses = names.into_iter().map(Address::Named).collect();
        Plan { addresses, index, silence: SILENCE }.checked()
    }

    /// `FOLDER:N`, for processes that [`launch`](crate::launch) started.
    fn local(what: &str, process: Option<usize>) -> Result<Plan, Error> {
        let parts = what.rsplit_once(':').and_then(|(folder, n)| Some((folder, n.parse().ok()?)));
        let (Some((folder, n)), Some(index)) = (parts, process) else {
            return Err(wrong("local processes are started by --local-processes".to_owned()));
        };
        Plan::in_folder(Path::new(folder), n, index)
    }

    /// So many processes on this machine, which find each other by files in a folder.
    ///
    /// # Errors
    /// There is no such process.
    pub fn in_folder(folder: &Path, n_processes: usize, index: usize) -> Result<Plan, Error> {
        let file = |number: usize| Address::InFile(folder.join(format!("{number}.port")));
        let addresses = (0..n_processes.min(MOST + 1)).map(file).collect();
        Plan { addresses, index, silence: SILENCE }.checked()
    }

    fn checked(self) -> Result<Plan, Error> {
        let n = self.addresses.len();
        if n > MOST {
            return Err(wrong(format!("there are more than {MOST} processes")));
        }
        if self.index >= n {
            let index = self.index;
            return Err(wrong(format!("there is no process {index}: there are {n}, from 0 on")));
        }
        Ok(self)
    }

    /// The same where a process is gone that was not heard of for so long.
    #[must_use]
    pub fn with_silence(self, silence: Duration) -> Plan {
        Plan { silence, ..self }
    }

    /// Which process this is, of how many.
    pub fn me(&self) -> Worker {
        Worker { index: self.index, of: self.addresses.len() }
    }
}

fn wrong(message: String) -> Error {
    Error::Wrong(message)
}

/// The addresses in a file: one per line; `#` begins a comment.
fn listed(name: &str, text: &str) -> Result<Vec<String>, Error> {
    let mut names: Vec<String> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let address = line.split('#').next().unwrap_or_default().trim();
        if address.is_empty() {
            continue;
        }
        let has_port = address
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0));
        if !has_port {
            let message = format!("`{name}`, line {number}: expected host:port, like node1:{PORT}");
            return Err(wrong(message));
        }
        if names.iter().any(|known| known == address) {
            return Err(wrong(format!("`{name}`, line {number}: {address} is there twice")));
        }
        names.push(address.to_owned());
    }
    if names.is_empty() { Err(wrong(format!("`{name}` lists no host"))) } else { Ok(names) }
}

/// What Slurm tells every task of a job step.
fn slurm(variable: &dyn Fn(&str) -> Option<String>) -> Result<(Vec<String>, Option<usize>), Error> {
    let get = |names: &[&str]| {
        names.iter().find_map(|name| variable(name)).ok_or_else(|| {
            wrong(format!("{} is not set: --hosts slurm is for processes that srun starts", names[0]))
        })
    };
    let nodes = nodes(&get(&["SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"])?)?;
    let tasks = tasks(&get(&["SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"])?)?;
    let index = get(&["SLURM_PROCID"])?;
    let index = index.parse().map_err(|_| wrong(format!("SLURM_PROCID is no number: {index}")))?;
    if nodes.len() != tasks.len() {
        let (n_nodes, n_counts) = (nodes.len(), tasks.len());
        return Err(wrong(format!("Slurm lists {n_nodes} nodes, but tasks on {n_counts}")));
    }
    let mut names = Vec::new();
    for (node, n_tasks) in nodes.iter().zip(tasks) {
        names.extend((0..n_tasks).map(|task| format!("{node}:{}", usize::from(PORT) + task)));
    }
    Ok((names, Some(index)))
}

/// A list of nodes as Slurm writes it: `a,b[1-3,07],c`.
fn nodes(text: &str) -> Result<Vec<String>, Error> {
    let bad = || wrong(format!("this is no list of nodes: {text}"));
    let mut names = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find([',', '[']).unwrap_or(rest.len());
        let stem = &rest[..end];
        if !rest[end..].starts_with('[') {
            names.push(stem.to_owned());
            rest = rest[end..].strip_prefix(',').unwrap_or("");
            continue;
        }
        let close = rest.find(']').ok_or_else(bad)?;
        for range in rest[end + 1..close].split(',') {
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (usize, usize) =
                (from.parse().map_err(|_| bad())?, to.parse().map_err(|_| bad())?);
            if last.saturating_sub(first) > MOST {
                return Err(bad());
            }
            let width = from.len();
            names.extend((first..=last).map(|number| format!("{stem}{number:0width$}")));
        }
        // Several numbers in one name are not known here.
        rest = match &rest[close + 1..] {
            "" => "",
            more => more.strip_prefix(',').ok_or_else(bad)?,
        };
    }
    if names.is_empty() || names.iter().any(String::is_empty) { Err(bad()) } else { Ok(names) }
}

/// Numbers of tasks as Slurm writes them: `2(x3),1`.
fn tasks(text: &str) -> Result<Vec<usize>, Error> {
    let bad = || wrong(format!("these are no numbers of tasks: {text}"));
    let mut counts = Vec::new();
    for part in text.trim().split(',') {
        let (count, times) = match part.split_once("(x") {
            Some((count, times)) => (count, times.strip_suffix(')').ok_or_else(bad)?),
            None => (part, "1"),
        };
        let times: usize = times.parse().map_err(|_| bad())?;
        let count: usize = count.parse().map_err(|_| bad())?;
        if times > MOST || count > MOST {
            return Err(bad());
        }
        counts.extend(std::iter::repeat_n(count, times));
    }
    Ok(counts)
}

/// What Kubernetes tells the pods of an Indexed Job: pod 3 of job `j` is `j-3`, and the headless service has its address.
fn kubernetes(
    what: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(Vec<String>, Option<usize>), Error> {
    let parts = what.split_once(':').and_then(|(service, n)| Some((service, n.parse::<usize>().ok()?)));
    let Some((service, n)) = parts.filter(|(service, n)| !service.is_empty() && (1..=MOST).contains(n))
    else {
        return Err(wrong(
            "expected kubernetes:SERVICE:N, the name of the headless service, and how many pods".to_owned(),
        ));
    };
    let get = |name: &str| {
        variable(name).ok_or_else(|| {
            wrong(format!("{name} is not set: --hosts kubernetes is for the pods of an Indexed Job"))
        })
    };
    let index = get("JOB_COMPLETION_INDEX")?;
    let pod = get("HOSTNAME")?;
    let job = pod.strip_suffix(&format!("-{index}")).ok_or_else(|| {
        wrong(format!("the pod {index} of an Indexed Job is called JOB-{index}, but this one is {pod}"))
    })?;
    let index = index.parse().map_err(|_| wrong(format!("JOB_COMPLETION_INDEX is no number: {index}")))?;
    Ok(((0..n).map(|number| format!("{job}-{number}.{service}:{PORT}")).collect(), Some(index)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(plan: &Plan) -> Vec<String> {
        plan.addresses.iter().map(ToString::to_string).collect()
    }

    fn environment<'e>(pairs: &'e [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'e {
        |name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn a_file_has_one_address_per_line() {
        let file = "# two machines\nnode1:27100 # the first reports\n\n[::1]:9\n";
        assert_eq!(listed("h", file).unwrap(), ["node1:27100", "[::1]:9"]);
        for (text, said) in [
            ("", "lists no host"),
            ("a:1\nb\n", "line 2: expected host:port"),
            ("a:0", "line 1"),
            (":5", "line 1"),
            ("a:1\na:1", "line 2: a:1 is there twice"),
        ] {
            let error = listed("h", text).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn slurm_says_where_its_tasks_are() {
        let environment = environment(&[
            ("SLURM_STEP_NODELIST", "gpu,n[08-10,3]"),
            ("SLURM_STEP_TASKS_PER_NODE", "2,1(x3),1"),
            ("SLURM_PROCID", "4"),
        ]);
        let plan = Plan::new("slurm", None, &environment).unwrap();
        assert_eq!(
            names(&plan),
            ["gpu:27100", "gpu:27101", "n08:27100", "n09:27100", "n10:27100", "n3:27100"]
        );
        assert_eq!(plan.me(), Worker { index: 4, of: 6 });
        assert!(Plan::new("slurm", None, &|_| None).unwrap_err().to_string().contains("srun"));
        for bad in ["", "a[", "a[x]", "a[1-2]b", "a,,b", "a[1-99999]"] {
            assert!(nodes(bad).is_err(), "{bad}");
        }
        for bad in ["", "x", "2(x", "2(xy)", "1(x99999)"] {
            assert!(tasks(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn kubernetes_says_where_its_pods_are() {
        let environment = environment(&[("JOB_COMPLETION_INDEX", "1"), ("HOSTNAME", "my-check-1")]);
        let plan = Plan::new("kubernetes:peers:2", None, &environment).unwrap();
        assert_eq!(names(&plan), ["my-check-0.peers:27100", "my-check-1.peers:27100"]);
        assert_eq!(plan.me().index, 1);
        for bad in ["kubernetes:", "kubernetes:x", "kubernetes:x:0", "kubernetes::3", "kubernetes:x:1"] {
            assert!(Plan::new(bad, None, &environment).is_err(), "{bad}");
        }
    }
}
