//! What the shape of a formula says about its language: its place in the temporal hierarchy,
//! pure eventuality and universality, freedom from `X`.
//!
//! # Idea
//! Manna and Pnueli order properties by how much topology they need: safety, guarantee and obligation
//! (closed, open, their Boolean combinations) are what is asked here. Grammars generate formulas of each
//! class, and every property of a class has a formula in its grammar (Chang, Manna, Pnueli, *Characterization of temporal
//! property classes*, ICALP 1992; in the form of Černá, Pelánek, *Relating hierarchy of temporal
//! properties to model checking*, MFCS 2003). Pure eventualities and universalities are from
//! Etessami, Holzmann, *Optimizing Büchi automata*, CONCUR 2000.
//!
//! The classes of a formula follow from those of its operands, so they are computed once, when the
//! pool makes the formula. Only constants, negation, conjunction, `U` and `M` have rules of their
//! own: the other operators are derived from these by duality.
//!
//! # Requirements and limits
//! Every answer "yes" is right; "no" only says that the shape does not show it: no word satisfies
//! `G (a & F !a)`, which makes it a safety property, but it does not look like one.

/// What the shape of a formula shows about it. See the head of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes {
    safety: bool,
    guarantee: bool,
    obligation: bool,
    eventuality: bool,
    universality: bool,
    propositional: bool,
    next_free: bool,
}

impl Classes {
    /// Violations show in a finite prefix.
    pub fn is_safety(self) -> bool {
        self.safety
    }

    /// Satisfaction shows in a finite prefix.
    pub fn is_guarantee(self) -> bool {
        self.guarantee
    }

    /// A Boolean combination of safety and guarantee properties.
    pub fn is_obligation(self) -> bool {
        self.obligation
    }

    /// A pure eventuality: if a suffix of a word satisfies the formula, so does the word.
    pub fn is_pure_eventuality(self) -> bool {
        self.eventuality
    }

    /// A pure universality: if a word satisfies the formula, so does each of its suffixes.
    pub fn is_pure_universality(self) -> bool {
        self.universality
    }

    /// There is no temporal operator: the first letter decides.
    pub fn is_propositional(self) -> bool {
        self.propositional
    }

    /// There is no `X`. Such a formula cannot tell words apart that differ only in how often
    /// letters are repeated (it is *stutter-invariant*: Lamport, *What good is temporal logic?*,
    /// IFIP 1983). A formula with `X` may still be stutter-invariant; the exact test needs
    /// automata.
    pub fn is_next_free(self) -> bool {
        self.next_free
    }
}

/// The rules. `a`, `b` are the classes of the operands.
impl Classes {
    pub(crate) const CONSTANT: Classes = Classes {
        safety: true,
        guarantee: true,
        obligation: true,
        eventuality: true,
        universality: true,
        propositional: true,
        next_free: true,
    };

    pub(crate) const PROPOSITION: Classes =
        Classes { eventuality: false, universality: false, ..Classes::CONSTANT };

    pub(crate) fn not(a: Classes) -> Classes {
        Classes {
            safety: a.guarantee,
            guarantee: a.safety,
            eventuality: a.universality,
            universality: a.eventuality,
            ..a
        }
    }

    /// Conjunction and disjunction alike: every class is closed under both.
    pub(crate) fn both(a: Classes, b: Classes) -> Classes {
        Classes {
            safety: a.safety && b.safety,
            guarantee: a.guarantee && b.guarantee,
            obligation: a.obligation && b.obligation,
            eventuality: a.eventuality && b.eventuality,
            universality: a.universality && b.universality,
            propositional: a.propositional && b.propositional,
            next_free: a.next_free && b.next_free,
        }
    }

    pub(crate) fn implies(a: Classes, b: Classes) -> Classes {
        Classes::both(Classes::not(a), b)
    }

    /// Both signs of both operands take part in an equivalence.
    pub(crate) fn equivalent(a: Classes, b: Classes) -> Classes {
        Classes::both(Classes::implies(a, b), Classes::implies(b, a))
    }

    pub(crate) fn next(a: Classes) -> Classes {
        Classes { propositional: false, next_free: false, ..a }
    }

    /// `a U b` is `(a W b) & F b`, and a union over the moments at which `b` comes.
    pub(crate) fn until(a: Classes, b: Classes) -> Classes {
        let guarantee = a.guarantee && b.guarantee;
        Classes {
            safety: false,
            guarantee,
            obligation: guarantee || (a.obligation && b.guarantee),
            eventuality: b.eventuality,
            propositional: false,
            ..Classes::both(a, b)
        }
    }

    /// `a M b` is `(a R b) & F a`, and a union over the moments at which `a` comes.
    pub(crate) fn strong_release(a: Classes, b: Classes) -> Classes {
        let guarantee = a.guarantee && b.guarantee;
        Classes {
            safety: false,
            guarantee,
            obligation: guarantee || (a.guarantee && b.obligation),
            propositional: false,
            ..Classes::both(a, b)
        }
    }

    pub(crate) fn finally(a: Classes) -> Classes {
        Classes { eventuality: true, ..Classes::until(Classes::CONSTANT, a) }
    }

    pub(crate) fn globally(a: Classes) -> Classes {
        Classes::not(Classes::finally(Classes::not(a)))
    }

    pub(crate) fn release(a: Classes, b: Classes) -> Classes {
        Classes::not(Classes::until(Classes::not(a), Classes::not(b)))
    }

    pub(crate) fn weak_until(a: Classes, b: Classes) -> Classes {
        Classes::not(Classes::strong_release(Classes::not(a), Classes::not(b)))
    }
}
