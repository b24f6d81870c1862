//! `stubborn-certify`: checks certificates, and nothing else.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base::{Budget, SourceMap};
use language::{File, Language, Options};
use stubborn_certify::{Certified, Proof, Refusal, certify};

/// The languages that models are written in.
static LANGUAGES: [&Language; 3] = [&process::LANGUAGE, &petri::LANGUAGE, &promela::LANGUAGE];

const USAGE: &str = "\
Checks that the properties of a model hold, as a certificate of `stubborn check --certificate` says.

Usage: stubborn-certify [-I DIR]... MODEL CERTIFICATE

Exit codes: 0 all are certified, 1 some are not, 2 bad input or usage";

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            _ = writeln!(std::io::stderr(), "{why}");
            ExitCode::from(2)
        }
    }
}

/// Whether all is certified, or what is wrong with what was given.
fn run() -> Result<bool, String> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    let mut arguments = std::env::args_os().skip(1);
    // Who does not listen any more is told nothing; the exit code tells all the same.
    let say = |line: &str| _ = writeln!(std::io::stdout(), "{line}");
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("-h" | "--help") => {
                say(USAGE);
                return Ok(true);
            }
            Some("-I") => folders.extend(arguments.next().map(PathBuf::from)),
            _ => files.push(PathBuf::from(argument)),
        }
    }
    let [model, certificate] = &files[..] else { return Err(USAGE.to_owned()) };
    let error = |path: &Path, why: String| format!("error: {}: {why}", path.display());
    let proofs = read(certificate).and_then(|bytes| Proof::read_all(&bytes));
    let mut all = true;
    for proof in &proofs.map_err(|why| error(certificate, why))? {
        let judged = of_model(model, &folders, proof).map_err(|why| error(model, why))?;
        all &= judged.is_ok();
        say(&match judged {
            Ok(certified) => format!("{proof}: certified ({certified})"),
            Err(why) => format!("{proof}: NOT CERTIFIED: {why}"),
        });
    }
    Ok(all)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| error.to_string())
}

/// Reads the model as a proof says, and checks the proof; or why the model cannot be read.
fn of_model(path: &Path, folders: &[PathBuf], proof: &Proof) -> Result<Result<Certified, Refusal>, String> {
    let name = &proof.model.language;
    let language = LANGUAGES.iter().find(|known| known.name == *name);
    let language = language.ok_or_else(|| format!("there is no language `{name}`"))?;
    let options = Options {
        definitions: proof.model.definitions.clone(),
        max_processes: proof.model.max_processes.clamp(1, 255),
        ..Options::default()
    };
    let own = path.parent().unwrap_or(Path::new(""));
    let mut loader = |name: &str| {
        let mut all = std::iter::once(own).chain(folders.iter().map(PathBuf::as_path));
        read(&all.find(|folder| folder.join(name).exists()).unwrap_or(own).join(name))
    };
    let file = File { name: path.display().to_string(), bytes: read(path)? };
    let (mut sources, mut budget) = (SourceMap::new(), Budget::unlimited());
    let model = (language.read)(file, &options, &mut sources, &mut loader, &mut budget);
    let mut model = model.map_err(|trouble| {
        format!("this is no model for the language `{name}`: {}", Refusal::from(trouble))
    })?;
    Ok(certify(&mut *model, &mut sources, proof, &mut budget))
}
