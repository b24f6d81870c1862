//! Values of options: definitions, sizes and times.

use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use stubborn::petri::structural;
use stubborn::{Fair, Rules, statics};

/// What an option can be: a name, what `--help` says of it (nothing if the name says it all), and what it stands for.
pub(super) type Named<T> = (&'static str, &'static str, T);

/// One of several values that have names.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(
    values: &'static [Named<T>],
) -> impl TypedValueParser<Value = T> {
    let possible = |&(name, about, _): &Named<T>| match about {
        "" => PossibleValue::new(name),
        about => PossibleValue::new(name).help(about),
    };
    let names: Vec<PossibleValue> = values.iter().map(possible).collect();
    PossibleValuesParser::new(names).try_map(move |given| {
        let found = values.iter().find(|(name, ..)| *name == given);
        found.map(|&(.., value)| value).ok_or("there is no such value")
    })
}

/// `NAME=VALUE`, or a name alone, which some languages know.
pub(super) fn parse_definition(text: &str) -> Result<(String, Option<String>), String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim().to_owned())),
        None => (text.trim(), None),
    };
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if !is_name {
        return Err("expected NAME=VALUE, like N=13".to_owned());
    }
    Ok((name.to_owned(), value))
}

/// A number with an optional unit k, M, G or T (powers of 1000) or Ki, Mi, … (of 1024).
pub(super) fn parse_bytes(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let (unit, binary) = match unit.trim().trim_end_matches(['B', 'b']) {
        unit if unit.ends_with('i') => (&unit[..unit.len() - 1], true),
        unit => (unit, false),
    };
    let power = match unit.to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err("expected a number of bytes, like 500M or 4G".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| "expected a number of bytes, like 500M or 4G".to_owned())?;
    let bytes = number * f64::powi(if binary { 1024.0 } else { 1000.0 }, power);
    if bytes < 1.0 { Err("expected at least one byte".to_owned()) } else { Ok(bytes as u64) }
}

/// A number of seconds, or a number with the unit ms, s, m or h.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time, like 90, 30s, 5m or 1.5h".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| "expected a time, like 90, 30s, 5m or 1.5h".to_owned())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| "that time is too long".to_owned())
}

/// How many threads there may be.
pub(super) fn parse_threads(text: &str) -> Result<u16, String> {
    const MOST: u16 = 1024;
    match text.trim().parse() {
        Ok(n @ 1..=MOST) => Ok(n),
        _ => Err(format!("expected a number of threads from 1 to {MOST}, like 4")),
    }
}

/// How many errors are wanted.
pub(super) fn parse_errors(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..) => Ok(number),
        _ if text == "all" => Ok(usize::MAX),
        _ => Err("expected a number from 1 on, or `all`".to_owned()),
    }
}

/// Rules that make nets simpler.
pub(super) fn parse_rules(text: &str) -> Result<Rules, String> {
    parse_rules_among(text, &structural::Rule::ALL.map(structural::Rule::name))
}

/// Rules that give a system fewer states.
pub(super) fn parse_static_rules(text: &str) -> Result<Rules, String> {
    parse_rules_among(text, &statics::Rule::ALL.map(statics::Rule::name))
}

fn parse_rules_among(text: &str, known: &[&'static str]) -> Result<Rules, String> {
    Rules::parse(text, known).map_err(|error| {
        let help = error.help.unwrap_or_default();
        format!("{}; {help}", error.message)
    })
}

/// A fairness assumption.
pub(super) fn parse_fairness(text: &str) -> Result<Fair, String> {
    text.parse().map_err(|error: stubborn::Error| {
        error.diagnostics().iter().map(|wrong| wrong.message.clone()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_times_and_definitions_are_read() {
        assert_eq!(parse_bytes("500M"), Ok(500_000_000));
        assert_eq!(parse_bytes("1.5GiB"), Ok(3 << 29));
        assert_eq!(parse_bytes("64"), Ok(64));
        assert!(parse_bytes("lots").is_err() && parse_bytes("0").is_err() && parse_bytes("1X").is_err());
        assert_eq!(parse_duration("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert!(parse_duration("soon").is_err() && parse_duration("1e99h").is_err());
        assert_eq!(parse_definition("N=13"), Ok(("N".into(), Some("13".into()))));
        assert_eq!(parse_definition("N = -1"), Ok(("N".into(), Some("-1".into()))));
        assert_eq!(parse_definition("DEBUG"), Ok(("DEBUG".into(), None)));
        assert_eq!(parse_threads("16"), Ok(16));
        for wrong in ["many", "0", "-1", "1025", "2.5"] {
            assert!(parse_threads(wrong).is_err_and(|why| why.contains("from 1 to 1024")));
        }
        assert!(parse_definition("=3").is_err() && parse_definition("a b=x").is_err());
    }
}
