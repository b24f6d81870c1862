//! The folder that a user named, for programs that others ask to read and write files: nothing leads out of it. And
//! models that are sent as texts, whose other files are looked for in such a folder alone.
//!
//! A name is taken apart before anything is looked at: it consists of ordinary parts, without `..`, and is relative.
//! Then links are followed, and what they lead to must be inside. Files are written only under the name that the user
//! gave, and over another file only if the user said so.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use base::Diagnostic;
use language::{File, Language, Options};

use crate::Error;
use crate::clock::Clock;
use crate::session::{LANGUAGES, Session, language_by_name, language_named, language_of};

/// More files are not listed.
const MAX_FILES: usize = 500;

/// Folders in folders are looked into so far.
const MAX_DEPTH: usize = 3;

/// A longer file is not opened.
const MAX_BYTES: u64 = 8 << 20;

/// A folder, with links followed.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
}

/// Why a file is not read or written.
#[derive(Debug)]
pub enum Refused {
    /// The name leads outside, or is none.
    Outside,
    /// There is such a file already.
    Exists,
    /// As the operating system says.
    System(String),
}

impl Refused {
    /// In words.
    pub fn message(&self, name: &str) -> String {
        match self {
            Refused::Outside => {
                format!("`{name}` is no name of a file in the folder that may be used")
            }
            Refused::Exists => format!("there is a file `{name}` already"),
            Refused::System(why) => format!("`{name}`: {why}"),
        }
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Refused {
        Refused::System(error.to_string())
    }
}

impl Folder {
    /// A folder that is there.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn new(path: &Path) -> io::Result<Folder> {
        let root = fs::canonicalize(path)?;
        if root.is_dir() { Ok(Folder { root }) } else { Err(io::Error::other("it is not a folder")) }
    }

    /// What it is called.
    pub fn name(&self) -> String {
        self.root.display().to_string()
    }

    /// The models in it, by their names.
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut work = vec![(self.root.clone(), 0)];
        while let Some((folder, depth)) = work.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
                let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                if found.len() >= MAX_FILES || is_hidden {
                    continue;
                }
                if kind.is_dir() && depth < MAX_DEPTH {
                    work.push((path, depth + 1));
                } else if kind.is_file() && is_model(&path) {
                    let name = path.strip_prefix(&self.root).ok().and_then(Path::to_str);
                    found.extend(name.map(str::to_owned));
                }
            }
        }
        found.sort();
        found
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The name leads outside, or the file cannot be read.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, Refused> {
        let path = self.within(name)?;
        let facts = fs::metadata(&path)?;
        if !facts.is_file() {
            return Err(Refused::System("it is not a file".to_owned()));
        }
        if facts.len() > MAX_BYTES {
            return Err(Refused::System(format!("it is longer than {MAX_BYTES} bytes")));
        }
        Ok(fs::read(&path)?)
    }

    /// Writes a model; over another one only if that is meant.
    ///
    /// # Errors
    /// The name leads outside or is not that of a model, the file exists, or it cannot be written.
    pub fn write(&self, name: &str, text: &str, replaces: bool) -> Result<(), Refused> {
        let path = self.within(name)?;
        if !is_model(&path) {
            let all: Vec<String> =
                LANGUAGES.iter().map(|known| format!(".{}", known.extensions[0])).collect();
            return Err(Refused::System(format!("models have names that end in {}", all.join(", "))));
        }
        let mut options = fs::OpenOptions::new();
        options.write(true);
        let opened =
            if replaces { options.create(true).truncate(true) } else { options.create_new(true) }.open(&path);
        let mut file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Refused::Exists,
            _ => error.into(),
        })?;
        Ok(io::Write::write_all(&mut file, text.as_bytes())?)
    }

    /// The path of a name, if it leads inside. The last part need not exist.
    fn within(&self, name: &str) -> Result<PathBuf, Refused> {
        let relative = Path::new(name);
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if name.is_empty() || name.contains(['\0', '\\']) || !relative.components().all(is_plain) {
            return Err(Refused::Outside);
        }
        let path = self.root.join(relative);
        let (Some(parent), Some(last)) = (path.parent(), path.file_name()) else {
            return Err(Refused::Outside);
        };
        let parent = fs::canonicalize(parent)?;
        let whole = match fs::symlink_metadata(parent.join(last)) {
            Ok(_) => fs::canonicalize(parent.join(last))?,
            Err(_) => parent.join(last),
        };
        if whole.starts_with(&self.root) && whole != self.root { Ok(whole) } else { Err(Refused::Outside) }
    }
}

fn is_model(path: &Path) -> bool {
    language_by_name(path).is_some()
}

/// A model that is sent as a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Its file in the folder, if it has one.
    pub name: Option<String>,
    /// The language, if neither the name nor the text tells.
    pub language: Option<String>,
    /// The text.
    pub text: String,
    /// Constants or macros with their values.
    pub definitions: Vec<(String, Option<String>)>,
}

impl Draft {
    /// Reads it, and says whether other files were read, too: those that it names are looked for beside it in the
    /// folder, and nowhere if there is none.
    ///
    /// # Errors
    /// What is wrong with the text, or a limit was reached.
    pub fn open(&self, folder: Option<&Folder>, clock: &Clock<'_>) -> Result<(Session, bool), Error> {
        let mut has_others = false;
        let language = self.language()?;
        let own = self.name.clone().unwrap_or_else(|| format!("model.{}", language.extensions[0]));
        let parent = Path::new(&own).parent().map(Path::to_path_buf).unwrap_or_default();
        let file = File { name: own, bytes: self.text.clone().into_bytes() };
        let mut load = |name: &str| {
            has_others = true;
            let Some(folder) = folder else {
                return Err("other files cannot be read, since no folder was given".to_owned());
            };
            let beside = parent.join(name);
            folder.read(&beside.to_string_lossy()).map_err(|why| why.message(name))
        };
        let options = Options { definitions: self.definitions.clone(), ..Options::default() };
        let session = Session::read(language, file, &options, &mut load, clock)?;
        Ok((session, has_others))
    }

    fn language(&self) -> Result<&'static Language, Diagnostic> {
        if let Some(name) = &self.language {
            return language_named(name);
        }
        let by_name = self.name.as_deref().and_then(|name| language_by_name(Path::new(name)));
        let unknown = || {
            let names: Vec<&str> = LANGUAGES.iter().map(|known| known.name).collect();
            Diagnostic::error("unknown-language", "nothing tells in which language the model is")
                .with_help(format!("say the language: {}", names.join(", ")))
        };
        by_name.or_else(|| language_of(self.text.as_bytes())).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leads_outside() {
        let outer = tempfile::tempdir().unwrap();
        let inside = outer.path().join("in");
        fs::create_dir_all(inside.join("deep")).unwrap();
        fs::write(outer.path().join("secret.proc"), "secret").unwrap();
        fs::write(inside.join("a.proc"), "a").unwrap();
        fs::write(inside.join("deep/b.pml"), "b").unwrap();
        fs::write(inside.join("note.txt"), "c").unwrap();
        let folder = Folder::new(&inside).unwrap();
        assert_eq!(folder.files(), ["a.proc", "deep/b.pml"]);
        assert_eq!(folder.read("deep/b.pml").unwrap(), b"b");
        let absolute = outer.path().join("secret.proc").display().to_string();
        let bad = [
            "../secret.proc",
            "deep/../../secret.proc",
            "/etc/passwd",
            &absolute,
            "",
            ".",
            "./a.proc/..",
            "a\0",
        ];
        for name in bad {
            assert!(matches!(folder.read(name), Err(Refused::Outside)), "{name:?}");
            assert!(matches!(folder.write(name, "x", true), Err(Refused::Outside)), "{name:?}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outer.path().join("secret.proc"), inside.join("link.proc")).unwrap();
            std::os::unix::fs::symlink(outer.path(), inside.join("up")).unwrap();
            for name in ["link.proc", "up/secret.proc", "up/new.proc"] {
                assert!(matches!(folder.read(name), Err(Refused::Outside)), "{name}");
                assert!(matches!(folder.write(name, "x", true), Err(Refused::Outside)), "{name}");
            }
        }
        assert_eq!(fs::read(outer.path().join("secret.proc")).unwrap(), b"secret");
        assert!(matches!(folder.write("a.proc", "x", false), Err(Refused::Exists)));
        assert!(matches!(folder.write("a.sh", "x", false), Err(Refused::System(_))));
        folder.write("a.proc", "y", true).unwrap();
        folder.write("new.pml", "z", false).unwrap();
        assert_eq!(
            (folder.read("a.proc").unwrap(), folder.read("new.pml").unwrap()),
            (b"y".to_vec(), b"z".to_vec())
        );
    }
}
