//! Every method against every other.
//!
//! Each property is decided by all methods that may be combined (`check::rules` refuses the others), with one thread and
//! with several, each within its share of the time. All go the whole way, from the text to a judged run. If two of them should
//! ever disagree, the model and the formula are made small, so that there is something to report.

mod shrink;
mod variants;

use std::path::Path;
use std::time::Duration;

use language::File;
use report::cross::{CrossReport, Crossed, Row};
use report::method::Observer;
use report::{CheckReport, PropertyResult, Remark, Verdict};

use self::variants::{Kind, Variant, variants};
use crate::Error;
use crate::clock::Clock;
use crate::options::Options;
use crate::question::{Question, Text};
use crate::session::{LANGUAGES, Session};

/// Where time is not limited, a method may take so long, and so many times as long as the first one.
const AT_LEAST: Duration = Duration::from_secs(10);
const FACTOR: f64 = 20.0;

/// Making a case small may take so long, and each attempt so many states.
const SHRINKING: Duration = Duration::from_secs(60);
const SMALL: u64 = 200_000;

/// A small case on which two methods disagree.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The property.
    pub property: String,
    /// The methods: one that says that it holds, one that says that it is violated.
    pub methods: (String, String),
    /// The model, with what it was read with left as it was.
    pub model: String,
    /// The formula or invariant, if it is not in the model.
    pub asked: Option<Question>,
}

impl Disagreement {
    /// What whoever sees it should do, where the case is in a file.
    pub fn to_text(&self, file: &Path) -> String {
        let (holds, violated) = &self.methods;
        let asked = match &self.asked {
            Some(Question::Ltl(formula)) => format!(" with --ltl '{}'", formula.text),
            Some(Question::Invariant(expression)) => format!(" with the invariant `{}`", expression.text),
            _ => String::new(),
        };
        format!(
            "internal error: two methods disagree about `{}`.\n\
             `{holds}` says that it holds, `{violated}` that it is violated.\n\
             A small case was written to `{}`. Please report that file, this text, the output of\n\
             `stubborn --version`, and what your command prints for that file{asked}.\n",
            self.property,
            file.display(),
        )
    }
}

/// Decides a question by a method.
type Ask<'a> = dyn FnMut(&mut Session, &Question, &Variant, &Clock<'_>) -> Result<CheckReport, Error> + 'a;

fn ask(
    session: &mut Session,
    question: &Question,
    variant: &Variant,
    clock: &Clock<'_>,
) -> Result<CheckReport, Error> {
    session.check_within(std::slice::from_ref(question), &variant.options, clock)
}

impl Session {
    /// Answers questions by every method there is, and compares; where methods disagree, with a small case.
    ///
    /// # Errors
    /// A question is wrong, each mistake with its place; or a limit was reached before anything was known.
    pub fn cross(
        &mut self,
        questions: &[Question],
        options: &Options,
        clock: &Clock<'_>,
    ) -> Result<(CrossReport, Vec<Disagreement>), Error> {
        self.cross_by(questions, options, clock, &mut ask)
    }

    fn cross_by(
        &mut self,
        questions: &[Question],
        options: &Options,
        clock: &Clock<'_>,
        ask: &mut Ask<'_>,
    ) -> Result<(CrossReport, Vec<Disagreement>), Error> {
        let questions = self.one_by_one(questions, options, clock)?;
        let (mut results, mut disagreements) = (Vec::new(), Vec::new());
        for (index, question) in questions.iter().enumerate() {
            let clock = clock.part(1.0 / (questions.len() - index) as f64);
            for crossed in self.compare(question, options, &clock, ask)? {
                if let Some((holds, violated)) = crossed.disagreement() {
                    let methods = (holds.method.clone(), violated.method.clone());
                    let clock = clock.with_grace().for_at_most(SHRINKING).at_most(SMALL);
                    disagreements.push(self.shrink(
                        question,
                        &crossed.property,
                        methods,
                        options,
                        &clock,
                        ask,
                    ));
                }
                results.push(crossed);
            }
        }
        Ok((CrossReport::new(self.info(), results), disagreements))
    }

    /// Questions about one property each, as far as that can be.
    fn one_by_one(
        &mut self,
        questions: &[Question],
        options: &Options,
        clock: &Clock<'_>,
    ) -> Result<Vec<Question>, Error> {
        let mut single = Vec::new();
        for question in questions {
            match question {
                Question::Declared | Question::Properties(_) => {
                    let tasks = self.ask(std::slice::from_ref(question), options, clock);
                    let tasks = tasks.map_err(|trouble| self.error(trouble))?;
                    single.extend(tasks.iter().map(|task| Question::property(&task.name)));
                }
                question => single.push(question.clone()),
            }
        }
        Ok(single)
    }

    /// What all methods say to a question.
    fn compare(
        &mut self,
        question: &Question,
        options: &Options,
        clock: &Clock<'_>,
        ask: &mut Ask<'_>,
    ) -> Result<Vec<Crossed>, Error> {
        let mut rows: Vec<(String, Vec<Row>)> = Vec::new();
        let mut add = |variant: &Variant, report: &CheckReport| {
            for result in &report.results {
                match rows.iter_mut().find(|(property, _)| *property == result.property) {
                    Some((_, rows)) => rows.push(row(variant, result)),
                    None => rows.push((result.property.clone(), vec![row(variant, result)])),
                }
            }
        };
        // How it is decided by default says which methods there are.
        let first = variants(Kind::States, options).swap_remove(0);
        let start = clock.seconds();
        let report = ask(self, question, &first, &clock.part(0.25))?;
        let seconds = clock.seconds() - start;
        add(&first, &report);
        let all = match report.results.first().and_then(|result| result.method) {
            Some(method) => variants(kind(method.observer), options),
            None => Vec::new(),
        };
        let alone = Duration::from_secs_f64(AT_LEAST.as_secs_f64() + FACTOR * seconds);
        for (index, variant) in all.iter().enumerate().skip(1) {
            let share = clock.part(1.0 / (all.len() - index) as f64).for_at_most(alone);
            if clock.is_over() {
                break;
            }
            match ask(self, question, variant, &share) {
                Ok(report) => add(variant, &report),
                // The method is not for this question.
                Err(error) if error.refusal().is_some() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(rows.into_iter().map(|(property, rows)| Crossed::new(property, rows)).collect())
    }

    /// A small case on which two methods disagree.
    fn shrink(
        &self,
        question: &Question,
        property: &str,
        methods: (String, String),
        options: &Options,
        clock: &Clock<'_>,
        ask: &mut Ask<'_>,
    ) -> Disagreement {
        let kinds = [Kind::States, Kind::Runs, Kind::Testers];
        let all: Vec<Variant> = kinds.iter().flat_map(|&kind| variants(kind, options)).collect();
        let named = |name: &str| all.iter().find(|variant| variant.name == name);
        let mut case =
            Disagreement { property: property.to_owned(), methods, model: String::new(), asked: None };
        case.model = self.text().unwrap_or_default().to_owned();
        let (Some(first), Some(second)) = (named(&case.methods.0), named(&case.methods.1)) else {
            return case;
        };
        let mut disagree = |model: &str, question: &Question| {
            let mut says = |variant: &Variant| {
                let clock = clock.for_at_most(Duration::from_secs(2));
                let mut session = self.reread(model, &clock)?;
                let report = ask(&mut session, question, variant, &clock).ok()?;
                Some(report.results.first()?.verdict)
            };
            !clock.is_over() && says(first) == Some(Verdict::Holds) && says(second) == Some(Verdict::Violated)
        };
        let mut question = question.clone();
        if let Question::Ltl(Text { text, source }) | Question::Invariant(Text { text, source }) = &question {
            let other = |text: &str| {
                let text = Text { text: text.to_owned(), source: source.clone() };
                if is_ltl(&question) { Question::Ltl(text) } else { Question::Invariant(text) }
            };
            let still = |text: &str| disagree(&case.model, &other(text));
            let text =
                if is_ltl(&question) { shrink::formula(text, still) } else { shrink::text(text, still) };
            question = other(&text);
            case.asked = Some(question.clone());
        }
        case.model = shrink::text(&case.model, |model| disagree(model, &question));
        case
    }

    /// The same model with another text; nothing if that is none.
    fn reread(&self, text: &str, clock: &Clock<'_>) -> Option<Session> {
        let language = LANGUAGES.iter().find(|known| known.name == self.model.language())?;
        let file = File { name: self.info().file, bytes: text.into() };
        let mut no_files = |name: &str| Err(format!("`{name}` is left out"));
        Session::read(language, file, &self.options, &mut no_files, clock).ok()
    }
}

fn is_ltl(question: &Question) -> bool {
    matches!(question, Question::Ltl(_))
}

fn kind(observer: Observer) -> Kind {
    match observer {
        Observer::None => Kind::States,
        Observer::Tester => Kind::Testers,
        _ => Kind::Runs,
    }
}

fn row(variant: &Variant, result: &PropertyResult) -> Row {
    Row {
        method: variant.name.clone(),
        verdict: result.verdict,
        reason: Remark::join(&result.remarks),
        states: result.stats.states,
        seconds: result.stats.seconds,
        peak_bytes: result.stats.peak_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Limits;

    const MODEL: &str = "process Lamp { off: press -> on; on: press -> off | glow -> on; }
process Other { a: go -> b; b: go -> a; }
process Third { a: stay -> a; }
deadlock-free;
invariant sane = Lamp@on || Lamp@off;
ltl glows = [] <> Lamp@on;
";

    fn all(ask: &mut Ask<'_>, questions: &[Question]) -> (CrossReport, Vec<Disagreement>) {
        let mut session = Session::of_text("process", MODEL).expect("a good model");
        let clock = Clock::start(&Limits::default());
        session.cross_by(questions, &Options::default(), &clock, ask).expect("good questions")
    }

    #[test]
    fn all_methods_agree() {
        let asked =
            [Question::Declared, Question::ltl("[] (Lamp@off -> <> Lamp@on)"), Question::ltl("Lamp@off")];
        let (report, disagreements) = all(&mut ask, &asked);
        assert!(disagreements.is_empty());
        let verdicts: Vec<Verdict> = report.results.iter().map(|result| result.verdict).collect();
        use Verdict::{Holds, Violated};
        assert_eq!(verdicts, [Holds, Holds, Violated, Violated, Holds]);
        let methods = &report.results[2].methods;
        assert!(methods.len() > 50, "{}", methods.len());
        assert!(report.results.iter().all(|result| result.agrees && result.methods.iter().all(|row| row.verdict == result.verdict)));
        assert!(report.to_string().contains("lazy-tgta scc repaired, 8 threads"));
    }

    /// A method that errs where a lamp glows.
    #[test]
    fn a_wrong_method_is_found_and_its_case_is_small() {
        let mut wrong = |session: &mut Session, question: &Question, variant: &Variant, clock: &Clock<'_>| {
            let mut report = ask(session, question, variant, clock)?;
            let errs = variant.name.starts_with("tgba scc classical")
                && session.text().is_some_and(|text| text.contains("glow"));
            for result in report.results.iter_mut().filter(|_| errs) {
                result.verdict = Verdict::Holds;
            }
            Ok(report)
        };
        let (report, disagreements) = all(&mut wrong, &[Question::ltl("[] (Other@a -> <> Lamp@on)")]);
        assert!(!report.results[0].agrees && report.results[0].verdict == Verdict::Unknown);
        let [case] = &disagreements[..] else { panic!("one disagreement") };
        assert!(case.methods.0.starts_with("tgba scc classical"), "{case:?}");
        assert!(case.model.contains("glow") && case.model.len() < 100, "{case:?}");
        assert!(matches!(&case.asked, Some(Question::Ltl(asked)) if asked.text.len() < 20), "{case:?}");
    }

    /// So is that of an invariant, on which a method errs that leaves steps out.
    #[test]
    fn the_case_of_an_invariant_is_small() {
        let mut wrong = |session: &mut Session, question: &Question, variant: &Variant, clock: &Clock<'_>| {
            let mut report = ask(session, question, variant, clock)?;
            let errs = variant.options.reduce != check::method::ReductionWish::None;
            for result in report.results.iter_mut().filter(|_| errs) {
                result.verdict = Verdict::Holds;
            }
            Ok(report)
        };
        let asked =
            Question::invariant("(Lamp@on || Lamp@off) && (Other@a || Lamp@off || Third@a && Lamp@on)");
        let (report, disagreements) = all(&mut wrong, &[asked]);
        assert!(disagreements.is_empty() && report.results[0].verdict == Verdict::Holds, "{report}");
        let asked =
            Question::invariant("(Lamp@on || Lamp@off) && (Other@a || Lamp@off || Lamp@on && !Third@a)");
        let (_, disagreements) = all(&mut wrong, &[asked]);
        let [case] = &disagreements[..] else { panic!("one disagreement") };
        assert!(matches!(&case.asked, Some(Question::Invariant(asked)) if asked.text.len() < 50), "{case:?}");
        assert!(case.model.len() < 130 && !case.model.contains("glow"), "{case:?}");
    }

    /// The same of a net with five lamps, of which one has too many tokens.
    #[test]
    fn the_case_of_a_net_is_small() {
        let element = |n: u32| {
            let tokens = if n == 3 { 60 } else { 0 };
            format!(
                "<place id=\"off{n}\">\n<initialMarking>\n<text>1</text>\n</initialMarking>\n</place>\n\
                 <place id=\"on{n}\">\n<name>\n<text>lamp {n}</text>\n</name>\n\
                 <initialMarking>\n<text>{tokens}</text>\n</initialMarking>\n</place>\n\
                 <transition id=\"t{n}\">\n<graphics>\n<position x=\"1\" y=\"2\"/>\n</graphics>\n</transition>\n\
                 <arc id=\"i{n}\" source=\"off{n}\" target=\"t{n}\"/>\n<arc id=\"o{n}\" source=\"t{n}\" target=\"on{n}\"/>\n"
            )
        };
        let all: String = (0..5).map(element).collect();
        let net = format!(
            "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n\
             <net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n<page id=\"p\">\n{all}</page>\n</net>\n</pnml>\n"
        );
        let formula = "[] (on3 == 0 || on1 == 0 || off0 + on0 == 1)";
        let mut judged =
            |session: &mut Session, question: &Question, variant: &Variant, clock: &Clock<'_>| {
                let mut report =
                    session.check_within(std::slice::from_ref(question), &variant.options, clock)?;
                let text = session.text().unwrap_or_default();
                let errs = variant.name.starts_with("tgba scc none")
                    && text.contains("\"on3\"")
                    && text.split(['>', '<']).any(|text| text.parse().is_ok_and(|tokens: u32| tokens > 2));
                for result in &mut report.results {
                    result.verdict = if errs { Verdict::Holds } else { Verdict::Violated };
                }
                Ok(report)
            };
        let mut session = Session::of_text("petri", &net).expect("a good net");
        let clock = Clock::start(&Limits::default());
        let asked = [Question::ltl(formula)];
        let (_, disagreements) =
            session.cross_by(&asked, &Options::default(), &clock, &mut judged).expect("a good question");
        let [case] = &disagreements[..] else { panic!("one disagreement") };
        assert!(case.model.len() < 330 && case.model.contains("on3"), "{}", case.model);
        assert!(Session::of_text("petri", &case.model).is_ok(), "{}", case.model);
        assert_eq!(case.model.matches("<place").count(), 1, "{}", case.model);
        assert!(case.model.contains("<text>3</text>") && !case.model.contains("graphics"), "{}", case.model);
    }
}
