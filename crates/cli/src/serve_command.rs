//! `stubborn serve`: the workbench in the browser.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use stubborn::Limits;
use workbench::{Server, Settings};

use crate::args::ServeArguments;
use crate::exit::{Exit, Failure};
use crate::terminal;

pub(crate) fn run(arguments: &ServeArguments) -> Result<Exit, Failure> {
    let (folder, file) = place(arguments)?;
    let settings = Settings {
        address: SocketAddr::new(arguments.address, arguments.port),
        folder,
        file,
        definitions: arguments.definitions.clone(),
        limits: Limits::default().time(arguments.timeout).memory(arguments.max_memory),
        jobs: usize::from(arguments.jobs),
    };
    let address = settings.address;
    let server = Server::bind(settings)
        .map_err(|error| Failure::plain("cannot-serve", format!("cannot serve on {address}: {error}")))?;
    if !address.ip().is_loopback() {
        terminal::print_stderr(&format!(
            "warning: {address} can be reached from other machines; who knows the address below can use this one\n"
        ));
    }
    let url = server.url();
    terminal::print_stdout(&format!("The workbench is at {url}\nEnd it with Ctrl+C.\n"));
    if !arguments.no_open {
        open(&url);
    }
    let stopper = server.stopper();
    // A second one would be a mistake of ours; without one, Ctrl+C ends the program all the same.
    _ = ctrlc::set_handler(move || stopper.stop());
    server.run();
    Ok(Exit::Success)
}

/// The folder that files may be in, and the file to begin with.
fn place(arguments: &ServeArguments) -> Result<(Option<PathBuf>, Option<String>), Failure> {
    let given = arguments.folder.as_deref();
    let Some(path) = arguments.file.as_deref() else { return Ok((given.map(whole).transpose()?, None)) };
    let path = whole(path)?;
    if path.is_dir() {
        return match given {
            None => Ok((Some(path), None)),
            Some(_) => Err(Failure::plain("usage", "give one folder: as an argument, or by --folder")),
        };
    }
    let folder = match given {
        Some(folder) => whole(folder)?,
        None => path.parent().unwrap_or(Path::new("/")).to_path_buf(),
    };
    match path.strip_prefix(&folder).ok().and_then(Path::to_str) {
        Some(name) => Ok((Some(folder.clone()), Some(name.to_owned()))),
        None => {
            let message = format!("`{}` is not in the folder `{}`", path.display(), folder.display());
            Err(Failure::plain("usage", message))
        }
    }
}

/// A path without links, if it is there.
fn whole(path: &Path) -> Result<PathBuf, Failure> {
    let error = |why| Failure::plain("cannot-read", format!("cannot read `{}`: {why}", path.display()));
    std::fs::canonicalize(path).map_err(error)
}

/// Asks the desktop to show the page, if there is one; nobody waits for it.
fn open(url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let has_desktop = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if has_desktop {
        _ = Command::new(program)
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
    }
}
