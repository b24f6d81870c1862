//! How two processes find out that they belong to one run.
//!
//! First both prove that they know the secret: each sends a nonce, and answers with a keyed hash of both nonces and its role; 32
//! bytes each, of a fixed length, within seconds. Only then anything else is read: which process the other one is, and lines that say what it
//! does, which must be the same. A connection that fails before that is nobody's; one that fails after it is a mistake of the user.

use std::io::{self, Read, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::secret::{Nonce, Proof, Secret, nonce};

/// How long the other one may take for everything, also if it sends byte after byte.
const PATIENCE: Duration = Duration::from_secs(10);

const MAGIC: &[u8; 8] = b"stubborn";

/// A text of more bytes was not written by us.
const LONGEST: u32 = 1 << 20;

/// What came of a handshake.
pub(crate) enum Failure {
    /// The other one is not one of us: it does not speak our language, or not soon enough.
    Stranger,
    /// It does not know the secret.
    NoSecret,
    /// It does, but it does something else.
    Different(String),
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Failure {
        Failure::Stranger
    }
}

/// What a process says about itself.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) index: usize,
    /// What must be the same for all.
    pub(crate) lines: Vec<String>,
}

/// Speaks first, with a process that listens.
pub(crate) fn call(stream: &mut TcpStream, secret: &Secret, about: &About) -> Result<usize, Failure> {
    let stream = &mut Hurried::new(stream, PATIENCE)?;
    let ours = nonce().map_err(|_| Failure::Stranger)?;
    stream.write(&[&MAGIC[..], &ours].concat())?;
    let theirs = read_greeting(stream)?;
    let proof = read_bytes(stream)?;
    if !secret.accepts(&proof, "listener", [&ours, &theirs]) {
        return Err(Failure::NoSecret);
    }
    stream.write(&secret.proof("caller", [&ours, &theirs]))?;
    compare(stream, about)
}

/// Answers a process that has connected.
pub(crate) fn answer(stream: &mut TcpStream, secret: &Secret, about: &About) -> Result<usize, Failure> {
    let stream = &mut Hurried::new(stream, PATIENCE)?;
    let theirs = read_greeting(stream)?;
    let ours = nonce().map_err(|_| Failure::Stranger)?;
    let proof = secret.proof("listener", [&theirs, &ours]);
    stream.write(&[&MAGIC[..], &ours, &proof].concat())?;
    let proof = read_bytes(stream)?;
    if !secret.accepts(&proof, "caller", [&theirs, &ours]) {
        return Err(Failure::NoSecret);
    }
    compare(stream, about)
}

/// A connection on which everything must be said by some time.
struct Hurried<'s> {
    stream: &'s mut TcpStream,
    end: Instant,
}

impl<'s> Hurried<'s> {
    fn new(stream: &'s mut TcpStream, patience: Duration) -> io::Result<Hurried<'s>> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(patience))?;
        Ok(Hurried { stream, end: Instant::now() + patience })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }
}

impl Read for Hurried<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(bytes)
    }
}

fn read_greeting(stream: &mut Hurried<'_>) -> Result<Nonce, Failure> {
    let magic: [u8; 8] = read_bytes(stream)?;
    if magic != *MAGIC {
        return Err(Failure::Stranger);
    }
    Ok(read_bytes(stream)?)
}

fn read_bytes<const N: usize>(stream: &mut Hurried<'_>) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Both say what they do. Returns which process the other one is.
fn compare(stream: &mut Hurried<'_>, about: &About) -> Result<usize, Failure> {
    let text = about.lines.join("\n");
    let size = u32::try_from(text.len()).unwrap_or(u32::MAX).min(LONGEST);
    let index = about.index as u32;
    let head = [index.to_le_bytes(), size.to_le_bytes()].concat();
    stream.write(&head)?;
    stream.write(&text.as_bytes()[..size as usize])?;
    let index = u32::from_le_bytes(read_bytes(stream)?) as usize;
    let size = u32::from_le_bytes(read_bytes(stream)?);
    if size > LONGEST {
        return Err(Failure::Stranger);
    }
    let mut theirs = vec![0; size as usize];
    stream.read_exact(&mut theirs)?;
    let theirs = String::from_utf8_lossy(&theirs);
    match difference(&text, &theirs) {
        None => Ok(index),
        Some((ours, theirs)) => {
            let here = about.index;
            let message =
                format!("process {index} does something else: `{theirs}`, but `{ours}` in process {here}");
            Err(Failure::Different(message))
        }
    }
}

/// The first lines that are not the same.
fn difference<'t>(ours: &'t str, theirs: &'t str) -> Option<(&'t str, &'t str)> {
    if ours == theirs {
        return None;
    }
    let (mut ours, mut theirs) = (ours.lines(), theirs.lines());
    loop {
        match (ours.next(), theirs.next()) {
            (one, other) if one == other && one.is_some() => {}
            (one, other) => return Some((one.unwrap_or("").trim(), other.unwrap_or("").trim())),
        }
    }
}

/// Both ends of a proof have one size.
const _: () = assert!(size_of::<Proof>() == size_of::<Nonce>());

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Somebody who sends byte after byte, each in time, does not hold a place for long.
    #[test]
    fn drops_are_not_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut drips = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let dripping = std::thread::spawn(move || {
            while drips.write_all(b"s").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let mut hurried = Hurried::new(&mut stream, Duration::from_millis(200)).unwrap();
        assert!(read_bytes::<1000>(&mut hurried).is_err());
        drop(stream);
        dripping.join().unwrap();
    }
}
