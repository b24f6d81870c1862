//! A workbench to try, and a client that sends what it is told to send, well-formed or not.
#![allow(dead_code, reason = "not every test needs everything")]

pub(crate) mod webdriver;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use stubborn_workbench::{Server, Settings, Stopper};

/// A workbench that runs as long as this lives.
pub(crate) struct Bench {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Bench {
    pub(crate) fn start(settings: Settings) -> Bench {
        let server = Server::bind(settings).expect("there is a free port");
        let (address, stopper) = (server.address(), server.stopper());
        let token =
            server.url().trim_end_matches('/').rsplit('/').next().expect("there is a token").to_owned();
        let thread = std::thread::spawn(move || server.run());
        Bench { address, token, stopper, thread: Some(thread) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token)
    }

    /// Sends bytes, and reads until the other side has had enough.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        // It may have refused before everything was sent.
        _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// A request with headers of one's own; its status and its body.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
        let length = body.len();
        let text = format!("{method} {path} HTTP/1.1\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
        parse(&self.raw(text.as_bytes()))
    }

    /// The headers that the page sends.
    pub(crate) fn headers(&self) -> String {
        let address = self.address;
        format!(
            "Host: {address}\r\nOrigin: http://{address}\r\nSec-Fetch-Site: same-origin\r\n\
             Content-Type: application/json\r\n"
        )
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        self.request("GET", &format!("/{}/{path}", self.token), &self.headers(), "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let path = format!("/{}/api/{path}", self.token);
        let (status, text) = self.request("POST", &path, &self.headers(), &body.to_string());
        (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// Begins a job, and waits for its result.
    pub(crate) fn job(&self, path: &str, body: &Value) -> Value {
        let (status, begun) = self.post(path, body);
        assert_eq!(status, 200, "{begun}");
        self.result(&begun["job"])
    }

    pub(crate) fn result(&self, job: &Value) -> Value {
        loop {
            let (status, text) = self.get(&format!("api/jobs/{job}"));
            assert_eq!(status, 200, "{text}");
            let news: Value = serde_json::from_str(&text).expect("it is a document");
            if news["stage"] == "done" {
                return news["result"].clone();
            }
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// The status and the body of an answer.
pub(crate) fn parse(answer: &str) -> (u16, String) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, body.to_owned())
}

/// A lamp that can be pressed.
pub(crate) const LAMP: &str = "process Lamp { off: press -> on; on: press -> off | flicker -> on; }\n\
                        ltl again = [] <> Lamp@off;\ninvariant fine = Lamp@off || Lamp@on;\n";

pub(crate) fn model(text: &str) -> Value {
    json!({ "language": "process", "text": text })
}

/// A model with 4^n states.
pub(crate) fn large(n: usize) -> Value {
    model(&format!("process P[i in 0..{n}] {{ a: x[i] -> b; b: y[i] -> c; c: z[i] -> d; d: w[i] -> a; }}"))
}
