//! The workbench in the browser: `stubborn serve`.
//!
//! A small server for one person on one machine, and the page that it serves. It knows no checking: everything is asked
//! of the crate `stubborn`, within limits. The page (`page/`) is plain modules and styles that are part of the program;
//! nothing is built, and nothing is fetched from elsewhere.
//!
//! | module | owns |
//! |---|---|
//! | `http` | requests and answers, bounded in size and time |
//! | `guard` | who may ask: token, host, origin |
//! | `jobs` | work that takes its time: waiting in line, progress, stopping |
//! | `spec` | models, questions and methods as the page spells them |
//! | `api` | what can be asked for, and which limits it has |
//! | `telling` | answers and runs as documents |
//! | `page` | the files of the page, and the examples |
//!
//! ```no_run
//! let server = stubborn_workbench::Server::bind(stubborn_workbench::Settings::default())?;
//! println!("{}", server.url());
//! server.run();
//! # Ok::<(), std::io::Error>(())
//! ```

mod api;
mod guard;
mod http;
mod jobs;
mod page;
mod spec;
mod telling;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use stubborn::Limits;
use stubborn::folder::Folder;

use self::api::Api;
use self::guard::Guard;
use self::http::Response;
use self::jobs::{Gate, Jobs};

/// So many connections are served at once; the others wait.
const MAX_CONNECTIONS: usize = 64;

/// How the workbench is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens; port 0 is any that is free.
    pub address: SocketAddr,
    /// The folder whose models can be opened and saved; without it, none can.
    pub folder: Option<PathBuf>,
    /// The model that is opened first, by its name in the folder.
    pub file: Option<String>,
    /// Constants or macros with their values, for that model.
    pub definitions: Vec<(String, Option<String>)>,
    /// How far each job may go.
    pub limits: Limits,
    /// How many jobs run at once; the others wait.
    pub jobs: usize,
}

impl Default for Settings {
    /// On this machine alone, without files, with limits that leave the machine usable.
    fn default() -> Settings {
        Settings {
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            folder: None,
            file: None,
            definitions: Vec::new(),
            limits: Limits::default().time(Duration::from_secs(300)).memory(1 << 30),
            jobs: 2,
        }
    }
}

/// A workbench that listens.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

struct Shared {
    guard: Guard,
    api: Api,
    is_over: AtomicBool,
}

/// Ends a server that runs.
#[derive(Clone)]
pub struct Stopper {
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    /// The address is taken or not allowed, the folder cannot be read, or the system gives no threads or no randomness.
    pub fn bind(settings: Settings) -> io::Result<Server> {
        let folder = settings.folder.as_deref().map(Folder::new).transpose()?;
        let listener = TcpListener::bind(settings.address)?;
        let guard = Guard::new(listener.local_addr()?.port())?;
        let jobs = Jobs::start(settings.jobs)?;
        let api = Api::new(settings, folder, jobs);
        Ok(Server { listener, shared: Arc::new(Shared { guard, api, is_over: AtomicBool::new(false) }) })
    }

    /// The address that opens the page: with the token, without which nothing is answered.
    pub fn url(&self) -> String {
        let (address, token) = (self.address(), self.shared.guard.token());
        match address.ip() {
            ip if ip.is_unspecified() => format!("http://localhost:{}/{token}/", address.port()),
            _ => format!("http://{address}/{token}/"),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap_or(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0))
    }

    /// Something to end it with.
    pub fn stopper(&self) -> Stopper {
        Stopper { shared: self.shared.clone(), address: self.address() }
    }

    /// Answers requests, until it is stopped.
    pub fn run(&self) {
        let gate = Arc::new(Gate::new(MAX_CONNECTIONS));
        loop {
            let inside = gate.enter();
            let accepted = self.listener.accept();
            if self.shared.is_over.load(Ordering::Relaxed) {
                break;
            }
            let Ok((stream, _)) = accepted else {
                // There may be too many open files: they become fewer.
                thread::sleep(Duration::from_millis(20));
                continue;
            };
            let shared = self.shared.clone();
            let serve = move || {
                // Nobody is told if the other side is gone.
                _ = shared.serve(stream);
                drop(inside);
            };
            // Without threads, the connection is closed.
            _ = thread::Builder::new().name("request".to_owned()).stack_size(jobs::STACK).spawn(serve);
        }
        self.shared.api.close();
    }
}

impl Stopper {
    /// Ends the server and all its jobs.
    pub fn stop(&self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // It waits for a connection: this is one.
        _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let response = match http::read(&mut stream) {
            Ok(request) => {
                let answer = || match self.guard.admit(&request) {
                    Ok(path) => self.api.answer(path, &request),
                    Err(refusal) => refusal,
                };
                let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(answer));
                answered.unwrap_or_else(|_| Response::refusal(500, "internal error, please report it"))
            }
            Err(Some(refusal)) => refusal,
            Err(None) => return Ok(()),
        };
        http::write(&mut stream, &response)
    }
}
