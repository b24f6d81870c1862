//! The protocol: which tools there are, who calls them, how long it may take, progress, cancellation.
//!
//! A call waits for its turn, then runs on a thread of its own, which is told when nobody wants its answer any more. A
//! call that goes wrong, even by a panic, is an answer like others: the error of a tool, never one of the protocol.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::json;
use stubborn::folder::Folder;
use stubborn::{Error, Limits, Progress, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, oneshot};

use crate::tools::{self, Known, Workplace};
use crate::{Settings, told};

/// Parsers of deep texts need stack.
const STACK: usize = 64 << 20;

/// Who wants to know how it goes is told so often.
const NEWS: Duration = Duration::from_millis(500);

const INSTRUCTIONS: &str = "Stubborn is a model checker for concurrent systems: process networks (.proc), Promela and \
    Petri nets (PNML). Send a model as text with its language, or name a file of the folder. `explore` shows what is in \
    a model, `check` decides properties and shows runs that violate them, `explain` tells them in words, `simulate` walks \
    step by step, `translate` makes automata of formulas. Mistakes in a model come back with line, column and a \
    suggestion. Answers that are unknown have reached a limit: allow more, or make the model smaller.";

/// Serves one client.
pub(crate) async fn serve(
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    folder: Option<Folder>,
    settings: &Settings,
) -> io::Result<()> {
    let server = Server {
        tools: tools::all().into(),
        folder: folder.map(Arc::new),
        most: settings.limits,
        turns: Arc::new(Semaphore::new(settings.jobs.max(1))),
    };
    let running = match server.serve((input, output)).await {
        Ok(running) => running,
        // Nobody wanted anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(io::Error::other(error)),
    };
    running.waiting().await.map(drop).map_err(io::Error::other)
}

struct Server {
    tools: Arc<[Known]>,
    folder: Option<Arc<Folder>>,
    most: Limits,
    turns: Arc<Semaphore>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let own = Implementation::new("stubborn", env!("CARGO_PKG_VERSION")).with_title("Stubborn");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(own)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.iter().map(|known| known.tool.clone()).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|known| known.tool.name == name).map(|known| known.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(at) = self.tools.iter().position(|known| known.tool.name == request.name) else {
            let names: Vec<&str> = self.tools.iter().map(|known| known.tool.name.as_ref()).collect();
            let message = format!("there is no tool `{}`: there are {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let watched = Arc::new(Watched::default());
        // Whatever becomes of this call, the thread is told when nobody waits for it.
        let _guard = Forgotten(watched.clone());
        let token = context.meta.get_progress_token();
        let result = tokio::select! {
            result = self.called(at, request.arguments.unwrap_or_default(), watched.clone()) => result,
            () = tell(&context.peer, token, &watched, self.most.time) => None,
            () = context.ct.cancelled() => None,
        };
        let result =
            result.unwrap_or_else(|| failed("internal error: the call has no answer, please report it"));
        Ok(result.into())
    }
}

impl Server {
    /// Waits for its turn, and does what is asked; nothing if the system gives no thread.
    async fn called(
        &self,
        at: usize,
        arguments: JsonObject,
        watched: Arc<Watched>,
    ) -> Option<CallToolResult> {
        let turn = self.turns.clone().acquire_owned().await.ok()?;
        let (tools, folder, most) = (self.tools.clone(), self.folder.clone(), self.most);
        let (send, receive) = oneshot::channel();
        let work = move || {
            let place = Workplace { folder: folder.as_deref(), most, watcher: &*watched };
            let done = catch_unwind(AssertUnwindSafe(|| (tools[at].work)(arguments, &place)));
            let result = match done {
                Ok(Ok(answer)) => CallToolResult::structured(answer),
                Ok(Err(error)) => refused(&error),
                Err(_) => failed("internal error: this went wrong, please report it with the arguments"),
            };
            drop(turn);
            // Nobody may wait for it any more.
            _ = send.send(result);
        };
        thread::Builder::new().name("call".to_owned()).stack_size(STACK).spawn(work).ok()?;
        receive.await.ok()
    }
}

/// Why there is no answer: in words, and as a document. It is no structured content, which would be an answer.
fn refused(error: &Error) -> CallToolResult {
    let (text, errors) = told::trouble(error);
    let document = json!({ "errors": errors }).to_string();
    CallToolResult::error(vec![ContentBlock::text(text), ContentBlock::text(document)])
}

fn failed(message: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

/// Tells how it goes, for as long as it goes, if somebody wants to know. It never ends by itself.
async fn tell(
    peer: &Peer<RoleServer>,
    token: Option<ProgressToken>,
    watched: &Watched,
    most: Option<Duration>,
) {
    let Some(token) = token else { return std::future::pending().await };
    loop {
        tokio::time::sleep(NEWS).await;
        let (elapsed, progress) = watched.last();
        let mut news = ProgressNotificationParam::new(token.clone(), elapsed.as_secs_f64());
        news.total = most.map(|time| time.as_secs_f64());
        news.message = Some(format!("{} states, {} transitions", progress.states, progress.transitions));
        // Nobody may listen any more.
        _ = peer.notify_progress(news).await;
    }
}

/// Looks on while a call is computed, and may end it.
#[derive(Default)]
struct Watched {
    is_over: AtomicBool,
    last: Mutex<(Duration, Progress)>,
}

impl Watched {
    fn last(&self) -> (Duration, Progress) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher for Watched {
    fn look(&self, elapsed: Duration, progress: &Progress) -> bool {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = (elapsed, *progress);
        !self.is_over.load(Ordering::Relaxed)
    }
}

/// Ends what is computed, when it is dropped.
struct Forgotten(Arc<Watched>);

impl Drop for Forgotten {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}
