//! Several processes, perhaps on several machines, that search together.
//!
//! Every process is started by the same command, and told which one it is. It finds the others ([`Plan`]), makes sure that they know
//! the same [`Secret`] and do the same (module `handshake`), and hands its [`Network`] to the engine as
//! [`Peers`](stubborn::base::Peers); what is searched how, `check::distributed` knows. [`launch`] starts processes on
//! this machine. A [`Checkpoint`] is a folder in which searches are kept.
//!
//! # What is trusted
//! Connections are plain TCP: what goes over them can be read and changed by whoever is in between. A process listens on its own
//! address only, until all others have come. Who connects and does not prove that it knows the secret is
//! refused before anything else is read, and may send whatever it likes, or nothing. Secrets are not sent.
//!
//! # When something breaks
//! Whoever is gone is noticed at once if its machine is alive, and after [`network::SILENCE`] if not. Then nothing more is searched:
//! every process ends with [`Limit::Process`](stubborn::base::Limit::Process).

pub mod about;
pub mod checkpoint;
mod handshake;
pub mod launch;
pub mod network;
mod plan;
mod secret;

pub use checkpoint::Checkpoint;
pub use network::Network;
pub use plan::Plan;
pub use secret::Secret;

use std::fmt;

/// Why processes do not come together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// What was asked for is wrong, or the processes do not do the same.
    Wrong(String),
    /// Others did not come, or went.
    Lost(String),
    /// The user has had enough.
    Interrupted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Wrong(why) | Error::Lost(why) => f.write_str(why),
            Error::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}
