//! `cargo xtask mcc`: runs the questions of the Model Checking Contest whose answers are known, and
//! says how many were answered, how many rightly, and how long it took.
//!
//! A folder has one folder per net, each with `model.pnml`, formula files and `expected.csv` (a line per
//! question: examination, id, answer, …). Every examination is one run of `stubborn mcc`, which gets so
//! many seconds for each of its questions. A wrong answer fails the command.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

pub(crate) const USAGE: &str = "\
usage: cargo xtask mcc [OPTION]...
  --corpus FOLDER     where the nets are (default: ../shared/mcc)
  --net TEXT          only nets whose name contains this
  --examination LIST  only these, separated by commas
  --seconds N         for each question (default: 30)
  --memory BYTES      for each run (default: 8G)
  --from N, --to N    only nets with so many states; those whose number is unknown have infinitely many";

/// Where a net counts as large.
const LARGE: u64 = 5_000_000;

/// What the user wants.
struct Options {
    corpus: PathBuf,
    net: String,
    examinations: Vec<String>,
    seconds: f64,
    memory: String,
    from: u64,
    to: u64,
}

impl Options {
    fn parse(arguments: &[&str]) -> Option<Options> {
        let mut options = Options {
            corpus: PathBuf::from("../shared/mcc"),
            net: String::new(),
            examinations: Vec::new(),
            seconds: 30.0,
            memory: "8G".to_owned(),
            from: 0,
            to: u64::MAX,
        };
        for pair in arguments.chunks(2) {
            let [name, value] = *pair else {
                return None;
            };
            match name {
                "--corpus" => options.corpus = PathBuf::from(value),
                "--net" => value.clone_into(&mut options.net),
                "--examination" => options.examinations = value.split(',').map(str::to_owned).collect(),
                "--seconds" => options.seconds = value.parse().ok()?,
                "--memory" => value.clone_into(&mut options.memory),
                "--from" => options.from = value.parse().ok()?,
                "--to" => options.to = value.parse().ok()?,
                _ => return None,
            }
        }
        Some(options)
    }
}

/// A question with its known answer.
struct Known {
    examination: String,
    id: String,
    answer: String,
}

/// What became of some questions.
#[derive(Clone, Copy, Default)]
struct Score {
    right: usize,
    wrong: usize,
    unanswered: usize,
    /// Questions whose answer nobody knows, and that were answered.
    new: usize,
    seconds: f64,
}

impl Score {
    fn add(&mut self, other: Score) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.unanswered += other.unanswered;
        self.new += other.new;
        self.seconds += other.seconds;
    }
}

pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let (options, program) = match start(Options::parse(arguments), USAGE) {
        Ok(started) => started,
        Err(code) => return code,
    };
    let mut nets = nets(&options);
    if nets.is_empty() {
        eprintln!("no net in {} is asked for", options.corpus.display());
        return ExitCode::from(2);
    }
    nets.sort_by_key(|(states, folder, _)| (*states, folder.clone()));
    // By examination, in the order of the files: small nets, large nets.
    let mut table: Vec<(String, [Score; 2])> = Vec::new();
    for (states, folder, known) in &nets {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let mut total = Score::default();
        for questions in known.chunk_by(|a, b| a.examination == b.examination) {
            let examination = &questions[0].examination;
            if !options.examinations.is_empty() && !options.examinations.contains(examination) {
                continue;
            }
            let score = ask(&program, folder, &name, questions, &options);
            total.add(score);
            let row = match table.iter().position(|(known, _)| known == examination) {
                Some(row) => row,
                None => {
                    table.push((examination.clone(), Default::default()));
                    table.len() - 1
                }
            };
            table[row].1[usize::from(*states > LARGE)].add(score);
        }
        let Score { right, wrong, unanswered, new, seconds } = total;
        println!("{name:36} {right:4} right {wrong:3} wrong {unanswered:4} open {new:3} new {seconds:8.1} s");
    }
    print!("{}", render(&table));
    let is_wrong = table.iter().flat_map(|(_, scores)| scores).any(|score| score.wrong > 0);
    if is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The options, and where the command is that was built.
pub(crate) fn start<T>(options: Option<T>, usage: &str) -> Result<(T, PathBuf), ExitCode> {
    let options = options.ok_or_else(|| {
        eprintln!("{usage}");
        ExitCode::from(2)
    })?;
    Ok((options, build().ok_or(ExitCode::FAILURE)?))
}

/// Builds the command; returns where it is.
fn build() -> Option<PathBuf> {
    let arguments = ["build", "--release", "--package", "stubborn-cli", "--message-format", "json"];
    let output = Command::new(env!("CARGO")).args(arguments).stderr(Stdio::inherit()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let messages = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut executables = messages.filter_map(|message| Some(PathBuf::from(message["executable"].as_str()?)));
    executables.next_back().filter(|_| output.status.success())
}

type Net = (u64, PathBuf, Vec<Known>);

/// The nets that are asked for: number of states, folder, questions.
fn nets(options: &Options) -> Vec<Net> {
    let entries = std::fs::read_dir(&options.corpus).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| path.join("model.pnml").is_file());
    let load = |folder: PathBuf| {
        let known = questions(&folder)?;
        let states = known.iter().find(|known| known.id == "STATES");
        let states = states.and_then(|known| known.answer.parse().ok()).unwrap_or(u64::MAX);
        Some((states, folder, known))
    };
    let is_wanted = |(states, folder, _): &Net| {
        (options.from..=options.to).contains(states)
            && folder.file_name().is_some_and(|name| name.to_string_lossy().contains(&options.net))
    };
    folders.filter_map(load).filter(is_wanted).collect()
}

fn questions(folder: &Path) -> Option<Vec<Known>> {
    let text = std::fs::read_to_string(folder.join("expected.csv")).ok()?;
    let parse = |line: &str| {
        let mut fields = line.split(',').map(|field| field.trim().to_owned());
        Some(Known { examination: fields.next()?, id: fields.next()?, answer: fields.next()? })
    };
    Some(text.lines().skip(1).filter_map(parse).collect())
}

/// One run of `stubborn mcc`, compared with what is known.
fn ask(program: &Path, folder: &Path, name: &str, questions: &[Known], options: &Options) -> Score {
    let examination = &questions[0].examination;
    let timeout = format!("{}s", options.seconds * questions.len() as f64);
    let start = Instant::now();
    let output = Command::new(program)
        .args(["mcc", &folder.to_string_lossy(), examination, "--quiet"])
        .args(["--timeout", &timeout, "--max-memory", &options.memory])
        .output();
    let mut score = Score { seconds: start.elapsed().as_secs_f64(), ..Score::default() };
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    for known in questions {
        match (given(&text, &known.id), known.answer.as_str()) {
            (None, "?") => {}
            (None, _) => score.unanswered += 1,
            (Some(_), "?") => score.new += 1,
            (Some(answer), expected) if answer == expected => score.right += 1,
            (Some(answer), expected) => {
                score.wrong += 1;
                println!("WRONG: {name} {examination} {}: {answer} instead of {expected}", known.id);
            }
        }
    }
    score
}

/// The answer to a question, in the words of `expected.csv`.
fn given<'a>(output: &'a str, id: &str) -> Option<&'a str> {
    let mut words = output.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.find_map(|words| match words[..] {
        ["FORMULA" | "STATE_SPACE", its_id, answer, ..] if its_id == id => match answer {
            "TRUE" => Some("T"),
            "FALSE" => Some("F"),
            "CANNOT_COMPUTE" => None,
            number => Some(number),
        },
        _ => None,
    })
}

fn render(table: &[(String, [Score; 2])]) -> String {
    let mut text = String::from(
        "\n| examination | up to 5 million states: right | wrong | open | answered | larger: right | wrong | open | answered | seconds |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut sums = [Score::default(); 2];
    for (examination, scores) in table {
        _ = writeln!(text, "{}", row(examination, scores));
        sums.iter_mut().zip(scores).for_each(|(sum, score)| sum.add(*score));
    }
    _ = writeln!(text, "{}", row("all", &sums));
    text
}

fn row(name: &str, scores: &[Score; 2]) -> String {
    let cells = |score: &Score| {
        let Score { right, wrong, unanswered, .. } = *score;
        let all = right + wrong + unanswered;
        let percent = if all == 0 { 100.0 } else { 100.0 * (right + wrong) as f64 / all as f64 };
        format!("{right} | {wrong} | {unanswered} | {percent:.1} %")
    };
    let seconds: f64 = scores.iter().map(|score| score.seconds).sum();
    format!("| {name} | {} | {} | {seconds:.0} |", cells(&scores[0]), cells(&scores[1]))
}
