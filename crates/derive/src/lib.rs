//! `#[derive(Pack)]`: the bits of structs and enums, as `stubborn_pack::Pack` wants them.
//!
//! Written on the compiler's own token streams: a parser for all of Rust would take longer to build than everything
//! that is checked with it. `item` reads a declaration, `field` what a field says about its bits, `code` writes the
//! implementation.

mod code;
mod field;
mod item;

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// Packs a struct or an enum into as few bits as its fields need.
///
/// Fields may say more: `#[pack(0..=7)]` for integers (also inside arrays, options and collections),
/// `#[pack(max = 4)]` for collections, `#[pack(intern)]` or `#[pack(intern = 12)]` (bits) for anything that is
/// `Clone + Eq + Hash`. On the type, `#[pack(crate = path)]` says where the crate `stubborn_pack` is, if not at
/// `::stubborn::pack`.
#[proc_macro_derive(Pack, attributes(pack))]
pub fn pack(input: TokenStream) -> TokenStream {
    let code = item::read(input).and_then(|item| code::write(&item));
    match code {
        Ok(text) => text.parse().expect("what is written here is Rust"),
        Err(mistake) => mistake.to_tokens(),
    }
}

/// What is wrong with a declaration, and where.
struct Mistake {
    span: Span,
    text: String,
}

impl Mistake {
    fn new(span: Span, text: impl Into<String>) -> Mistake {
        Mistake { span, text: text.into() }
    }

    /// `::core::compile_error!("…");`, at the place.
    fn to_tokens(&self) -> TokenStream {
        let mut text = TokenTree::from(Literal::string(&self.text));
        text.set_span(self.span);
        let mut group = Group::new(Delimiter::Parenthesis, text.into());
        group.set_span(self.span);
        let punct = |char, spacing| {
            let mut punct = Punct::new(char, spacing);
            punct.set_span(self.span);
            TokenTree::from(punct)
        };
        TokenStream::from_iter([
            punct(':', Spacing::Joint),
            punct(':', Spacing::Alone),
            Ident::new("core", self.span).into(),
            punct(':', Spacing::Joint),
            punct(':', Spacing::Alone),
            Ident::new("compile_error", self.span).into(),
            punct('!', Spacing::Alone),
            group.into(),
            punct(';', Spacing::Alone),
        ])
    }
}

/// Tokens as text.
fn text(tokens: &[TokenTree]) -> String {
    tokens.iter().cloned().collect::<TokenStream>().to_string()
}

fn is_punct(token: Option<&TokenTree>, char: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == char)
}

/// Splits at commas that are not inside `<…>`; what is in brackets is one token anyway.
fn at_commas(tokens: &[TokenTree]) -> Vec<&[TokenTree]> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0u32);
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Punct(punct) = token else { continue };
        match punct.as_char() {
            '<' => depth += 1,
            // Not the end of an arrow.
            '>' if at == 0 || !is_punct(tokens.get(at - 1), '-') => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < tokens.len() {
        parts.push(&tokens[start..]);
    }
    parts
}
