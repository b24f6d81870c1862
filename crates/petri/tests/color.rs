//! Colored nets beside their definition: random small nets are written as PNML, read and unfolded, and played by a
//! slow token game on colors that enumerates all bindings and shares nothing with the library.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use common::marking_graph;
use common::{facts, lower, mistakes, net_of};
use fastrand::Rng;
use language::{Argument, Facts as _, Known, Model as _, PropertyKind, Story as _};
use stubborn_petri::{Net, read};

/// Sorts: an enumeration, numbers from 3 on, dots, and products of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basic {
    A,
    B,
    Dot,
}

/// Part of the enumeration that is the first element of its partition.
const FIRST: u32 = 1;

#[derive(Clone, Debug)]
struct Sizes {
    a: u32,
    b: u32,
}

impl Sizes {
    fn of(&self, basic: Basic) -> u32 {
        match basic {
            Basic::A => self.a,
            Basic::B => self.b,
            Basic::Dot => 1,
        }
    }
}

/// The sorts of places, by number.
const SORTS: [&[Basic]; 5] =
    [&[Basic::A], &[Basic::B], &[Basic::Dot], &[Basic::A, Basic::B], &[Basic::A, Basic::A]];
/// Variables: name, sort.
const VARIABLES: [(&str, usize); 4] = [("x", 0), ("y", 0), ("n", 1), ("pair", 3)];

type Color = Vec<u32>;

/// A term for one color.
#[derive(Clone, Debug)]
enum Term {
    Variable(usize),
    Constant(Basic, u32),
    Successor(Box<Term>),
    Predecessor(Box<Term>),
    Tuple(Vec<Term>),
}

#[derive(Clone, Debug)]
enum Bag {
    One(Term),
    Times(i64, Box<Bag>),
    Add(Vec<Bag>),
    Subtract(Box<Bag>, Box<Bag>),
    All(usize),
    Tuple(Vec<Bag>),
}

#[derive(Clone, Debug)]
enum Guard {
    Equal(Term, Term),
    Unequal(Term, Term),
    Less(Term, Term),
    AtLeast(Term, Term),
    SameElement(Term, Term),
    InFirst(Term),
    And(Vec<Guard>),
    Or(Vec<Guard>),
    Not(Box<Guard>),
}

#[derive(Clone, Debug)]
struct Transition {
    inputs: Vec<(usize, Bag)>,
    outputs: Vec<(usize, Bag)>,
    guard: Option<Guard>,
}

#[derive(Clone, Debug)]
struct Colored {
    sizes: Sizes,
    places: Vec<(usize, Option<Bag>)>,
    transitions: Vec<Transition>,
}

// ---- The definition -------------------------------------------------------------------------------

/// The values of the variables, each a color.
type Binding = Vec<Color>;
type Multiset = BTreeMap<Color, i64>;
/// Tokens by the names of places and colors.
type Marking = BTreeMap<String, i64>;
/// All markings, with the bindings that are enabled there and where these lead.
type Steps = BTreeMap<Marking, BTreeSet<(String, Marking)>>;

impl Colored {
    fn colors(&self, sort: usize) -> Vec<Color> {
        let mut colors = vec![Vec::new()];
        for &basic in SORTS[sort] {
            let longer = |color: &Color| -> Vec<Color> {
                (0..self.sizes.of(basic)).map(|value| [&color[..], &[value]].concat()).collect()
            };
            colors = colors.iter().flat_map(longer).collect();
        }
        colors
    }

    /// The basic sort of a term that is no tuple, for going round.
    fn basic(term: &Term) -> Basic {
        match term {
            Term::Variable(variable) => SORTS[VARIABLES[*variable].1][0],
            Term::Constant(basic, _) => *basic,
            Term::Successor(inner) | Term::Predecessor(inner) => Colored::basic(inner),
            Term::Tuple(_) => unreachable!("tuples have no successors"),
        }
    }

    fn color(&self, term: &Term, binding: &Binding) -> Color {
        match term {
            Term::Variable(variable) => binding[*variable].clone(),
            Term::Constant(_, value) => vec![*value],
            Term::Successor(inner) => {
                vec![(self.color(inner, binding)[0] + 1) % self.sizes.of(Colored::basic(inner))]
            }
            Term::Predecessor(inner) => {
                let size = self.sizes.of(Colored::basic(inner));
                vec![(self.color(inner, binding)[0] + size - 1) % size]
            }
            Term::Tuple(terms) => terms.iter().flat_map(|term| self.color(term, binding)).collect(),
        }
    }

    fn bag(&self, bag: &Bag, binding: &Binding) -> Multiset {
        match bag {
            Bag::One(term) => Multiset::from([(self.color(term, binding), 1)]),
            Bag::All(sort) => self.colors(*sort).into_iter().map(|color| (color, 1)).collect(),
            Bag::Times(number, bag) => {
                self.bag(bag, binding).into_iter().map(|(color, count)| (color, count * number)).collect()
            }
            Bag::Add(bags) => {
                let mut sum = Multiset::new();
                for (color, count) in bags.iter().flat_map(|bag| self.bag(bag, binding)) {
                    *sum.entry(color).or_default() += count;
                }
                sum
            }
            Bag::Subtract(from, what) => {
                let what = self.bag(what, binding);
                let mut rest = self.bag(from, binding);
                rest.iter_mut().for_each(|(color, count)| *count -= what.get(color).unwrap_or(&0));
                rest.retain(|_, count| *count > 0);
                rest
            }
            Bag::Tuple(bags) => {
                let mut all = Multiset::from([(Vec::new(), 1)]);
                for bag in bags {
                    let next = self.bag(bag, binding);
                    let mut longer = Multiset::new();
                    for (color, count) in &all {
                        for (other, its) in &next {
                            *longer.entry([&color[..], other].concat()).or_default() += count * its;
                        }
                    }
                    all = longer;
                }
                all
            }
        }
    }

    fn holds(&self, guard: &Guard, binding: &Binding) -> bool {
        let color = |term: &Term| self.color(term, binding);
        match guard {
            Guard::Equal(left, right) => color(left) == color(right),
            Guard::Unequal(left, right) => color(left) != color(right),
            Guard::Less(left, right) => color(left)[0] < color(right)[0],
            Guard::AtLeast(left, right) => color(left)[0] >= color(right)[0],
            Guard::SameElement(left, right) => (color(left)[0] < FIRST) == (color(right)[0] < FIRST),
            Guard::InFirst(term) => color(term)[0] < FIRST,
            Guard::And(guards) => guards.iter().all(|guard| self.holds(guard, binding)),
            Guard::Or(guards) => guards.iter().any(|guard| self.holds(guard, binding)),
            Guard::Not(guard) => !self.holds(guard, binding),
        }
    }

    /// The variables of a transition, in the order in which they are met.
    fn variables(transition: &Transition) -> Vec<usize> {
        fn term(found: &mut Vec<usize>, the: &Term) {
            match the {
                Term::Variable(variable) if !found.contains(variable) => found.push(*variable),
                Term::Variable(_) | Term::Constant(..) => {}
                Term::Successor(inner) | Term::Predecessor(inner) => term(found, inner),
                Term::Tuple(terms) => terms.iter().for_each(|inner| term(found, inner)),
            }
        }
        fn bag(found: &mut Vec<usize>, the: &Bag) {
            match the {
                Bag::One(one) => term(found, one),
                Bag::Times(_, inner) => bag(found, inner),
                Bag::Add(bags) | Bag::Tuple(bags) => bags.iter().for_each(|inner| bag(found, inner)),
                Bag::Subtract(from, what) => [from, what].into_iter().for_each(|inner| bag(found, inner)),
                Bag::All(_) => {}
            }
        }
        fn guard(found: &mut Vec<usize>, the: &Guard) {
            match the {
                Guard::Equal(left, right)
                | Guard::Unequal(left, right)
                | Guard::Less(left, right)
                | Guard::AtLeast(left, right)
                | Guard::SameElement(left, right) => {
                    [left, right].into_iter().for_each(|one| term(found, one));
                }
                Guard::InFirst(one) => term(found, one),
                Guard::And(guards) | Guard::Or(guards) => guards.iter().for_each(|inner| guard(found, inner)),
                Guard::Not(inner) => guard(found, inner),
            }
        }
        let mut found = Vec::new();
        transition.inputs.iter().chain(&transition.outputs).for_each(|(_, its)| bag(&mut found, its));
        transition.guard.iter().for_each(|its| guard(&mut found, its));
        found
    }

    /// All bindings of a transition that its guard allows, with their names.
    fn bindings(&self, number: usize) -> Vec<(String, Binding)> {
        let transition = &self.transitions[number];
        let variables = Colored::variables(transition);
        let mut bindings = vec![vec![Vec::new(); VARIABLES.len()]];
        for &variable in &variables {
            let bound = |binding: &Binding| -> Vec<Binding> {
                let with = |color: Color| {
                    let mut binding = binding.clone();
                    binding[variable] = color;
                    binding
                };
                self.colors(VARIABLES[variable].1).into_iter().map(with).collect()
            };
            bindings = bindings.iter().flat_map(bound).collect();
        }
        bindings.retain(|binding| transition.guard.as_ref().is_none_or(|guard| self.holds(guard, binding)));
        let named = |binding: Binding| {
            let mut texts = Vec::new();
            for &variable in &variables {
                let (name, sort) = VARIABLES[variable];
                for (part, (&basic, &value)) in SORTS[sort].iter().zip(&binding[variable]).enumerate() {
                    let name =
                        if SORTS[sort].len() == 1 { name.to_owned() } else { format!("{name}.{part}") };
                    texts.push(format!("{name}={}", shown(basic, value)));
                }
            }
            let name = if texts.is_empty() {
                format!("t{number}")
            } else {
                format!("t{number}({})", texts.join(","))
            };
            (name, binding)
        };
        bindings.into_iter().map(named).collect()
    }

    fn initial(&self) -> BTreeMap<String, i64> {
        let mut marking = BTreeMap::new();
        for (number, (_, bag)) in self.places.iter().enumerate() {
            let bag = bag.as_ref().map(|bag| self.bag(bag, &Vec::new())).unwrap_or_default();
            bag.into_iter().for_each(|(color, count)| _ = marking.insert(self.place(number, &color), count));
        }
        marking
    }

    /// The name of a place and a color.
    fn place(&self, number: usize, color: &Color) -> String {
        if SORTS[self.places[number].0] == [Basic::Dot] {
            return format!("p{number}");
        }
        let parts = SORTS[self.places[number].0].iter().zip(color);
        let texts: Vec<String> = parts.map(|(&basic, &value)| shown(basic, value)).collect();
        format!("p{number}({})", texts.join(","))
    }

    /// All markings, each with the steps that are possible; nothing if there are too many.
    fn explore(&self, max: usize) -> Option<Steps> {
        let mut bindings = Vec::new();
        for number in 0..self.transitions.len() {
            for (name, binding) in self.bindings(number) {
                let tokens = |arcs: &[(usize, Bag)]| {
                    let mut tokens: BTreeMap<String, i64> = BTreeMap::new();
                    for (place, bag) in arcs {
                        for (color, count) in self.bag(bag, &binding) {
                            *tokens.entry(self.place(*place, &color)).or_default() += count;
                        }
                    }
                    tokens
                };
                let transition = &self.transitions[number];
                bindings.push((name, tokens(&transition.inputs), tokens(&transition.outputs)));
            }
        }
        let mut found = BTreeMap::new();
        let mut open = vec![self.initial()];
        while let Some(marking) = open.pop() {
            if found.contains_key(&marking) {
                continue;
            }
            let mut steps = BTreeSet::new();
            for (name, inputs, outputs) in &bindings {
                if inputs.iter().any(|(place, count)| marking.get(place).unwrap_or(&0) < count) {
                    continue;
                }
                let mut after = marking.clone();
                inputs.iter().for_each(|(place, count)| *after.entry(place.clone()).or_default() -= count);
                outputs.iter().for_each(|(place, count)| *after.entry(place.clone()).or_default() += count);
                after.retain(|_, count| *count > 0);
                if after.values().sum::<i64>() > 30 {
                    return None;
                }
                open.push(after.clone());
                steps.insert((name.clone(), after));
            }
            found.insert(marking, steps);
            if found.len() > max {
                return None;
            }
        }
        Some(found)
    }
}

fn shown(basic: Basic, value: u32) -> String {
    match basic {
        Basic::A => format!("a{value}"),
        Basic::B => (3 + value).to_string(),
        Basic::Dot => "dot".to_owned(),
    }
}

// ---- The file -------------------------------------------------------------------------------------

impl Colored {
    fn to_pnml(&self) -> String {
        let mut text = String::from(
            "<pnml xmlns='http://www.pnml.org/version-2009/grammar/pnml'><net id='n' \
             type='http://www.pnml.org/version-2009/grammar/symmetricnet'><page id='page'>",
        );
        for (number, (sort, initial)) in self.places.iter().enumerate() {
            let _ = write!(
                text,
                "<place id='p{number}'><type><structure><usersort declaration='s{sort}'/></structure></type>"
            );
            if let Some(bag) = initial {
                let _ = write!(
                    text,
                    "<hlinitialMarking><structure>{}</structure></hlinitialMarking>",
                    self.write_bag(bag)
                );
            }
            text.push_str("</place>");
        }
        for (number, transition) in self.transitions.iter().enumerate() {
            let _ = write!(text, "<transition id='t{number}'>");
            if let Some(guard) = &transition.guard {
                let _ =
                    write!(text, "<condition><structure>{}</structure></condition>", self.write_guard(guard));
            }
            text.push_str("</transition>");
            let inputs =
                transition.inputs.iter().map(|arc| (format!("p{}", arc.0), format!("t{number}"), &arc.1));
            let outputs =
                transition.outputs.iter().map(|arc| (format!("t{number}"), format!("p{}", arc.0), &arc.1));
            for (from, to, bag) in inputs.chain(outputs) {
                let _ = write!(
                    text,
                    "<arc source='{from}' target='{to}'><hlinscription><structure>{}</structure></hlinscription></arc>",
                    self.write_bag(bag)
                );
            }
        }
        text.push_str("</page><declaration><structure><declarations>");
        let constants = |range: std::ops::Range<u32>| -> String {
            range.map(|value| format!("<feconstant id='A{value}' name='a{value}'/>")).collect()
        };
        let users = |range: std::ops::Range<u32>| -> String {
            range.map(|value| format!("<useroperator declaration='A{value}'/>")).collect()
        };
        let _ = write!(
            text,
            "<variabledecl id='x' name='x'><usersort declaration='s0'/></variabledecl>\
             <namedsort id='s3' name='AB'><productsort><usersort declaration='s0'/><usersort declaration='s1'/>\
             </productsort></namedsort>\
             <namedsort id='s0' name='A'><cyclicenumeration>{}</cyclicenumeration></namedsort>\
             <namedsort id='s1' name='B'><finiteintrange start='3' end='{}'/></namedsort>\
             <namedsort id='s2' name='Dot'><dot/></namedsort>\
             <namedsort id='s4' name='AA'><productsort><usersort declaration='s0'/><usersort declaration='s0'/>\
             </productsort></namedsort>\
             <partition id='P' name='P'><usersort declaration='s0'/><partitionelement id='P0' name='first'>{}\
             </partitionelement><partitionelement id='P1' name='rest'>{}</partitionelement></partition>\
             <variabledecl id='y' name='y'><usersort declaration='s0'/></variabledecl>\
             <variabledecl id='n' name='n'><usersort declaration='s1'/></variabledecl>\
             <variabledecl id='pair' name='pair'><usersort declaration='s3'/></variabledecl>",
            constants(0..self.sizes.a),
            2 + self.sizes.b,
            users(0..FIRST),
            users(FIRST..self.sizes.a),
        );
        text.push_str("</declarations></structure></declaration></net></pnml>");
        text
    }

    fn write_term(&self, term: &Term) -> String {
        match term {
            Term::Variable(variable) => format!("<variable refvariable='{}'/>", VARIABLES[*variable].0),
            Term::Constant(Basic::A, value) => format!("<useroperator declaration='A{value}'/>"),
            Term::Constant(Basic::B, value) => format!(
                "<finiteintrangeconstant value='{}'><finiteintrange start='3' end='{}'/></finiteintrangeconstant>",
                3 + value,
                2 + self.sizes.b
            ),
            Term::Constant(Basic::Dot, _) => "<dotconstant/>".to_owned(),
            Term::Successor(inner) => element("successor", [self.write_term(inner)]),
            Term::Predecessor(inner) => element("predecessor", [self.write_term(inner)]),
            Term::Tuple(terms) => element("tuple", terms.iter().map(|term| self.write_term(term))),
        }
    }

    fn write_bag(&self, bag: &Bag) -> String {
        match bag {
            Bag::One(term) => self.write_term(term),
            Bag::Times(number, bag) => {
                let number = format!("<numberconstant value='{number}'><positive/></numberconstant>");
                element("numberof", [number, self.write_bag(bag)])
            }
            Bag::Add(bags) => element("add", bags.iter().map(|bag| self.write_bag(bag))),
            Bag::Subtract(from, what) => element("subtract", [self.write_bag(from), self.write_bag(what)]),
            Bag::All(sort) => format!("<all><usersort declaration='s{sort}'/></all>"),
            Bag::Tuple(bags) => element("tuple", bags.iter().map(|bag| self.write_bag(bag))),
        }
    }

    fn write_guard(&self, guard: &Guard) -> String {
        let two = |name: &str, left: &Term, right: &Term| {
            element(name, [self.write_term(left), self.write_term(right)])
        };
        let part = |term: &Term| {
            let inside = self.write_term(term);
            format!("<partitionelementof refpartition='P'><subterm>{inside}</subterm></partitionelementof>")
        };
        match guard {
            Guard::Equal(left, right) => two("equality", left, right),
            Guard::Unequal(left, right) => two("inequality", left, right),
            Guard::Less(left, right) => two("lessthan", left, right),
            Guard::AtLeast(left, right) => two("greaterthanorequal", left, right),
            Guard::SameElement(left, right) => element("equality", [part(left), part(right)]),
            Guard::InFirst(term) => {
                element("equality", [part(term), "<useroperator declaration='P0'/>".to_owned()])
            }
            Guard::And(guards) => element("and", guards.iter().map(|guard| self.write_guard(guard))),
            Guard::Or(guards) => element("or", guards.iter().map(|guard| self.write_guard(guard))),
            Guard::Not(guard) => element("not", [self.write_guard(guard)]),
        }
    }
}

fn element(name: &str, subterms: impl IntoIterator<Item = String>) -> String {
    let subterms: String = subterms.into_iter().map(|term| format!("<subterm>{term}</subterm>")).collect();
    format!("<{name}>{subterms}</{name}>")
}

// ---- Random nets ----------------------------------------------------------------------------------

struct Random {
    rng: Rng,
    sizes: Sizes,
}

impl Random {
    fn net(seed: u64) -> Colored {
        let mut rng = Rng::with_seed(seed);
        let sizes = Sizes { a: rng.u32(2..4), b: rng.u32(1..4) };
        let mut random = Random { rng, sizes: sizes.clone() };
        let n_places = random.rng.usize(2..5);
        let sorts: Vec<usize> = (0..n_places).map(|_| random.rng.usize(0..SORTS.len())).collect();
        let places =
            sorts.iter().map(|&sort| (sort, random.one_in(8, 7).then(|| random.marking(sort)))).collect();
        let transitions = (0..random.rng.usize(1..4)).map(|_| random.transition(&sorts)).collect();
        Colored { sizes, places, transitions }
    }

    fn one_in(&mut self, of: u32, times: u32) -> bool {
        self.rng.u32(0..of) < times
    }

    fn transition(&mut self, sorts: &[usize]) -> Transition {
        let mut arcs = |at_most: usize| -> Vec<(usize, Bag)> {
            let n_arcs = self.rng.usize(1..=at_most);
            let place = |random: &mut Random| random.rng.usize(0..sorts.len());
            (0..n_arcs)
                .map(|_| {
                    let place = place(self);
                    (place, self.bag(sorts[place], true))
                })
                .collect()
        };
        let (inputs, outputs) = (arcs(2), arcs(2));
        let guard = self.one_in(2, 1).then(|| self.guard(2));
        Transition { inputs, outputs, guard }
    }

    fn term(&mut self, basic: Basic, variables: bool) -> Term {
        let fitting: Vec<usize> =
            (0..VARIABLES.len()).filter(|&at| SORTS[VARIABLES[at].1] == [basic]).collect();
        let mut term = match variables && !fitting.is_empty() && self.one_in(4, 3) {
            true => Term::Variable(fitting[self.rng.usize(0..fitting.len())]),
            false => Term::Constant(basic, self.rng.u32(0..self.sizes.of(basic))),
        };
        if basic != Basic::Dot && self.one_in(4, 1) {
            term = Term::Successor(term.into());
        } else if basic != Basic::Dot && self.one_in(5, 1) {
            term = Term::Predecessor(term.into());
        }
        term
    }

    fn color(&mut self, sort: usize, variables: bool) -> Term {
        if variables && sort == 3 && self.one_in(4, 1) {
            return Term::Variable(3);
        }
        let mut terms: Vec<Term> = SORTS[sort].iter().map(|&basic| self.term(basic, variables)).collect();
        if terms.len() == 1 { terms.remove(0) } else { Term::Tuple(terms) }
    }

    fn bag(&mut self, sort: usize, variables: bool) -> Bag {
        let one = Bag::One(self.color(sort, variables));
        match self.rng.u32(0..12) {
            0 => Bag::All(sort),
            1 => Bag::Times(2, one.into()),
            2 | 3 => Bag::Add(vec![one, self.bag(sort, variables)]),
            4 => Bag::Subtract(Bag::All(sort).into(), one.into()),
            5 => {
                let from = Bag::Add(vec![one.clone(), Bag::One(self.color(sort, variables))]);
                Bag::Add(vec![Bag::Subtract(from.into(), one.into()), Bag::One(self.color(sort, variables))])
            }
            6 if SORTS[sort].len() == 2 => {
                let second = if SORTS[sort][1] == Basic::A { 0 } else { 1 };
                let every = match self.one_in(2, 1) {
                    true => Bag::All(second),
                    false => {
                        let less = Bag::One(self.color(second, variables));
                        Bag::Subtract(Bag::All(second).into(), less.into())
                    }
                };
                Bag::Tuple(vec![Bag::One(self.color(0, variables)), every])
            }
            _ => one,
        }
    }

    /// Some tokens more often than few.
    fn marking(&mut self, sort: usize) -> Bag {
        let some = self.bag(sort, false);
        if self.one_in(2, 1) { Bag::Add(vec![Bag::All(sort), some]) } else { some }
    }

    fn guard(&mut self, depth: u32) -> Guard {
        if depth > 0 && self.one_in(2, 1) {
            let mut guards = vec![self.guard(depth - 1), self.guard(depth - 1)];
            return match self.rng.u32(0..3) {
                0 => Guard::And(guards),
                1 => Guard::Or(guards),
                _ => Guard::Not(guards.remove(0).into()),
            };
        }
        let basic = if self.one_in(3, 1) { Basic::B } else { Basic::A };
        let (left, right) = (self.term(basic, true), self.term(basic, true));
        match self.rng.u32(0..7) {
            0 => Guard::Less(left, right),
            1 => Guard::AtLeast(left, right),
            2 if basic == Basic::A => Guard::SameElement(left, right),
            3 if basic == Basic::A => Guard::InFirst(left),
            4 => Guard::Unequal(left, right),
            5 => Guard::Equal(self.color(3, true), self.color(3, true)),
            _ => Guard::Equal(left, right),
        }
    }
}

// ---- Tests ----------------------------------------------------------------------------------------

/// A marking by the names of places, without those that are empty.
fn by_names(net: &Net, marking: &[i64]) -> BTreeMap<String, i64> {
    let all = net.places.iter().zip(marking).filter(|(_, tokens)| **tokens > 0);
    all.map(|(place, &tokens)| (place.id.clone(), tokens)).collect()
}

fn cases(default: u64) -> u64 {
    let factor = std::env::var("STUBBORN_CASES").ok().and_then(|value| value.parse().ok()).unwrap_or(1);
    default * factor
}

#[test]
fn unfolded_nets_do_what_colored_ones_do() {
    let (mut compared, mut with_steps) = (0, 0);
    for seed in 0..cases(600) {
        let colored = Random::net(seed);
        let Some(expected) = colored.explore(400) else { continue };
        let net = net_of(&colored.to_pnml());
        let graph = marking_graph::explore(&net, usize::MAX);
        let mut found = BTreeMap::new();
        for (marking, edges) in graph.markings.iter().zip(&graph.edges) {
            let steps: BTreeSet<_> = edges
                .iter()
                .map(|(transition, to)| {
                    (net.transition(*transition).id.clone(), by_names(&net, &graph.markings[*to]))
                })
                .collect();
            assert_eq!(steps.len(), edges.len(), "seed {seed}: a binding is there twice");
            found.insert(by_names(&net, marking), steps);
        }
        assert_eq!(found, expected, "seed {seed}: {colored:#?}");
        compared += 1;
        with_steps += usize::from(expected.len() > 1);
    }
    assert!(compared > 300 && with_steps > 200, "{compared} compared, {with_steps} with steps");
}

/// A question about sums of colors and of whole places.
fn question(net: &Net, n_places: usize, rng: &mut Rng, depth: u32) -> String {
    if depth > 0 && rng.u8(0..3) > 0 {
        let (a, b) = (question(net, n_places, rng, depth - 1), question(net, n_places, rng, depth - 1));
        return match rng.u8(0..5) {
            0 | 1 => format!("({a} && {b})"),
            2 | 3 => format!("({a} || {b})"),
            _ => format!("(!{a})"),
        };
    }
    let mut sum = || {
        let mut term = || match rng.u8(0..4) {
            0 if !net.places.is_empty() => format!("'{}'", rng.choice(&net.places).unwrap().id),
            1 => rng.i64(0..4).to_string(),
            _ => format!("p{}", rng.usize(0..n_places)),
        };
        let (a, b) = (term(), term());
        match rng.u8(0..4) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - 2 * {b})"),
            _ => a,
        }
    };
    let (a, b) = (sum(), sum());
    format!("({a} {} {b})", rng.choice(["==", "!=", "<", "<=", ">", ">="]).unwrap())
}

#[test]
fn what_is_so_without_colors_is_so() {
    let (mut n_shown, mut n_bounds) = (0, 0);
    for seed in 0..cases(120) {
        let colored = Random::net(seed);
        if colored.explore(200).is_none() {
            continue;
        }
        let net = net_of(&colored.to_pnml());
        let graph = marking_graph::explore(&net, usize::MAX);
        let facts = facts(&net);
        let mut model = lower(&net);
        let source = base::SourceMap::new().add("x", "".into()).unwrap();
        let (mut rng, budget) = (Rng::with_seed(seed), &mut base::Budget::unlimited());
        for _ in 0..8 {
            let text = question(&net, colored.places.len(), &mut rng, 2);
            let expr = model.resolve(&text, source, 0).unwrap();
            let value =
                |expr, marking: &[i64]| model::reference::value(&model.system, expr, marking).unwrap();
            let truths: BTreeSet<bool> = graph.markings.iter().map(|its| value(expr, its) != 0).collect();
            let exprs = &model.system.exprs;
            let question = PropertyKind::Invariant(expr);
            if let Some(known) = facts.answer(exprs, &mut ltl::Formulas::new(), &question, budget).unwrap() {
                let is_always = !truths.contains(&false);
                assert_eq!(known.answer, Known::Truth(is_always), "seed {seed}: {text} {:?}", known.by);
                n_shown += usize::from(known.by == Argument::Skeleton);
            }
            let sum = format!(
                "p{} + 2 * p{}",
                rng.usize(0..colored.places.len()),
                rng.usize(0..colored.places.len())
            );
            let sum = model.resolve(&sum, source, 0).unwrap();
            let most = graph
                .markings
                .iter()
                .map(|its| model::reference::value(&model.system, sum, its).unwrap())
                .max()
                .unwrap();
            if let Some((bound, by)) = facts.upper_bound(&model.system.exprs, sum, budget).unwrap() {
                assert!(bound >= most, "seed {seed}: {bound} is exceeded by {most}, {by:?}");
                n_bounds += 1;
            }
        }
    }
    assert!(n_shown > 15 && n_bounds > 100, "{n_shown} by the skeleton, {n_bounds} bounds");
}

/// A ring of six, each of whom hands a token on.
fn ring() -> Colored {
    let (x, next) = (Term::Variable(0), Term::Successor(Term::Variable(0).into()));
    let hand_on =
        Transition { inputs: vec![(0, Bag::One(x))], outputs: vec![(0, Bag::One(next))], guard: None };
    let start = Bag::One(Term::Constant(Basic::A, 0));
    Colored {
        sizes: Sizes { a: 3, b: 1 },
        places: vec![(0, Some(start)), (4, None)],
        transitions: vec![hand_on],
    }
}

#[test]
fn names_stand_for_all_colors_or_for_one() {
    let net = net_of(&ring().to_pnml());
    let ids: Vec<&str> = net.places.iter().map(|place| place.id.as_str()).collect();
    assert_eq!(ids, ["p0(a0)", "p0(a1)", "p0(a2)"], "p1 never has a token");
    let mut model = lower(&net);
    let mut sources = base::SourceMap::new();
    let source = sources.add("x", "".into()).unwrap();
    let mut initially = |text: &str| {
        let expr = model.resolve(text, source, 0).unwrap();
        let marking = marking_graph::initial(&net);
        model::reference::value(&model.system, expr, &marking).unwrap()
    };
    assert_eq!(initially("p0"), 1);
    assert_eq!(initially("'p0(a0)' - 'p0(a1)'"), 1);
    assert_eq!(initially("p1 == 0"), 1, "a place that never holds a token");
    assert_eq!(initially("fireable(t0)"), 1);
    assert_eq!(initially("fireable('t0(x=a1)')"), 0);
    let errors = model.resolve("'p0(a7)' > 0", source, 0).unwrap_err();
    assert_eq!(errors.iter().next().unwrap().code, "unknown-place");
    let shown: Vec<(String, String)> = net
        .colors
        .as_ref()
        .unwrap()
        .items(&[0, 2, 1])
        .into_iter()
        .map(|item| (item.name, item.value))
        .collect();
    assert_eq!(shown, [("p0".into(), "{2'a1, a2}".into()), ("p1".into(), "{}".into())]);
}

#[test]
fn a_colored_net_is_drawn_as_it_was_written() {
    let mut colored = ring();
    colored.transitions[0].guard =
        Some(Guard::Not(Guard::Equal(Term::Variable(0), Term::Constant(Basic::A, 1)).into()));
    let drawing = net_of(&colored.to_pnml()).draw(&mut base::Budget::unlimited()).unwrap();
    let labels: Vec<&str> = drawing.edges().iter().map(|edge| edge.label.as_str()).collect();
    assert_eq!(labels, ["x", "x++1"]);
    let dot = drawing.to_dot().to_string();
    assert!(dot.contains("[x ≠ a1]"), "{dot}");
    assert!(drawing.description.contains("2 places, 1 transition and 2 arcs"), "{}", drawing.description);
}

#[test]
fn what_is_wrong_with_colors_is_told() {
    let text = ring().to_pnml();
    let error = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        let changed = text.replacen(from, to, 1);
        let source = base::SourceMap::new().add("net.pnml", changed.clone().into()).unwrap();
        let errors = mistakes(read(&changed, source, &mut base::Budget::unlimited()).unwrap_err());
        errors.iter().next().unwrap().code
    };
    assert_eq!(error("refvariable='x'", "refvariable='z'"), "unknown-variable");
    assert_eq!(
        error("<usersort declaration='s0'/></structure>", "<usersort declaration='s9'/></structure>"),
        "unknown-sort"
    );
    assert_eq!(
        error("<usersort declaration='s0'/></structure>", "<usersort declaration='s4'/></structure>"),
        "sort-mismatch"
    );
    assert_eq!(error("declaration='A0'/></structure>", "declaration='A9'/></structure>"), "unknown-constant");
    assert_eq!(error("<type><structure><usersort declaration='s0'/></structure></type>", ""), "missing-type");
    assert_eq!(
        error("<finiteintrange start='3' end='3'/>", "<finiteintrange start='3' end='2'/>"),
        "bad-term"
    );
    assert_eq!(
        error("<usersort declaration='s0'/><usersort declaration='s0'/>", "<usersort declaration='s4'/>"),
        "bad-term"
    );
}

/// A token goes round in a square of so many by so many; what is not reachable is not unfolded.
fn square(side: u32) -> String {
    let mut colored = ring();
    colored.sizes.a = side;
    let pair = |second: Term| Bag::One(Term::Tuple(vec![Term::Variable(0), second]));
    let next = |term: Term| Term::Successor(term.into());
    colored.places[1].1 =
        Some(Bag::One(Term::Tuple(vec![Term::Constant(Basic::A, 0), Term::Constant(Basic::A, 0)])));
    let right = Transition {
        inputs: vec![(1, pair(Term::Variable(1)))],
        outputs: vec![(1, pair(next(Term::Variable(1))))],
        guard: None,
    };
    let down = Transition {
        inputs: vec![(1, pair(Term::Variable(1)))],
        outputs: vec![(1, Bag::One(Term::Tuple(vec![next(Term::Variable(0)), Term::Variable(1)])))],
        guard: None,
    };
    colored.transitions = vec![right, down];
    colored.to_pnml()
}

#[test]
fn a_large_net_is_unfolded_and_a_larger_one_keeps_to_its_limits() {
    let net = net_of(&square(100));
    assert_eq!((net.places.len(), net.transitions.len()), (1 + 10_000, 20_000));
    let text = square(2_000);
    let source = base::SourceMap::new().add("net.pnml", text.clone().into()).unwrap();
    let mut budget = base::Budget::unlimited();
    budget.max_bytes = 20_000_000;
    match read(&text, source, &mut budget) {
        Err(language::Trouble::Limit(base::Limit::Memory(_))) => {}
        other => panic!("{:?}", other.map(|net| net.places.len())),
    }
}
