//! Why a search must end that is not about the question: what a step was met with, kept by number.

use std::sync::{Mutex, MutexGuard, PoisonError};

use model::{ActionId, Fault, StepError};

use crate::classes::Class;

/// Why a search must end. Its number is that of a [`Fault::Assertion`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The model panics.
    Panic(String),
    /// A state has no words.
    Unencodable(String),
    /// Somebody else would have seen something else.
    Nondeterministic(String),
    /// There are actions of a class that was not known.
    NewClass(Class),
    /// States need more room than they have.
    Outgrown,
    /// Actors that are said to be equal are not.
    Asymmetric(String),
    /// There are more actions than numbers.
    TooManyActions,
}

/// All that went wrong so far, whoever met it.
#[derive(Default)]
pub(crate) struct Troubles(Mutex<Vec<Trouble>>);

impl Troubles {
    /// Ends the search, in a step or while a state is looked at.
    #[cold]
    pub(crate) fn add(&self, trouble: Trouble, action: Option<ActionId>) -> StepError {
        let mut troubles = self.lock();
        troubles.push(trouble);
        StepError { fault: Fault::Assertion(troubles.len() as u32 - 1), action }
    }

    /// What an error is about.
    pub(crate) fn of(&self, error: &StepError) -> Option<Trouble> {
        match error.fault {
            Fault::Assertion(number) => self.lock().get(number as usize).cloned(),
            _ => None,
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Trouble> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Trouble>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
