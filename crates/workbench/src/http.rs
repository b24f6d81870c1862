//! Requests and answers: HTTP/1.1, one request per connection, everything bounded.
//!
//! The parsing of heads is done by `httparse`. What is read is bounded in size and in time, so that garbage, a
//! client that never ends and a client that never begins cost a thread for some seconds, and nothing else.

use std::borrow::Cow;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The head of a request is not longer.
const MAX_HEAD: usize = 16 * 1024;

/// A request has no more headers.
const MAX_HEADERS: usize = 64;

/// A body is not longer: models are texts that somebody wrote, or nets that a program did.
pub(crate) const MAX_BODY: usize = 8 * 1024 * 1024;

/// A request is read, and an answer is written, in this time.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a client wants.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without what follows a question mark.
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The header of this name, in small letters, if it is there once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        match (found.next(), found.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    }

    /// Whether there is a header of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known == name)
    }
}

/// What is answered.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) body: Cow<'static, [u8]>,
}

impl Response {
    pub(crate) fn new(status: u16, kind: &'static str, body: impl Into<Cow<'static, [u8]>>) -> Response {
        Response { status, kind, body: body.into() }
    }

    /// A document.
    pub(crate) fn json(status: u16, value: &serde_json::Value) -> Response {
        Response::new(status, "application/json", value.to_string().into_bytes())
    }

    /// Why there is none.
    pub(crate) fn refusal(status: u16, message: &str) -> Response {
        Response::json(status, &serde_json::json!({ "error": message }))
    }
}

/// Reads a request; the error is what to answer, or nothing if nobody is there.
pub(crate) fn read(stream: &mut TcpStream) -> Result<Request, Option<Response>> {
    let deadline = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let (mut request, length, end) = loop {
        if let Some(found) = head(&bytes)? {
            break found;
        }
        if bytes.len() >= MAX_HEAD {
            return Err(Some(Response::refusal(431, "the head of the request is too long")));
        }
        read_some(stream, &mut bytes, MAX_HEAD, deadline)?;
    };
    bytes.drain(..end);
    while bytes.len() < length {
        read_some(stream, &mut bytes, length, deadline)?;
    }
    // What follows the body is another request, which nobody promised to read.
    bytes.truncate(length);
    request.body = bytes;
    Ok(request)
}

/// Reads what there is, until there are so many bytes.
fn read_some(
    stream: &mut TcpStream,
    bytes: &mut Vec<u8>,
    most: usize,
    deadline: Instant,
) -> Result<(), Option<Response>> {
    let late = || Some(Response::refusal(408, "the request takes too long"));
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(late());
    }
    stream.set_read_timeout(Some(left)).map_err(|_| None)?;
    let mut buffer = [0; 16 * 1024];
    let room = buffer.len().min(most - bytes.len());
    match stream.read(&mut buffer[..room]) {
        Ok(0) => Err(None),
        Ok(n) => {
            bytes.extend_from_slice(&buffer[..n]);
            Ok(())
        }
        Err(error) => match error.kind() {
            io::ErrorKind::Interrupted => Ok(()),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Err(late()),
            _ => Err(None),
        },
    }
}

/// The head of a request, if it is there: with the length of the body, and where that begins.
fn head(bytes: &[u8]) -> Result<Option<(Request, usize, usize)>, Option<Response>> {
    let bad = |why: &str| Some(Response::refusal(400, why));
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let end = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(Some(Response::refusal(431, "the request has too many headers")));
        }
        Err(error) => return Err(bad(&format!("this is no HTTP request: {error}"))),
    };
    let (Some(method), Some(target)) = (parsed.method, parsed.path) else {
        return Err(bad("this is no HTTP request"));
    };
    let mut headers = Vec::with_capacity(parsed.headers.len());
    for header in &*parsed.headers {
        let Ok(value) = std::str::from_utf8(header.value) else {
            return Err(bad("a header of the request is no text"));
        };
        headers.push((header.name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let path = target.split(['?', '#']).next().unwrap_or_default().to_owned();
    let request = Request { method: method.to_owned(), path, headers, body: Vec::new() };
    if request.has("transfer-encoding") {
        return Err(Some(Response::refusal(411, "say how long the body is")));
    }
    let length = match (request.has("content-length"), request.header("content-length")) {
        (false, _) => 0,
        (true, Some(text)) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().map_err(|_| bad("the length of the body is no number"))?
        }
        _ => return Err(bad("the length of the body is no number")),
    };
    if length > MAX_BODY {
        let message = format!("the body is too long: at most {MAX_BODY} bytes are read");
        return Err(Some(Response::refusal(413, &message)));
    }
    Ok(Some((request, length, end)))
}

/// Writes an answer, and ends the connection so that the client gets all of it.
pub(crate) fn write(stream: &mut TcpStream, response: &Response) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n{HEADERS}\r\n",
        response.status,
        reason(response.status),
        response.kind,
        response.body.len(),
    );
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(head.as_bytes())?;
    stream.write_all(&response.body)?;
    stream.flush()?;
    stream.shutdown(Shutdown::Write)?;
    // A connection that is closed before everything was read is reset, and the answer may be lost.
    stream.set_read_timeout(Some(Duration::from_millis(500)))?;
    let mut buffer = [0; 16 * 1024];
    for _ in 0..MAX_BODY / buffer.len() {
        if !matches!(stream.read(&mut buffer), Ok(1..)) {
            break;
        }
    }
    Ok(())
}

/// Headers of every answer: nothing is kept, nothing comes from elsewhere, and nobody frames the page. Styles may be
/// inline since drawings and the editor bring their own; scripts may not.
const HEADERS: &str = "Cache-Control: no-store\r\n\
    Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Referrer-Policy: no-referrer\r\n\
    X-Content-Type-Options: nosniff\r\n";

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_whole_or_not_at_all() {
        let text = b"POST /t/api/jobs?x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
        let (request, length, end) = head(text).unwrap().unwrap();
        assert_eq!((request.path.as_str(), length, &text[end..]), ("/t/api/jobs", 3, &b"abc"[..]));
        assert_eq!(request.header("host"), Some("a"));
        for cut in 0..end {
            assert!(head(&text[..cut]).unwrap().is_none(), "{cut}");
        }
        let status = |text: &[u8]| head(text).unwrap_err().unwrap().status;
        assert_eq!(status(b"\x16\x03\x01\x02\x00 garbage"), 400);
        assert_eq!(status(b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"), 400);
        assert_eq!(status(b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400);
        assert_eq!(status(b"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"), 400);
        assert_eq!(status(b"GET / HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\n"), 413);
        assert_eq!(status(b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), 411);
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(100));
        assert_eq!(status(many.as_bytes()), 431);
    }
}
