//! What a field says about its bits, and the code that writes and reads them.

use proc_macro::{Delimiter, TokenTree};

use crate::item::Attribute;
use crate::{Mistake, at_commas, is_punct, text};

/// How values of a type are packed. Types are kept as text; `home` is the path of the trait's crate.
pub(crate) enum Shape {
    /// As the type says itself.
    Plain { kind: String, home: String },
    /// An integer from `low` to `high`; `shown` is the field's name.
    Range { kind: String, low: String, high: String, shown: String, home: String },
    /// An array of `len` elements.
    Array { element: Box<Shape>, len: String },
    /// An `Option`.
    Optional { some: Box<Shape> },
    /// A collection of at most `max` elements.
    Collection { kind: String, element: Box<Shape>, max: String, shown: String, home: String },
    /// A number in a table.
    Interned { kind: String, bits: String, shown: String, home: String },
}

/// The words of an attribute.
#[derive(Default, Clone)]
struct Wishes {
    range: Option<(String, String)>,
    max: Option<String>,
    intern: Option<String>,
}

impl Shape {
    pub(crate) fn read(
        kind: &[TokenTree],
        attribute: Option<&Attribute>,
        shown: &str,
        home: &str,
    ) -> Result<Shape, Mistake> {
        match attribute {
            None => Ok(Shape::Plain { kind: text(kind), home: home.to_owned() }),
            Some(attribute) => shape(kind, wishes(attribute)?, attribute, shown, home),
        }
    }
}

fn wishes(attribute: &Attribute) -> Result<Wishes, Mistake> {
    let mut wishes = Wishes::default();
    for part in at_commas(&attribute.tokens) {
        let value = |part: &[TokenTree]| text(&part[2..]);
        let says = |word: &str| matches!(&part[0], TokenTree::Ident(name) if name.to_string() == word);
        let assigns = is_punct(part.get(1), '=') && part.len() > 2;
        match () {
            () if says("max") && assigns => wishes.max = Some(value(part)),
            () if says("intern") && part.len() == 1 => wishes.intern = Some("32".to_owned()),
            () if says("intern") && assigns => wishes.intern = Some(value(part)),
            () => wishes.range = Some(range(part, attribute)?),
        }
    }
    if wishes.intern.is_some() && (wishes.max.is_some() || wishes.range.is_some()) {
        let text = "what is interned has a number in a table; `max` and ranges say nothing about it";
        return Err(Mistake::new(attribute.span, text));
    }
    Ok(wishes)
}

/// `low..=high` or `low..end`.
fn range(part: &[TokenTree], attribute: &Attribute) -> Result<(String, String), Mistake> {
    let dots = part.windows(2).position(|two| is_punct(two.first(), '.') && is_punct(two.get(1), '.'));
    let wrong = || {
        Mistake::new(
            attribute.span,
            "expected a range as `0..=7`, `max = 4`, `intern`, or `intern = 12` (bits)",
        )
    };
    let at = dots.ok_or_else(wrong)?;
    let inclusive = is_punct(part.get(at + 2), '=');
    let (low, high) = (&part[..at], &part[at + 2 + usize::from(inclusive)..]);
    if low.is_empty() || high.is_empty() {
        return Err(Mistake::new(attribute.span, "both ends of a range are needed, as in `0..=7`"));
    }
    let high = text(high);
    Ok((text(low), if inclusive { high } else { format!("({high}) - 1") }))
}

fn shape(
    kind: &[TokenTree],
    wishes: Wishes,
    attribute: &Attribute,
    shown: &str,
    home: &str,
) -> Result<Shape, Mistake> {
    let (shown_text, home_text) = (shown.to_owned(), home.to_owned());
    if let Some(bits) = wishes.intern {
        return Ok(Shape::Interned { kind: text(kind), bits, shown: shown_text, home: home_text });
    }
    if let Some(max) = wishes.max {
        let Some(inside) = argument(kind) else {
            let text = format!("`max` is for collections such as `Vec<T>`, not for `{}`", text(kind));
            return Err(Mistake::new(attribute.span, text));
        };
        let inner = Wishes { max: None, ..wishes };
        let element = Box::new(shape(inside, inner, attribute, shown, home)?);
        return Ok(Shape::Collection { kind: text(kind), element, max, shown: shown_text, home: home_text });
    }
    let Some((low, high)) = wishes.range.clone() else {
        return Ok(Shape::Plain { kind: text(kind), home: home_text });
    };
    if let [TokenTree::Group(group)] = kind
        && group.delimiter() == Delimiter::Bracket
    {
        let inside: Vec<TokenTree> = group.stream().into_iter().collect();
        let semicolon = inside.iter().rposition(|token| is_punct(Some(token), ';'));
        if let Some(at) = semicolon {
            let element = Box::new(shape(&inside[..at], wishes, attribute, shown, home)?);
            return Ok(Shape::Array { element, len: text(&inside[at + 1..]) });
        }
    }
    if last_word(kind).is_some_and(|word| word == "Option")
        && let Some(inside) = argument(kind)
    {
        return Ok(Shape::Optional { some: Box::new(shape(inside, wishes, attribute, shown, home)?) });
    }
    const INTEGERS: [&str; 10] = ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize"];
    let is_other = |word: &String| !INTEGERS.contains(&word.as_str());
    if last_word(kind).is_none_or(|word| is_other(&word) && word.starts_with(char::is_lowercase))
        || argument(kind).is_some()
    {
        let text = format!(
            "a range is for integers, and for arrays, options and collections of them, not for `{}`",
            text(kind)
        );
        let help = if argument(kind).is_some() { "; a collection also needs `max = 4`" } else { "" };
        return Err(Mistake::new(attribute.span, text + help));
    }
    Ok(Shape::Range { kind: text(kind), low, high, shown: shown_text, home: home_text })
}

/// `T` of `path::Vec<T>`.
fn argument(kind: &[TokenTree]) -> Option<&[TokenTree]> {
    let open = kind.iter().position(|token| is_punct(Some(token), '<'))?;
    is_punct(kind.last(), '>').then(|| &kind[open + 1..kind.len() - 1])
}

/// `Vec` of `path::Vec<T>`.
fn last_word(kind: &[TokenTree]) -> Option<String> {
    let end = kind.iter().position(|token| is_punct(Some(token), '<')).unwrap_or(kind.len());
    match kind.get(end.checked_sub(1)?) {
        Some(TokenTree::Ident(word)) => Some(word.to_string()),
        _ => None,
    }
}

impl Shape {
    /// An expression for the number of bits.
    pub(crate) fn bits(&self) -> String {
        match self {
            Shape::Plain { kind, home } => format!("<{kind} as {home}::Pack>::BITS"),
            Shape::Range { low, high, kind, home, .. } => {
                let end = |value| format!("({value}) as {kind} as i128");
                format!("{home}::range_bits({}, {})", end(low), end(high))
            }
            Shape::Array { element, len } => format!("({len}) as u32 * ({})", element.bits()),
            Shape::Optional { some } => format!("1 + {}", some.bits()),
            Shape::Collection { element, max, home, .. } => {
                format!("{home}::bits_for(({max}) as u128) + ({max}) as u32 * ({})", element.bits())
            }
            Shape::Interned { bits, .. } => bits.clone(),
        }
    }

    /// The type of its tables.
    pub(crate) fn tables(&self) -> String {
        match self {
            Shape::Plain { kind, home } => format!("<{kind} as {home}::Pack>::Tables"),
            Shape::Range { .. } => "()".to_owned(),
            Shape::Array { element, .. } | Shape::Collection { element, .. } => element.tables(),
            Shape::Optional { some } => some.tables(),
            Shape::Interned { kind, home, .. } => format!("{home}::Table<{kind}>"),
        }
    }

    /// Statements that write `value`, a reference, with `tables`, a reference, into `out`.
    pub(crate) fn write(&self, value: &str, tables: &str) -> String {
        match self {
            Shape::Plain { kind, home } => format!("<{kind} as {home}::Pack>::pack({value}, {tables}, out);"),
            Shape::Range { kind, low, high, shown, .. } => format!(
                "{{ let (value, low, high): ({kind}, {kind}, {kind}) = (*{value}, {low}, {high});
                if value < low || value > high {{
                    out.refuse({shown:?}, ::std::format!(\"is {{value}}, which is not in {{low}}..={{high}}\"));
                }}
                out.put_long(value.wrapping_sub(low) as u64, {}); }}",
                self.bits()
            ),
            Shape::Array { element, .. } => {
                format!("for value in {value}.iter() {{ {} }}", element.write("value", tables))
            }
            Shape::Optional { some } => format!(
                "out.put(u32::from({value}.is_some()), 1);
                match {value} {{ Some(value) => {{ {} }} None => out.skip({}), }}",
                some.write("value", tables),
                some.bits()
            ),
            Shape::Collection { element, max, shown, home, .. } => format!(
                "{{ let (len, max) = ({value}.len(), {max});
                if len > max {{
                    out.refuse({shown:?}, ::std::format!(\"has {{len}} elements, and `max` is {{max}}\"));
                }}
                out.put_long(len.min(max) as u64, {home}::bits_for(({max}) as u128));
                for value in {value}.iter().take(max) {{ {} }}
                out.skip((max - len.min(max)) as u32 * ({})); }}",
                element.write("value", tables),
                element.bits()
            ),
            Shape::Interned { bits, shown, .. } => format!(
                "{{ let number = {tables}.number({value});
                if u64::from(number) >= 1u64 << ({bits}) {{
                    out.refuse({shown:?}, ::std::format!(\"has more values than fit the {{}} bits of its number\", {bits}));
                }}
                out.put_long(u64::from(number), {bits}); }}"
            ),
        }
    }

    /// An expression that reads a value.
    pub(crate) fn read_back(&self, tables: &str) -> String {
        match self {
            Shape::Plain { kind, home } => format!("<{kind} as {home}::Pack>::unpack({tables}, input)"),
            Shape::Range { kind, low, .. } => {
                format!(
                    "{{ let low: {kind} = {low}; (input.take_long({}) as {kind}).wrapping_add(low) }}",
                    self.bits()
                )
            }
            Shape::Array { element, .. } => {
                format!("::std::array::from_fn(|_| {})", element.read_back(tables))
            }
            Shape::Optional { some } => format!(
                "if input.take(1) == 1 {{ Some({}) }} else {{ input.skip({}); None }}",
                some.read_back(tables),
                some.bits()
            ),
            Shape::Collection { kind, element, max, home, .. } => format!(
                "{{ let len = input.take_long({home}::bits_for(({max}) as u128)) as usize;
                let values: {kind} = (0..len).map(|_| {}).collect();
                input.skip((({max}) - len) as u32 * ({}));
                values }}",
                element.read_back(tables),
                element.bits()
            ),
            Shape::Interned { kind, bits, .. } => {
                format!(
                    "<{kind} as ::std::clone::Clone>::clone({tables}.get(input.take_long({bits}) as u32))"
                )
            }
        }
    }
}
