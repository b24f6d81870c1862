//! Processes that find each other over the loopback: who is let in, who is not, and what happens when one goes. Each is a thread
//! here.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use stubborn::base::{Limit, Packet, Peers as _, Worker};
use stubborn_hosts::{Error, Network, Plan, Secret};

fn secret() -> Secret {
    Secret::new("all of us know this one").unwrap()
}

fn connect(folder: &Path, n: usize, index: usize, lines: &[&str]) -> Result<Network, Error> {
    let plan = Plan::in_folder(folder, n, index).unwrap();
    let lines = lines.iter().map(|&line| line.to_owned()).collect();
    Network::connect(&plan, &secret(), lines, &mut || true)
}

/// Lets processes do something together.
fn together<T: Send>(n: usize, job: impl Fn(Network) -> T + Sync) -> Vec<T> {
    let folder = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        let (job, folder) = (&job, folder.path());
        let work = move |index| job(connect(folder, n, index, &["same"]).unwrap());
        let threads: Vec<_> = (0..n).map(|index| scope.spawn(move || work(index))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn open(me: Worker) -> Vec<bool> {
    (0..me.of).map(|other| other != me.index).collect()
}

/// Waits until something comes.
fn next(network: &Network, open: &[bool]) -> Result<(usize, Packet), Limit> {
    loop {
        if let Some(packet) = network.receive(open, true)? {
            return Ok(packet);
        }
    }
}

#[test]
fn what_is_sent_arrives_in_order() {
    const N: u32 = 300;
    let sums = together(3, |network| {
        let me = network.me();
        let mut open = open(me);
        for to in (0..me.of).filter(|&to| to != me.index) {
            for number in 0..N {
                network.send(to, Packet::Part(vec![number; 1 + number as usize * 7])).unwrap();
            }
            network.send(to, Packet::End(vec![me.index as u32])).unwrap();
        }
        let mut expected = vec![0; me.of];
        let mut sum = 0;
        while open.contains(&true) {
            match next(&network, &open).unwrap() {
                (from, Packet::Part(words)) => {
                    assert_eq!(words, vec![expected[from]; 1 + expected[from] as usize * 7]);
                    expected[from] += 1;
                }
                (from, Packet::End(words)) => {
                    assert_eq!((expected[from], &words[..]), (N, &[from as u32][..]));
                    open[from] = false;
                    sum += words[0];
                }
            }
        }
        assert!(network.sent()[2] > 8 * u64::from(N));
        sum
    });
    assert_eq!(sums, [3, 2, 1]);
}

#[test]
fn who_goes_is_missed() {
    let seen = together(3, |network| {
        let me = network.me();
        if me.index == 1 {
            network.send(0, Packet::Part(vec![7])).unwrap();
            return Vec::new();
        }
        let mut seen = Vec::new();
        loop {
            match next(&network, &[false, true, false]) {
                Ok((_, packet)) => seen.push(Ok(packet)),
                Err(limit) => {
                    seen.push(Err(limit));
                    return seen;
                }
            }
        }
    });
    let gone = Err(Limit::Process(1));
    assert_eq!(seen, [vec![Ok(Packet::Part(vec![7])), gone.clone()], vec![], vec![gone]]);
}

#[test]
fn strangers_are_refused_and_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    thread::scope(|scope| {
        let first = scope.spawn(move || connect(path, 2, 0, &["same"]).map(|network| network.me().of));
        let port: u16 = loop {
            match std::fs::read_to_string(path.join("0.port")) {
                Ok(text) => break text.parse().unwrap(),
                Err(_) => thread::sleep(Duration::from_millis(5)),
            }
        };
        let knock = || TcpStream::connect(("127.0.0.1", port)).unwrap();
        // Somebody says nothing, as long as the test lasts; others say something else.
        let silent = knock();
        let greeting = [&b"stubborn"[..], &[0; 32]].concat();
        for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 4000], b"stubborn", b""] {
            knock().write_all(garbage).unwrap();
        }
        // Somebody knows the protocol, but not the secret: it gets nothing but a greeting and a proof.
        let mut stream = knock();
        stream.write_all(&greeting).unwrap();
        let mut answer = [0; 72];
        stream.read_exact(&mut answer).unwrap();
        stream.write_all(&[[0; 32], [1; 32]].concat()).unwrap();
        let mut rest = Vec::new();
        _ = stream.read_to_end(&mut rest);
        assert_eq!(rest, b"", "nothing is told to who does not know the secret");
        // The proof that was seen is of no use in the other role.
        let mut stream = knock();
        stream.write_all(&greeting).unwrap();
        let mut answer = [0; 72];
        stream.read_exact(&mut answer).unwrap();
        stream.write_all(&answer[40..]).unwrap();
        _ = stream.read_to_end(&mut rest);
        assert_eq!(rest, b"");
        let second = connect(path, 2, 1, &["same"]).map(|network| network.me().of);
        assert_eq!((first.join().unwrap(), second), (Ok(2), Ok(2)));
        drop(silent);
    });
}

#[test]
fn who_has_another_secret_or_does_something_else_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    thread::scope(|scope| {
        let mut goes_on = true;
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        let first = scope.spawn(move || {
            let plan = Plan::in_folder(path, 2, 0).unwrap();
            let mut until_done = || {
                goes_on &= is_done.try_recv().is_err();
                goes_on
            };
            let network = Network::connect(&plan, &secret(), vec!["same".to_owned()], &mut until_done);
            network.map(drop)
        });
        let plan = Plan::in_folder(path, 2, 1).unwrap();
        let other = Secret::new("nobody else knows this one").unwrap();
        let refused = Network::connect(&plan, &other, vec!["same".to_owned()], &mut || true).map(drop);
        let message = "process 0 at this machine does not know the secret".to_owned();
        assert_eq!(refused, Err(Error::Wrong(message)));
        done.send(()).unwrap();
        assert_eq!(first.join().unwrap(), Err(Error::Interrupted));
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let said = thread::scope(|scope| {
        let first = scope.spawn(move || connect(path, 2, 0, &["version: 1", "reduce: All"]).map(drop));
        let second = connect(path, 2, 1, &["version: 1", "reduce: None"]).map(drop);
        [first.join().unwrap(), second].map(|said| said.unwrap_err().to_string())
    });
    let about = |other, theirs, here, ours| {
        format!(
            "process {other} does something else: `reduce: {theirs}`, but `reduce: {ours}` in process {here}"
        )
    };
    assert_eq!(said, [about(1, "None", 0, "All"), about(0, "All", 1, "None")]);
}
