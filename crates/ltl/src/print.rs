//! Formulas back to text, in each of the three spellings.
//!
//! An operand gets parentheses iff it is itself made by an operator of two or more operands, so that
//! no reader, and no other tool, has to know how operators bind. Propositions are quoted unless
//! they are plain names that no spelling reserves. Parsing the text gives the
//! formula back, except that Spin has neither `M` nor `xor`: there `a M b` is written
//! `b U (a && b)`, and `a ^ b` is written `!(a <-> b)`.
//!
//! The text is as long as the formula's *tree*. A formula that shares many subformulas, or that
//! nests many `M` in Spin's spelling, may be exponentially larger as a tree; see
//! [`Formulas::size`].

use std::fmt;

use crate::formula::{Formula, Formulas, Node, Prop};
use crate::lexer::is_plain_name;

/// How operators are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spelling {
    /// `[] <> X U V W ! && || -> <->`, `true false`.
    Spin,
    /// `G F X U R W M ! & | ^ -> <->`, `1 0`.
    Spot,
    /// `always eventually next until …`, `not and or xor implies equivalent`, `true false`.
    Words,
}

impl Formulas {
    /// The formula as a text to be written out.
    ///
    /// ```
    /// # use stubborn_ltl::{Formulas, Spelling};
    /// let mut formulas = Formulas::new();
    /// let fork = formulas.atom("Fork[0] @ held");
    /// let fork = formulas.finally(fork);
    /// let always = formulas.globally(fork);
    /// assert_eq!(formulas.display(always, Spelling::Spin).to_string(), r#"[] <> "Fork[0] @ held""#);
    /// ```
    pub fn display(&self, formula: Formula, spelling: Spelling) -> Display<'_> {
        Display { formulas: self, formula, spelling }
    }
}

/// A formula as a text to be written out; see [`Formulas::display`].
#[derive(Clone, Copy, Debug)]
pub struct Display<'p> {
    formulas: &'p Formulas,
    formula: Formula,
    spelling: Spelling,
}

/// What is still to be written.
enum Todo {
    Text(&'static str),
    /// A formula as it is.
    Bare(Formula),
    /// A formula, in parentheses if it is made by an operator of two operands.
    Operand(Formula),
}

impl fmt::Display for Display<'_> {
    /// An explicit stack, since formulas may be deeper than the call stack.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stack = vec![Todo::Bare(self.formula)];
        while let Some(todo) = stack.pop() {
            match todo {
                Todo::Text(text) => f.write_str(text)?,
                Todo::Bare(formula) => self.expand(formula, &mut stack, f)?,
                Todo::Operand(formula) if self.is_joined(formula) => {
                    stack.extend([Todo::Text(")"), Todo::Bare(formula), Todo::Text("(")]);
                }
                Todo::Operand(formula) => stack.push(Todo::Bare(formula)),
            }
        }
        Ok(())
    }
}

impl Display<'_> {
    /// Writes a leaf, or puts the parts of a formula on the stack, the last part first.
    fn expand(&self, formula: Formula, stack: &mut Vec<Todo>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spin = self.spelling == Spelling::Spin;
        match self.formulas.node(formula) {
            Node::True => f.write_str(self.pick("true", "1", "true"))?,
            Node::False => f.write_str(self.pick("false", "0", "false"))?,
            Node::Prop(prop) => self.write_proposition(prop, f)?,
            Node::Xor(a, b) if spin => {
                stack.extend([Todo::Text(")"), Todo::Operand(b), Todo::Text(" <-> ")]);
                stack.extend([Todo::Operand(a), Todo::Text("!(")]);
            }
            Node::StrongRelease(a, b) if spin => {
                stack.extend([Todo::Text(")"), Todo::Operand(b), Todo::Text(" && ")]);
                stack.extend([Todo::Operand(a), Todo::Text(" U ("), Todo::Operand(b)]);
            }
            node => {
                let operator = self.operator(node);
                let operands = self.formulas.operands(formula);
                for (index, &operand) in operands.iter().enumerate().rev() {
                    stack.push(Todo::Operand(operand));
                    if index > 0 || operands.len() == 1 {
                        stack.push(Todo::Text(operator));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the text of the formula needs parentheses where it is an operand.
    fn is_joined(&self, formula: Formula) -> bool {
        let negated_xor = || matches!(self.formulas.node(formula), Node::Xor(..));
        self.formulas.operands(formula).len() > 1 && !(self.spelling == Spelling::Spin && negated_xor())
    }

    fn pick(&self, spin: &'static str, spot: &'static str, words: &'static str) -> &'static str {
        match self.spelling {
            Spelling::Spin => spin,
            Spelling::Spot => spot,
            Spelling::Words => words,
        }
    }

    /// The operator with its blanks.
    fn operator(&self, node: Node<'_>) -> &'static str {
        match node {
            Node::True | Node::False | Node::Prop(_) => "",
            Node::Not(_) => self.pick("!", "!", "not "),
            Node::Next(_) => self.pick("X ", "X ", "next "),
            Node::Finally(_) => self.pick("<> ", "F ", "eventually "),
            Node::Globally(_) => self.pick("[] ", "G ", "always "),
            Node::And(_) => self.pick(" && ", " & ", " and "),
            Node::Or(_) => self.pick(" || ", " | ", " or "),
            Node::Implies(..) => self.pick(" -> ", " -> ", " implies "),
            Node::Equivalent(..) => self.pick(" <-> ", " <-> ", " equivalent "),
            Node::Xor(..) => self.pick(" ^ ", " ^ ", " xor "),
            Node::Until(..) => self.pick(" U ", " U ", " until "),
            Node::Release(..) => self.pick(" V ", " R ", " release "),
            Node::WeakUntil(..) => self.pick(" W ", " W ", " weakuntil "),
            Node::StrongRelease(..) => self.pick(" M ", " M ", " strongrelease "),
        }
    }

    fn write_proposition(&self, prop: Prop, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.formulas.text(prop);
        if is_plain_name(text) {
            return f.write_str(text);
        }
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
        write!(f, "\"{escaped}\"")
    }
}
