//! The concrete syntax in one place: which symbols and words spell which operator, and how tightly
//! operators bind. Lexer and parser read these tables; [`parse`](mod@crate::parse) explains them.

use crate::formula::Op;

/// How tightly an operator binds; more is tighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Implication,
    Disjunction,
    Exclusion,
    Conjunction,
    Until,
    Prefix,
    Comparison,
    Sum,
    Product,
    Sign,
}

impl Level {
    pub(crate) fn of(op: Op) -> Level {
        match op {
            Op::Implies | Op::Equivalent => Level::Implication,
            Op::Or => Level::Disjunction,
            Op::Xor => Level::Exclusion,
            Op::And => Level::Conjunction,
            Op::Until | Op::Release | Op::WeakUntil | Op::StrongRelease => Level::Until,
            Op::True | Op::False | Op::Prop(_) | Op::Not | Op::Next | Op::Finally | Op::Globally => {
                Level::Prefix
            }
        }
    }

    pub(crate) fn associates_right(self) -> bool {
        matches!(self, Level::Implication | Level::Until)
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An operator of one formula, written before it.
    Prefix(Op),
    /// An operator of two formulas.
    Infix(Op),
    /// An operator of two terms. `-` is also a sign.
    Arithmetic(Level),
    /// `true` or `false`.
    Constant(bool),
    /// Digits. `0` and `1` are also constants.
    Number,
    /// A name of the model.
    Name,
    /// Text in double quotes.
    Quoted,
    /// `(`.
    Open,
    /// `)`.
    Close,
    /// `[` that is not `[]`.
    OpenBracket,
    /// `]`.
    CloseBracket,
    /// `.`, `@` or `:`, after which comes a name of the model.
    Access,
    /// Any other character. Allowed only inside the brackets of a name: `q[a ? b]`.
    Other,
}

impl Kind {
    /// Whether an operand may end with such a token, so that an operator is expected next.
    pub(crate) fn ends_operand(self) -> bool {
        matches!(
            self,
            Kind::Constant(_) | Kind::Number | Kind::Name | Kind::Quoted | Kind::Close | Kind::CloseBracket
        )
    }
}

/// Symbols, longer ones before their prefixes. `[]` is missing: blanks are allowed inside it.
pub(crate) const SYMBOLS: &[(&str, Kind)] = &[
    ("<-->", Kind::Infix(Op::Equivalent)),
    ("<->", Kind::Infix(Op::Equivalent)),
    ("<=>", Kind::Infix(Op::Equivalent)),
    ("-->", Kind::Infix(Op::Implies)),
    ("->", Kind::Infix(Op::Implies)),
    ("=>", Kind::Infix(Op::Implies)),
    ("&&", Kind::Infix(Op::And)),
    ("/\\", Kind::Infix(Op::And)),
    ("&", Kind::Infix(Op::And)),
    ("||", Kind::Infix(Op::Or)),
    ("\\/", Kind::Infix(Op::Or)),
    ("|", Kind::Infix(Op::Or)),
    ("^", Kind::Infix(Op::Xor)),
    ("<>", Kind::Prefix(Op::Finally)),
    ("==", Kind::Arithmetic(Level::Comparison)),
    ("!=", Kind::Arithmetic(Level::Comparison)),
    ("<=", Kind::Arithmetic(Level::Comparison)),
    (">=", Kind::Arithmetic(Level::Comparison)),
    ("<", Kind::Arithmetic(Level::Comparison)),
    (">", Kind::Arithmetic(Level::Comparison)),
    ("+", Kind::Arithmetic(Level::Sum)),
    ("-", Kind::Arithmetic(Level::Sum)),
    ("*", Kind::Arithmetic(Level::Product)),
    ("/", Kind::Arithmetic(Level::Product)),
    ("%", Kind::Arithmetic(Level::Product)),
    ("!", Kind::Prefix(Op::Not)),
    ("~", Kind::Prefix(Op::Not)),
    ("(", Kind::Open),
    (")", Kind::Close),
    ("[", Kind::OpenBracket),
    ("]", Kind::CloseBracket),
    (".", Kind::Access),
    ("@", Kind::Access),
    (":", Kind::Access),
    ("□", Kind::Prefix(Op::Globally)),
    ("◇", Kind::Prefix(Op::Finally)),
    ("○", Kind::Prefix(Op::Next)),
    ("¬", Kind::Prefix(Op::Not)),
    ("∧", Kind::Infix(Op::And)),
    ("∨", Kind::Infix(Op::Or)),
    ("⊕", Kind::Infix(Op::Xor)),
    ("→", Kind::Infix(Op::Implies)),
    ("⇒", Kind::Infix(Op::Implies)),
    ("↔", Kind::Infix(Op::Equivalent)),
    ("⇔", Kind::Infix(Op::Equivalent)),
];

/// Words that are operators. Upper and lower case differ, except in the constants.
pub(crate) const WORDS: &[(&str, Kind)] = &[
    ("not", Kind::Prefix(Op::Not)),
    ("X", Kind::Prefix(Op::Next)),
    ("next", Kind::Prefix(Op::Next)),
    ("F", Kind::Prefix(Op::Finally)),
    ("eventually", Kind::Prefix(Op::Finally)),
    ("finally", Kind::Prefix(Op::Finally)),
    ("G", Kind::Prefix(Op::Globally)),
    ("always", Kind::Prefix(Op::Globally)),
    ("globally", Kind::Prefix(Op::Globally)),
    ("and", Kind::Infix(Op::And)),
    ("or", Kind::Infix(Op::Or)),
    ("xor", Kind::Infix(Op::Xor)),
    ("implies", Kind::Infix(Op::Implies)),
    ("equivalent", Kind::Infix(Op::Equivalent)),
    ("U", Kind::Infix(Op::Until)),
    ("until", Kind::Infix(Op::Until)),
    ("stronguntil", Kind::Infix(Op::Until)),
    ("R", Kind::Infix(Op::Release)),
    ("V", Kind::Infix(Op::Release)),
    ("release", Kind::Infix(Op::Release)),
    ("releases", Kind::Infix(Op::Release)),
    ("W", Kind::Infix(Op::WeakUntil)),
    ("weakuntil", Kind::Infix(Op::WeakUntil)),
    ("M", Kind::Infix(Op::StrongRelease)),
    ("strongrelease", Kind::Infix(Op::StrongRelease)),
    ("strongreleases", Kind::Infix(Op::StrongRelease)),
];

/// What a word is.
pub(crate) fn word(text: &str) -> Kind {
    if text.eq_ignore_ascii_case("true") {
        Kind::Constant(true)
    } else if text.eq_ignore_ascii_case("false") {
        Kind::Constant(false)
    } else {
        WORDS.iter().find(|(word, _)| *word == text).map_or(Kind::Name, |&(_, kind)| kind)
    }
}

/// What two words in a row are, if together they are one operator.
pub(crate) fn word_pair(first: &str, second: &str) -> Option<Kind> {
    match (first, second) {
        ("weak", "until") => Some(Kind::Infix(Op::WeakUntil)),
        ("strong", "until") => Some(Kind::Infix(Op::Until)),
        ("strong", "release" | "releases") => Some(Kind::Infix(Op::StrongRelease)),
        _ => None,
    }
}
