//! Panics of a model are verdicts: they are caught, with where they happened, and not printed.
//!
//! The hook is installed once per process, in front of whatever hook there was, and is silent only while a thread runs
//! a model's own code.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if IS_QUIET.get() {
                PLACE.set(
                    info.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default(),
                );
            } else {
                before(info);
            }
        }));
    });
}

/// Runs code of a model.
///
/// # Errors
/// It panics: what it says, and where.
#[inline]
pub(crate) fn catch<T>(code: impl FnOnce() -> T) -> Result<T, String> {
    let was_quiet = IS_QUIET.replace(true);
    let caught = catch_unwind(AssertUnwindSafe(code));
    IS_QUIET.set(was_quiet);
    caught.map_err(|why| text(&*why))
}

/// To be called before the first [`catch`].
pub(crate) fn prepare() {
    install();
}

#[cold]
fn text(why: &(dyn Any + Send)) -> String {
    let said = match (why.downcast_ref::<&str>(), why.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "it panics".to_owned(),
    };
    said + &PLACE.take()
}
