//! `check --watch`: checks again whenever a file changes that the check was about.
//!
//! Folders are watched, not files: editors write a new file and put it in the place of the old one. A check that is
//! still running when something changes is given up.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use notify::{RecursiveMode, Watcher as _};
use stubborn::base::SourceMap;

use crate::args::CheckArguments;
use crate::exit::{Exit, Failure};
use crate::terminal;

/// How often it is looked whether the user has had enough.
const TICK: Duration = Duration::from_millis(100);

/// Several changes that follow each other faster than this are one.
const QUIET: Duration = Duration::from_millis(60);

/// Checks until the user has had enough; `check` keeps the texts that it has read.
pub(crate) fn run(
    arguments: &CheckArguments,
    mut check: impl FnMut(&mut SourceMap) -> Exit,
) -> Result<Exit, Failure> {
    let file = &arguments.model.file;
    if file == Path::new("-") {
        return Err(Failure::plain("usage", "--watch needs a file: the standard input does not change"));
    }
    terminal::catch_interrupts();
    let mut watch = Watch::new()?;
    let given = std::iter::once(file).chain(&arguments.claim).chain(&arguments.mcc);
    let given: Vec<PathBuf> = given.cloned().collect();
    watch.files(given.iter().cloned())?;
    let own = file.parent().unwrap_or(Path::new(""));
    loop {
        terminal::set_changed(false);
        let mut read = SourceMap::new();
        let exit = check(&mut read);
        if terminal::is_interrupted() {
            return Ok(exit);
        }
        let folders = std::iter::once(own).chain(arguments.model.folders.iter().map(Path::new));
        let beside = |folder: &Path| -> Vec<PathBuf> {
            read.iter().map(|source| folder.join(&source.name)).filter(|path| path.is_file()).collect()
        };
        watch.files(folders.flat_map(beside))?;
        if !terminal::has_changed() {
            terminal::print_stderr("waiting for changes; Ctrl-C ends\n");
        }
        match watch.wait() {
            Some(name) => {
                terminal::print_stderr(&format!("{} changed, checking again\n", name.to_string_lossy()));
            }
            None => return Ok(exit),
        }
    }
}

struct Watch {
    watcher: notify::RecommendedWatcher,
    folders: BTreeSet<PathBuf>,
    /// The names of the files that matter.
    names: Arc<Mutex<BTreeSet<OsString>>>,
    changes: Receiver<OsString>,
}

impl Watch {
    fn new() -> Result<Watch, Failure> {
        let (sender, changes) = mpsc::channel();
        let names: Arc<Mutex<BTreeSet<OsString>>> = Arc::default();
        let known = names.clone();
        let tell = move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            if event.kind.is_access() {
                return;
            }
            let known = known.lock().unwrap_or_else(PoisonError::into_inner);
            for name in event.paths.iter().filter_map(|path| path.file_name()) {
                if known.contains(name) {
                    terminal::set_changed(true);
                    // Nobody listens any more only when the program ends.
                    _ = sender.send(name.to_owned());
                }
            }
        };
        let watcher = notify::recommended_watcher(tell).map_err(|error| cannot_watch(&error))?;
        Ok(Watch { watcher, folders: BTreeSet::new(), names, changes })
    }

    /// Watches more files.
    fn files(&mut self, files: impl Iterator<Item = PathBuf>) -> Result<(), Failure> {
        for file in files {
            let Some(name) = file.file_name() else { continue };
            self.names.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
            let folder =
                file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if self.folders.insert(folder.to_owned()) {
                let watched = self.watcher.watch(folder, RecursiveMode::NonRecursive);
                watched.map_err(|error| cannot_watch(&error))?;
            }
        }
        Ok(())
    }

    /// Waits for a change; nothing if the user has had enough.
    fn wait(&self) -> Option<OsString> {
        let first = loop {
            if terminal::is_interrupted() || terminal::stdout_is_closed() {
                return None;
            }
            match self.changes.recv_timeout(TICK) {
                Ok(name) => break name,
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            }
        };
        while self.changes.recv_timeout(QUIET).is_ok() {}
        Some(first)
    }
}

fn cannot_watch(error: &notify::Error) -> Failure {
    Failure::plain("cannot-watch", format!("files cannot be watched: {error}"))
}
