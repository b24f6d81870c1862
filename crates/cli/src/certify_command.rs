//! `stubborn certify`: checks certificates.

use stubborn::base::Diagnostic;
use stubborn::certify::{Certified, Proof, Refusal};
use stubborn::report::outcome::SCHEMA;
use stubborn::{ModelOptions, Session};

use crate::args::CertifyArguments;
use crate::exit::{Exit, Failure};
use crate::terminal::{self, Display};
use crate::{model, output};

pub(crate) fn run(arguments: &CertifyArguments) -> Result<Exit, Failure> {
    let display = Display::new(arguments.limits.quiet);
    let clock = model::clock(&arguments.limits, &display);
    let path = &arguments.certificate;
    let wrong = |why: String| -> Failure {
        Diagnostic::error("no-certificate", format!("{}: {why}", path.display()))
            .with_help("certificates are written by stubborn check --certificate FILE")
            .into()
    };
    let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    let proofs = Proof::read_all(&bytes).map_err(wrong)?;
    let mut judged: Vec<(&Proof, Result<Certified, Refusal>)> = Vec::new();
    for proof in &proofs {
        let options = ModelOptions {
            definitions: proof.model.definitions.clone(),
            max_processes: proof.model.max_processes.clamp(1, 255),
            language: Some(proof.model.language.clone()),
            folders: arguments.folders.clone(),
        };
        let certified = match Session::open_within(&arguments.file, &options, &clock) {
            Ok(mut session) => session.certify(proof, &clock),
            Err(error) => Err(Refusal::Limit(error.limit().ok_or(error)?)),
        };
        judged.push((proof, certified));
    }
    display.clear();
    if arguments.limits.json {
        output::print_json(&clock, &document(&judged), None)?;
    } else {
        judged
            .iter()
            .for_each(|(proof, judged)| terminal::print_stdout(&format!("{proof}: {}\n", told(judged))));
    }
    let is_limit = |judged: &Result<Certified, Refusal>| matches!(judged, Err(Refusal::Limit(_)));
    Ok(match judged.iter().find(|(_, judged)| judged.is_err() && !is_limit(judged)) {
        Some(_) => Exit::Violated,
        None if judged.iter().any(|(_, judged)| is_limit(judged)) => Exit::Undecided,
        None => Exit::Success,
    })
}

fn told(judged: &Result<Certified, Refusal>) -> String {
    match judged {
        Ok(certified) => format!("certified ({certified})"),
        Err(Refusal::Limit(limit)) => format!("unknown ({limit})"),
        Err(refused) => format!("NOT CERTIFIED: {refused}"),
    }
}

fn document(judged: &[(&Proof, Result<Certified, Refusal>)]) -> serde_json::Value {
    let result = |(proof, judged): &(&Proof, Result<Certified, Refusal>)| {
        let verdict = match judged {
            Ok(_) => "certified",
            Err(Refusal::Limit(_)) => "unknown",
            Err(Refusal::Wrong(_)) => "refused",
        };
        serde_json::json!({
            "property": proof.property,
            "fairness": proof.fairness,
            "ends": proof.ends,
            "verdict": verdict,
            "reason": judged.as_ref().err().map(ToString::to_string),
            "states": judged.as_ref().ok().map(|certified| certified.states),
            "product_states": judged.as_ref().ok().map(|certified| certified.pairs),
        })
    };
    serde_json::json!({ "schema": SCHEMA, "results": judged.iter().map(result).collect::<Vec<_>>() })
}
