//! Declarations: what stands at the top of a file.

use base::suggest::nearest;
use base::{Span, fail};

use super::{Parsed, Parser};
use crate::ast::{Constant, Fairness, File, Name, Process, ProcessKind, Property, PropertyKind};
use crate::lexer::Kind;
use crate::parse::body::Role;

/// The words that begin a declaration.
const ITEM_WORDS: [&str; 8] = ["const", "process", "tester", "spec", "ltl", "invariant", "fair", "deadlock"];

/// What is expected where a declaration begins.
const ITEM: &str = "`const`, `process`, `tester`, `spec`, `ltl`, `invariant`, `fair` or `deadlock-free`";

impl<'a> Parser<'a, '_> {
    pub(super) fn file(&mut self) -> File<'a> {
        let mut file = File::default();
        while self.peek() != Kind::End {
            let start = self.at;
            // What a broken property would have been called matters to nobody else.
            let matters =
                !matches!(self.word(), "tester" | "spec" | "ltl" | "invariant" | "fair" | "deadlock");
            if let Err(error) = self.item(&mut file) {
                file.broken |= matters;
                self.skip_item(start);
                self.complain(error);
            }
        }
        file
    }

    /// Whether the next tokens begin a declaration, and cannot be a state's name.
    pub(super) fn at_item(&self) -> bool {
        self.peek() == Kind::Name
            && ITEM_WORDS.contains(&self.word())
            && match self.word() {
                "deadlock" => self.peek_second() == Kind::Minus,
                _ => self.peek_second() == Kind::Name,
            }
    }

    /// Goes on after the `;` or `}` that ends a declaration that cannot be read.
    fn skip_item(&mut self, start: usize) {
        self.depth = 0;
        loop {
            match self.peek() {
                Kind::End => return,
                Kind::OpenBrace => return self.skip_braces(),
                Kind::Semicolon | Kind::CloseBrace => {
                    self.bump();
                    return;
                }
                _ if self.at > start && self.at_line_start() && self.at_item() => return,
                _ => _ = self.bump(),
            }
        }
    }

    fn skip_braces(&mut self) {
        let mut open = 0;
        loop {
            match self.bump().kind {
                Kind::OpenBrace => open += 1,
                Kind::CloseBrace => open -= 1,
                Kind::End => return,
                _ => {}
            }
            if open == 0 {
                return;
            }
        }
    }

    fn item(&mut self, file: &mut File<'a>) -> Parsed<()> {
        let start = self.token().span;
        if self.peek() != Kind::Name {
            return Err(self.unexpected(ITEM));
        }
        match self.word() {
            "const" => {
                self.bump();
                let constant = self.constant(start)?;
                file.constants.push(constant);
            }
            "process" => {
                self.bump();
                let process = self.process(start)?;
                file.processes.push(process);
            }
            "tester" | "spec" | "ltl" | "invariant" => {
                let property = self.property()?;
                file.properties.push(property);
            }
            "fair" => {
                self.bump();
                let fairness = self.fairness(start)?;
                file.fairness.push(fairness);
            }
            "deadlock" => {
                self.bump();
                self.expect(Kind::Minus)?;
                if self.name("`free`")?.text != "free" {
                    let span = self.since(start);
                    return Err(fail("syntax", "expected `deadlock-free`", span, "expected `deadlock-free`"));
                }
                file.deadlock_free.get_or_insert(self.since(start));
                self.semicolon("`;`")?;
            }
            other => {
                let mut error = self.unexpected(ITEM);
                if let Some(near) = nearest(other, ITEM_WORDS) {
                    let near = if near == "deadlock" { "deadlock-free" } else { near };
                    error = Box::new(error.with_help(format!("did you mean `{near}`?")));
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// `N = 10;`.
    fn constant(&mut self, start: Span) -> Parsed<Constant<'a>> {
        let name = self.name("the name of a constant")?;
        self.expect(Kind::Assign)?;
        let value = self.expr()?;
        self.semicolon("an operator or `;`")?;
        Ok(Constant { name, value, span: self.since(start) })
    }

    /// `P[i in 0..N] { … }`, or `P = extern "p.aut";`.
    fn process(&mut self, start: Span) -> Parsed<Process<'a>> {
        let name = self.name("the name of a process")?;
        let parameters = self.parameters()?;
        let kind = if self.eat(Kind::Assign) {
            if self.peek() != Kind::Name || self.word() != "extern" {
                return Err(self.unexpected("`extern`"));
            }
            self.bump();
            let file = self.quoted("the name of a file in quotation marks")?;
            self.semicolon("`;`")?;
            ProcessKind::Extern(file)
        } else if self.peek() == Kind::OpenBrace {
            ProcessKind::Written(self.body(Role::Process)?)
        } else {
            let wanted = if parameters.is_empty() { "`[`, `{` or `=`" } else { "`{`" };
            return Err(self.unexpected(wanted));
        };
        Ok(Process { name, parameters, kind, span: self.since(start) })
    }

    fn property(&mut self) -> Parsed<Property<'a>> {
        let word = self.word();
        let start = self.bump().span;
        let name = self.name("the name of a property")?;
        let kind = match word {
            "tester" => {
                let parameters = self.parameters()?;
                PropertyKind::Tester(parameters, self.body(Role::Tester)?)
            }
            "spec" => {
                let parameters = self.parameters()?;
                PropertyKind::Spec(parameters, self.body(Role::Spec)?)
            }
            "invariant" => {
                self.expect(Kind::Assign)?;
                let expr = self.expr()?;
                self.semicolon("an operator or `;`")?;
                PropertyKind::Invariant(expr)
            }
            _ => {
                self.expect(Kind::Assign)?;
                PropertyKind::Ltl(self.formula()?)
            }
        };
        Ok(Property { name, kind, span: self.since(start) })
    }

    /// Everything up to the next semicolon: formulas have a grammar of their own.
    fn formula(&mut self) -> Parsed<Name<'a>> {
        let first = self.token().span;
        let start = self.at;
        while !matches!(self.peek(), Kind::Semicolon | Kind::OpenText | Kind::OpenComment | Kind::End) {
            self.bump();
        }
        if self.at == start {
            return Err(self.unexpected("a formula"));
        }
        let span = self.since(first);
        match self.peek() {
            Kind::Semicolon => _ = self.bump(),
            _ => return Err(self.unexpected("`;` at the end of the formula")),
        }
        Ok(Name { text: self.slice(span), span })
    }

    /// `weak P[*], Q;`.
    fn fairness(&mut self, start: Span) -> Parsed<Fairness<'a>> {
        let Some(kind) = model::fairness::Kind::of_name(self.word()) else {
            return Err(self.unexpected("`weak`, `strong` or `just`"));
        };
        self.bump();
        let mut processes = Vec::new();
        loop {
            processes.push(self.place("the name of a process")?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        let span = self.since(start);
        self.semicolon("`,` or `;`")?;
        Ok(Fairness { kind, processes, span })
    }
}
