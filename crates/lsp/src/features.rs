//! What editors ask about a place in a text. All of it is the outline of the front end, put as the protocol wants it.

use std::collections::HashMap;

use lsp_types::{
    CodeLens, Command, CompletionItem, CompletionItemKind, DocumentSymbol, Hover, HoverContents, Location,
    MarkupContent, MarkupKind, Range, SymbolKind as Kind, TextEdit, Uri, WorkspaceEdit,
};
use serde_json::json;
use stubborn::base::Span;
use stubborn::language::{Outline, Symbol, SymbolKind};

use crate::analysis::{Outlined, Ranges, Snapshot, is_own, path_of, uri_of};
use crate::text::Text;

/// The symbols whose names stand at a place of the text.
fn at(outlined: &Outlined, offset: usize) -> Vec<&Symbol> {
    let found = outlined.outline.at(stubborn::base::SourceId::new(0), offset as u32);
    found.into_iter().map(|index| &outlined.outline.symbols[index]).collect()
}

/// What a name is.
pub(crate) fn hover(
    snapshot: &Snapshot,
    outlined: &Outlined,
    ranges: &Ranges,
    offset: usize,
) -> Option<Hover> {
    let symbols = at(outlined, offset);
    let first = symbols.first()?;
    let covers =
        |place: &Span| is_own(*place) && (place.start as usize..=place.end as usize).contains(&offset);
    let place = first.places().find(covers)?;
    let lines: Vec<String> = symbols.iter().map(|symbol| describe(outlined, symbol, ranges)).collect();
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: lines.join("\n\n---\n\n") };
    let range = Some(snapshot.text.range(place.start as usize, place.end as usize));
    Some(Hover { contents: HoverContents::Markup(contents), range })
}

fn describe(outlined: &Outlined, symbol: &Symbol, ranges: &Ranges) -> String {
    let Symbol { name, kind, detail, .. } = symbol;
    let mut text = format!("**{}** `{name}` {detail}", kind.name());
    let owner = symbol.parent.map(|parent| outlined.outline.symbols[parent].name.as_str());
    match kind {
        SymbolKind::Variable => {
            if let Some(type_range) = type_range(detail) {
                text += &format!(" ({type_range})");
            }
            if let Some((lo, hi)) = range_of(ranges, name) {
                text += &format!("\n\nIn this model, it has room for the values {lo} to {hi}.");
            }
        }
        SymbolKind::State | SymbolKind::Label => {
            let owner = owner.unwrap_or("P");
            text += &format!(
                "\n\nThe proposition `{owner}@{name}` has the values 0 and 1: it is 1 where the process is here."
            );
        }
        SymbolKind::Process => {
            let is_one = |known: &&(String, i64, i64)| {
                known
                    .0
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
            };
            match ranges.iter().filter(is_one).count() {
                0 => {}
                1 => text += "\n\nThere is one such process.",
                n => text += &format!("\n\nThere are {n} such processes."),
            }
        }
        _ => {}
    }
    let uses = symbol.uses.len();
    text + &format!("\n\nUsed {uses} time{}.", if uses == 1 { "" } else { "s" })
}

/// The values of a type of Promela.
fn type_range(detail: &str) -> Option<&'static str> {
    Some(match detail.trim_start_matches([':', ' ']).trim_end_matches("[…]") {
        "bit" | "bool" => "0 or 1",
        "byte" | "pid" => "0 to 255",
        "short" => "-32768 to 32767",
        "int" => "-2147483648 to 2147483647",
        _ => return None,
    })
}

/// The values of all variables that have a name, whoever has them.
fn range_of(ranges: &Ranges, name: &str) -> Option<(i64, i64)> {
    let is_meant = |known: &str| {
        let known = known.split('[').next().unwrap_or(known);
        known.rsplit([':', '.']).next() == Some(name)
    };
    let found: Vec<&(String, i64, i64)> = ranges.iter().filter(|(known, ..)| is_meant(known)).collect();
    Some((found.iter().map(|found| found.1).min()?, found.iter().map(|found| found.2).max()?))
}

/// A place as the protocol wants it, in whatever file it is.
fn location(snapshot: &Snapshot, outlined: &Outlined, place: Span) -> Option<Location> {
    let source = outlined.sources.get(place.source);
    if is_own(place) {
        let range = snapshot.text.range(place.start as usize, place.end as usize);
        return Some(Location { uri: snapshot.uri.clone(), range });
    }
    let own = path_of(snapshot.uri.as_str())?;
    let uri = uri_of(&own.parent()?.join(&source.name))?;
    let range = Text::from(source.text.clone()).range(place.start as usize, place.end as usize);
    Some(Location { uri, range })
}

/// Where a name is declared.
pub(crate) fn definition(snapshot: &Snapshot, outlined: &Outlined, offset: usize) -> Vec<Location> {
    at(outlined, offset).iter().filter_map(|symbol| location(snapshot, outlined, symbol.definition)).collect()
}

/// Where a name stands.
pub(crate) fn references(
    snapshot: &Snapshot,
    outlined: &Outlined,
    offset: usize,
    with_declaration: bool,
) -> Vec<Location> {
    let skipped = usize::from(!with_declaration);
    let places = |symbol: &&Symbol| symbol.places().skip(skipped).collect::<Vec<Span>>();
    let symbols = at(outlined, offset);
    symbols.iter().flat_map(places).filter_map(|place| location(snapshot, outlined, place)).collect()
}

/// The name at a place that can be changed, or why it cannot.
pub(crate) fn renamed(outlined: &Outlined, offset: usize) -> Result<(&Symbol, Span), String> {
    let symbols = at(outlined, offset);
    let symbol = match &symbols[..] {
        [] => return Err("there is no name here that is declared".to_owned()),
        [one] => *one,
        _ => {
            return Err("this text means several things, since it is used by a macro or an inline".to_owned());
        }
    };
    if outlined.sources.slice(symbol.definition) != symbol.name || symbol.name.contains('-') {
        return Err(format!("`{}` is not a name that somebody chose", symbol.name));
    }
    let covers =
        |place: &Span| is_own(*place) && (place.start as usize..=place.end as usize).contains(&offset);
    let place = symbol.places().find(covers).unwrap_or(symbol.definition);
    Ok((symbol, place))
}

/// Changes a name everywhere, if everything means the same afterward.
#[allow(clippy::mutable_key_type)] // An address does not change.
pub(crate) fn rename(
    snapshot: &Snapshot,
    outlined: &Outlined,
    offset: usize,
    new: &str,
) -> Result<WorkspaceEdit, String> {
    let (symbol, _) = renamed(outlined, offset)?;
    let is_name = new.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && new.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let words = snapshot.dialect.language().map_or(&[][..], |language| language.words);
    if !is_name || words.contains(&new) {
        return Err(format!("`{new}` cannot be a name"));
    }
    if new == symbol.name {
        return Ok(WorkspaceEdit::default());
    }
    let mut text = snapshot.text.as_str().to_owned();
    let mut own: Vec<Span> = symbol.places().filter(|place| is_own(*place)).collect();
    own.sort_unstable_by_key(|place| std::cmp::Reverse(place.start));
    own.dedup();
    for place in &own {
        text.replace_range(place.start as usize..place.end as usize, new);
    }
    let after = Snapshot { text: Text::from(text), ..snapshot.clone() };
    let is_elsewhere = symbol.places().any(|place| !is_own(place));
    let is_worse = |renamed: &Outline| match (renamed.n_errors, outlined.outline.n_errors) {
        (Some(after), Some(before)) => after > before,
        _ => after.n_errors() > snapshot.n_errors(),
    };
    let is_right =
        |renamed: &Outline| is_same(&outlined.outline, renamed, &symbol.name, new) && !is_worse(renamed);
    if !is_elsewhere && !is_right(&after.outline().outline) {
        return Err(format!("`{new}` is taken: something would mean something else"));
    }
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for Location { uri, range } in symbol.places().filter_map(|place| location(snapshot, outlined, place)) {
        changes.entry(uri).or_default().push(TextEdit { range, new_text: new.to_owned() });
    }
    Ok(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
}

/// Whether two outlines are the same but for one name.
fn is_same(before: &Outline, after: &Outline, old: &str, new: &str) -> bool {
    let is_alike = |(a, b): (&Symbol, &Symbol)| {
        (a.kind, a.parent, a.uses.len()) == (b.kind, b.parent, b.uses.len())
            && (a.name == b.name || (a.name == old && b.name == new))
    };
    before.symbols.len() == after.symbols.len() && before.symbols.iter().zip(&after.symbols).all(is_alike)
}

/// What may be typed at a place.
pub(crate) fn completion(snapshot: &Snapshot, outlined: &Outlined, offset: usize) -> Vec<CompletionItem> {
    let symbols = &outlined.outline.symbols;
    let item = |symbol: &Symbol| CompletionItem {
        label: symbol.name.clone(),
        kind: Some(completion_kind(symbol.kind)),
        detail: Some(format!("{} {}", symbol.kind.name(), symbol.detail)),
        ..CompletionItem::default()
    };
    let mut found: Vec<CompletionItem> = match owner_before(snapshot.text.as_str(), offset) {
        // Behind `P@`, there are states or labels of `P`.
        Some(owner) => {
            let is_its = |symbol: &&Symbol| {
                matches!(symbol.kind, SymbolKind::State | SymbolKind::Label)
                    && symbol.parent.is_some_and(|parent| symbols[parent].name == owner)
            };
            symbols.iter().filter(is_its).map(item).collect()
        }
        None => {
            let is_seen = |symbol: &&Symbol| {
                symbol.scope.is_none_or(|scope| {
                    is_own(scope) && (scope.start as usize..=scope.end as usize).contains(&offset)
                })
            };
            let words = snapshot.dialect.language().map_or(&[][..], |language| language.words);
            let word = |word: &&str| CompletionItem {
                label: (*word).to_owned(),
                kind: Some(CompletionItemKind::KEYWORD),
                ..CompletionItem::default()
            };
            symbols.iter().filter(is_seen).map(item).chain(words.iter().map(word)).collect()
        }
    };
    found.sort_by(|a, b| a.label.cmp(&b.label));
    found.dedup_by(|a, b| a.label == b.label && a.kind == b.kind);
    found
}

/// The process before `@`, if what is typed follows one.
fn owner_before(text: &str, offset: usize) -> Option<&str> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let before = text.get(..offset)?.trim_end_matches(is_letter).strip_suffix('@')?;
    let before = match before.strip_suffix(']') {
        Some(indices) => &indices[..indices.rfind('[')?],
        None => before,
    };
    Some(&before[before.trim_end_matches(is_letter).len()..]).filter(|owner| !owner.is_empty())
}

fn completion_kind(kind: SymbolKind) -> CompletionItemKind {
    match kind {
        SymbolKind::Constant => CompletionItemKind::CONSTANT,
        SymbolKind::Process => CompletionItemKind::CLASS,
        SymbolKind::State | SymbolKind::Label => CompletionItemKind::ENUM_MEMBER,
        SymbolKind::Action => CompletionItemKind::EVENT,
        SymbolKind::Variable => CompletionItemKind::VARIABLE,
        SymbolKind::Type => CompletionItemKind::STRUCT,
        SymbolKind::Field => CompletionItemKind::FIELD,
        SymbolKind::Property => CompletionItemKind::PROPERTY,
        SymbolKind::Macro => CompletionItemKind::FUNCTION,
    }
}

/// What the text declares, as a tree.
pub(crate) fn symbols(text: &Text, outline: &Outline) -> Vec<DocumentSymbol> {
    let is_shown = |symbol: &Symbol| {
        is_own(symbol.definition) && is_own(symbol.extent) && !matches!(symbol.kind, SymbolKind::Action)
    };
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); outline.symbols.len()];
    let mut roots = Vec::new();
    for (index, symbol) in outline.symbols.iter().enumerate().filter(|(_, symbol)| is_shown(symbol)) {
        match symbol.parent {
            Some(parent) => children[parent].push(index),
            // What a quantifier binds belongs to nobody.
            None if symbol.scope.is_some() => {}
            None => roots.push(index),
        }
    }
    let mut shown: Vec<DocumentSymbol> = Vec::new();
    for root in roots {
        let mut node = node(text, &outline.symbols[root]);
        node.children =
            Some(children[root].iter().map(|&child| self::node(text, &outline.symbols[child])).collect());
        shown.push(node);
    }
    shown
}

#[allow(deprecated)] // A field of the protocol that must be there.
fn node(text: &Text, symbol: &Symbol) -> DocumentSymbol {
    let range = |place: Span| text.range(place.start as usize, place.end as usize);
    // The name stands in the declaration, whatever a front end says.
    let extent = symbol.extent.to(symbol.definition);
    DocumentSymbol {
        name: symbol.name.clone(),
        detail: Some(symbol.detail.clone()),
        kind: match symbol.kind {
            SymbolKind::Constant => Kind::CONSTANT,
            SymbolKind::Process => Kind::CLASS,
            SymbolKind::State | SymbolKind::Label => Kind::ENUM_MEMBER,
            SymbolKind::Action => Kind::EVENT,
            SymbolKind::Variable => Kind::VARIABLE,
            SymbolKind::Type => Kind::STRUCT,
            SymbolKind::Field => Kind::FIELD,
            SymbolKind::Property => Kind::PROPERTY,
            SymbolKind::Macro => Kind::FUNCTION,
        },
        tags: None,
        deprecated: None,
        range: range(extent),
        selection_range: range(symbol.definition),
        children: None,
    }
}

/// The text as it should be, as one change.
pub(crate) fn format(snapshot: &Snapshot) -> Vec<TextEdit> {
    let formatter = snapshot.dialect.language().and_then(|language| language.format);
    let formatted = formatter.and_then(|format| format(snapshot.text.as_str()));
    let changed = formatted.filter(|formatted| formatted != snapshot.text.as_str());
    changed.map(|new_text| TextEdit { range: snapshot.text.whole(), new_text }).into_iter().collect()
}

/// *check* above each property, and *step through* where a check of this very text found a violation.
pub(crate) fn lenses(snapshot: &Snapshot, outline: &Outline, violated: &[String]) -> Vec<CodeLens> {
    let uri = snapshot.uri.as_str();
    let lens = |range: Range, title: &str, command: &str, property: Option<&str>| CodeLens {
        range,
        command: Some(Command {
            title: title.to_owned(),
            command: command.to_owned(),
            arguments: Some(vec![json!(uri), json!(property)]),
        }),
        data: None,
    };
    let mut lenses = vec![lens(Range::default(), "check all", crate::checks::CHECK, None)];
    for property in
        violated.iter().filter(|name| !outline.symbols.iter().any(|known| is_property(known, name)))
    {
        let title = format!("step through {property}");
        lenses.push(lens(Range::default(), &title, crate::checks::STEP, Some(property)));
    }
    for symbol in
        outline.symbols.iter().filter(|symbol| is_property(symbol, &symbol.name) && is_own(symbol.definition))
    {
        let place = symbol.definition;
        let range = snapshot.text.range(place.start as usize, place.end as usize);
        lenses.push(lens(range, "check", crate::checks::CHECK, Some(&symbol.name)));
        if violated.contains(&symbol.name) {
            lenses.push(lens(range, "step through", crate::checks::STEP, Some(&symbol.name)));
        }
    }
    lenses
}

fn is_property(symbol: &Symbol, name: &str) -> bool {
    symbol.kind == SymbolKind::Property && symbol.name == name
}
