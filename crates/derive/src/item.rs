//! Reads the declaration of a struct or an enum: as much of it as its bits depend on.

use proc_macro::{Delimiter, Span, TokenStream, TokenTree};

use crate::field::Shape;
use crate::{Mistake, at_commas, is_punct, text};

/// A struct or an enum.
pub(crate) struct Item {
    pub(crate) name: String,
    /// The path of the crate with the trait.
    pub(crate) home: String,
    pub(crate) generics: Generics,
    pub(crate) body: Body,
}

/// What stands between `<` and `>`, and after `where`.
#[derive(Default)]
pub(crate) struct Generics {
    /// As declared, each type with the bound that it can be packed.
    pub(crate) parameters: Vec<String>,
    /// Their names.
    pub(crate) arguments: Vec<String>,
    pub(crate) conditions: String,
}

pub(crate) enum Body {
    Struct(Variant),
    Enum(Vec<Variant>),
}

/// A variant of an enum; a struct is one, too.
pub(crate) struct Variant {
    pub(crate) name: String,
    /// Fields with the names that patterns and constructors give them: `count`, or `0`.
    pub(crate) fields: Vec<Field>,
}

pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) shape: Shape,
}

/// The tokens of `#[pack(…)]`, one after the other, and where the last one is.
pub(crate) struct Attribute {
    pub(crate) tokens: Vec<TokenTree>,
    pub(crate) span: Span,
}

pub(crate) fn read(input: TokenStream) -> Result<Item, Mistake> {
    let tokens: Vec<TokenTree> = input.into_iter().collect();
    let mut rest = &tokens[..];
    let attribute = attributes(&mut rest);
    let home = match &attribute {
        None => "::stubborn::pack".to_owned(),
        Some(attribute) => home(attribute)?,
    };
    visibility(&mut rest);
    let (keyword, name, span) = match rest {
        [TokenTree::Ident(keyword), TokenTree::Ident(name), ..] => {
            (keyword.to_string(), name.to_string(), name.span())
        }
        _ => return Err(Mistake::new(Span::call_site(), "only structs and enums can be packed")),
    };
    rest = &rest[2..];
    let generics = generics(&mut rest, &home)?;
    let body = match keyword.as_str() {
        "struct" => Body::Struct(Variant { fields: fields(rest, &name, &home)?, name: name.clone() }),
        "enum" => Body::Enum(variants(rest, &name, &home, span)?),
        _ => {
            return Err(Mistake::new(
                span,
                "only structs and enums can be packed, since unions do not say what is in them",
            ));
        }
    };
    Ok(Item { name, home, generics, body })
}

/// Takes all attributes from the front; returns what `#[pack(…)]` says, if it is there.
fn attributes(rest: &mut &[TokenTree]) -> Option<Attribute> {
    let mut found: Option<Attribute> = None;
    while let [TokenTree::Punct(hash), TokenTree::Group(group), after @ ..] = rest {
        if hash.as_char() != '#' {
            break;
        }
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        if let [TokenTree::Ident(name), TokenTree::Group(content)] = &inner[..]
            && name.to_string() == "pack"
        {
            let found = found.get_or_insert(Attribute { tokens: Vec::new(), span: content.span() });
            if !found.tokens.is_empty() {
                found.tokens.push(proc_macro::Punct::new(',', proc_macro::Spacing::Alone).into());
            }
            found.tokens.extend(content.stream());
        }
        *rest = after;
    }
    found
}

fn home(attribute: &Attribute) -> Result<String, Mistake> {
    match &attribute.tokens[..] {
        [TokenTree::Ident(key), TokenTree::Punct(equals), path @ ..]
            if key.to_string() == "crate" && equals.as_char() == '=' && !path.is_empty() =>
        {
            Ok(text(path))
        }
        _ => Err(Mistake::new(
            attribute.span,
            "a type can say `#[pack(crate = path)]` only; ranges and `max` belong to its fields",
        )),
    }
}

fn visibility(rest: &mut &[TokenTree]) {
    if let [TokenTree::Ident(word), after @ ..] = rest
        && word.to_string() == "pub"
    {
        *rest = after;
        if let [TokenTree::Group(group), after @ ..] = rest
            && group.delimiter() == Delimiter::Parenthesis
        {
            *rest = after;
        }
    }
}

fn generics(rest: &mut &[TokenTree], home: &str) -> Result<Generics, Mistake> {
    let mut generics = Generics::default();
    if is_punct(rest.first(), '<') {
        let mut depth = 0;
        let is_end = |token: &TokenTree| {
            depth += i32::from(is_punct(Some(token), '<')) - i32::from(is_punct(Some(token), '>'));
            depth == 0
        };
        let end = rest.iter().position(is_end).unwrap_or(rest.len() - 1);
        for parameter in at_commas(&rest[1..end]) {
            let equals =
                parameter.iter().position(|token| is_punct(Some(token), '=')).unwrap_or(parameter.len());
            let (declared, first) = (&parameter[..equals], &parameter[0]);
            let is_const = matches!(first, TokenTree::Ident(word) if word.to_string() == "const");
            if is_punct(Some(first), '\'') {
                return Err(Mistake::new(
                    first.span(),
                    "a packed value owns what is in it, so it has no lifetime",
                ));
            }
            let bound = match () {
                () if is_const => String::new(),
                () if is_punct(declared.get(1), ':') => format!(" + {home}::Pack"),
                () => format!(": {home}::Pack"),
            };
            generics.parameters.push(text(declared) + &bound);
            generics.arguments.push(parameter[usize::from(is_const)].to_string());
        }
        *rest = &rest[end + 1..];
    }
    if let Some(at) =
        rest.iter().position(|token| matches!(token, TokenTree::Ident(word) if word.to_string() == "where"))
    {
        let ends = |token: &TokenTree| is_punct(Some(token), ';') || is_braces(token);
        let end = rest[at..].iter().position(ends).map_or(rest.len(), |end| at + end);
        generics.conditions = text(&rest[at..end]);
    }
    Ok(generics)
}

fn is_braces(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// The fields of `{ … }`, `( … )` or nothing; what else is in `rest` does not matter.
fn fields(rest: &[TokenTree], owner: &str, home: &str) -> Result<Vec<Field>, Mistake> {
    let group = rest.iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() != Delimiter::Bracket => Some(group),
        _ => None,
    });
    let Some(group) = group else { return Ok(Vec::new()) };
    let named = group.delimiter() == Delimiter::Brace;
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let read = |(nth, mut field): (usize, &[TokenTree])| {
        let attribute = attributes(&mut field);
        visibility(&mut field);
        let name = if named { field[0].to_string() } else { nth.to_string() };
        let kind = if named { &field[2..] } else { field };
        let shown = format!("{owner}.{}", name.trim_start_matches("r#"));
        Ok(Field { shape: Shape::read(kind, attribute.as_ref(), &shown, home)?, name })
    };
    at_commas(&tokens).into_iter().enumerate().map(read).collect()
}

fn variants(rest: &[TokenTree], owner: &str, home: &str, span: Span) -> Result<Vec<Variant>, Mistake> {
    let Some(TokenTree::Group(group)) = rest.iter().find(|token| is_braces(token)) else {
        return Err(Mistake::new(span, "an enum without a body cannot be packed"));
    };
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let mut variants = Vec::new();
    for mut variant in at_commas(&tokens) {
        if let Some(attribute) = attributes(&mut variant) {
            return Err(Mistake::new(attribute.span, "`#[pack(…)]` belongs to a field, not to a variant"));
        }
        let name = variant[0].to_string();
        // Up to a discriminant, whose value has nothing to do with the bits.
        let end = variant.iter().position(|token| is_punct(Some(token), '=')).unwrap_or(variant.len());
        let fields = fields(&variant[1..end], &format!("{owner}::{name}"), home)?;
        variants.push(Variant { name, fields });
    }
    if variants.is_empty() {
        return Err(Mistake::new(span, "an enum without variants has no values to pack"));
    }
    Ok(variants)
}
