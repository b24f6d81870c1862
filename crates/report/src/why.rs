//! What a property that holds rests on, as far as that is suspicious.

use std::fmt;

use serde::Serialize;

use crate::coverage::MAX_VALUES;

/// Why it may say less than it seems that a property holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Because {
    /// This part may be true or false: the property holds anyway.
    NoMatter {
        /// The part.
        part: String,
    },
    /// This proposition has the same value in all states.
    Constant {
        /// The proposition.
        proposition: String,
        /// The value.
        value: bool,
    },
    /// The condition of an implication is never true.
    NeverTriggered {
        /// The condition.
        condition: String,
    },
    /// It holds of all runs, fair or not.
    FairnessUnneeded,
    /// It holds without fairness to this process or action.
    UnneededFairnessTo {
        /// The process, or the action.
        to: String,
    },
    /// This is never executed, although it could make a difference to it.
    NeverHappens {
        /// The action, or the statement with its place.
        what: String,
    },
    /// A variable that matters to it never has these values.
    NeverTaken {
        /// The variable; a process, if the values are places in its code.
        variable: String,
        /// The values.
        values: Vec<String>,
    },
    /// A variable that matters to it has the same value in all states, although something could change it.
    NeverChanges {
        /// The variable.
        variable: String,
        /// The value.
        value: String,
    },
    /// The tester never gets to this state.
    NeverThere {
        /// The state.
        state: String,
    },
    /// Nothing that this process does makes a difference to it.
    Removable {
        /// The process.
        process: String,
    },
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Because::NoMatter { part } => {
                write!(f, "`{part}` does not matter: it would hold whatever that is")
            }
            Because::Constant { proposition, value } => write!(f, "`{proposition}` is always {value}"),
            Because::NeverTriggered { condition } => {
                write!(f, "`{condition}` is never true: the implication is never triggered")
            }
            Because::FairnessUnneeded => f.write_str("fairness is not needed: it holds of all runs"),
            Because::UnneededFairnessTo { to } => write!(f, "fairness to {to} is not needed"),
            Because::NeverHappens { what } => write!(f, "never executed: {what}"),
            Because::NeverTaken { variable, values } => {
                let shown: Vec<&str> = values.iter().take(MAX_VALUES).map(String::as_str).collect();
                let more = values.len().saturating_sub(MAX_VALUES);
                write!(f, "`{variable}` is never {}", shown.join(", "))?;
                if more > 0 { write!(f, " and {more} more") } else { Ok(()) }
            }
            Because::NeverChanges { variable, value } => write!(f, "`{variable}` is always {value}"),
            Because::NeverThere { state } => write!(f, "the tester never gets to `{state}`"),
            Because::Removable { process } => write!(f, "process `{process}` makes no difference to it"),
        }
    }
}
