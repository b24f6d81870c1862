//! A browser, driven through ChromeDriver by as little of the WebDriver protocol as is needed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer is not waited for something to be seen.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one window, as long as this lives.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

/// The program of a name, if it is there.
fn program(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|folder| folder.join(name)).find(|path| path.is_file())
}

impl Browser {
    /// A browser; nothing if there is none on this machine.
    pub(crate) fn start() -> Option<Browser> {
        let chromium = program("chromium").or_else(|| program("chromium-browser"))?;
        let mut driver = Command::new(program("chromedriver")?)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut lines = BufReader::new(driver.stdout.take()?).lines();
        let port = lines.find_map(|line| {
            line.ok()?.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
        });
        // What it says from now on is thrown away, but taken.
        std::thread::spawn(move || lines.for_each(drop));
        let profile = tempfile::tempdir().ok()?;
        let mut browser = Browser { driver, port: port?, session: String::new(), _profile: profile };
        let folder = format!("--user-data-dir={}", browser._profile.path().display());
        let quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync"];
        let mut arguments =
            vec!["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic"];
        arguments.extend(quiet);
        arguments.extend(["--window-size=1440,900", "--disable-dev-shm-usage", &folder]);
        let options = json!({ "binary": chromium, "args": arguments });
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let session = browser.send("POST", "/session", &wanted);
        session["sessionId"]
            .as_str()
            .unwrap_or_else(|| panic!("no session: {session}"))
            .clone_into(&mut browser.session);
        Some(browser)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let value = self.answer(method, path, body);
        assert!(value.get("error").is_none(), "{method} {path}: {value}");
        value
    }

    /// What the driver answers, which may be an error.
    fn answer(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the driver listens");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
             Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut stream = BufReader::new(stream);
        let mut n_bytes = 0;
        for line in stream.by_ref().lines() {
            let line = line.expect("the driver answers");
            if line.is_empty() {
                break;
            }
            if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                n_bytes = length.trim().parse().unwrap();
            }
        }
        let mut bytes = vec![0; n_bytes];
        stream.read_exact(&mut bytes).expect("the driver answers");
        let mut answer: Value = serde_json::from_slice(&bytes).expect("it is JSON");
        answer["value"].take()
    }

    fn act(&self, what: &str, body: &Value) -> Value {
        self.send("POST", &format!("/session/{}/{what}", self.session), body)
    }

    pub(crate) fn go(&self, url: &str) {
        self.act("url", &json!({ "url": url }));
        self.wait("document.documentElement.dataset.ready === 'yes'");
    }

    pub(crate) fn reload(&self) {
        self.act("refresh", &json!({}));
        self.wait("document.documentElement.dataset.ready === 'yes'");
    }

    /// The value of an expression in the page; `$(…)` finds an element, `$$(…)` all of them.
    pub(crate) fn value(&self, expression: &str) -> Value {
        let script = format!(
            "const $ = (s) => document.querySelector(s); const $$ = (s) => [...document.querySelectorAll(s)]; \
             return ({expression});"
        );
        self.act("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression is true.
    pub(crate) fn wait(&self, expression: &str) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let value = self.value(expression);
            if !matches!(value, Value::Null | Value::Bool(false)) {
                return value;
            }
            if Instant::now() > end {
                let page = self.value("document.querySelector('#work').innerText.slice(0, 3000)");
                panic!("this never happened: {expression}\n{}", page.as_str().unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Clicks on an element as a user does: it must be there, and nothing in front of it. Where it is replaced before it
    /// is clicked on, a user would hit the new one.
    pub(crate) fn click(&self, expression: &str) {
        let end = Instant::now() + PATIENCE;
        loop {
            self.wait(&format!("!!({expression})"));
            let element = self.value(expression);
            let id = element.as_object().and_then(|it| it.values().next()).and_then(Value::as_str);
            let Some(id) = id else {
                // It was there a moment ago.
                assert!(element.is_null() && Instant::now() < end, "{expression} is no element: {element}");
                continue;
            };
            let path = format!("/session/{}/element/{id}/click", self.session);
            let answer = self.answer("POST", &path, &json!({}));
            match answer["error"].as_str() {
                None => return,
                Some("stale element reference") if Instant::now() < end => {}
                Some(_) => panic!("{expression} cannot be clicked on: {answer}"),
            }
        }
    }

    /// The button with this text.
    pub(crate) fn press(&self, text: &str) {
        self.click(&format!(
            "$$('button').find((b) => b.offsetParent && b.textContent.trim().startsWith({}))",
            json!(text)
        ));
    }

    /// Types keys, wherever the focus is.
    pub(crate) fn keys(&self, keys: &[&str]) {
        let mut actions = Vec::new();
        for key in keys {
            for kind in ["keyDown", "keyUp"] {
                actions.push(json!({ "type": kind, "value": key }));
            }
        }
        self.act("actions", &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] }));
    }

    /// A key while Ctrl is held.
    pub(crate) fn control(&self, key: &str) {
        let actions: Vec<Value> =
            [("keyDown", CONTROL), ("keyDown", key), ("keyUp", key), ("keyUp", CONTROL)]
                .map(|(kind, value)| json!({ "type": kind, "value": value }))
                .into();
        self.act("actions", &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] }));
    }

    pub(crate) fn type_text(&self, text: &str) {
        let letters: Vec<String> = text.chars().map(String::from).collect();
        self.keys(&letters.iter().map(String::as_str).collect::<Vec<_>>());
    }

    pub(crate) fn resize(&self, width: u32, height: u32) {
        // The window of a headless browser is the page, but never very narrow: devices are emulated.
        let parameters =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.devtools("Emulation.setDeviceMetricsOverride", &parameters);
    }

    pub(crate) fn prefer_dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.devtools("Emulation.setEmulatedMedia", &features);
    }

    fn devtools(&self, command: &str, parameters: &Value) {
        self.act("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
    }

    /// Keeps a picture, if somebody wants to look at it.
    pub(crate) fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("STUBBORN_PICTURES") else { return };
        let picture = self.send("GET", &format!("/session/{}/screenshot", self.session), &Value::Null);
        let path = PathBuf::from(folder).join(format!("{name}.png"));
        std::fs::write(path, base64(picture.as_str().unwrap_or_default())).expect("it can be written");
    }

    /// What the browser has complained about.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.act("se/log", &json!({ "type": "browser" }));
        let all = log.as_array().cloned().unwrap_or_default();
        all.iter()
            .filter(|entry| entry["level"] == "SEVERE")
            .map(|entry| entry["message"].to_string())
            .collect()
    }
}

pub(crate) const CONTROL: &str = "\u{e009}";
pub(crate) const TAB: &str = "\u{e004}";
pub(crate) const ENTER: &str = "\u{e007}";
pub(crate) const LEFT: &str = "\u{e012}";
pub(crate) const RIGHT: &str = "\u{e014}";
pub(crate) const HOME: &str = "\u{e011}";
pub(crate) const END: &str = "\u{e010}";

fn base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut n_bits) = (0_u32, 0);
    for six in text.bytes().filter_map(|byte| LETTERS.iter().position(|&letter| letter == byte)) {
        bits = bits << 6 | six as u32;
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits) as u8);
        }
    }
    bytes
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.send("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        _ = self.driver.kill();
        _ = self.driver.wait();
    }
}
