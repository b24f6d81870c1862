//! Models that were written for stateright.
//!
//! A macro, so that stateright is in the lock file of those who use it, and of nobody else. It is expanded where
//! `stateright` is a dependency.

/// Makes a type that checks models written for stateright: `stateright_adapter!(Adapted);`, then
/// `Adapted(model).check()`.
///
/// It needs a dependency on `stateright` (0.31), and states and actions that are `Clone + Eq + Hash + Debug`. The
/// properties of the model become propositions, with what is no letter or digit of their names replaced by `_`.
/// `verify()` asks for all of them: `always` and `sometimes` as there, `eventually` for all infinite runs and for those
/// that end, which stateright does not decide. What is outside of the model's boundary is not entered.
///
/// The guide, *Coming from stateright*, has an example.
#[macro_export]
macro_rules! stateright_adapter {
    ($name:ident) => {
        /// A model that was written for stateright.
        pub struct $name<M>(pub M);

        impl<M> $name<M>
        where
            M: ::stateright::Model,
        {
            /// The actions that lead somewhere inside, in an order that does not depend on that of hash tables.
            fn inside(&self, state: &M::State) -> ::std::vec::Vec<(M::Action, M::State)>
            where
                M::State: ::std::clone::Clone,
                M::Action: ::std::clone::Clone + ::std::hash::Hash,
            {
                use ::std::hash::{Hash as _, Hasher as _};
                let mut actions = ::std::vec::Vec::new();
                self.0.actions(state, &mut actions);
                actions.sort_by_cached_key(|action| {
                    let mut hasher = ::std::hash::DefaultHasher::new();
                    action.hash(&mut hasher);
                    hasher.finish()
                });
                let leads = |action: M::Action| Some((action.clone(), self.0.next_state(state, action)?));
                let leads = actions.into_iter().filter_map(leads);
                leads.filter(|(_, next)| self.0.within_boundary(next)).collect()
            }
        }

        impl<M> $crate::Model for $name<M>
        where
            M: ::stateright::Model + Sync,
            M::State: Clone + Eq + ::std::hash::Hash + ::std::fmt::Debug + Send + Sync + 'static,
            M::Action: Clone + Eq + ::std::hash::Hash + ::std::fmt::Debug + Send + Sync + 'static,
        {
            type State = M::State;
            type Action = M::Action;

            fn initial(&self) -> ::std::vec::Vec<M::State> {
                self.0.init_states().into_iter().filter(|state| self.0.within_boundary(state)).collect()
            }

            fn actions(&self, state: &M::State, out: &mut ::std::vec::Vec<M::Action>) {
                out.extend(self.inside(state).into_iter().map(|(action, _)| action));
            }

            fn step(&self, state: &mut M::State, action: &M::Action) {
                *state =
                    self.0.next_state(state, action.clone()).expect("it led somewhere when it was listed");
            }
        }

        impl<M> $name<M>
        where
            M: ::stateright::Model + Sync,
            M::State: Clone + Eq + ::std::hash::Hash + ::std::fmt::Debug + Send + Sync + 'static,
            M::Action: Clone + Eq + ::std::hash::Hash + ::std::fmt::Debug + Send + Sync + 'static,
        {
            /// Questions about the model, with its properties as propositions.
            pub fn check(&self) -> $crate::Check<'_, Self> {
                let mut check = $crate::Check::new(self);
                for property in self.0.properties() {
                    let condition = property.condition;
                    check =
                        check.prop(&Self::proposition(property.name), move |state| condition(&self.0, state));
                }
                check
            }

            /// What a property is called in formulas.
            pub fn proposition(name: &str) -> ::std::string::String {
                name.chars()
                    .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
                    .collect()
            }

            /// Asks for all properties of the model. What does not hold comes with why.
            pub fn verify(&self) -> ::std::vec::Vec<(&'static str, Result<(), ::std::string::String>)> {
                let check = self.check();
                let verify = |property: &::stateright::Property<M>| {
                    let proposition = Self::proposition(property.name);
                    let verdict = match property.expectation {
                        ::stateright::Expectation::Always => check.always(&proposition),
                        ::stateright::Expectation::Eventually => check.eventually(&proposition),
                        ::stateright::Expectation::Sometimes => match check.reachable(&proposition) {
                            $crate::Reachable::Yes(_) => return (property.name, Ok(())),
                            other => return (property.name, Err(other.to_string())),
                        },
                    };
                    (property.name, verdict.into_result().map(drop).map_err(|why| why.to_string()))
                };
                self.0.properties().iter().map(verify).collect()
            }
        }
    };
}
