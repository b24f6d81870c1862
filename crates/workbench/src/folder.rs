//! The folder that the user named: the only place where files are read and written.
//!
//! A name is taken apart before anything is looked at: it consists of ordinary parts, without `..`, and is relative.
//! Then links are followed, and what they lead to must be inside. Files are written only under the name that the user
//! gave, and over another file only if the user said so.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use stubborn::LANGUAGES;

/// More files are not listed.
const MAX_FILES: usize = 500;

/// Folders in folders are looked into so far.
const MAX_DEPTH: usize = 3;

/// A longer file is not opened.
const MAX_BYTES: u64 = crate::http::MAX_BODY as u64;

/// A folder, with links followed.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
}

/// Why a file is not read or written.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The name leads outside, or is none.
    Outside,
    /// There is such a file already.
    Exists,
    /// As the operating system says.
    System(String),
}

impl Refused {
    /// In words.
    pub(crate) fn message(&self, name: &str) -> String {
        match self {
            Refused::Outside => {
                format!("`{name}` is no name of a file in the folder that the workbench was given")
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
    pub(crate) fn new(path: &Path) -> io::Result<Folder> {
        let root = fs::canonicalize(path)?;
        if root.is_dir() { Ok(Folder { root }) } else { Err(io::Error::other("it is not a folder")) }
    }

    /// What it is called.
    pub(crate) fn name(&self) -> String {
        self.root.display().to_string()
    }

    /// The models in it, by their names.
    pub(crate) fn files(&self) -> Vec<String> {
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
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, Refused> {
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
    pub(crate) fn write(&self, name: &str, text: &str, replaces: bool) -> Result<(), Refused> {
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
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| LANGUAGES.iter().any(|known| known.extensions.contains(&extension)))
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
