//! The protocol: who asks, what is open, what is answered.
//!
//! One thread reads what the editor sends, one looks for mistakes, one makes each check; all of them send events to the loop
//! here, which alone knows the documents and alone writes. A document has a stamp that changes with every edit: what was
//! found out about an older one is thrown away.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types as lsp;
use lsp_types::notification::Notification as _;
use lsp_types::request::Request as _;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::analysis::{Dialect, Outlined, Ranges, Settings, Snapshot, path_of};
use crate::checks::{self, CHECK, Checked, Order, STEP};
use crate::diagnoser::Diagnoser;
use crate::features;
use crate::text::Text;

/// What the loop hears.
pub(crate) enum Event {
    /// From the editor.
    Message(Message),
    /// The editor is gone.
    Gone,
    /// Mistakes of a text.
    Diagnosed { uri: String, stamp: u64, diagnostics: Vec<lsp::Diagnostic>, ranges: Ranges },
    /// A check goes on.
    Progress { id: RequestId, message: String },
    /// A check is over.
    Checked(Checked),
}

/// A text that is open.
struct Document {
    uri: lsp::Uri,
    version: i32,
    /// Larger with every change of any document.
    stamp: u64,
    dialect: Dialect,
    text: Text,
    outlined: Option<Arc<Outlined>>,
    ranges: Ranges,
    /// The properties that this very text is known to violate.
    violated: Vec<String>,
}

struct Server {
    sender: Editor,
    settings: Settings,
    documents: BTreeMap<String, Document>,
    stamps: u64,
    diagnoser: Diagnoser,
    events: Sender<Event>,
    /// Checks that are being made, by what they are called.
    checks: BTreeMap<String, (RequestId, Arc<AtomicBool>)>,
    refreshes_lenses: bool,
    shows_progress: bool,
    n_requests: i32,
    is_shut_down: bool,
}

/// Sends a message; that nobody listens any more is noticed where messages are read.
type Editor = Box<dyn Fn(Message)>;

/// Serves an editor until it has had enough.
///
/// # Errors
/// The editor does not keep to the protocol.
pub fn serve(connection: Connection) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (id, params) = connection.initialize_start()?;
    let params: lsp::InitializeParams = serde_json::from_value(params)?;
    let settings = match params.initialization_options.filter(|options| !options.is_null()) {
        Some(options) => serde_json::from_value(options).unwrap_or_default(),
        None => Settings::default(),
    };
    let server_info = json!({ "name": "stubborn", "version": env!("CARGO_PKG_VERSION") });
    connection.initialize_finish(id, json!({ "capabilities": capabilities(), "serverInfo": server_info }))?;
    let (events, heard) = mpsc::channel();
    let Connection { sender, receiver } = connection;
    let reader = events.clone();
    let listening = thread::spawn(move || {
        for message in &receiver {
            let is_exit =
                matches!(&message, Message::Notification(it) if it.method == lsp::notification::Exit::METHOD);
            if reader.send(Event::Message(message)).is_err() || is_exit {
                return;
            }
        }
        _ = reader.send(Event::Gone);
    });
    let workspace = params.capabilities.workspace.unwrap_or_default();
    let window = params.capabilities.window.unwrap_or_default();
    let mut server = Server {
        sender: Box::new(move |message| _ = sender.send(message)),
        settings,
        documents: BTreeMap::new(),
        stamps: 0,
        diagnoser: Diagnoser::start(events.clone()),
        events,
        checks: BTreeMap::new(),
        refreshes_lenses: workspace.code_lens.and_then(|lens| lens.refresh_support).unwrap_or(false),
        shows_progress: window.work_done_progress.unwrap_or(false),
        n_requests: 0,
        is_shut_down: false,
    };
    for event in heard {
        if !server.hear(event) {
            break;
        }
    }
    server.checks.values().for_each(|(_, is_over)| is_over.store(true, Ordering::Relaxed));
    drop(server);
    // It ends when the editor has said that it goes, or is gone.
    _ = listening.join();
    Ok(())
}

fn capabilities() -> lsp::ServerCapabilities {
    lsp::ServerCapabilities {
        text_document_sync: Some(lsp::TextDocumentSyncCapability::Kind(
            lsp::TextDocumentSyncKind::INCREMENTAL,
        )),
        hover_provider: Some(lsp::HoverProviderCapability::Simple(true)),
        definition_provider: Some(lsp::OneOf::Left(true)),
        references_provider: Some(lsp::OneOf::Left(true)),
        rename_provider: Some(lsp::OneOf::Right(lsp::RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
        })),
        completion_provider: Some(lsp::CompletionOptions {
            trigger_characters: Some(vec!["@".to_owned()]),
            ..lsp::CompletionOptions::default()
        }),
        document_symbol_provider: Some(lsp::OneOf::Left(true)),
        document_formatting_provider: Some(lsp::OneOf::Left(true)),
        code_lens_provider: Some(lsp::CodeLensOptions { resolve_provider: Some(false) }),
        execute_command_provider: Some(lsp::ExecuteCommandOptions {
            commands: vec![CHECK.to_owned(), STEP.to_owned()],
            work_done_progress_options: lsp::WorkDoneProgressOptions { work_done_progress: Some(true) },
        }),
        ..lsp::ServerCapabilities::default()
    }
}

type Answer = Result<Value, (ErrorCode, String)>;

impl Server {
    fn send(&self, message: impl Into<Message>) {
        (self.sender)(message.into());
    }

    fn notify(&self, method: &str, params: impl serde::Serialize) {
        self.send(Notification::new(method.to_owned(), params));
    }

    /// Asks the editor something whose answer does not matter.
    fn ask(&mut self, method: &str, params: impl serde::Serialize) {
        self.n_requests += 1;
        self.send(Request::new(self.n_requests.into(), method.to_owned(), params));
    }

    fn respond(&self, id: RequestId, answer: Answer) {
        self.send(match answer {
            Ok(value) => Response::new_ok(id, value),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        });
    }

    /// Returns whether to go on.
    fn hear(&mut self, event: Event) -> bool {
        match event {
            Event::Message(Message::Request(request)) => self.request(request),
            Event::Message(Message::Notification(notification)) => return self.notification(notification),
            Event::Message(Message::Response(_)) => {}
            Event::Gone => return false,
            Event::Diagnosed { uri, stamp, diagnostics, ranges } => {
                let Some(document) = self.documents.get_mut(&uri).filter(|known| known.stamp == stamp) else {
                    return true;
                };
                document.ranges = ranges;
                let (uri, version) = (document.uri.clone(), Some(document.version));
                self.publish(lsp::PublishDiagnosticsParams { uri, diagnostics, version });
            }
            Event::Progress { id, message } => {
                let report = json!({ "kind": "report", "message": message, "cancellable": true });
                self.progress(&id, &report);
            }
            Event::Checked(checked) => self.checked(checked),
        }
        true
    }

    fn publish(&self, params: lsp::PublishDiagnosticsParams) {
        self.notify(lsp::notification::PublishDiagnostics::METHOD, params);
    }

    fn progress(&self, id: &RequestId, value: &Value) {
        if self.shows_progress {
            self.notify("$/progress", json!({ "token": token(id), "value": value }));
        }
    }

    fn notification(&mut self, notification: Notification) -> bool {
        match notification.method.as_str() {
            lsp::notification::Exit::METHOD => return false,
            lsp::notification::DidOpenTextDocument::METHOD => {
                if let Some(params) = read::<lsp::DidOpenTextDocumentParams>(notification.params) {
                    self.open(params.text_document);
                }
            }
            lsp::notification::DidChangeTextDocument::METHOD => {
                if let Some(params) = read::<lsp::DidChangeTextDocumentParams>(notification.params) {
                    self.change(params);
                }
            }
            lsp::notification::DidCloseTextDocument::METHOD => {
                if let Some(params) = read::<lsp::DidCloseTextDocumentParams>(notification.params) {
                    self.close(params.text_document.uri);
                }
            }
            lsp::notification::Cancel::METHOD => self.cancel(&notification.params["id"]),
            lsp::notification::WorkDoneProgressCancel::METHOD => {
                let wanted = notification.params["token"].as_str().unwrap_or_default().to_owned();
                if let Some((_, is_over)) = self.checks.get(&wanted) {
                    is_over.store(true, Ordering::Relaxed);
                }
            }
            _ => {}
        }
        true
    }

    /// Ends a check.
    fn cancel(&mut self, id: &Value) {
        let id = match id {
            Value::Number(number) => RequestId::from(number.as_i64().unwrap_or(-1) as i32),
            other => RequestId::from(other.as_str().unwrap_or_default().to_owned()),
        };
        if let Some((_, is_over)) = self.checks.get(&token(&id)) {
            is_over.store(true, Ordering::Relaxed);
        }
    }

    fn open(&mut self, item: lsp::TextDocumentItem) {
        let uri = item.uri.as_str().to_owned();
        let document = Document {
            dialect: Dialect::of(&item.language_id, &uri),
            uri: item.uri,
            version: item.version,
            stamp: 0,
            text: Text::from(item.text),
            outlined: None,
            ranges: Ranges::new(),
            violated: Vec::new(),
        };
        self.documents.insert(uri.clone(), document);
        self.touched(&uri);
    }

    fn change(&mut self, params: lsp::DidChangeTextDocumentParams) {
        let uri = params.text_document.uri.as_str().to_owned();
        let Some(document) = self.documents.get_mut(&uri) else { return };
        params.content_changes.into_iter().for_each(|change| document.text.change(change));
        document.version = params.text_document.version;
        self.touched(&uri);
    }

    /// A text has changed. So has what includes it, perhaps: all are looked at again.
    fn touched(&mut self, changed: &str) {
        let is_included = self.documents.len() > 1;
        let uris: Vec<String> =
            self.documents.keys().filter(|uri| is_included || *uri == changed).cloned().collect();
        for uri in uris {
            self.stamps += 1;
            let stamp = self.stamps;
            if let Some(document) = self.documents.get_mut(&uri) {
                document.stamp = stamp;
                document.outlined = None;
                document.violated.clear();
            }
            if let Some(snapshot) = self.snapshot(&uri) {
                self.diagnoser.look_at(stamp, snapshot);
            }
        }
    }

    fn close(&mut self, uri: lsp::Uri) {
        self.stamps += 1;
        self.diagnoser.forget(uri.as_str(), self.stamps);
        self.documents.remove(uri.as_str());
        self.publish(lsp::PublishDiagnosticsParams { uri, diagnostics: Vec::new(), version: None });
    }

    fn snapshot(&self, uri: &str) -> Option<Snapshot> {
        let document = self.documents.get(uri)?;
        let others = self.documents.iter().filter(|(other, _)| *other != uri);
        let open: BTreeMap<PathBuf, String> = others
            .filter_map(|(other, document)| Some((path_of(other)?, document.text.as_str().to_owned())))
            .collect();
        Some(Snapshot {
            uri: document.uri.clone(),
            dialect: document.dialect,
            text: document.text.clone(),
            open,
            settings: self.settings.clone(),
        })
    }

    /// A text as it is, with its outline.
    fn outlined(&mut self, uri: &lsp::Uri) -> Result<(Snapshot, Arc<Outlined>), (ErrorCode, String)> {
        let missing = || (ErrorCode::InvalidParams, format!("`{}` is not open", uri.as_str()));
        let snapshot = self.snapshot(uri.as_str()).ok_or_else(missing)?;
        let document = self.documents.get_mut(uri.as_str()).ok_or_else(missing)?;
        let outlined = document.outlined.get_or_insert_with(|| Arc::new(snapshot.outline())).clone();
        Ok((snapshot, outlined))
    }

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        if self.is_shut_down {
            let message = "the server was shut down".to_owned();
            return self.respond(id, Err((ErrorCode::InvalidRequest, message)));
        }
        if method == lsp::request::ExecuteCommand::METHOD {
            return self.execute(id, params);
        }
        let answer = self.answer(&method, params);
        self.respond(id, answer);
    }

    fn answer(&mut self, method: &str, params: Value) -> Answer {
        match method {
            lsp::request::Shutdown::METHOD => {
                self.is_shut_down = true;
                self.checks.values().for_each(|(_, is_over)| is_over.store(true, Ordering::Relaxed));
                Ok(Value::Null)
            }
            lsp::request::HoverRequest::METHOD => {
                let params: lsp::HoverParams = wanted(params)?;
                let place = params.text_document_position_params;
                let (snapshot, outlined) = self.outlined(&place.text_document.uri)?;
                let ranges = &self.documents[snapshot.uri.as_str()].ranges;
                let offset = snapshot.text.offset(place.position);
                Ok(json!(features::hover(&snapshot, &outlined, ranges, offset)))
            }
            lsp::request::GotoDefinition::METHOD => {
                let params: lsp::GotoDefinitionParams = wanted(params)?;
                let place = params.text_document_position_params;
                let (snapshot, outlined) = self.outlined(&place.text_document.uri)?;
                Ok(json!(features::definition(&snapshot, &outlined, snapshot.text.offset(place.position))))
            }
            lsp::request::References::METHOD => {
                let params: lsp::ReferenceParams = wanted(params)?;
                let place = params.text_document_position;
                let (snapshot, outlined) = self.outlined(&place.text_document.uri)?;
                let offset = snapshot.text.offset(place.position);
                let with_declaration = params.context.include_declaration;
                Ok(json!(features::references(&snapshot, &outlined, offset, with_declaration)))
            }
            lsp::request::PrepareRenameRequest::METHOD => {
                let place: lsp::TextDocumentPositionParams = wanted(params)?;
                let (snapshot, outlined) = self.outlined(&place.text_document.uri)?;
                let offset = snapshot.text.offset(place.position);
                let (_, place) = features::renamed(&outlined, offset).map_err(failed)?;
                Ok(json!(snapshot.text.range(place.start as usize, place.end as usize)))
            }
            lsp::request::Rename::METHOD => {
                let params: lsp::RenameParams = wanted(params)?;
                let place = params.text_document_position;
                let (snapshot, outlined) = self.outlined(&place.text_document.uri)?;
                let offset = snapshot.text.offset(place.position);
                Ok(json!(features::rename(&snapshot, &outlined, offset, &params.new_name).map_err(failed)?))
            }
            lsp::request::Completion::METHOD => {
                let params: lsp::CompletionParams = wanted(params)?;
                let place = params.text_document_position;
                let (snapshot, outlined) = self.outlined(&place.text_document.uri)?;
                Ok(json!(features::completion(&snapshot, &outlined, snapshot.text.offset(place.position))))
            }
            lsp::request::DocumentSymbolRequest::METHOD => {
                let params: lsp::DocumentSymbolParams = wanted(params)?;
                let (snapshot, outlined) = self.outlined(&params.text_document.uri)?;
                Ok(json!(features::symbols(&snapshot.text, &outlined.outline)))
            }
            lsp::request::Formatting::METHOD => {
                let params: lsp::DocumentFormattingParams = wanted(params)?;
                let (snapshot, _) = self.outlined(&params.text_document.uri)?;
                Ok(json!(features::format(&snapshot)))
            }
            lsp::request::CodeLensRequest::METHOD => {
                let params: lsp::CodeLensParams = wanted(params)?;
                let (snapshot, outlined) = self.outlined(&params.text_document.uri)?;
                if snapshot.dialect.language().is_none() {
                    return Ok(json!([]));
                }
                let violated = &self.documents[snapshot.uri.as_str()].violated;
                Ok(json!(features::lenses(&snapshot, &outlined.outline, violated)))
            }
            _ => Err((ErrorCode::MethodNotFound, format!("there is no `{method}`"))),
        }
    }

    fn execute(&mut self, id: RequestId, params: Value) {
        match self.order(id.clone(), params) {
            Err(refusal) => self.respond(id, Err(refusal)),
            Ok(order) => {
                let what = order.property.clone().unwrap_or_else(|| "all properties".to_owned());
                if self.shows_progress {
                    self.ask("window/workDoneProgress/create", json!({ "token": token(&id) }));
                }
                let title = format!("Checking {what}");
                self.progress(&id, &json!({ "kind": "begin", "title": title, "cancellable": true }));
                self.checks.insert(token(&id), (id, order.is_over.clone()));
                checks::start(order, self.events.clone());
            }
        }
    }

    fn order(&self, id: RequestId, params: Value) -> Result<Order, (ErrorCode, String)> {
        let params: lsp::ExecuteCommandParams = wanted(params)?;
        let steps = match params.command.as_str() {
            CHECK => false,
            STEP => true,
            other => return Err((ErrorCode::InvalidParams, format!("there is no command `{other}`"))),
        };
        let usage = || {
            (ErrorCode::InvalidParams, "give the address of a document, and a property or null".to_owned())
        };
        let uri = params.arguments.first().and_then(Value::as_str).ok_or_else(usage)?;
        let property = params.arguments.get(1).and_then(Value::as_str).map(str::to_owned);
        let missing = || (ErrorCode::InvalidParams, format!("`{uri}` is not open"));
        let snapshot = self.snapshot(uri).ok_or_else(missing)?;
        let stamp = self.documents.get(uri).ok_or_else(missing)?.stamp;
        Ok(Order { id, stamp, snapshot, property, steps, is_over: Arc::default() })
    }

    fn checked(&mut self, checked: Checked) {
        let Checked { id, uri, stamp, answer, verdicts, summary } = checked;
        self.progress(&id, &json!({ "kind": "end", "message": summary }));
        self.checks.remove(&token(&id));
        // What is known of an older text says nothing about this one.
        let current = self.documents.get_mut(&uri).filter(|document| document.stamp == stamp);
        if let (Some(document), Ok(_)) = (current, &answer) {
            document.violated.retain(|known| !verdicts.iter().any(|(name, _)| name == known));
            document
                .violated
                .extend(verdicts.into_iter().filter(|(_, violated)| *violated).map(|(name, _)| name));
        }
        self.respond(id, answer);
        if self.refreshes_lenses {
            self.ask("workspace/codeLens/refresh", Value::Null);
        }
    }
}

/// What a check is called in reports about its progress.
fn token(id: &RequestId) -> String {
    format!("stubborn-{id}")
}

fn failed(message: String) -> (ErrorCode, String) {
    (ErrorCode::RequestFailed, message)
}

fn read<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}

fn wanted<T: DeserializeOwned>(params: Value) -> Result<T, (ErrorCode, String)> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}
