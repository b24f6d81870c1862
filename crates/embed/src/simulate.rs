//! Single runs: at random, or as a schedule says. They are taken on real states, without any search.

use crate::check::Check;
use crate::judge::{Given, Judge};
use crate::model::Model;
use crate::run::{Ending, Run};
use crate::verdict::Reason;

/// Random numbers, the same everywhere for the same seed (splitmix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ mixed >> 31) * n as u128) >> 64) as usize
    }
}

impl<M: Model> Check<'_, M> {
    /// A run at random of up to so many steps; the same for the same seed.
    ///
    /// # Errors
    /// The model panics, or has no initial state.
    pub fn simulate(&self, seed: u64, max_steps: usize) -> Result<Run<M>, Reason> {
        let mut random = Random::new(seed);
        self.walk(|offered| (offered > 0).then(|| random.below(offered)), max_steps)
    }

    /// The run of a [schedule](Run::schedule).
    ///
    /// # Errors
    /// It is no schedule of this model, or the model panics.
    pub fn replay(&self, schedule: &str) -> Result<Run<M>, Reason> {
        let wrong = |why: String| Reason::Question(format!("the schedule `{schedule}` {why}"));
        let malformed = || wrong("is not a number, a colon, and numbers with dots between them".to_owned());
        let (initial, steps) = schedule.split_once(':').ok_or_else(malformed)?;
        let initial: usize = initial.trim().parse().map_err(|_| malformed())?;
        let before_cycle = steps.split_once('*').map(|(before, _)| before);
        let choices = |text: &str| -> Result<Vec<Option<usize>>, Reason> {
            let choice = |text: &str| match text.trim() {
                "r" => Ok(None),
                number => number.parse().map(Some).map_err(|_| malformed()),
            };
            text.split(['.', '*']).filter(|text| !text.trim().is_empty()).map(choice).collect()
        };
        let ending = match before_cycle {
            Some(text) => Ending::Cycle(choices(text)?.len()),
            None => Ending::Open,
        };
        let judge = self.all_asked();
        let judge = self.judge(&judge);
        let mut given = Given { initial, actions: Vec::new(), ending };
        let mut state = nth_initial(&judge, initial)?
            .ok_or_else(|| wrong(format!("names initial state {initial}, which there is not")))?;
        for choice in choices(steps)? {
            let Some(choice) = choice else {
                given.actions.push(None);
                continue;
            };
            let offered = judge.offered(&state)?;
            let Some(action) = offered.get(choice) else {
                let (n, at) = (offered.len(), given.actions.len() + 1);
                return Err(wrong(format!("takes action {choice} in step {at}, where there are {n}")));
            };
            state = judge.after(&state, action)?;
            given.actions.push(Some(action.clone()));
        }
        judge.repeat(&given)
    }

    /// A run that `choose` makes, which is told how much is offered.
    fn walk(
        &self,
        mut choose: impl FnMut(usize) -> Option<usize>,
        max_steps: usize,
    ) -> Result<Run<M>, Reason> {
        let asked = self.all_asked();
        let judge = self.judge(&asked);
        crate::panics::prepare();
        let n_initial = crate::panics::catch(|| self.model.initial().len()).map_err(Reason::Question)?;
        let none = || Reason::Question("the model has no initial state".to_owned());
        let initial = choose(n_initial).ok_or_else(none)?;
        let mut given = Given { initial, actions: Vec::new(), ending: Ending::Open };
        let mut state = nth_initial(&judge, initial)?.ok_or_else(none)?;
        while given.actions.len() < max_steps {
            let offered = judge.offered(&state)?;
            let Some(choice) = choose(offered.len()) else {
                given.ending = Ending::Deadlock;
                break;
            };
            state = judge.after(&state, &offered[choice])?;
            given.actions.push(Some(offered[choice].clone()));
        }
        judge.repeat(&given)
    }

    /// All propositions: their names in a formula do not matter.
    pub(crate) fn all_asked(&self) -> Vec<(ltl::Prop, usize)> {
        let mut formulas = ltl::Formulas::new();
        self.propositions
            .names()
            .enumerate()
            .map(|(number, name)| (formulas.proposition(name), number))
            .collect()
    }
}

fn nth_initial<M: Model>(judge: &Judge<'_, M>, initial: usize) -> Result<Option<M::State>, Reason> {
    crate::panics::prepare();
    let nth = || judge.model.initial().into_iter().nth(initial);
    crate::panics::catch(nth).map_err(|text| Reason::Question(format!("`initial` panics: {text}")))
}
