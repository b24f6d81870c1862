//! A folder in which searches are kept, so that they can go on after an interruption.
//!
//! Every part of a piece ([`Keeper`]) is a file of words. The file `checkpoint` lists what counts: what was checked, by which version, and for
//! each search the parts of its pieces, with their sizes and hashes. All files are written under another name, and renamed when they are complete
//! and on the disk. So whenever the power fails, the folder has the last checkpoint that was finished; what is there of a later one
//! is overwritten.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use stubborn::base::keeper::{Keeper, Part, Receipt, Record, Sink, Words};
use stubborn::base::{Limit, Worker};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::Error;

/// How often something is written, if nobody says.
pub const EVERY: Duration = Duration::from_secs(60);

/// Writing may take one part in so many of the time.
const SHARE: u32 = 20;

/// The list, and its first line.
const LIST: &str = "checkpoint";
const HEAD: &str = "stubborn checkpoint 1";

/// A folder in which searches are kept.
pub struct Checkpoint {
    folder: PathBuf,
    /// What is checked, and by what.
    lines: Vec<String>,
    every: Duration,
    now: Mutex<Now>,
}

struct Now {
    searches: BTreeMap<u32, Search>,
    n_begun: u32,
    /// When it was written last, and how long that took.
    written: Instant,
    cost: Duration,
    failure: Option<String>,
}

/// What is listed of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Search {
    tag: u64,
    summary: Vec<u32>,
    pieces: Vec<Vec<Receipt>>,
}

fn wrong(message: String) -> Error {
    Error::Wrong(message)
}

impl Checkpoint {
    /// Begins in a folder that has no checkpoint.
    ///
    /// # Errors
    /// It has one, or cannot be used.
    pub fn create(folder: &Path, lines: Vec<String>, every: Duration) -> Result<Checkpoint, Error> {
        let name = folder.display();
        fs::create_dir_all(folder)
            .map_err(|error| wrong(format!("cannot keep anything in `{name}`: {error}")))?;
        if folder.join(LIST).exists() {
            let message =
                format!("there is a checkpoint in `{name}`: go on with it by --resume, or remove the folder");
            return Err(wrong(message));
        }
        Ok(Checkpoint::new(folder, lines, every, BTreeMap::new()))
    }

    /// Goes on with what is in a folder, if it was written for the same: `lines` say what that is.
    ///
    /// # Errors
    /// There is nothing, it is damaged, or it is about something else.
    pub fn resume(folder: &Path, lines: Vec<String>, every: Duration) -> Result<Checkpoint, Error> {
        let name = folder.display();
        let text = fs::read_to_string(folder.join(LIST))
            .map_err(|error| wrong(format!("there is no checkpoint in `{name}`: {error}")))?;
        let damaged = |what: &str| wrong(format!("the checkpoint in `{name}` is damaged: {what}"));
        let (there, searches) = parse(&text).ok_or_else(|| damaged("its list is not complete"))?;
        let mut pairs = there
            .iter()
            .map(Some)
            .chain(std::iter::repeat(None))
            .zip(lines.iter().map(Some).chain(std::iter::repeat(None)));
        let n_lines = there.len().max(lines.len());
        if let Some((there, here)) = pairs.by_ref().take(n_lines).find(|(there, here)| there != here) {
            let [there, here] = [there, here].map(|line| line.map_or("", |line| line.trim()));
            let message =
                format!("the checkpoint in `{name}` is of something else: `{there}` there, `{here}` here");
            return Err(wrong(message));
        }
        let checkpoint = Checkpoint::new(folder, lines, every, searches);
        for part in checkpoint.parts() {
            checkpoint.verify(part).map_err(|what| damaged(&what))?;
        }
        Ok(checkpoint)
    }

    fn new(
        folder: &Path,
        lines: Vec<String>,
        every: Duration,
        searches: BTreeMap<u32, Search>,
    ) -> Checkpoint {
        let (written, cost) = (Instant::now(), Duration::ZERO);
        let now = Mutex::new(Now { searches, n_begun: 0, written, cost, failure: None });
        Checkpoint { folder: folder.to_owned(), lines, every, now }
    }

    /// Why something could not be written, if that was so.
    pub fn failure(&self) -> Option<String> {
        self.lock().failure.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, part: Part) -> PathBuf {
        let Part { search, piece, worker: Worker { index, of } } = part;
        self.folder.join(format!("{search}-{piece}-{index}-of-{of}.words"))
    }

    /// All parts that are listed, with what was written.
    fn parts(&self) -> Vec<(Part, Receipt)> {
        let now = self.lock();
        let mut parts = Vec::new();
        for (&search, known) in &now.searches {
            for (piece, receipts) in (0..).zip(&known.pieces) {
                let of = receipts.len();
                parts.extend(receipts.iter().enumerate().map(|(index, &receipt)| {
                    (Part { search, piece, worker: Worker { index, of } }, receipt)
                }));
            }
        }
        parts
    }

    /// Whether a part is as it was written.
    fn verify(&self, (part, receipt): (Part, Receipt)) -> Result<(), String> {
        let path = self.path(part);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut file = File::open(&path).map_err(|error| format!("{name}: {error}"))?;
        let (mut hasher, mut n_bytes, mut buffer) = (Xxh3::new(), 0, vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer).map_err(|error| format!("{name}: {error}"))? {
                0 => break,
                n => {
                    n_bytes += n as u64;
                    hasher.update(&buffer[..n]);
                }
            }
        }
        match () {
            () if n_bytes != 4 * receipt.n_words => Err(format!("{name} has another size")),
            () if hasher.digest() != receipt.hash => Err(format!("{name} has other contents")),
            () => Ok(()),
        }
    }

    /// Writes a file, which is there when all of it is on the disk.
    fn write_file(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
        let beside = path.with_extension("new");
        let mut file = BufWriter::with_capacity(1 << 16, File::create(&beside)?);
        fill(&mut file)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(beside, path)
    }

    fn failed(&self, error: &io::Error) {
        let message = format!("nothing more can be kept in `{}`: {error}", self.folder.display());
        self.lock().failure.get_or_insert(message);
    }
}

impl Keeper for Checkpoint {
    fn is_due(&self) -> bool {
        let now = self.lock();
        now.failure.is_none() && now.written.elapsed() >= self.every.max(now.cost * SHARE)
    }

    fn begin(&self, tag: u64) -> (u32, Option<Record>) {
        let mut now = self.lock();
        let number = now.n_begun;
        now.n_begun += 1;
        if now.searches.get(&number).is_some_and(|known| known.tag != tag) {
            now.searches.remove(&number);
        }
        let record = now.searches.get(&number).map(|known| Record {
            summary: known.summary.clone(),
            pieces: known.pieces.iter().map(|parts| parts.len() as u32).collect(),
        });
        (number, record)
    }

    fn write(&self, part: Part, fill: &mut dyn FnMut(&mut Sink<'_>)) -> Option<Receipt> {
        let start = Instant::now();
        let (mut hasher, mut n_words) = (Xxh3::new(), 0);
        let written = Checkpoint::write_file(&self.path(part), |file| {
            let (mut result, mut bytes) = (Ok(()), Vec::new());
            fill(&mut |words: &[u32]| {
                bytes.clear();
                words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
                hasher.update(&bytes);
                if result.is_ok() {
                    result = file.write_all(&bytes);
                }
                n_words += words.len() as u64;
            });
            result
        });
        self.lock().cost = start.elapsed();
        match written {
            Ok(()) => Some(Receipt { n_words, hash: hasher.digest() }),
            Err(error) => {
                self.failed(&error);
                None
            }
        }
    }

    fn commit(&self, search: u32, tag: u64, summary: &[u32], receipts: &[Receipt]) {
        let text = {
            let mut now = self.lock();
            let known = now.searches.entry(search).or_default();
            known.tag = tag;
            known.summary = summary.to_vec();
            known.pieces.push(receipts.to_vec());
            now.written = Instant::now();
            list(&self.lines, &now.searches)
        };
        let path = self.folder.join(LIST);
        if let Err(error) = Checkpoint::write_file(&path, |file| file.write_all(text.as_bytes())) {
            self.failed(&error);
        }
    }

    fn read(&self, part: Part) -> Result<Box<dyn Words + '_>, Limit> {
        let file = File::open(self.path(part)).map_err(|_| Limit::Kept)?;
        Ok(Box::new(Reading(BufReader::with_capacity(1 << 16, file))))
    }
}

struct Reading(BufReader<File>);

impl Words for Reading {
    fn next(&mut self, out: &mut [u32]) -> bool {
        let mut bytes = [0; 4];
        out.iter_mut().all(|word| {
            let is_there = self.0.read_exact(&mut bytes).is_ok();
            *word = u32::from_le_bytes(bytes);
            is_there
        })
    }
}

/// The list as a text, which ends with its hash.
fn list(lines: &[String], searches: &BTreeMap<u32, Search>) -> String {
    let mut text = format!("{HEAD}\n{}\n", lines.len());
    lines.iter().for_each(|line| _ = writeln!(text, "{line}"));
    for (number, Search { tag, summary, pieces }) in searches {
        _ = write!(text, "search {number} {tag}");
        summary.iter().for_each(|word| _ = write!(text, " {word}"));
        text.push('\n');
        for piece in pieces {
            text.push_str("piece");
            piece.iter().for_each(|part| _ = write!(text, " {} {}", part.n_words, part.hash));
            text.push('\n');
        }
    }
    let hash = xxh3_64(text.as_bytes());
    text + &format!("end {hash}\n")
}

/// What a list says; nothing if it is not complete.
fn parse(text: &str) -> Option<(Vec<String>, BTreeMap<u32, Search>)> {
    let (body, end) = text.strip_suffix('\n')?.rsplit_once('\n')?;
    let hash: u64 = end.strip_prefix("end ")?.parse().ok()?;
    if xxh3_64(&text.as_bytes()[..=body.len()]) != hash {
        return None;
    }
    let mut lines = body.lines();
    if lines.next()? != HEAD {
        return None;
    }
    let n: usize = lines.next()?.parse().ok()?;
    let about: Vec<String> = lines.by_ref().take(n).map(str::to_owned).collect();
    let mut searches = BTreeMap::new();
    let mut last = None;
    for line in lines {
        let mut words = line.split(' ');
        match words.next()? {
            "search" => {
                let number: u32 = words.next()?.parse().ok()?;
                let tag = words.next()?.parse().ok()?;
                let summary = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
                searches.insert(number, Search { tag, summary, pieces: Vec::new() });
                last = Some(number);
            }
            "piece" => {
                let numbers: Vec<u64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
                let parts = numbers.chunks_exact(2).map(|two| Receipt { n_words: two[0], hash: two[1] });
                searches.get_mut(&last?)?.pieces.push(parts.collect());
            }
            _ => return None,
        }
    }
    (about.len() == n).then_some((about, searches))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: Worker = Worker { index: 0, of: 1 };

    fn lines(text: &str) -> Vec<String> {
        vec![text.to_owned(), "and more".to_owned()]
    }

    /// A folder with one piece of a search.
    fn kept(folder: &Path) {
        let checkpoint = Checkpoint::create(folder, lines("model: m"), Duration::ZERO).unwrap();
        assert_eq!(checkpoint.begin(7), (0, None));
        assert!(checkpoint.is_due());
        let part = Part { search: 0, piece: 0, worker: ALONE };
        let receipt = checkpoint.write(part, &mut |sink| sink(&[1, 2, 3])).unwrap();
        checkpoint.commit(0, 7, &[9, 8], &[receipt]);
        assert_eq!(checkpoint.failure(), None);
    }

    #[test]
    fn what_was_kept_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        kept(folder.path());
        let resume = |about: &str| Checkpoint::resume(folder.path(), lines(about), Duration::ZERO);
        let again = resume("model: m").unwrap();
        let record = Record { summary: vec![9, 8], pieces: vec![1] };
        assert_eq!(again.begin(7), (0, Some(record)));
        let mut words = again.read(Part { search: 0, piece: 0, worker: ALONE }).unwrap();
        let mut out = [0; 3];
        assert!(words.next(&mut out));
        assert_eq!(out, [1, 2, 3]);
        assert!(!words.next(&mut out));
        drop(words);
        // Another search than the one that was kept begins anew.
        assert_eq!(resume("model: m").unwrap().begin(6), (0, None));
        let error = resume("model: n").err().unwrap().to_string();
        assert!(error.contains("`model: m` there, `model: n` here"), "{error}");
        let error = Checkpoint::create(folder.path(), lines("model: m"), EVERY).err().unwrap().to_string();
        assert!(error.contains("--resume"), "{error}");
    }

    #[test]
    fn whatever_is_damaged_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        kept(folder.path());
        let files: Vec<PathBuf> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 2, "{files:?}");
        let refused = || {
            let error = Checkpoint::resume(folder.path(), lines("model: m"), EVERY).err();
            error.map(|error| error.to_string())
        };
        assert_eq!(refused(), None);
        for file in files {
            let bytes = fs::read(&file).unwrap();
            for n in 0..bytes.len() {
                fs::write(&file, &bytes[..n]).unwrap();
                assert!(refused().unwrap().contains("damaged"), "{file:?} {n}");
                let mut other = bytes.clone();
                other[n] ^= 1;
                fs::write(&file, &other).unwrap();
                assert!(refused().unwrap().contains("damaged") || file.ends_with(LIST), "{file:?} {n}");
                assert!(refused().is_some(), "{file:?} {n}");
            }
            fs::remove_file(&file).unwrap();
            assert!(refused().is_some());
            fs::write(&file, bytes).unwrap();
        }
        assert_eq!(refused(), None);
    }

    #[test]
    fn what_cannot_be_written_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::create(folder.path(), lines("m"), Duration::ZERO).unwrap();
        fs::remove_dir_all(folder.path()).unwrap();
        let part = Part { search: 0, piece: 0, worker: ALONE };
        assert_eq!(checkpoint.write(part, &mut |sink| sink(&[1])), None);
        assert!(checkpoint.failure().unwrap().contains("nothing more can be kept"));
        assert!(!checkpoint.is_due());
    }
}
