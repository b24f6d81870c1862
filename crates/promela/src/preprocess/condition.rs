//! The conditions of `#if`, `#ifdef`, `#ifndef` and `#elif`.

use base::Span;

use crate::errors::{Fail, fail};
use crate::lexer::{Kind, Token};

use super::Macros;

/// Deeper conditions are refused.
const MAX_DEPTH: u32 = 100;

impl Macros {
    /// Whether the condition of a directive holds.
    pub(super) fn condition(&mut self, directive: &Token, rest: &[Token]) -> Result<bool, Fail> {
        let is_defined = |this: &Self, name: &Token| this.named.contains_key(&name.text);
        if matches!(&*directive.text, "ifdef" | "ifndef") {
            return match rest {
                [name, ..] if name.is(Kind::Name) => {
                    Ok(is_defined(self, name) == (&*directive.text == "ifdef"))
                }
                _ => {
                    let message = format!("`#{}` needs the name of a macro", directive.text);
                    Err(fail("bad-directive", message, directive.span, ""))
                }
            };
        }
        // `defined` looks at names before they are expanded.
        let mut list = Vec::new();
        let mut rest = rest;
        while let [token, after @ ..] = rest {
            rest = after;
            if &*token.text != "defined" {
                list.push(token.clone());
                continue;
            }
            let name = match rest {
                [open, name, close, after @ ..] if open.is(Kind::OpenParen) && close.is(Kind::CloseParen) => {
                    rest = after;
                    name
                }
                [name, after @ ..] => {
                    rest = after;
                    name
                }
                [] => return Err(fail("bad-directive", "`defined` needs a name", token.span, "")),
            };
            let text = if is_defined(self, name) { "1" } else { "0" };
            list.push(Token { kind: Kind::Number, text: text.into(), ..token.clone() });
        }
        let list = self.expand(list)?;
        let mut reader = Reader { list: &list, at: 0, depth: 0, end: directive.span };
        let value = reader.binary(0)?;
        match reader.list.get(reader.at) {
            None => Ok(value != 0),
            Some(token) => Err(reader.unexpected(token.span)),
        }
    }
}

struct Reader<'t> {
    list: &'t [Token],
    at: usize,
    depth: u32,
    end: Span,
}

impl Reader<'_> {
    fn unexpected(&self, span: Span) -> Fail {
        fail("bad-condition", "this is not a constant condition", span, "")
    }

    fn next(&mut self) -> Option<&Token> {
        self.at += 1;
        self.list.get(self.at - 1)
    }

    fn binary(&mut self, least: u8) -> Result<i64, Fail> {
        let mut left = self.unary()?;
        while let Some(token) = self.list.get(self.at) {
            let (kind, span) = (token.kind, token.span);
            let Some(level) = level(kind).filter(|&level| level >= least) else { break };
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = apply(kind, left, right).ok_or_else(|| self.unexpected(span))?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i64, Fail> {
        self.depth += 1;
        let end = self.end;
        if self.depth > MAX_DEPTH {
            return Err(fail("bad-condition", "this condition is nested too deeply", end, ""));
        }
        let Some(token) = self.next() else { return Err(self.unexpected(end)) };
        let (kind, span, text) = (token.kind, token.span, token.text.clone());
        let value = match kind {
            Kind::Number => {
                let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
                let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
                    Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16),
                    None => digits.parse(),
                };
                value.map_err(|_| self.unexpected(span))?
            }
            // As in C: a name that is no macro is 0.
            Kind::Name => 0,
            Kind::Bang => i64::from(self.unary()? == 0),
            Kind::Minus => self.unary()?.wrapping_neg(),
            Kind::Plus => self.unary()?,
            Kind::Tilde => !self.unary()?,
            Kind::OpenParen => {
                let value = self.binary(0)?;
                match self.next() {
                    Some(token) if token.is(Kind::CloseParen) => value,
                    _ => return Err(self.unexpected(span)),
                }
            }
            _ => return Err(self.unexpected(span)),
        };
        self.depth -= 1;
        Ok(value)
    }
}

/// How tightly an operator binds.
fn level(kind: Kind) -> Option<u8> {
    use Kind::*;
    Some(match kind {
        Or => 0,
        And => 1,
        BitOr => 2,
        BitXor => 3,
        BitAnd => 4,
        Equal | NotEqual => 5,
        Less | LessEqual | Greater | GreaterEqual => 6,
        ShiftLeft | ShiftRight => 7,
        Plus | Minus => 8,
        Star | Slash | Percent => 9,
        _ => return None,
    })
}

fn apply(kind: Kind, left: i64, right: i64) -> Option<i64> {
    use Kind::*;
    Some(match kind {
        Or => i64::from(left != 0 || right != 0),
        And => i64::from(left != 0 && right != 0),
        BitOr => left | right,
        BitXor => left ^ right,
        BitAnd => left & right,
        Equal => i64::from(left == right),
        NotEqual => i64::from(left != right),
        Less => i64::from(left < right),
        LessEqual => i64::from(left <= right),
        Greater => i64::from(left > right),
        GreaterEqual => i64::from(left >= right),
        ShiftLeft => left.wrapping_shl(u32::try_from(right).ok()?),
        ShiftRight => left.wrapping_shr(u32::try_from(right).ok()?),
        Plus => left.wrapping_add(right),
        Minus => left.wrapping_sub(right),
        Star => left.wrapping_mul(right),
        Slash => left.checked_div(right)?,
        Percent => left.checked_rem(right)?,
        _ => return None,
    })
}
