//! Methods by what people call them, for whoever hears names: the workbench and agents. (The command line has its own
//! list, since it also describes them.)

use base::Diagnostic;
use base::suggest::nearest;
use check::method::{ObserverKind, ReductionWish, SearchKind};
use check::reduction::Method as Reduction;

use crate::{Error, Options};

/// The observers that can be asked for.
pub const OBSERVERS: [ObserverKind; 7] = [
    ObserverKind::Tgba,
    ObserverKind::Ba,
    ObserverKind::Ta,
    ObserverKind::Tgta,
    ObserverKind::LazyTa,
    ObserverKind::LazyTgta,
    ObserverKind::Extended,
];

/// The searches that can be asked for.
pub const SEARCHES: [SearchKind; 4] =
    [SearchKind::Scc, SearchKind::Nested, SearchKind::OnePass, SearchKind::TwoPass];

/// The reductions that can be asked for.
pub const REDUCTIONS: [ReductionWish; 8] = [
    ReductionWish::None,
    ReductionWish::Best,
    ReductionWish::Closure,
    ReductionWish::Fixed(Reduction::Guided),
    ReductionWish::Fixed(Reduction::Hybrid),
    ReductionWish::Fixed(Reduction::Classical),
    ReductionWish::Fixed(Reduction::Repaired),
    ReductionWish::Fixed(Reduction::Fair),
];

impl Options {
    /// The same, with methods of these names. What is `auto`, or nothing, is chosen.
    ///
    /// ```
    /// let options = stubborn::Options::default().with_methods("tgba", "auto", "none")?;
    /// assert_eq!(options.observer, Some(stubborn::ObserverKind::Tgba));
    /// assert!(options.with_methods("tbga", "", "").is_err());
    /// # Ok::<(), stubborn::Error>(())
    /// ```
    pub fn with_methods(self, observer: &str, search: &str, reduce: &str) -> Result<Options, Error> {
        Ok(Options {
            observer: named("observer", &OBSERVERS, ObserverKind::name, observer)?,
            search: named("search", &SEARCHES, SearchKind::name, search)?,
            reduce: named("reduction", &REDUCTIONS, ReductionWish::name, reduce)?.unwrap_or_default(),
            ..self
        })
    }
}

/// The one that is called so; none if nothing is said.
fn named<T: Copy>(
    kind: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
    wanted: &str,
) -> Result<Option<T>, Error> {
    if matches!(wanted, "" | "auto") {
        return Ok(None);
    }
    if let Some(one) = all.iter().copied().find(|&one| name(one) == wanted) {
        return Ok(Some(one));
    }
    let names: Vec<_> = all.iter().map(|&one| name(one)).collect();
    let help = match nearest(wanted, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are auto, {}", names.join(", ")),
    };
    Err(Diagnostic::error("usage", format!("there is no {kind} `{wanted}`")).with_help(help).into())
}
