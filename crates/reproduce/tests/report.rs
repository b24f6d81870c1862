//! The smallest version of every experiment, with files in memory and a clock that only counts: what is
//! measured, that nothing is measured twice, that an interruption loses nothing, and that the page is what it
//! should be.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use stubborn::Watcher;
use stubborn::base::Progress;
use stubborn::base::budget::{Patience, Watch as _};
use stubborn_reproduce::{Host, Judgment, Outcome, Paper, Scale, Status, run};

/// A folder in memory.
#[derive(Clone, Default)]
struct Memory {
    files: BTreeMap<String, String>,
    /// After so many looks, the user has had enough.
    patience: Option<Arc<Patience>>,
    shown: Vec<Status>,
    /// How often somebody asked for the time.
    ticks: Arc<AtomicU32>,
}

impl Watcher for Memory {
    fn look(&self, _: Duration, progress: &Progress) -> bool {
        self.patience.as_ref().is_none_or(|patience| patience.look(progress).is_ok())
    }
}

impl Host for Memory {
    fn seconds(&self) -> f64 {
        // Long enough that nothing is repeated for a better time.
        f64::from(self.ticks.fetch_add(1, Ordering::Relaxed))
    }

    fn max_bytes(&self) -> u64 {
        1 << 30
    }

    fn read(&mut self, file: &str) -> Option<String> {
        self.files.get(file).cloned()
    }

    fn write(&mut self, file: &str, text: &str) -> Result<(), String> {
        self.files.insert(file.to_owned(), text.to_owned());
        Ok(())
    }

    fn append(&mut self, file: &str, text: &str) -> Result<(), String> {
        self.files.entry(file.to_owned()).or_default().push_str(text);
        Ok(())
    }

    fn show(&mut self, status: &Status) {
        self.shown.push(status.clone());
    }
}

impl Memory {
    fn run(&mut self, papers: &[Paper]) -> Outcome {
        let outcome = run(papers, Scale::Tiny, self).expect("everything can be written");
        assert_eq!(outcome.troubles, Vec::<String>::new());
        outcome
    }

    /// The lines of a table; no field that is asked for has a comma.
    fn lines(&self, file: &str) -> Vec<&str> {
        self.files[file].lines().collect()
    }

    /// The numbers in a column of the lines that begin so.
    fn numbers(&self, file: &str, start: &str, column: usize) -> Vec<u64> {
        let lines = self.lines(file).into_iter().filter(|line| line.starts_with(start));
        lines.map(|line| line.split(',').nth(column).expect("a field").parse().expect("a number")).collect()
    }

    fn tables(&self) -> BTreeMap<&str, &str> {
        let tables = self.files.iter().filter(|(name, _)| name.ends_with(".csv"));
        tables.map(|(name, text)| (name.as_str(), text.as_str())).collect()
    }
}

/// Everything, measured once.
fn everything() -> &'static (Memory, Outcome) {
    static EVERYTHING: OnceLock<(Memory, Outcome)> = OnceLock::new();
    EVERYTHING.get_or_init(|| {
        let mut memory = Memory::default();
        let outcome = memory.run(&Paper::ALL);
        (memory, outcome)
    })
}

fn judgment(claim: &str) -> Judgment {
    let found = everything().1.findings.iter().find(|(_, finding)| finding.claim == claim);
    found.unwrap_or_else(|| panic!("no claim `{claim}`")).1.judgment
}

#[test]
fn figures_of_000() {
    let (memory, outcome) = everything();
    assert_eq!(memory.numbers("000-spaces.csv", "philosophers,4", 2), [80]);
    assert_eq!(memory.numbers("000-spaces.csv", "Fischer's mutex,4", 2), [65]);
    // Three servers with five places each, four philosophers, four servers; by twelve searches.
    assert_eq!(memory.lines("000-searches.csv").len(), 1 + 12 * (3 * 5 + 4 + 4));
    assert!(memory.lines("000-searches.csv")[1..].iter().all(|line| line.contains(",violated,")));
    assert_eq!((outcome.missing, outcome.reused, outcome.interrupted), (0, 0, false));
}

#[test]
fn figures_of_001() {
    let (memory, _) = everything();
    assert_eq!(judgment("The token ring has 9n·2^(n−2) states."), Judgment::Confirmed);
    assert_eq!(memory.numbers("001-growth.csv", "ring,4,all", 5), [144]);
    assert_eq!(memory.numbers("001-growth.csv", "ring,4,tester", 5), [36]);
    assert_eq!(memory.numbers("001-growth.csv", "counters,4,tester", 5), [4]);
    // More memory never finds fewer states here, and the largest array finds all.
    let found = memory.numbers("001-supertrace.csv", "6,", 3);
    assert!(found.iter().all(|states| *states <= 728) && found.last() == Some(&728), "{found:?}");
}

#[test]
fn figures_of_002() {
    let (memory, _) = everything();
    let verdicts = |start: &str| -> Vec<String> {
        let lines = memory.lines("002-fairness.csv").into_iter().filter(|line| line.starts_with(start));
        lines.map(|line| line.split(',').nth(5).expect("a verdict").to_owned()).collect()
    };
    assert_eq!(verdicts("Peterson,2"), ["holds"; 4]);
    assert_eq!(verdicts("semaphore,3,weak"), ["violated"; 2]);
    assert_eq!(verdicts("semaphore,3,strong"), ["holds"; 2]);
    let [scc, monitor] = memory.numbers("002-fairness.csv", "semaphore,3,strong", 6)[..] else { panic!() };
    assert!(monitor > scc, "{monitor} with monitors, {scc} without");
}

#[test]
fn figures_of_003() {
    let (memory, _) = everything();
    let lines = memory.lines("003-formulas.csv");
    let kept: Vec<&&str> = lines.iter().filter(|line| line.contains(",kept,")).collect();
    assert!(!kept.is_empty() && kept.len().is_multiple_of(6), "six observers per formula: {}", kept.len());
    // All observers agree on each formula.
    for formula in kept.chunks(6) {
        let holds = formula.iter().filter(|line| line.contains(",holds,")).count();
        assert!(holds == 0 || holds == 6, "{formula:?}");
    }
    assert!(memory.files.contains_key("nets/mapk-4.pnml"));
}

#[test]
fn figures_of_004() {
    let (memory, _) = everything();
    let right = "A verdict through the closure is right, whether or not the formula sees stuttering.";
    assert_eq!(judgment(right), Judgment::Confirmed);
    assert_eq!(judgment("Formulas that do not see stuttering never need the fallback."), Judgment::Confirmed);
    let fallback = memory.lines("004-closure.csv").into_iter().filter(|line| line.contains(",fallback,"));
    assert!(fallback.clone().count() > 0 && fallback.clone().all(|line| line.contains(",yes,")));
}

#[test]
fn nothing_is_measured_twice() {
    let (before, first) = everything();
    let mut memory = before.clone();
    let second = memory.run(&Paper::ALL);
    assert!(first.computed > 50 && second.computed == 0 && second.reused == first.computed, "{second:?}");
    assert_eq!(memory.files, before.files);
    // A line that is missing, and one that was cut, are measured again.
    let table = memory.files.get_mut("001-growth.csv").expect("the table");
    let end = table.trim_end().rfind('\n').expect("many lines");
    table.truncate(end - 10);
    let third = memory.run(&Paper::ALL);
    assert_eq!(third.computed, 2);
    assert_eq!(without_times(&memory.tables()), without_times(&before.tables()));
}

#[test]
fn formulas_of_another_recipe_are_not_taken_for_ours() {
    let (before, _) = everything();
    let mut memory = before.clone();
    let recipe = before.lines("003-formulas.csv")[1].split(',').nth(6).expect("a recipe").to_owned();
    assert_eq!(recipe.len(), 16, "{recipe}");
    let table = memory.files.get_mut("003-formulas.csv").expect("the table");
    *table = table.replace(&recipe, "0123456789abcdef");
    let n_stale = table.matches("0123456789abcdef").count();
    let again = memory.run(&[Paper::P003]);
    assert_eq!((again.computed, again.missing), (1, 0), "one batch of formulas is drawn again");
    let lines = memory.lines("003-formulas.csv");
    assert_eq!(lines.len(), before.lines("003-formulas.csv").len() + n_stale);
    // The report does not count what is stale.
    let figures = |memory: &Memory| -> String {
        let lines = memory.files["003.md"].lines();
        lines.skip_while(|line| !line.starts_with("## Nets")).take(10).collect()
    };
    assert_eq!(figures(&memory), figures(before));
}

#[test]
fn an_interruption_loses_nothing() {
    let papers = [Paper::P001, Paper::P002];
    let mut whole = Memory::default();
    whole.run(&papers);
    let mut memory = Memory { patience: Some(Arc::new(Patience::new(40))), ..Memory::default() };
    let cut = memory.run(&papers);
    assert!(cut.interrupted && cut.missing > 0 && cut.computed > 0, "{cut:?}");
    assert!(memory.files["index.html"].contains("Incomplete"));
    memory.patience = None;
    let rest = memory.run(&papers);
    assert_eq!((rest.reused, rest.computed), (cut.computed, cut.missing));
    assert_eq!(without_times(&memory.tables()), without_times(&whole.tables()));
    assert!(!memory.files["index.html"].contains("Incomplete"));
}

/// Everything but times: those are the only fields with six digits behind the point.
fn without_times(tables: &BTreeMap<&str, &str>) -> BTreeMap<String, Vec<String>> {
    let is_time = |field: &&str| field.split_once('.').is_some_and(|(_, digits)| digits.len() == 6);
    let stable = |line: &str| line.split(',').filter(|field| !is_time(field)).collect::<Vec<_>>().join(",");
    tables.iter().map(|(name, text)| ((*name).to_owned(), text.lines().map(stable).collect())).collect()
}

#[test]
fn the_estimate_shrinks_and_ends() {
    let (memory, _) = everything();
    let (first, last) = (&memory.shown[0], memory.shown.last().expect("something is shown"));
    assert!(first.done == 0 && last.done + 1 == last.total, "{first:?} {last:?}");
    assert!(memory.shown.windows(2).all(|pair| pair[0].done < pair[1].done));
}

/// An attribute.
fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.attributes().map(|attribute| attribute.expect("a good attribute"));
    let found = attribute.into_iter().find(|attribute| attribute.key.as_ref() == name);
    found.map(|attribute| attribute.value.into_owned())
}

#[test]
fn the_page_is_well_formed_self_contained_and_accessible() {
    let (memory, _) = everything();
    let page = &memory.files["index.html"];
    let mut reader = Reader::from_str(page);
    let (mut ids, mut targets, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let (mut n_tables, mut n_captions, mut n_pictures, mut n_titles) = (0, 0, 0, 0);
    loop {
        let event = reader.read_event().unwrap_or_else(|error| panic!("not well-formed: {error}"));
        let (tag, is_empty) = match &event {
            Event::Start(tag) => (tag, false),
            Event::Empty(tag) => (tag, true),
            Event::End(_) => {
                open.pop();
                continue;
            }
            Event::Eof => break,
            _ => continue,
        };
        let name = tag.name().as_ref().to_owned();
        ids.extend(attribute(tag, "id"));
        targets.extend(attribute(tag, "href"));
        assert!(
            attribute(tag, "src").is_none() && name != "script" && name != "link",
            "{name} needs something else"
        );
        n_tables += usize::from(name == "table");
        n_captions += usize::from(name == "caption");
        n_pictures += usize::from(name == "svg");
        n_titles += usize::from(name == "title" && open.last().is_some_and(|parent| parent == "svg"));
        if name == "th" {
            assert!(attribute(tag, "scope").is_some(), "a header without a scope");
        }
        if !is_empty {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} not closed");
    assert!(n_tables > 15 && n_tables == n_captions, "{n_tables} tables, {n_captions} captions");
    assert!(n_pictures > 12 && n_pictures == n_titles, "{n_pictures} pictures, {n_titles} titles");
    for target in targets {
        let id = target.strip_prefix('#').unwrap_or_else(|| panic!("a link to {target}"));
        assert!(ids.iter().any(|its| its == id), "a link to nowhere: {target}");
    }
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "ids are used once");
    let namespaces = ["http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"];
    let n_addresses = page.matches("http").count();
    let n_namespaces: usize = namespaces.iter().map(|namespace| page.matches(namespace).count()).sum();
    assert_eq!(n_addresses, n_namespaces, "no address but namespaces");
    // Pictures stand alone as well, and texts name them.
    for (name, text) in memory.files.iter().filter(|(name, _)| name.ends_with(".svg")) {
        assert!(text.starts_with("<svg") && text.contains("<style>"), "{name}");
        assert!(
            memory.files.values().any(|text| text.contains(&format!("]({name})"))),
            "{name} is not shown"
        );
    }
}
