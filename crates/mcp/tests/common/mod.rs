//! A client that talks to the server over pipes, and a judge of schemas.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Write as _, pipe};
use std::os::fd::OwnedFd;
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};
use stubborn_mcp::{Settings, runtime, serve};

/// A client, and the server that it talks to.
pub(crate) struct Client {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    server: JoinHandle<std::io::Result<()>>,
    next: u64,
    answers: BTreeMap<u64, Value>,
    pub(crate) notifications: Vec<Value>,
}

impl Client {
    /// Starts a server, and says nothing yet.
    pub(crate) fn silent(settings: Settings) -> Client {
        let (server_reads, to) = pipe().unwrap();
        let (from, server_writes) = pipe().unwrap();
        let file = |end: OwnedFd| tokio::fs::File::from_std(File::from(end));
        let server = thread::spawn(move || {
            let runtime = runtime()?;
            runtime.block_on(serve(file(server_reads.into()), file(server_writes.into()), &settings))
        });
        let (answers, notifications) = (BTreeMap::new(), Vec::new());
        Client { to: Some(to), from: BufReader::new(from), server, next: 0, answers, notifications }
    }

    /// Starts a server, and shakes hands.
    pub(crate) fn new(settings: Settings) -> Client {
        let mut client = Client::silent(settings);
        let told = client.shake_hands();
        assert_eq!(told["result"]["serverInfo"]["name"], "stubborn", "{told}");
        client
    }

    pub(crate) fn shake_hands(&mut self) -> Value {
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } });
        let id = self.send("initialize", &hello);
        let told = self.answer(id);
        self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        told
    }

    /// Sends a line.
    pub(crate) fn write(&mut self, line: &str) {
        let to = self.to.as_mut().unwrap();
        to.write_all(line.as_bytes()).unwrap();
        to.write_all(b"\n").unwrap();
    }

    /// Sends a request; its id.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// Waits for the answer to a request; others are kept.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(found) = self.answers.remove(&id) {
                return found;
            }
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the server has gone");
            let message: Value = serde_json::from_str(&line).unwrap();
            match message["id"].as_u64() {
                Some(id) => _ = self.answers.insert(id, message),
                None => self.notifications.push(message),
            }
        }
    }

    /// Calls a tool, without waiting.
    pub(crate) fn begin(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.send("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Calls a tool; its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.begin(tool, arguments);
        let answer = self.answer(id);
        assert!(answer["error"].is_null(), "{tool} {arguments}: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool that answers; what it answers.
    pub(crate) fn good(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
        result["structuredContent"].clone()
    }

    /// Calls a tool that refuses; what is wrong, in words and as a document.
    pub(crate) fn bad(&mut self, tool: &str, arguments: &Value) -> (String, Value) {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        assert!(result["structuredContent"].is_null());
        let text = |at: usize| result["content"][at]["text"].as_str().unwrap();
        (text(0).to_owned(), serde_json::from_str::<Value>(text(1)).unwrap()["errors"].clone())
    }

    /// Says goodbye, and waits until the server has ended well.
    pub(crate) fn end(mut self) {
        drop(self.to.take());
        self.server.join().unwrap().unwrap();
    }
}

/// Why a value does not fit a schema; as much of the language of schemas as ours use.
pub(crate) fn misfit(schema: &Value, value: &Value, root: &Value) -> Result<(), String> {
    let Value::Object(rules) = schema else { return Ok(()) };
    for (rule, wanted) in rules {
        match rule.as_str() {
            "$ref" => {
                let path = wanted.as_str().unwrap().strip_prefix('#').unwrap();
                misfit(root.pointer(path).expect("the reference leads somewhere"), value, root)?;
            }
            "type" => {
                let is = |kind: &str| match kind {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    _ => panic!("type {kind}"),
                };
                let fits = match wanted {
                    Value::Array(kinds) => kinds.iter().any(|kind| is(kind.as_str().unwrap())),
                    kind => is(kind.as_str().unwrap()),
                };
                if !fits {
                    return Err(format!("{value} is not {wanted}"));
                }
            }
            "properties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    match wanted.get(name) {
                        Some(schema) => {
                            misfit(schema, inner, root).map_err(|why| format!("{name}: {why}"))?;
                        }
                        None if rules.get("additionalProperties") == Some(&json!(false)) => {
                            return Err(format!("{name} is unknown"));
                        }
                        // What we answer is described in full.
                        None if !rules.contains_key("additionalProperties") => {
                            return Err(format!("{name} is not described"));
                        }
                        None => {}
                    }
                }
            }
            "required" => {
                for name in wanted.as_array().unwrap() {
                    if value.get(name.as_str().unwrap()).is_none() {
                        return Err(format!("{name} is missing in {value}"));
                    }
                }
            }
            "items" => {
                for inner in value.as_array().into_iter().flatten() {
                    misfit(wanted, inner, root)?;
                }
            }
            "anyOf" | "oneOf" => {
                if !wanted.as_array().unwrap().iter().any(|one| misfit(one, value, root).is_ok()) {
                    return Err(format!("{value} fits none of {wanted}"));
                }
            }
            "const" if wanted != value => return Err(format!("{value} is not {wanted}")),
            "enum" if !wanted.as_array().unwrap().contains(value) => {
                return Err(format!("{value}: not in {wanted}"));
            }
            "minimum" if value.as_f64() < wanted.as_f64() => {
                return Err(format!("{value} is less than {wanted}"));
            }
            "const"
            | "enum"
            | "minimum"
            | "additionalProperties"
            | "$schema"
            | "$defs"
            | "title"
            | "description"
            | "default"
            | "format" => {}
            _ => panic!("rule {rule}"),
        }
    }
    Ok(())
}
