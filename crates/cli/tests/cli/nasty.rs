//! Large and nasty inputs of all languages: what a machine writes, or somebody who means harm.
//!
//! Each has a size that is a share of what it could be: a test takes small ones, a hunt those of full size.

use std::fmt::Write as _;

use crate::pnml;

/// Files, and what is tried on them. In a command, `@name` is the path of a file, and `%name` that of one that is
/// written.
pub(crate) struct Nasty {
    pub(crate) name: &'static str,
    pub(crate) files: Vec<(&'static str, String)>,
    pub(crate) commands: Vec<Vec<String>>,
}

/// What is tried on every model. A formula replaces `FORMULA`.
const ON_MODELS: [&str; 30] = [
    "check MODEL",
    "check MODEL --json",
    "check MODEL --reduce none --order dfs",
    "check MODEL --reduce stubborn --verify-reduction",
    "check MODEL --deadlock-free --chart - --report %page.html",
    "check MODEL --ltl FORMULA",
    "check MODEL --ltl FORMULA --json --shortest",
    "check MODEL --ltl FORMULA --fair weak",
    "check MODEL --ltl FORMULA --fair strong --static none",
    "check MODEL --ltl FORMULA --fair weak --fairness-by monitor",
    "check MODEL --ltl FORMULA --observer ba --search nested",
    "check MODEL --ltl FORMULA --observer ta --search one-pass",
    "check MODEL --ltl FORMULA --reduce closure",
    "check MODEL --store bitstate --bitstate-size 4M",
    "explain MODEL",
    "explain MODEL --ltl FORMULA --json",
    "explore MODEL",
    "explore MODEL --ltl FORMULA --json",
    "explore MODEL --aut %a.aut --dot %d.dot",
    "simulate MODEL --random --seed 1 --length 1000000",
    "simulate MODEL --random --seed 1 --length 1000000 --json",
    "draw MODEL --output %picture.svg",
    "draw MODEL --format dot",
    "simulate MODEL --json",
    "check MODEL --why",
    "check MODEL --ltl FORMULA --cross",
    "check MODEL --ltl FORMULA --certificate %all.scert",
    "check MODEL --ltl FORMULA --observer ta --reduce guided --device emulated",
    "explore MODEL --device emulated",
    "explore MODEL --coverage --json",
];

const EXAMINATIONS: [&str; 11] = [
    "StateSpace",
    "OneSafe",
    "StableMarking",
    "QuasiLiveness",
    "Liveness",
    "ReachabilityDeadlock",
    "UpperBounds",
    "ReachabilityCardinality",
    "ReachabilityFireability",
    "LTLCardinality",
    "LTLFireability",
];

/// What is tried on every automaton.
const ON_AUTOMATA: [&str; 12] = [
    "automaton FILE",
    "automaton FILE --json",
    "automaton FILE --stats",
    "automaton FILE --to ba --format spin",
    "automaton FILE --to ta --format dot",
    "automaton FILE --to extended --simplify",
    "automaton FILE --format svg",
    "automaton FILE --complement --stats",
    "automaton FILE --stutter-closure",
    "automaton FILE --stutter-invariant",
    "automaton FILE FILE --product --empty",
    "automaton FILE FILE --equivalent",
];

/// What is tried on every formula.
const ON_FORMULAS: [&str; 10] = [
    "translate FORMULA",
    "translate FORMULA --negate --to ba --format spin",
    "translate FORMULA --to ta",
    "translate FORMULA --to tgta --json",
    "translate FORMULA --to extended --format dot",
    "translate FORMULA --format svg",
    "translate FORMULA --effort low --json",
    "automaton --ltl FORMULA --complement",
    "automaton --ltl FORMULA --stutter-invariant --json",
    "automaton --ltl FORMULA --accepts cycle{a}",
];

fn commands(lines: &[&str], word: &str, file: &str, formula: &str) -> Vec<Vec<String>> {
    let argument = |part: &str| match part {
        _ if part == word => file.to_owned(),
        "FORMULA" => formula.to_owned(),
        _ => part.to_owned(),
    };
    lines.iter().map(|line| line.split(' ').map(argument).collect()).collect()
}

fn model(name: &'static str, file: &'static str, text: String, formula: &str) -> Nasty {
    let commands = commands(&ON_MODELS, "MODEL", &format!("@{file}"), formula);
    Nasty { name, files: vec![(file, text)], commands }
}

fn automaton(name: &'static str, file: &'static str, text: String) -> Nasty {
    let mut commands = commands(&ON_AUTOMATA, "FILE", &format!("@{file}"), "");
    let claim = ["check", "@lamp.proc", "--claim", &format!("@{file}"), "--json"];
    commands.push(claim.map(str::to_owned).to_vec());
    let lamp = "process a { s: a -> t; t: b -> s; }".to_owned();
    Nasty { name, files: vec![(file, text), ("lamp.proc", lamp)], commands }
}

fn formula(name: &'static str, formula: &str) -> Nasty {
    Nasty { name, files: Vec::new(), commands: commands(&ON_FORMULAS, "", "", formula) }
}

/// A net of places with these tokens and transitions that move tokens, also as the contest has it.
fn net(
    name: &'static str,
    long_names: bool,
    places: &[u64],
    transitions: &[(Vec<usize>, Vec<usize>)],
) -> Nasty {
    let tail = if long_names { "_with_a_name_that_somebody_thought_about".repeat(5) } else { String::new() };
    let place = |number: usize| format!("p{number}{tail}");
    let transition = |number: usize| format!("t{number}{tail}");
    let mut arcs = Vec::new();
    for (number, (from, to)) in transitions.iter().enumerate() {
        arcs.extend(from.iter().map(|&source| (place(source), transition(number), 1)));
        arcs.extend(to.iter().map(|&target| (transition(number), place(target), 1)));
    }
    let marked: Vec<_> = places.iter().enumerate().map(|(number, &tokens)| (place(number), tokens)).collect();
    let text = pnml(&marked, &(0..transitions.len()).map(transition).collect::<Vec<_>>(), &arcs);
    let mut found =
        model(name, "model.pnml", text, &format!("[] <> ({} >= 1) || <> [] {} >= 1", place(0), place(1)));
    found.files.extend(contest(&place, &transition, places.len(), transitions.len()));
    let contest = |examination: &str| ["mcc", "@", examination].map(str::to_owned).to_vec();
    found.commands.extend(EXAMINATIONS.map(contest));
    for file in ["@LTLCardinality.xml", "@ReachabilityFireability.xml", "@UpperBounds.xml"] {
        found.commands.push(["check", "@model.pnml", "--mcc", file, "--json"].map(str::to_owned).to_vec());
    }
    // Every transition may flip it, and it reads every place.
    found.commands.push(["check", "@model.pnml", "--ltl", "[] <> deadlock"].map(str::to_owned).to_vec());
    found
}

/// Formula files of the contest: many formulas, and one that names very much.
fn contest(
    place: &dyn Fn(usize) -> String,
    transition: &dyn Fn(usize) -> String,
    n_places: usize,
    n_transitions: usize,
) -> Vec<(&'static str, String)> {
    let all_places: String = (0..n_places).map(|at| format!("<place>{}</place>", place(at))).collect();
    let count = |places: &str| format!("<tokens-count>{places}</tokens-count>");
    let at_most = |places: &str| {
        format!("<integer-le>{}<integer-constant>1</integer-constant></integer-le>", count(places))
    };
    let fireable = |at: usize| {
        format!("<is-fireable><transition>{}</transition></is-fireable>", transition(at % n_transitions))
    };
    let set = |formulas: Vec<String>| {
        let mut text = "<property-set xmlns=\"http://mcc.lip6.fr/\">\n".to_owned();
        for (at, formula) in formulas.iter().enumerate() {
            let id = format!("<id>net-{at:02}</id>");
            // Writing to a string cannot fail.
            _ = writeln!(text, "<property>{id}<formula>{formula}</formula></property>");
        }
        text + "</property-set>\n"
    };
    let some = |at: usize| at_most(&format!("<place>{}</place>", place(at % n_places)));
    let always = |inner: String| format!("<all-paths><globally>{inner}</globally></all-paths>");
    let cardinality: Vec<_> = (0..15).map(&some).chain([at_most(&all_places)]).collect();
    let fireability: Vec<_> = (0..15)
        .map(&fireable)
        .chain([format!(
            "<disjunction>{}</disjunction>",
            (0..n_transitions).map(&fireable).collect::<String>()
        )])
        .collect();
    let runs = |inner: &Vec<String>| {
        let finally = |inner: &String| always(format!("<finally>{inner}</finally>"));
        inner.iter().map(finally).collect::<Vec<_>>()
    };
    let reach = |inner: &Vec<String>| inner.iter().cloned().map(always).collect::<Vec<_>>();
    let bounds = |at: usize| format!("<place-bound><place>{}</place></place-bound>", place(at % n_places));
    let bounds = (0..15).map(bounds).chain([format!("<place-bound>{all_places}</place-bound>")]).collect();
    vec![
        ("ReachabilityCardinality.xml", set(reach(&cardinality))),
        ("ReachabilityFireability.xml", set(reach(&fireability))),
        ("LTLCardinality.xml", set(runs(&cardinality))),
        ("LTLFireability.xml", set(runs(&fireability))),
        ("UpperBounds.xml", set(bounds)),
    ]
}

/// All of them, each so many times smaller than it could be.
pub(crate) fn all(smaller: usize) -> Vec<Nasty> {
    let size = |full: usize| full / smaller;
    let kinds = [nets, networks, programs, automata, formulas, documents];
    kinds.into_iter().flat_map(|kind| kind(&size)).collect()
}

fn nets(size: &dyn Fn(usize) -> usize) -> Vec<Nasty> {
    let n = size(25_000);
    let users: Vec<_> = (0..n)
        .flat_map(|at| [(vec![0, at + 1], vec![n + at + 1]), (vec![n + at + 1], vec![0, at + 1])])
        .collect();
    let mut tokens = vec![1; n + 1];
    tokens.resize(2 * n + 1, 0);
    let resource = net("a resource with many users", false, &tokens, &users);
    let steps: Vec<_> = (0..2 * n).map(|at| (vec![at], vec![at + 1])).collect();
    let mut first = vec![0; 2 * n + 1];
    first[0] = 1;
    let pipe = net("a pipeline with long names", true, &first, &steps);
    let around = |at: usize| [(vec![2 * at], vec![2 * at + 1]), (vec![2 * at + 1], vec![2 * at])];
    let around: Vec<_> = (0..n).flat_map(around).collect();
    let loops = net("independent loops", false, &[1, 0].repeat(n), &around);
    let k = size(1_000).max(30);
    let all: Vec<_> = (0..k).map(|at| ((0..k).collect(), vec![at])).collect();
    let dense = net("every place before every transition", false, &vec![1; k], &all);
    let grows = [(vec![0], vec![0, 1]), (vec![1], vec![2, 2]), (vec![2, 2, 2], vec![0])];
    let unbounded = net("tokens without bound", false, &[1, 1 << 40, 0], &grows);
    let colors = model("all colors of many parts", "colors.pnml", colors(size(2_500)), "[] true");
    vec![resource, pipe, loops, dense, unbounded, colors]
}

/// A colored net with a token of every color of three parts with so many values.
fn colors(n_values: usize) -> String {
    let values: String =
        (0..n_values).map(|at| format!("<feconstant id=\"c{at}\" name=\"{at}\"/>")).collect();
    let part = "<usersort declaration=\"C\"/>";
    let all = format!("<subterm><all>{part}</all></subterm>").repeat(3);
    format!(
        "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" \
         type=\"http://www.pnml.org/version-2009/grammar/symmetricnet\"><declaration><structure><declarations>\
         <namedsort id=\"C\" name=\"C\"><cyclicenumeration>{values}</cyclicenumeration></namedsort>\
         <namedsort id=\"P\" name=\"P\"><productsort>{part}{part}{part}</productsort></namedsort>\
         </declarations></structure></declaration><page id=\"g\"><place id=\"p\"><type><structure>\
         <usersort declaration=\"P\"/></structure></type><hlinitialMarking><structure><tuple>{all}</tuple>\
         </structure></hlinitialMarking></place></page></net></pnml>"
    )
}

fn networks(size: &dyn Fn(usize) -> usize) -> Vec<Nasty> {
    let n = size(20_000);
    let many = format!("process P[i in 0..{n}] {{ s: a[i] -> t; t: b[i] -> s; }}");
    let shared = format!(
        "process R {{ free: take[i] -> held[i] for i in 0..{n}; held[i in 0..{n}]: give[i] -> free; }}
         process P[i in 0..{n}] {{ s: take[i] -> t; t: give[i] -> s; }}"
    );
    let long = format!(
        "process C {{ at[i in 0..{0}]: tick -> at[i + 1] when i + 1 < {0}; }} ltl l = [] <> C@at[0];",
        size(1_000_000)
    );
    let ring = "process P { s[i in 0..20]: go -> s[(i + 1) % 20]; }\n";
    let n_questions = size(5_000);
    let lines = |line: &dyn Fn(usize) -> String| (0..n_questions).map(line).collect::<String>();
    let formulas = lines(&|at| format!("ltl l{at} = [] <> (P@s[{}] || P@s[{}]);\n", at % 20, at / 20 % 20));
    let invariants = lines(&|at| format!("invariant i{at} = P@s[{}] || !P@s[{}];\n", at % 20, at % 20));
    let deep =
        format!("{ring}invariant deep = {}P@s[0]{};\n", "(".repeat(size(200_000)), ")".repeat(size(200_000)));
    let wide = format!(
        "{ring}invariant wide = {};\n",
        (0..size(100_000)).map(|at| format!("P@s[{}]", at % 20)).collect::<Vec<_>>().join(" || ")
    );
    let huge = "process P[i in 0..4000000000] { s: a[i] -> s; }".to_owned();
    let values = format!(
        "process X[i in 0..{}] {{ at[k in 0..100]: set[i, j] -> at[j] for j in 0..100; }}",
        size(1_000)
    );
    let tester = format!(
        "{ring}tester T {{ watch go; t[i in 0..{0}]: go -> t[i + 1] when i + 1 < {0} | go -> bad when i == {0} - 1; \
         bad: ; reject bad; infinite t[3]; livelock t[i] for i in 0..{0}; }}",
        size(200_000)
    );
    let name = "very_long_name_".repeat(60);
    let names = format!(
        "process {name}[i in 0..{0}] {{ {name}s: {name}[i] -> {name}t; {name}t: {name}b[i] -> {name}s; }}",
        size(3_000)
    );
    let fair = format!("{many}\nltl served = forall i in 0..3: [] <> P[i]@s;");
    vec![
        model("many processes", "many.proc", many, "[] <> P[0]@s"),
        model("many processes of one resource", "shared.proc", shared, "[] <> P[0]@s"),
        model("a long run", "long.proc", long, "<> C@at[5]"),
        model("many formulas", "formulas.proc", format!("{ring}{formulas}"), "[] <> P@s[1]"),
        model("many invariants", "invariants.proc", format!("{ring}{invariants}"), "[] <> P@s[1]"),
        model("a deep invariant", "deep.proc", deep, "[] <> P@s[1]"),
        model("a wide invariant", "wide.proc", wide, "[] <> P@s[1]"),
        model("too many processes", "huge.proc", huge, "[] <> P[0]@s"),
        model("many values", "values.proc", values, "[] <> X[0]@at[3]"),
        model("a large tester", "tester.proc", tester, "[] <> P@s[1]"),
        model("long names", "names.proc", names, &format!("[] <> {name}[0]@{name}s")),
        model("a formula over many processes", "fair.proc", fair, "[] <> P[1]@s"),
    ]
}

fn programs(size: &dyn Fn(usize) -> usize) -> Vec<Nasty> {
    let n = size(200_000);
    let vector = format!(
        "byte a[{n}]; byte b[{n}]; byte c[{n}];
         active proctype P() {{ int i; do :: i < {n} -> a[i] = 1; b[i] = a[i]; i++ :: else -> break od }}"
    );
    let statements = "x = x + 1; g = g + x; ".repeat(size(500));
    let processes: String =
        (0..40).map(|at| format!("active proctype P{at}() {{ byte x; {statements} }}\n")).collect();
    let nested = "if :: g > 0 -> ".repeat(size(3_000)) + "g = 1" + &" fi".repeat(size(3_000));
    let laughs: String = (0..40).map(|at| format!("#define m{} m{at} m{at}\n", at + 1)).collect();
    let channels = format!(
        "chan c[{0}] = [200] of {{ int, int }}; active [50] proctype P() {{ int x; do :: c[_pid] ! _pid, x -> x++ \
         :: c[_pid] ? x, x od }}",
        size(2_000).clamp(60, 255)
    );
    let select = "active proctype P() { int i; select (i : 0 .. 2000000000); assert(i != 5) }".to_owned();
    let recursion = "proctype A(int n) { if :: n > 0 -> run A(n - 1); run A(n - 2) :: else fi }
                     init { run A(30) }"
        .to_owned();
    let steps = "active proctype P() { int i; d_step { do :: i < 2000000000 -> i++ :: else -> break od } }"
        .to_owned();
    let atomic =
        "int x; active [3] proctype P() { atomic { do :: x < 2000000000 -> x++ :: x > 5 -> break od } }";
    let questions: String =
        (0..size(5_000)).map(|at| format!("ltl l{at} {{ [] <> (x == {}) }}\n", at % 7)).collect();
    let questions = format!("int x; active proctype P() {{ do :: x = (x + 1) % 7 od }}\n{questions}");
    let wide = format!(
        "int x, y; active proctype P() {{ do {} od }}",
        (0..size(10_000))
            .map(|at| format!(":: x == {at} -> x = (x + {}) % {} \n", at % 13, size(10_000)))
            .collect::<String>()
    );
    let bits = format!(
        "bit a[{0}]; int i; active [2] proctype P() {{ do :: a[i] = 1 - a[i]; i = (i + 7) % {0} od }}",
        size(100_000)
    );
    let unbounded = "int a, b, c; active proctype P() { do :: a++ :: b++ :: c = a * b od }".to_owned();
    vec![
        model("a large state", "vector.pml", vector, "[] <> (a[1] == 1)"),
        model("many small variables", "bits.pml", bits, "[] <> (a[1] == 1)"),
        model("many statements", "actions.pml", format!("int g;\n{processes}"), "[] <> (g > 3)"),
        model(
            "deep statements",
            "nested.pml",
            format!("int g; active proctype P() {{ {nested} }}"),
            "<> (g > 3)",
        ),
        model(
            "macros that explode",
            "laughs.pml",
            format!("{laughs}#define m0 x++;\nint x; active proctype P() {{ m40 }}"),
            "<> (x > 3)",
        ),
        model("many channels", "channels.pml", channels, "[] <> (len(c[0]) == 1)"),
        model("a large choice", "select.pml", select, "[] true"),
        model("processes that start processes", "recursion.pml", recursion, "[] true"),
        model("a step that takes long", "steps.pml", steps, "[] true"),
        model("a chain that takes long", "atomic.pml", atomic.to_owned(), "[] (x < 7)"),
        model("many formulas in Promela", "questions.pml", questions, "[] (x < 7)"),
        model("many options", "wide.pml", wide, "[] <> (x == 7)"),
        model("numbers without bound", "unbounded.pml", unbounded, "[] (c < 7)"),
    ]
}

fn hoa(n_states: usize, ap: &str, acceptance: &str, body: &str) -> String {
    format!(
        "HOA: v1\nStates: {n_states}\nStart: 0\nAP: {ap}\nAcceptance: {acceptance}\n--BODY--\n{body}--END--\n"
    )
}

fn automata(size: &dyn Fn(usize) -> usize) -> Vec<Nasty> {
    let one = "1 \"a@s\"";
    let names: String = (0..24).map(|at| format!(" \"a@s || {at} == {at} - 1\"")).collect();
    let many = format!("24{names}");
    // True for an odd number of propositions: no disjunction is short.
    let odd = (1..24).fold("0".to_owned(), |odd, at| {
        format!("(({odd}) & !{at}) | (!({odd}) & {at})").chars().take(90_000).collect()
    });
    let odd = if odd.matches('(').count() == odd.matches(')').count() { odd } else { "0".to_owned() };
    let pairs: Vec<String> = (0..12).map(|at| format!("({at}&{})", at + 12)).collect();
    let bits = |number: usize| -> String {
        (0..20)
            .map(|bit| format!("{}{bit}", if number >> bit & 1 == 1 { "" } else { "!" }))
            .collect::<Vec<_>>()
            .join("&")
    };
    let wide: Vec<String> = (0..size(20_000)).map(|at| bits(at * 2_654_435_761 % (1 << 20))).collect();
    let long = (0..size(200_000))
        .map(|at| format!("State: {at}\n[0] {}\n", (at + 1) % size(200_000)))
        .collect::<String>();
    let k = size(600).max(30);
    let dense: String = (0..k)
        .map(|at| {
            format!("State: {at}\n")
                + &(0..k)
                    .map(|to| format!("[{}0] {to}\n", if (at * to) % 3 == 0 { "!" } else { "" }))
                    .collect::<String>()
        })
        .collect();
    let deep = format!("State: 0\n[{}0{}] 0\n", "(".repeat(size(200_000)), ")".repeat(size(200_000)));
    let n_marks = 64;
    let all: Vec<String> = (0..n_marks).map(|at| format!("Inf({at})")).collect();
    let marks: String = (0..size(2_000))
        .map(|at| {
            format!(
                "State: {at}\n[t] {} {{{}}}\n[0] {at} {{{}}}\n",
                (at + 1) % size(2_000),
                at % n_marks,
                at * 7 % n_marks
            )
        })
        .collect();
    let aliases: String =
        (1..60).map(|at| format!("Alias: @a{at} @a{} & @a{} | !@a{}\n", at - 1, at - 1, at - 1)).collect();
    let aliases = hoa(1, one, "1 Inf(0)", "State: 0\n[@a59] 0 {0}\n")
        .replace("--BODY--", &format!("Alias: @a0 0\n{aliases}--BODY--"));
    // The complement of these has very many states.
    let hard: String = (0..14)
        .map(|at| format!("State: {at}\n[0] {} {{{}}}\n[!0] {}\n[t] {at}\n", (at + 1) % 14, 0, (at * 3) % 14))
        .collect();
    let never: String = (0..size(20_000))
        .map(|at| {
            format!(
                "accept_{at}:\n  if\n  :: (a@s) -> goto accept_{}\n  :: (1) -> goto accept_{at}\n  fi;\n",
                (at + 1) % size(20_000)
            )
        })
        .collect();
    vec![
        automaton(
            "a label without short form",
            "odd.hoa",
            hoa(1, &many, "1 Inf(0)", &format!("State: 0\n[{odd}] 0 {{0}}\n")),
        ),
        automaton(
            "a label of pairs",
            "pairs.hoa",
            hoa(1, &many, "1 Inf(0)", &format!("State: 0\n[{}] 0 {{0}}\n", pairs.join("|"))),
        ),
        automaton(
            "a label of many cubes",
            "wide.hoa",
            hoa(1, &many, "1 Inf(0)", &format!("State: 0\n[{}] 0 {{0}}\n", wide.join("|"))),
        ),
        automaton("a long automaton", "long.hoa", hoa(size(200_000), one, "1 Inf(0)", &long)),
        automaton("a dense automaton", "dense.hoa", hoa(k, one, "1 Inf(0)", &dense)),
        automaton("a deep label", "deep.hoa", hoa(1, one, "1 Inf(0)", &deep)),
        automaton(
            "many marks",
            "marks.hoa",
            hoa(size(2_000), one, &format!("{n_marks} {}", all.join("&")), &marks),
        ),
        automaton("aliases that explode", "aliases.hoa", aliases),
        automaton("a complement that explodes", "hard.hoa", hoa(14, one, "1 Inf(0)", &hard)),
        automaton("a long claim", "long.never", format!("never {{\n{never}}}\n")),
    ]
}

fn formulas(size: &dyn Fn(usize) -> usize) -> Vec<Nasty> {
    let pairs =
        |n: usize| (0..n).map(|at| format!("(G F a{at} | F G b{at})")).collect::<Vec<_>>().join(" & ");
    let until = (1..20).fold("a0".to_owned(), |inner, at| format!("({inner}) U a{at}"));
    let odd = (1..16).fold("a0".to_owned(), |odd, at| format!("({odd} <-> a{at})"));
    let xs = "X ".repeat(size(45_000)) + "a";
    let parentheses = "(".repeat(size(50_000)) + "a" + &")".repeat(size(50_000));
    let nots = "!".repeat(size(100_000)) + "a";
    let nested = "G F (a & X ".repeat(size(6_000)) + "b" + &")".repeat(size(6_000));
    let wide = (0..size(10_000)).map(|at| format!("a{at}")).collect::<Vec<_>>().join(" | ");
    let list: String =
        (0..size(20_000)).map(|at| format!("G (a{} -> X (b U c{}))\n", at % 50, at % 70)).collect();
    let mut all = vec![
        formula("fairness of many", &pairs(12)),
        formula("nested until", &until),
        formula("an odd number", &format!("G F ({odd})")),
        formula("many next", &xs),
        formula("many parentheses", &parentheses),
        formula("many negations", &nots),
        formula("nested always", &nested),
        formula("many propositions", &wide),
    ];
    let from_file = ["--format stats", "--json", "--to ta --format dot"]
        .map(|how| format!("translate --file @list.ltl {how}"));
    let from_file = from_file.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
    all.push(Nasty { name: "many formulas in a file", files: vec![("list.ltl", list)], commands: from_file });
    all
}

/// Runs that were told before.
fn documents(size: &dyn Fn(usize) -> usize) -> Vec<Nasty> {
    let n = size(500_000);
    let long = format!("process C {{ at[i in 0..{n}]: tick -> at[i + 1] when i + 1 < {n}; }}");
    let step = |at: usize| {
        let action = if at == 0 { "null,\"process\":null" } else { "\"tick\",\"process\":\"C\"" };
        format!("{{\"action\":{action},\"state\":{{\"C\":\"at[{at}]\"}}}}")
    };
    let steps: Vec<String> = (0..n).map(step).collect();
    let run = format!(
        "{{\"schema\":1,\"model\":{{\"file\":\"long.proc\"}},\"results\":[{{\"property\":\"p\",\"verdict\":\"violated\",\
         \"counterexample\":{{\"kind\":\"deadlock\",\"prefix\":[{}],\"cycle\":[]}}}}]}}",
        steps.join(",")
    );
    let deep = "[".repeat(size(100_000)) + &"]".repeat(size(100_000));
    let lines = |lines: &[&str]| -> Vec<Vec<String>> {
        lines.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
    };
    vec![
        Nasty {
            name: "a long run that was told",
            files: vec![("long.proc", long.clone()), ("run.json", run)],
            commands: lines(&[
                "explain @long.proc --input @run.json",
                "explain @long.proc --input @run.json --json",
                "simulate @long.proc --input @run.json --json",
                "simulate @long.proc --input @run.json --random --length 5",
            ]),
        },
        Nasty {
            name: "a deep document",
            files: vec![("long.proc", long), ("deep.json", deep)],
            commands: lines(&[
                "explain @long.proc --input @deep.json",
                "simulate @long.proc --input @deep.json",
            ]),
        },
    ]
}
