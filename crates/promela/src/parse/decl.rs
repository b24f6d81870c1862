//! Declarations: variables, channels, sets of symbolic names, typedefs.

use base::Span;

use crate::ast::{Declaration, Declarator, Init, MtypeList, Name, TypeKind, TypeName, Typedef};
use crate::errors::{fail, fail_with_help};
use crate::lexer::Kind;
use crate::program::Visibility;
use crate::words::Word;

use super::{Parsed, Parser};

impl Parser<'_> {
    /// Whether a declaration of variables begins here.
    pub(super) fn at_declaration(&self) -> bool {
        match self.peek() {
            Kind::Keyword(word) => word.begins_declaration(),
            Kind::Name => self.kinds.typedefs.contains(&self.token().text) && self.peek_at(1) == Kind::Name,
            _ => false,
        }
    }

    /// Whether `mtype = { … }`, `mtype { … }` or `mtype:set = { … }` begins here.
    pub(super) fn at_mtype_list(&self) -> bool {
        self.peek() == Kind::Keyword(Word::Mtype)
            && match self.peek_at(1) {
                Kind::Assign | Kind::OpenBrace => true,
                Kind::Colon => matches!(self.peek_at(3), Kind::Assign | Kind::OpenBrace),
                _ => false,
            }
    }

    pub(super) fn mtype_list(&mut self) -> Parsed<MtypeList> {
        self.bump();
        let set = if self.eat(Kind::Colon) { Some(self.name("a set of symbolic names")?) } else { None };
        self.eat(Kind::Assign);
        self.expect(Kind::OpenBrace)?;
        let mut names = Vec::new();
        // Commas are optional, as in Spin.
        while self.peek() != Kind::CloseBrace {
            if !self.eat(Kind::Comma) {
                names.push(self.name("a symbolic constant")?);
            }
        }
        self.bump();
        Ok(MtypeList { set, names })
    }

    pub(super) fn typedef(&mut self) -> Parsed<Typedef> {
        self.bump();
        let name = self.name("a typedef")?;
        self.expect(Kind::OpenBrace)?;
        let mut fields = Vec::new();
        while self.peek() != Kind::CloseBrace {
            if !self.at_declaration() {
                return Err(self.unexpected("a declaration or `}`"));
            }
            fields.push(self.declaration()?);
            if !self.eat_separators() && self.peek() != Kind::CloseBrace && !self.token().first {
                return Err(self.unexpected("`;` or `}`"));
            }
        }
        let close = self.bump();
        if fields.is_empty() {
            let message = format!("the typedef `{}` has no field", name.text);
            return Err(fail("empty-typedef", message, name.span.to(close.span), ""));
        }
        Ok(Typedef { name, fields })
    }

    /// `byte a, b[3] = 1`.
    pub(super) fn declaration(&mut self) -> Parsed<Declaration> {
        let mut visibility = Visibility::Plain;
        while let Some(word) = self.peek_word() {
            visibility = match word {
                Word::Hidden => Visibility::Hidden,
                Word::Show => Visibility::Show,
                Word::Local => Visibility::Local,
                _ => break,
            };
            self.bump();
        }
        let ty = self.type_name()?;
        let variables = self.list(Self::declarator)?;
        Ok(Declaration { visibility, ty, variables })
    }

    /// A type, possibly the name of a typedef.
    pub(super) fn type_name(&mut self) -> Parsed<TypeName> {
        let token = self.token().clone();
        let kind = match token.kind {
            Kind::Keyword(Word::Bit) => TypeKind::Bit,
            Kind::Keyword(Word::Bool) => TypeKind::Bool,
            Kind::Keyword(Word::Byte) => TypeKind::Byte,
            Kind::Keyword(Word::Pid) => TypeKind::Pid,
            Kind::Keyword(Word::Short) => TypeKind::Short,
            Kind::Keyword(Word::Int) => TypeKind::Int,
            Kind::Keyword(Word::Unsigned) => TypeKind::Unsigned,
            Kind::Keyword(Word::Chan) => TypeKind::Chan,
            Kind::Keyword(Word::Mtype) => {
                self.bump();
                let set =
                    if self.eat(Kind::Colon) { Some(self.name("a set of symbolic names")?) } else { None };
                return Ok(TypeName { kind: TypeKind::Mtype(set), span: self.since(token.span) });
            }
            Kind::Name => TypeKind::Named(Name { text: token.text.clone(), span: token.span }),
            _ => return Err(self.unexpected("a type")),
        };
        self.bump();
        Ok(TypeName { kind, span: token.span })
    }

    fn declarator(&mut self) -> Parsed<Declarator> {
        let name = self.name("a variable")?;
        let width = if self.eat(Kind::Colon) { Some(self.primary()?) } else { None };
        let mut length = None;
        if self.eat(Kind::OpenBracket) {
            length = Some(self.bracketed()?);
            if self.peek() == Kind::OpenBracket {
                let help = "an array of arrays is an array of a typedef that contains an array";
                let message = "arrays have one dimension";
                return Err(fail_with_help("array-of-arrays", message, self.span(), help));
            }
        }
        let init = if self.eat(Kind::Assign) { Some(self.initializer()?) } else { None };
        let span = self.since(name.span);
        Ok(Declarator { name, width, length, init, span })
    }

    /// An expression and `]`; the opening bracket was read.
    pub(super) fn bracketed(&mut self) -> Parsed<crate::ast::Expr> {
        self.parens += 1;
        let expr = self.expr();
        self.parens -= 1;
        let expr = expr?;
        self.expect(Kind::CloseBracket)?;
        Ok(expr)
    }

    fn initializer(&mut self) -> Parsed<Init> {
        let start = self.span();
        match self.peek() {
            Kind::OpenBrace => {
                self.bump();
                let values = self.list(Self::expr)?;
                self.expect(Kind::CloseBrace)?;
                Ok(Init::List(values, self.since(start)))
            }
            Kind::OpenBracket => {
                self.bump();
                let capacity = self.bracketed()?;
                self.expect(Kind::Keyword(Word::Of))?;
                self.expect(Kind::OpenBrace)?;
                let fields = self.list(|this| this.message_field(start))?;
                self.expect(Kind::CloseBrace)?;
                Ok(Init::Channel { capacity, fields, span: self.since(start) })
            }
            _ => self.expr().map(Init::Expr),
        }
    }

    fn message_field(&mut self, channel: Span) -> Parsed<TypeName> {
        let ty = self.type_name()?;
        if matches!(ty.kind, TypeKind::Unsigned) {
            let error =
                fail("bad-message-type", "`unsigned` cannot be the type of a message field", ty.span, "");
            return Err(Box::new(
                error.with_related(channel, "of this channel").with_help("use `int` or `byte`"),
            ));
        }
        Ok(ty)
    }
}
