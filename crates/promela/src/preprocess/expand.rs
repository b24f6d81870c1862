//! Expanding macros: Prosser's algorithm, in which every token carries the set of macros that it
//! came out of, and is not expanded by those again. Steps are counted, so a macro that grows
//! without end is an error, not a hang.

use std::sync::Arc;

use base::Span;

use crate::errors::{Fail, count, fail};
use crate::lexer::{Kind, Origin, Token, tokens};

use super::{Macro, Macros};

/// The macros that a token came out of, innermost first.
type Hidden = Option<Arc<Hide>>;

#[derive(Debug)]
struct Hide {
    name: Arc<str>,
    depth: usize,
    outer: Hidden,
}

fn is_hidden(hidden: &Hidden, name: &str) -> bool {
    let mut next = hidden;
    while let Some(hide) = next {
        if *hide.name == *name {
            return true;
        }
        next = &hide.outer;
    }
    false
}

/// What is left to be read, the next token last.
type Pending = Vec<(Token, Hidden)>;

impl Macros {
    /// Expands all macros in a list of tokens.
    pub(super) fn expand(&mut self, list: Vec<Token>) -> Result<Vec<Token>, Fail> {
        self.expand_nested(list.into_iter().map(|token| (token, None)).collect(), 0)
            .map(|expanded| expanded.into_iter().map(|(token, _)| token).collect())
    }

    /// Arguments are expanded on their own, so this calls itself as deep as calls are nested.
    fn expand_nested(&mut self, mut list: Pending, depth: usize) -> Result<Pending, Fail> {
        list.reverse();
        let mut pending = list;
        let mut output = Vec::new();
        while let Some((token, hidden)) = pending.pop() {
            self.spend(token.span)?;
            let found = self.named.get(&token.text).filter(|_| token.is(Kind::Name)).cloned();
            let Some(found) = found.filter(|_| !is_hidden(&hidden, &token.text)) else {
                output.push((token, hidden));
                continue;
            };
            let level = hidden.as_ref().map_or(0, |hide| hide.depth) + 1;
            if level > self.max_nesting || depth > self.max_nesting {
                let message = format!("macros are nested more than {} levels deep", self.max_nesting);
                return Err(self.macro_error(message, &token, &found));
            }
            let inner =
                Some(Arc::new(Hide { name: token.text.clone(), depth: level, outer: hidden.clone() }));
            let origin = self.new_origin(&token, &found);
            let name = token.text.clone();
            let mut body = match &found.parameters {
                None => self.paste(&found.body, &[], &[], &[], &token, origin)?,
                Some(parameters) => {
                    if !pending.last().is_some_and(|(next, _)| next.is(Kind::OpenParen)) {
                        output.push((token, hidden));
                        continue;
                    }
                    let arguments = self.arguments(&mut pending, parameters, &token, &found)?;
                    let mut expanded = Vec::new();
                    for argument in &arguments {
                        expanded.push(self.expand_nested(argument.clone(), depth + 1)?);
                    }
                    self.paste(&found.body, parameters, &arguments, &expanded, &token, origin)?
                }
            };
            // A call is one line, wherever its arguments stand; where nothing comes out of it, the
            // line begins with what follows.
            for (position, (made, _)) in body.iter_mut().enumerate() {
                made.first = position == 0 && token.first;
            }
            if body.is_empty()
                && let Some((next, _)) = pending.last_mut()
            {
                next.first |= token.first;
            }
            for (token, hidden) in body.into_iter().rev() {
                // What came out of an argument may be hidden from other macros, too.
                let hidden = match hidden {
                    Some(outer) if token.is(Kind::Name) => Some(Arc::new(Hide {
                        name: name.clone(),
                        depth: outer.depth + 1,
                        outer: Some(outer),
                    })),
                    hidden => hidden.or_else(|| inner.clone()),
                };
                pending.push((token, hidden));
            }
        }
        Ok(output)
    }

    fn spend(&mut self, span: Span) -> Result<(), Fail> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let message =
                    format!("the model has more than {} tokens after macros are expanded", self.max_steps);
                Err(fail("macro-too-large", message, span, "the limit is reached here"))
            }
        }
    }

    fn macro_error(&self, message: String, token: &Token, found: &Macro) -> Fail {
        let error = fail("bad-macro-call", message, token.span, "");
        Box::new(error.with_related(found.span, format!("`{}` is defined here", token.text)))
    }

    fn new_origin(&mut self, token: &Token, found: &Macro) -> u32 {
        let parent = token.origin;
        if self.origins.is_empty() {
            let nothing = Origin { name: "".into(), place: token.span, is_inline: false, parent: 0 };
            self.origins.push(nothing);
        }
        self.origins.push(Origin { name: token.text.clone(), place: found.span, is_inline: false, parent });
        (self.origins.len() - 1) as u32
    }

    /// Reads the arguments of a call; the next token is the parenthesis.
    fn arguments(
        &mut self,
        pending: &mut Pending,
        parameters: &[Arc<str>],
        token: &Token,
        found: &Macro,
    ) -> Result<Vec<Pending>, Fail> {
        pending.pop();
        let mut arguments: Vec<Pending> = vec![Vec::new()];
        let mut level = 0usize;
        loop {
            let Some((next, hidden)) = pending.pop() else {
                let message = format!("the call of the macro `{}` is never closed", token.text);
                return Err(self.macro_error(message, token, found));
            };
            self.spend(next.span)?;
            match next.kind {
                Kind::CloseParen if level == 0 => break,
                Kind::Comma if level == 0 => {
                    arguments.push(Vec::new());
                    continue;
                }
                Kind::OpenParen => level += 1,
                Kind::CloseParen => level -= 1,
                _ => {}
            }
            if let Some(argument) = arguments.last_mut() {
                argument.push((next, hidden));
            }
        }
        if parameters.is_empty() && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if arguments.len() != parameters.len() {
            let (wanted, given) = (count(parameters.len(), "argument"), arguments.len());
            let message = format!("the macro `{}` takes {wanted}, but {given} given", token.text);
            let verb = if given == 1 { "is" } else { "are" };
            let message = message.replace(" given", &format!(" {verb} given"));
            return Err(self.macro_error(message, token, found));
        }
        Ok(arguments)
    }

    /// The body of a macro with arguments in the place of parameters. Tokens of the body get the
    /// place of the call; those that came out of arguments keep theirs, and what they are hidden
    /// from.
    fn paste(
        &mut self,
        body: &[Token],
        parameters: &[Arc<str>],
        raw: &[Pending],
        expanded: &[Pending],
        call: &Token,
        origin: u32,
    ) -> Result<Pending, Fail> {
        let parameter =
            |token: &Token| parameters.iter().position(|name| token.is(Kind::Name) && **name == *token.text);
        let mut output: Pending = Vec::new();
        let mut at = 0;
        while let Some(token) = body.get(at) {
            self.spend(call.span)?;
            let place = |token: &Token| Token { span: call.span, origin, ..token.clone() };
            if token.is(Kind::Hash)
                && let Some(index) = body.get(at + 1).and_then(parameter)
            {
                let text: Vec<&str> = raw[index].iter().map(|(token, _)| &*token.text).collect();
                let text = format!("\"{}\"", text.join(" ").replace('\\', "\\\\").replace('"', "\\\""));
                output.push((Token { kind: Kind::Text, text: text.into(), ..place(token) }, None));
                at += 2;
                continue;
            }
            if token.is(Kind::HashHash) && !output.is_empty() {
                at += 1;
                let Some(right) = body.get(at) else { break };
                let right: Pending = match parameter(right) {
                    Some(index) => raw[index].clone(),
                    None => vec![(place(right), None)],
                };
                glue(&mut output, right);
                at += 1;
                continue;
            }
            let is_glued = body.get(at + 1).is_some_and(|next| next.is(Kind::HashHash));
            match parameter(token) {
                Some(index) => {
                    let argument = if is_glued { &raw[index] } else { &expanded[index] };
                    for _ in argument {
                        self.spend(call.span)?;
                    }
                    output.extend(argument.iter().cloned());
                }
                None => output.push((place(token), None)),
            }
            at += 1;
        }
        Ok(output)
    }
}

/// `##`: makes one token of the last one and the first one.
fn glue(output: &mut Pending, right: Pending) {
    let mut right = right.into_iter();
    if let (Some((left, _)), Some((first, _))) = (output.last_mut(), right.next()) {
        let text = format!("{}{}", left.text, first.text);
        let mut made = tokens(&text, left.span.source);
        made.truncate(made.len() - 1);
        if let [one] = &made[..] {
            (left.kind, left.text) = (one.kind, one.text.clone());
        } else {
            let left = left.clone();
            output.push((Token { span: left.span, origin: left.origin, ..first }, None));
        }
    }
    output.extend(right);
}

#[cfg(test)]
mod tests {
    use base::SourceMap;

    use super::super::preprocess;
    use crate::cost::{Cost, paid};
    use crate::errors::Sink;
    use crate::options::Options;

    /// The lines of a text after macros are expanded.
    fn lines(text: &str) -> Vec<String> {
        let mut sources = SourceMap::new();
        let source = sources.add("test.pml", text.into()).expect("the text is short");
        let mut sink = Sink::default();
        let mut loader = |_: &str| Err(String::from("no such file"));
        let (options, loader) = (Options::default(), &mut loader);
        let made = |cost: &dyn Cost| preprocess(&mut sources, source, &options, loader, &mut sink, cost).0;
        let made = paid(made);
        let mut lines: Vec<String> = Vec::new();
        for token in made.tokens.iter().filter(|token| !token.text.is_empty()) {
            match lines.last_mut() {
                Some(line) if !token.first => *line = format!("{line} {}", token.text),
                _ => lines.push(token.text.to_string()),
            }
        }
        lines
    }

    #[test]
    fn a_call_is_one_line_that_begins_where_its_name_stands() {
        let defines = "#define inc(x) x = x + 1\n#define none\n#define same(x) x\n";
        let lines = |text: &str| lines(&format!("{defines}{text}"));
        assert_eq!(lines("a\ninc(b)\nc inc(d)"), ["a", "b = b + 1", "c d = d + 1"]);
        assert_eq!(lines("a\nsame(same(inc(b)))"), ["a", "b = b + 1"]);
        assert_eq!(lines("a same(\nb\nc)"), ["a b c"]);
        assert_eq!(lines("a\nnone none b"), ["a", "b"]);
    }
}
