//! What the checker of certificates says about a file of them, and the model that they are about.

use std::fmt;
use std::path::Path;

use base::Diagnostic;
use certify::{Certified, Proof, Refusal};
use language::Options;
use report::Verdict;
use report::outcome::SCHEMA;
use serde_json::{Value, json};

use crate::Error;
use crate::clock::Clock;
use crate::session::Session;

/// The properties of a certificate, each certified or not.
#[derive(Debug)]
pub struct CertifyReport {
    /// What is claimed, and what the checker says to it.
    pub results: Vec<(Proof, Result<Certified, Refusal>)>,
}

impl CertifyReport {
    /// Checks the certificate in a file. For each property the model is read as the certificate says; `folders` may hold
    /// files that it includes.
    ///
    /// ```no_run
    /// use stubborn::{CertifyReport, Clock, Limits, Verdict};
    ///
    /// let clock = Clock::start(&Limits::default());
    /// let report = CertifyReport::new("peterson.proc".as_ref(), "peterson.scert".as_ref(), &[], &clock)?;
    /// assert_eq!(report.verdict(), Verdict::Holds, "{report}");
    /// # Ok::<(), stubborn::Error>(())
    /// ```
    ///
    /// # Errors
    /// The file is no certificate, or the model cannot be read.
    pub fn new(
        model: &Path,
        certificate: &Path,
        folders: &[String],
        clock: &Clock<'_>,
    ) -> Result<CertifyReport, Error> {
        let wrong = |why: String| {
            Diagnostic::error("no-certificate", format!("{}: {why}", certificate.display()))
                .with_help("certificates are written by stubborn check --certificate FILE")
        };
        let bytes = std::fs::read(certificate).map_err(|error| wrong(error.to_string()))?;
        let mut results = Vec::new();
        for proof in Proof::read_all(&bytes).map_err(wrong)? {
            let options = Options {
                definitions: proof.model.definitions.clone(),
                max_processes: proof.model.max_processes.clamp(1, 255),
                language: Some(proof.model.language.clone()),
                folders: folders.to_vec(),
            };
            let judged = match Session::open_within(model, &options, clock) {
                Ok(mut session) => session.certify(&proof, clock),
                Err(error) => Err(Refusal::Limit(error.limit().ok_or(error)?)),
            };
            results.push((proof, judged));
        }
        Ok(CertifyReport { results })
    }

    /// The same as a document.
    pub fn to_json(&self) -> Value {
        let result = |(proof, judged): &(Proof, Result<Certified, Refusal>)| {
            let verdict = match verdict_of(judged) {
                Verdict::Holds => "certified",
                Verdict::Unknown => "unknown",
                Verdict::Violated => "refused",
            };
            json!({
                "property": proof.property,
                "fairness": proof.fairness,
                "ends": proof.ends,
                "verdict": verdict,
                "reason": judged.as_ref().err().map(ToString::to_string),
                "states": judged.as_ref().ok().map(|certified| certified.states),
                "product_states": judged.as_ref().ok().map(|certified| certified.pairs),
            })
        };
        json!({ "schema": SCHEMA, "results": self.results.iter().map(result).collect::<Vec<_>>() })
    }

    /// Whether everything is certified; violated if something is refused.
    pub fn verdict(&self) -> Verdict {
        let says = |verdict: Verdict| self.results.iter().any(|(_, judged)| verdict_of(judged) == verdict);
        [Verdict::Violated, Verdict::Unknown]
            .into_iter()
            .find(|&verdict| says(verdict))
            .unwrap_or(Verdict::Holds)
    }
}

fn verdict_of(judged: &Result<Certified, Refusal>) -> Verdict {
    match judged {
        Ok(_) => Verdict::Holds,
        Err(Refusal::Limit(_)) => Verdict::Unknown,
        Err(Refusal::Wrong(_)) => Verdict::Violated,
    }
}

/// A line for each property.
impl fmt::Display for CertifyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.results.iter().try_for_each(|(proof, judged)| match judged {
            Ok(certified) => writeln!(f, "{proof}: certified ({certified})"),
            Err(Refusal::Limit(limit)) => writeln!(f, "{proof}: unknown ({limit})"),
            Err(refused) => writeln!(f, "{proof}: NOT CERTIFIED: {refused}"),
        })
    }
}
