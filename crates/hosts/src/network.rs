//! The connections of one process to all others.
//!
//! Of two processes, the one with the larger number calls, and the other one listens, until everybody is there. Then a thread
//! for each connection reads what comes into an [`Inbox`], always, so that nobody who sends waits for somebody who computes. Another
//! thread says every second that this process is alive.

use std::io::{self, BufReader, Read, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use stubborn::base::peers::Inbox;
use stubborn::base::{Limit, Packet, Peers, Worker};
use stubborn::report::human_bytes;

use crate::Error;
use crate::handshake::{self, About, Failure};
use crate::plan::{Address, Plan};
use crate::secret::Secret;

/// A process that was not heard of for so long is gone, unless a plan says otherwise.
pub const SILENCE: Duration = Duration::from_secs(20);

/// How long processes wait for each other at the start.
pub const START: Duration = Duration::from_secs(120);

/// How often a process says that it is alive, at least; and four times before others take it for gone.
const BEAT: Duration = Duration::from_secs(1);

/// How long a process that is done waits for the others to notice.
const FAREWELL: Duration = Duration::from_secs(5);

/// So many connections at most are looked at together while others are waited for.
const CALLERS: usize = 64;

/// A packet of more words was not sent by us.
const LARGEST: u32 = 1 << 26;

const PART: u32 = 0;
const END: u32 = 1;
const ALIVE: u32 = 2;
const BYE: u32 = 3;

/// The connections of one process.
pub struct Network {
    me: Worker,
    common: Arc<Common>,
    /// Who reads from whom, and ends when the other one does.
    readers: Vec<JoinHandle<()>>,
    beating: Option<JoinHandle<()>>,
    packets: AtomicU64,
    messages: AtomicU64,
    bytes: AtomicU64,
    owns_by_part: bool,
}

struct Common {
    inbox: Inbox,
    links: Vec<Option<Mutex<TcpStream>>>,
    is_over: AtomicBool,
}

/// What became of a connection.
type Outcome = (Option<usize>, Result<(usize, TcpStream), Failure>);

impl Network {
    /// Connects with all other processes of a plan that know the secret and say the same `lines` about what they do. As long as
    /// it waits, `goes_on` is asked now and then.
    ///
    /// # Errors
    /// Somebody does something else, or does not come.
    pub fn connect(
        plan: &Plan,
        secret: &Secret,
        lines: Vec<String>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Network, Error> {
        let me = plan.me();
        let about = Arc::new(About { index: me.index, lines });
        let is_over = Arc::new(AtomicBool::new(false));
        let (outcomes, coming) = mpsc::channel();
        let own = &plan.addresses[me.index];
        if me.index + 1 < me.of {
            let cannot = |error: io::Error| Error::Wrong(format!("cannot listen on {own}: {error}"));
            let listener = own.listen().map_err(cannot)?;
            listener.set_nonblocking(true).map_err(cannot)?;
            let (secret, about, is_over, outcomes) =
                (secret.clone(), Arc::clone(&about), Arc::clone(&is_over), outcomes.clone());
            thread::spawn(move || listen(&listener, &secret, &about, &is_over, &outcomes));
        }
        for (index, address) in plan.addresses.iter().enumerate().take(me.index) {
            let (address, secret, about) = (address.clone(), secret.clone(), Arc::clone(&about));
            let (is_over, outcomes) = (Arc::clone(&is_over), outcomes.clone());
            thread::spawn(move || call(index, &address, &secret, &about, &is_over, &outcomes));
        }
        let mut links: Vec<Option<TcpStream>> = (0..me.of).map(|_| None).collect();
        let gathered = gather(plan, &coming, &mut links, goes_on);
        is_over.store(true, Ordering::Relaxed);
        gathered?;
        Network::new(me, links, plan.silence)
            .map_err(|error| Error::Lost(format!("a connection is lost: {error}")))
    }

    fn new(me: Worker, links: Vec<Option<TcpStream>>, silence: Duration) -> io::Result<Network> {
        // The system takes 0 for no limit at all.
        let silence = silence.max(Duration::from_millis(100));
        let mut readers = Vec::new();
        for link in links.iter().flatten() {
            link.set_read_timeout(Some(silence))?;
            link.set_write_timeout(Some(silence))?;
        }
        let streams: Vec<Option<TcpStream>> = links
            .iter()
            .map(|link| link.as_ref().map(TcpStream::try_clone).transpose())
            .collect::<io::Result<_>>()?;
        let links = links.into_iter().map(|link| link.map(Mutex::new)).collect();
        let common = Arc::new(Common { inbox: Inbox::new(me.of), links, is_over: AtomicBool::new(false) });
        for (from, stream) in streams.into_iter().enumerate() {
            let Some(stream) = stream else { continue };
            let common = Arc::clone(&common);
            readers.push(thread::spawn(move || {
                read_all(&mut BufReader::with_capacity(1 << 16, stream), from, &common.inbox);
                common.inbox.close(from);
            }));
        }
        let beating = {
            let common = Arc::clone(&common);
            thread::spawn(move || beat(&common, BEAT.min(silence / 4)))
        };
        let [packets, messages, bytes] = [0; 3].map(AtomicU64::new);
        let beating = Some(beating);
        Ok(Network { me, common, readers, beating, packets, messages, bytes, owns_by_part: false })
    }

    /// The same where states belong to processes by a part of them that changes seldom, if it is so.
    #[must_use]
    pub fn owning_by_part(mut self, is_so: bool) -> Network {
        self.owns_by_part = is_so;
        self
    }

    /// What this process has sent: messages, packets, and bytes.
    pub fn sent(&self) -> [u64; 3] {
        [&self.messages, &self.packets, &self.bytes].map(|count| count.load(Ordering::Relaxed))
    }

    /// The same in words, for so many transitions of all processes.
    pub fn traffic(&self, transitions: u64) -> String {
        let [messages, packets, bytes] = self.sent();
        let Worker { index, of } = self.me;
        // This process has one part in so many of the transitions, more or less.
        let each = |count: u64| count as f64 * of as f64 / transitions.max(1) as f64;
        let (per_message, per_byte, bytes) = (each(messages), each(bytes), human_bytes(bytes));
        format!(
            "process {index} of {of} sent {bytes}, {messages} messages in {packets} packets: {per_message:.2} messages \
             and {per_byte:.1} bytes per transition"
        )
    }
}

impl Peers for Network {
    fn me(&self) -> Worker {
        self.me
    }

    fn owns_by_part(&self) -> bool {
        self.owns_by_part
    }

    fn count(&self, n_messages: u64) {
        self.messages.fetch_add(n_messages, Ordering::Relaxed);
    }

    fn send(&self, to: usize, packet: Packet) -> Result<(), Limit> {
        let (kind, words) = match packet {
            Packet::Part(words) => (PART, words),
            Packet::End(words) => (END, words),
        };
        let bytes = frame(kind, &words);
        self.packets.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.common.write(to, &bytes).map_err(|_| Limit::Process(to as u32))
    }

    fn receive(&self, open: &[bool], waits: bool) -> Result<Option<(usize, Packet)>, Limit> {
        self.common.inbox.receive(open, waits)
    }

    fn waiting(&self) -> u64 {
        self.common.inbox.bytes()
    }
}

impl Common {
    fn write(&self, to: usize, bytes: &[u8]) -> io::Result<()> {
        let Some(link) = &self.links[to] else { return Ok(()) };
        link.lock().unwrap_or_else(PoisonError::into_inner).write_all(bytes)
    }
}

impl Drop for Network {
    /// Says goodbye, and waits a little until the others have read everything and do so, too.
    fn drop(&mut self) {
        self.common.is_over.store(true, Ordering::Relaxed);
        if let Some(beating) = self.beating.take() {
            beating.thread().unpark();
            _ = beating.join();
        }
        for to in 0..self.me.of {
            _ = self.common.write(to, &frame(BYE, &[]));
        }
        let end = Instant::now() + FAREWELL;
        while self.readers.iter().any(|reader| !reader.is_finished()) && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
        for link in self.common.links.iter().flatten() {
            _ = link.lock().unwrap_or_else(PoisonError::into_inner).shutdown(Shutdown::Both);
        }
        for reader in self.readers.drain(..) {
            _ = reader.join();
        }
    }
}

fn frame(kind: u32, words: &[u32]) -> Vec<u8> {
    let mut bytes = vec![0; 8 + 4 * words.len()];
    let (head, body) = bytes.split_at_mut(8);
    put(head, &[kind, words.len() as u32]);
    put(body, words);
    bytes
}

/// Writes words as bytes, one after the other.
fn put(bytes: &mut [u8], words: &[u32]) {
    bytes.chunks_exact_mut(4).zip(words).for_each(|(four, word)| four.copy_from_slice(&word.to_le_bytes()));
}

/// Reads what a process sends, until it says goodbye or is gone.
fn read_all(stream: &mut impl Read, from: usize, inbox: &Inbox) {
    while let Ok(Some(packet)) = read_packet(stream) {
        if let Some(packet) = packet {
            inbox.push(from, packet);
        }
    }
}

/// Something, a sign of life, or the end.
fn read_packet(stream: &mut impl Read) -> io::Result<Option<Option<Packet>>> {
    let mut head = [0; 8];
    stream.read_exact(&mut head)?;
    let [kind, n_words] =
        [&head[..4], &head[4..]].map(|four| u32::from_le_bytes(four.try_into().unwrap_or_default()));
    if n_words > LARGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; 4 * n_words as usize];
    stream.read_exact(&mut bytes)?;
    let words = bytes.chunks_exact(4).map(|four| u32::from_le_bytes(four.try_into().unwrap_or_default()));
    match kind {
        PART => Ok(Some(Some(Packet::Part(words.collect())))),
        END => Ok(Some(Some(Packet::End(words.collect())))),
        ALIVE => Ok(Some(None)),
        BYE => Ok(None),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Says again and again that this process is alive. Where something is being sent, that says it.
fn beat(common: &Common, pause: Duration) {
    let alive = frame(ALIVE, &[]);
    while !common.is_over.load(Ordering::Relaxed) {
        for link in common.links.iter().flatten() {
            if let Ok(mut stream) = link.try_lock() {
                _ = stream.write_all(&alive);
            }
        }
        thread::park_timeout(pause);
    }
}

/// Waits until everybody is there.
fn gather(
    plan: &Plan,
    coming: &mpsc::Receiver<Outcome>,
    links: &mut [Option<TcpStream>],
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    let me = plan.me().index;
    let end = Instant::now() + START;
    let mut n_strangers = 0;
    loop {
        let is_missing = |index: &usize| *index != me && links[*index].is_none();
        let Some(missing) = (0..links.len()).find(is_missing) else { return Ok(()) };
        let (expected, outcome) = match coming.recv_timeout(Duration::from_millis(50)) {
            Ok(outcome) => outcome,
            Err(RecvTimeoutError::Timeout) if !goes_on() => return Err(Error::Interrupted),
            Err(RecvTimeoutError::Timeout) if Instant::now() < end => continue,
            Err(_) => {
                let (address, seconds) = (&plan.addresses[missing], START.as_secs());
                let strangers = match n_strangers {
                    0 => String::new(),
                    n => format!(" ({n} connections were refused that did not know the secret)"),
                };
                let message =
                    format!("process {missing} at {address} did not come within {seconds} s{strangers}");
                return Err(Error::Lost(message));
            }
        };
        match outcome {
            Ok((index, stream))
                if index < links.len() && index != me && expected.is_none_or(|it| it == index) =>
            {
                if links[index].replace(stream).is_some() {
                    return Err(Error::Wrong(format!("there are two processes {index}")));
                }
            }
            Ok((index, _)) => return Err(Error::Wrong(format!("nobody expected a process {index}"))),
            Err(Failure::Different(message)) => return Err(Error::Wrong(message)),
            Err(Failure::NoSecret) => match expected {
                Some(index) => {
                    let address = &plan.addresses[index];
                    let message = format!("process {index} at {address} does not know the secret");
                    return Err(Error::Wrong(message));
                }
                None => n_strangers += 1,
            },
            Err(Failure::Stranger) => n_strangers += 1,
        }
    }
}

/// Answers whoever connects, each in its own time.
fn listen(
    listener: &TcpListener,
    secret: &Secret,
    about: &Arc<About>,
    is_over: &AtomicBool,
    outcomes: &Sender<Outcome>,
) {
    let n_callers = Arc::new(AtomicUsize::new(0));
    while !is_over.load(Ordering::Relaxed) {
        let Ok((mut stream, _)) = listener.accept() else {
            thread::sleep(Duration::from_millis(5));
            continue;
        };
        if n_callers.fetch_add(1, Ordering::Relaxed) >= CALLERS {
            n_callers.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (secret, about, outcomes) = (secret.clone(), Arc::clone(about), outcomes.clone());
        let n_callers = Arc::clone(&n_callers);
        thread::spawn(move || {
            let outcome = handshake::answer(&mut stream, &secret, &about).map(|index| (index, stream));
            _ = outcomes.send((None, outcome));
            n_callers.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Calls a process until it answers.
fn call(
    index: usize,
    address: &Address,
    secret: &Secret,
    about: &About,
    is_over: &AtomicBool,
    outcomes: &Sender<Outcome>,
) {
    while !is_over.load(Ordering::Relaxed) {
        for place in address.resolve().unwrap_or_default() {
            let Ok(mut stream) = TcpStream::connect_timeout(&place, Duration::from_secs(2)) else { continue };
            match handshake::call(&mut stream, secret, about).map(|index| (index, stream)) {
                // Perhaps it was not listening any more, or somebody else is there: it may come later.
                Err(Failure::Stranger) => {}
                outcome => {
                    _ = outcomes.send((Some(index), outcome));
                    return;
                }
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
}
