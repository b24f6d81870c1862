//! A language server for process networks, Promela and formulas: what editors ask while somebody types.
//!
//! Nothing is checked or resolved here. Mistakes are those that [`stubborn::Session`] finds, names mean what the front ends
//! say ([`stubborn::language::Outline`]), and the lenses *check* and *step through* ask a session.
//!
//! | module | owns |
//! |---|---|
//! | `text` | a text that is edited: lines, columns as the protocol counts them |
//! | `analysis` | mistakes and the outline of a text |
//! | `features` | hover, definitions, references, rename, completion, symbols, formatting, lenses |
//! | `diagnoser` | the thread that looks for mistakes a moment after the last key |
//! | `checks` | checks that somebody asked for: a thread each, with limits, progress, and an end on demand |
//! | `server` | the protocol: who asks, what is open, what is answered |
//! | `transport` | messages on the standard input and output |

mod analysis;
mod checks;
mod diagnoser;
mod features;
mod server;
mod text;
mod transport;

use std::error::Error;

pub use analysis::{Settings, diagnose};
pub use lsp_server::Connection;
pub use server::serve;
use transport::Transport;

/// Serves an editor on the standard input and output until it has had enough.
///
/// # Errors
/// The editor does not keep to the protocol, or is gone.
pub fn stdio() -> Result<(), Box<dyn Error + Send + Sync>> {
    let (connection, transport) = Transport::stdio();
    match serve(connection) {
        Ok(()) => Ok(transport.join()?),
        // Where nothing can be read any more, that is why.
        Err(error) => Err(transport.trouble().map_or(error, Into::into)),
    }
}
