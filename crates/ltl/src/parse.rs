//! Reading formulas: the language, and the way in.
//!
//! # The language
//! Spin's, Spot's and the word spelling are one language and may be mixed:
//!
//! | | symbols | words |
//! |---|---|---|
//! | always | `[]` `G` `□` | `always` `globally` |
//! | eventually | `<>` `F` `◇` | `eventually` `finally` |
//! | next | `X` `○` | `next` |
//! | until | `U` | `until` `stronguntil` `strong until` |
//! | weak until | `W` | `weakuntil` `weak until` |
//! | release | `R` `V` | `release` `releases` |
//! | strong release | `M` | `strongrelease` `strong release` |
//! | not | `!` `~` `¬` | `not` |
//! | and | `&` `&&` `/\` `∧` | `and` |
//! | or | `\|` `\|\|` `\/` `∨` | `or` |
//! | exclusive or | `^` `⊕` | `xor` |
//! | implies | `->` `-->` `=>` `→` `⇒` | `implies` |
//! | equivalent | `<->` `<-->` `<=>` `↔` `⇔` | `equivalent` |
//! | constants | `1` `0` | `true` `false` in any case |
//!
//! Operators bind as follows, the loosest first:
//!
//! | operators | associate |
//! |---|---|
//! | `->` `<->` | to the right |
//! | `\|` | either way |
//! | `^` | to the left |
//! | `&` | either way |
//! | `U` `R` `W` `M` | to the right |
//! | `!` `X` `F` `G` | prefix |
//! | `==` `!=` `<` `<=` `>` `>=` | not at all |
//! | `+` `-` | to the left |
//! | `*` `/` `%` | to the left |
//! | `-` as a sign | prefix |
//!
//! This is Spot's table with the operators of model expressions after it. Spin agrees except that
//! its `U` and `->` associate to the left and its old `-f` parser gives all Boolean operators one
//! level; the [printer](crate::print) therefore writes the parentheses that make these differences
//! harmless. A comparison binds tighter than a prefix operator: `! x == 3` is `!(x == 3)`, and
//! `[] x > 0` says what it seems to say.
//!
//! # Propositions
//! A proposition is a name, any text in double quotes (where `\` protects the next character), or a
//! model expression written directly: `Phil[0]@left`, `(x + y) >= 2`, `len(q) > 2`. A *term* is made
//! of names, numbers, arithmetic and comparison; the largest term that a Boolean or temporal operator
//! is applied to, or that is the whole formula, is one proposition. Its text is the text of the term
//! without parentheses around it and with single blanks. What it means is for a front end to say.
//! Between the brackets of a name anything may stand. Operator words are names after `.`, `@` and `:`, in
//! quotes, and where an operand is expected and what follows goes on with a term: `[] W@crit`,
//! `<> (X == 2)`, `U[1] > 0`; so a process may be called `W`, but `X -y > 0` has an operator. Comments (`// …` and `/* … */`) count as blanks.
//!
//! Spot users glue prefix operators to what follows: `GFp`, `XXa1`, `GF(a)`. Spot therefore reads
//! every word that begins with `F`, `G` or `X` this way, and its users cannot call a proposition
//! `Fork`. Here a word is split only if it consists of such letters (`GF`), or if they are followed
//! by one small letter and digits (`Fp0`), or if there are two or more of them before a small letter
//! (`GFready`); and never if the word goes on as a model expression (`Fp[0]`, `Go@start`). So
//! `Fork`, `Grant` and `G1` are names; a name that does look like `Go` needs double quotes.
//!
//! # Requirements and limits
//! Parentheses may be nested to any depth. Operators may be nested [`MAX_DEPTH`] deep, so that those
//! who do recurse over formulas can; a chain of `&` or of `|` counts as one operator.

use base::{Diagnostic, SourceId, Span};

use crate::formula::{Formula, Formulas, Prop};
use crate::lexer::{Place, tokenize};
use crate::parser::Parser;

/// How deep operators may be nested in a formula that is parsed.
pub const MAX_DEPTH: u32 = 10_000;

/// A formula that was parsed.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The formula.
    pub formula: Formula,
    /// The propositions that were written, in order, each with the place of its first occurrence
    /// in this text. Resolve all of these, also those of which the formula turned out not to
    /// depend (`p & false`).
    pub propositions: Vec<(Prop, Span)>,
}

/// Parses a formula that stands at byte `offset` of `source`. `text` is only the formula, which may
/// be a part of a larger file; the places in messages are places in that file.
///
/// # Errors
/// The first mistake, with its place and what was expected there. The pool may then hold parts of
/// the formula, which do no harm.
pub fn parse(
    formulas: &mut Formulas,
    text: &str,
    source: SourceId,
    offset: usize,
) -> Result<Parsed, Diagnostic> {
    let place = Place { source, offset };
    let tokens = tokenize(text, place)?;
    Parser::new(formulas, text, place, tokens).run()
}
