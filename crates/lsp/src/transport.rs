//! Messages on the standard input and output. What a message says of its length is not believed: there is room only for
//! what has come, and not for more than any editor sends.

use std::io::{self, BufRead, Read};
use std::thread;

use lsp_server::{Connection, Message};

/// Bytes of the longest message.
const MAX_BYTES: u64 = 256 << 20;

/// Bytes of the longest line of a header.
const MAX_HEADER: u64 = 4096;

/// A connection to whoever is at the other end of the standard input and output, and who carries the messages.
pub(crate) struct Transport {
    reader: thread::JoinHandle<io::Result<()>>,
    writer: thread::JoinHandle<io::Result<()>>,
}

impl Transport {
    pub(crate) fn stdio() -> (Connection, Transport) {
        let (ours, theirs) = Connection::memory();
        let Connection { sender, receiver } = theirs;
        let reader = thread::spawn(move || {
            let mut input = io::stdin().lock();
            while let Some(message) = read(&mut input)? {
                let is_exit = matches!(&message, Message::Notification(it) if it.method == "exit");
                // Who does not listen any more has ended.
                if sender.send(message).is_err() || is_exit {
                    break;
                }
            }
            Ok(())
        });
        let writer = thread::spawn(move || {
            let mut output = io::stdout().lock();
            receiver.into_iter().try_for_each(|message| message.write(&mut output))
        });
        (ours, Transport { reader, writer })
    }

    /// Waits until everything is said.
    pub(crate) fn join(self) -> io::Result<()> {
        let gone = |_| io::Error::other("a thread that carries messages is gone");
        self.reader.join().map_err(gone)??;
        self.writer.join().map_err(gone)?
    }

    /// Why nothing more can be read, if that is known already.
    pub(crate) fn trouble(self) -> Option<io::Error> {
        if self.reader.is_finished() { self.reader.join().ok()?.err() } else { None }
    }
}

/// The next message; nothing at the end.
fn read(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.by_ref().take(MAX_HEADER).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let header = line.strip_suffix("\r\n").ok_or_else(|| wrong("a header has no end"))?;
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(": ").ok_or_else(|| wrong("a header has no value"))?;
        if name.eq_ignore_ascii_case("Content-Length") {
            length = value.parse::<u64>().ok();
        }
    }
    let length = length.ok_or_else(|| wrong("a message does not say how long it is"))?;
    if length > MAX_BYTES {
        return Err(wrong(&format!("a message of {length} bytes is too long: {MAX_BYTES} are allowed")));
    }
    let mut whole = format!("Content-Length: {length}\r\n\r\n").into_bytes();
    if input.by_ref().take(length).read_to_end(&mut whole)? as u64 != length {
        return Err(wrong("the input ends within a message"));
    }
    Message::read(&mut &whole[..])
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(input: &str) -> String {
        read(&mut input.as_bytes()).expect_err("it is wrong").to_string()
    }

    #[test]
    fn messages_are_read_and_lengths_are_not_believed() {
        let text = r#"{"jsonrpc":"2.0","method":"exit","params":null}"#;
        let mut input = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        input += &input.clone();
        let mut input = input.as_bytes();
        for _ in 0..2 {
            let message = read(&mut input).expect("it is a message");
            assert!(matches!(message, Some(Message::Notification(it)) if it.method == "exit"));
        }
        assert!(read(&mut input).expect("nothing is wrong").is_none());
        assert!(refused("Content-Length: 99999999999999\r\n\r\n{}").contains("too long"));
        assert!(refused("Content-Length: 200000000\r\n\r\n{}").contains("ends within"));
        assert!(refused("Content-Length: 18446744073709551616\r\n\r\n{}").contains("how long"));
        assert!(refused("\r\n{}").contains("how long"));
        assert!(refused(&"x".repeat(100_000)).contains("no end"));
        assert!(refused("Content-Length\r\n\r\n").contains("no value"));
    }
}
