//! Families of systems with formulas about them, as `families.txt` has them.

use std::sync::LazyLock;

/// Values of constants.
pub type Constants = Vec<(&'static str, i64)>;

/// A system that scales.
#[derive(Default)]
pub struct Family {
    /// What it is called in tables.
    pub name: &'static str,
    /// Whether the note on guided reduction has it.
    pub is_in_note: bool,
    /// The file of the model.
    pub model: &'static str,
    /// Per size, the values of constants.
    pub sizes: Vec<Constants>,
    /// The same for sizes at which time can be measured well.
    pub larger: Vec<Constants>,
    /// What is claimed: the class of the formula, and the formula.
    pub formulas: Vec<(Class, &'static str)>,
}

base::define_words! {
    /// What a formula is like.
    pub enum Class {
        /// Something never happens, or not before something else.
        Safety = "safety",
        /// Something is always followed by something else.
        Response = "response",
        /// Something happens again and again.
        Recurrence = "recurrence",
        /// Something is so from some moment on.
        Persistence = "persistence",
        /// Until something happens, something else is so.
        Until = "until",
        /// Several of these.
        Nested = "nested",
    }
}

/// All families.
pub static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let mut families: Vec<Family> = Vec::new();
    let is_said = |line: &&str| !line.is_empty() && !line.starts_with('#');
    for line in include_str!("families.txt").lines().filter(is_said) {
        let (word, rest) = line.split_once(' ').expect("a word and what it says");
        if word == "family" {
            families.push(Family { name: rest, ..Family::default() });
            continue;
        }
        let family = families.last_mut().expect("a family comes first");
        match word {
            "in" => family.is_in_note = true,
            "model" => family.model = rest,
            "sizes" => family.sizes = rest.split(", ").map(constants).collect(),
            "larger" => family.larger = rest.split(", ").map(constants).collect(),
            class => family.formulas.push((Class::named(class).expect("a class"), rest)),
        }
    }
    families
});

/// `N=4 M=2`.
fn constants(text: &'static str) -> Constants {
    let constant = |pair: &'static str| {
        let (name, value) = pair.split_once('=').expect("a name and a value");
        (name, value.parse().expect("a number"))
    };
    text.split(' ').map(constant).collect()
}
