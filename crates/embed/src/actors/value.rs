//! A value of some type: the local states and timers of actors that stand side by side.

use std::any::Any;
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A value of some type that can be compared, hashed, shown, and shared.
#[derive(Clone)]
pub struct Value(Arc<dyn Inside>);

trait Inside: Any + Debug + Send + Sync {
    fn is_equal(&self, other: &dyn Inside) -> bool;
    fn feed(&self, hasher: &mut dyn Hasher);
}

impl<T: Eq + Hash + Debug + Send + Sync + 'static> Inside for T {
    fn is_equal(&self, other: &dyn Inside) -> bool {
        (other as &dyn Any).downcast_ref::<T>().is_some_and(|other| self == other)
    }

    fn feed(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}

impl Value {
    /// A value.
    pub fn new<T: Eq + Hash + Debug + Send + Sync + 'static>(value: T) -> Value {
        Value(Arc::new(value))
    }

    /// The value, if it is of this type.
    #[inline]
    pub fn get<T: 'static>(&self) -> Option<&T> {
        (&*self.0 as &dyn Any).downcast_ref()
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.is_equal(&*other.0)
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.feed(hasher);
    }
}

impl Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&*self.0, f)
    }
}
