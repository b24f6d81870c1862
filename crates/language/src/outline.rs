//! What a text declares, and where each name is used: what editors need to know of a language.
//!
//! An outline is made of the text alone, as far as it can be read: it needs no model, and a mistake in one place leaves
//! the rest of it as it is.

use base::Span;

/// What a text declares, in the order in which it was met.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// What has a name.
    pub symbols: Vec<Symbol>,
    /// How many mistakes there are in what names mean, if that was looked at.
    pub n_errors: Option<usize>,
}

/// Something that has a name.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// What there is to say about it, besides its kind: a value, a type; may be empty.
    pub detail: String,
    /// Where its name stands where it is declared; of what needs no declaration, where it is met first.
    pub definition: Span,
    /// The whole declaration.
    pub extent: Span,
    /// Where it can be seen; nothing if it is everywhere.
    pub scope: Option<Span>,
    /// Where else its name stands, in order, and each place once.
    pub uses: Vec<Span>,
    /// The symbol that it belongs to.
    pub parent: Option<usize>,
}

/// What has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// A number with a name.
    Constant,
    /// A process, or a kind of processes.
    Process,
    /// A state of a process.
    State,
    /// An action.
    Action,
    /// A variable.
    Variable,
    /// A label in the code of a process.
    Label,
    /// A type of structures, or a set of symbolic names.
    Type,
    /// A field of a structure.
    Field,
    /// Something to be checked.
    Property,
    /// A macro, or code that is copied.
    Macro,
}

impl SymbolKind {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            SymbolKind::Constant => "constant",
            SymbolKind::Process => "process",
            SymbolKind::State => "state",
            SymbolKind::Action => "action",
            SymbolKind::Variable => "variable",
            SymbolKind::Label => "label",
            SymbolKind::Type => "type",
            SymbolKind::Field => "field",
            SymbolKind::Property => "property",
            SymbolKind::Macro => "macro",
        }
    }
}

impl Symbol {
    /// A symbol that is declared, seen everywhere, and used nowhere so far.
    pub fn new(name: impl Into<String>, kind: SymbolKind, definition: Span, extent: Span) -> Symbol {
        Symbol {
            name: name.into(),
            kind,
            detail: String::new(),
            definition,
            extent,
            scope: None,
            uses: Vec::new(),
            parent: None,
        }
    }

    /// All places where the name stands, the declaration first.
    pub fn places(&self) -> impl Iterator<Item = Span> {
        std::iter::once(self.definition).chain(self.uses.iter().copied())
    }
}

impl Outline {
    /// Adds a symbol; returns its number.
    pub fn add(&mut self, symbol: Symbol) -> usize {
        self.symbols.push(symbol);
        self.symbols.len() - 1
    }

    /// Brings the uses of all symbols into order.
    pub fn finish(&mut self) {
        for symbol in &mut self.symbols {
            let definition = symbol.definition;
            symbol.uses.retain(|place| *place != definition);
            symbol.uses.sort_unstable_by_key(|place| (place.source, place.start, place.end));
            symbol.uses.dedup();
        }
    }

    /// The symbols whose names stand at a place: several, if one text means different things.
    pub fn at(&self, source: base::SourceId, offset: u32) -> Vec<usize> {
        let covers = |place: Span| place.source == source && (place.start..=place.end).contains(&offset);
        let is_there = |symbol: &Symbol| symbol.places().any(covers);
        (0..self.symbols.len()).filter(|&index| is_there(&self.symbols[index])).collect()
    }
}
