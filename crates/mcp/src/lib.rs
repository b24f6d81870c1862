//! Stubborn for agents: a Model Context Protocol server, `stubborn mcp`.
//!
//! Agents send models as texts, or name files of one folder, and get structured answers. Nothing is checked here:
//! everything is asked of the crate `stubborn`, within limits. The protocol is that of the official SDK (`rmcp`); its
//! runtime stays in this crate. What is computed runs on threads of its own, so many at once as the settings say.
//!
//! | module | owns |
//! |---|---|
//! | `asked` | what tools take: models, questions, limits |
//! | `told` | what tools answer: verdicts, runs, mistakes |
//! | `tools` | the tools: which there are, and one module for each |
//! | `server` | the protocol: who asks, how long it may take, progress, cancellation |

mod asked;
mod server;
mod told;
mod tools;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use stubborn::Limits;
use stubborn::folder::Folder;
use tokio::io::{AsyncRead, AsyncWrite};

/// How the server is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder whose models can be named; without it, none can.
    pub folder: Option<PathBuf>,
    /// How far a call may go at most: time and memory. Calls that say nothing get less.
    pub limits: Limits,
    /// How many calls compute at once; the others wait.
    pub jobs: usize,
}

impl Default for Settings {
    /// No files, and limits that leave the machine usable.
    fn default() -> Settings {
        let limits = Limits::default().time(Duration::from_secs(300)).memory(1_000_000_000);
        Settings { folder: None, limits, jobs: 2 }
    }
}

/// Serves an agent on the standard input and output until it has had enough.
///
/// # Errors
/// The folder cannot be read, or the other side does not keep to the protocol.
pub fn stdio(settings: &Settings) -> io::Result<()> {
    let runtime = runtime()?;
    let served = runtime.block_on(serve(tokio::io::stdin(), tokio::io::stdout(), settings));
    // Somebody may still wait for the standard input.
    runtime.shutdown_background();
    served
}

/// A runtime of one thread: whatever takes long runs elsewhere.
///
/// # Errors
/// The system gives none.
pub fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// Serves an agent on any two streams, until the first one ends.
///
/// # Errors
/// The folder cannot be read, or the other side does not keep to the protocol.
pub async fn serve(
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    settings: &Settings,
) -> io::Result<()> {
    let folder = settings.folder.as_deref().map(Folder::new).transpose()?;
    server::serve(input, output, folder, settings).await
}
