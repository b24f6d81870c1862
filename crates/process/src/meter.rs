//! How much may still be built: quotas for each kind of thing, and the budget for all of them.
//!
//! A quota that is used up is a mistake in the file, with its place. A budget that is spent is no mistake:
//! the [`Meter`] remembers it, and gives a failure that nobody will see to whoever asked, so that everything
//! ends as after an error. So the phases know one way to fail; only [`load`](crate::load) looks at the meter.

use std::cell::{Cell, RefCell};

use base::{Budget, Diagnostic, Fail, Limit, Span, fail};

/// A budget that everybody who builds something looks at.
pub(crate) struct Meter<'w> {
    budget: RefCell<Budget<'w>>,
    spent: Cell<Option<Limit>>,
}

impl<'w> Meter<'w> {
    pub(crate) fn new(budget: Budget<'w>) -> Meter<'w> {
        Meter { budget: RefCell::new(budget), spent: Cell::new(None) }
    }

    /// How many bytes may still be taken.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.budget.borrow().max_bytes
    }

    /// Why it is time to stop, if it is.
    pub(crate) fn spent(&self) -> Option<Limit> {
        self.spent.get()
    }

    /// A piece of work after which so many bytes more are kept.
    pub(crate) fn take(&self, bytes: u64) -> Result<(), Fail> {
        self.run(|budget| {
            budget.tick()?;
            budget.hold(bytes)
        })
    }

    /// Does something within the budget.
    pub(crate) fn run<T>(&self, work: impl FnOnce(&mut Budget<'w>) -> Result<T, Limit>) -> Result<T, Fail> {
        let done = match self.spent.get() {
            Some(limit) => Err(limit),
            None => work(&mut self.budget.borrow_mut()),
        };
        done.map_err(|limit| {
            self.spent.set(Some(limit));
            Box::new(Diagnostic::error("spent", limit.to_string()))
        })
    }

    /// Gives bytes back.
    pub(crate) fn release(&self, bytes: u64) {
        self.budget.borrow_mut().release(bytes);
    }
}

/// How much may still be built of something.
#[derive(Clone, Copy)]
pub(crate) struct Quota<'m> {
    what: &'static str,
    limit: u64,
    left: u64,
    /// Bytes that one of them takes, about.
    bytes: u64,
    meter: Option<&'m Meter<'m>>,
}

impl<'m> Quota<'m> {
    pub(crate) fn new(what: &'static str, limit: u64, bytes: u64, meter: &'m Meter<'m>) -> Quota<'m> {
        Quota { what, limit, left: limit, bytes, meter: Some(meter) }
    }

    /// For what has been counted already.
    pub(crate) fn unlimited() -> Quota<'m> {
        Quota { what: "", limit: u64::MAX, left: u64::MAX, bytes: 0, meter: None }
    }

    /// Takes `n` out of the quota; if that is too much, the place is to blame.
    pub(crate) fn take(&mut self, n: u64, place: Span) -> Result<(), Fail> {
        self.check(n, place)?;
        self.left -= n;
        self.meter.map_or(Ok(()), |meter| meter.take(n.saturating_mul(self.bytes)))
    }

    /// Whether `n` could be taken.
    pub(crate) fn check(&self, n: u64, place: Span) -> Result<(), Fail> {
        if n <= self.left {
            return Ok(());
        }
        let message = format!("the model is too large: it has more than {} {}", self.limit, self.what);
        let error = fail("too-large", message, place, "this goes over the limit");
        Err(Box::new(error.with_help("lower a constant, or narrow a range")))
    }
}
