//! Starts processes on this machine, to try what several do, or to use several cores.
//!
//! This process becomes the first one. The others are the same program with the same arguments; they find each other by files in a folder that
//! only this user may enter, and share a new secret, which they get by their environment.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Error, Plan, Secret};

/// The environment variable with the secret.
pub const SECRET: &str = "STUBBORN_SECRET";

/// How long processes that have nothing more to do may take to end.
const FAREWELL: Duration = Duration::from_secs(10);

/// Processes that were started. They are waited for.
pub struct Launched {
    children: Vec<Child>,
    /// It stays: when this process has met all others, they may not have met each other.
    _folder: tempfile::TempDir,
    /// Where all processes are.
    pub plan: Plan,
    /// What they know.
    pub secret: Secret,
}

/// Starts all processes but the first, with the arguments of this one; an option of this name says how many there are to be, and is not
/// handed on.
///
/// # Errors
/// The system does not let us.
pub fn local(n_processes: usize, option: &str) -> Result<Launched, Error> {
    let cannot = |error: io::Error| Error::Wrong(format!("cannot start processes: {error}"));
    let folder = tempfile::Builder::new().prefix("stubborn-").tempdir().map_err(cannot)?;
    let text = Secret::random_text()?;
    let (secret, plan) = (Secret::new(&text)?, Plan::in_folder(folder.path(), n_processes, 0)?);
    let program = std::env::current_exe().map_err(cannot)?;
    let arguments = without(std::env::args_os().skip(1), option);
    let mut hosts = OsString::from("local:");
    hosts.push(folder.path());
    hosts.push(format!(":{n_processes}"));
    let mut launched = Launched { children: Vec::new(), _folder: folder, plan, secret };
    for index in 1..n_processes {
        let child = Command::new(&program)
            .args(&arguments)
            .arg("--hosts")
            .arg(&hosts)
            .args(["--process", &index.to_string()])
            .env(SECRET, &text)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        launched.children.push(child.map_err(cannot)?);
    }
    Ok(launched)
}

impl Drop for Launched {
    fn drop(&mut self) {
        let end = Instant::now() + FAREWELL;
        for child in &mut self.children {
            while matches!(child.try_wait(), Ok(None)) {
                if Instant::now() >= end {
                    _ = child.kill();
                    _ = child.wait();
                    break;
                }
                thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// Arguments without an option and its value.
fn without(arguments: impl Iterator<Item = OsString>, option: &str) -> Vec<OsString> {
    let mut left = Vec::new();
    let mut is_value = false;
    for argument in arguments {
        let is_joined = argument
            .to_str()
            .is_some_and(|text| text.strip_prefix(option).is_some_and(|rest| rest.starts_with('=')));
        if is_value || is_joined {
            is_value = false;
        } else if argument == OsStr::new(option) {
            is_value = true;
        } else {
            left.push(argument);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_left_out_with_its_value() {
        let arguments = ["check", "--n", "3", "m", "--n=3", "--no"].map(OsString::from);
        assert_eq!(without(arguments.into_iter(), "--n"), ["check", "m", "--no"]);
    }
}
