// The editor of models: CodeMirror, with highlighting for each language, and messages at their places.

import {
  EditorState, EditorView, Compartment, StateEffect, StateField, Decoration, keymap, lineNumbers,
  highlightActiveLine, highlightActiveLineGutter, drawSelection, highlightSpecialChars, defaultKeymap, history,
  historyKeymap, StreamLanguage, syntaxHighlighting, HighlightStyle, bracketMatching, indentUnit, setDiagnostics,
  lintGutter, lintKeymap, tags,
} from "./codemirror.js";

const words = (text) => new Set(text.split(" "));

// A language of words, numbers, signs and comments.
function simple({ keywords, types, atoms, line, block, text, hash }) {
  return {
    startState: () => ({ inside: false }),
    token(stream, state) {
      if (state.inside || (block && stream.match("/*"))) {
        state.inside = !stream.match(/^.*?\*\//);
        if (state.inside) stream.skipToEnd();
        return "comment";
      }
      if (stream.eatSpace()) return null;
      if (line && stream.match("//")) { stream.skipToEnd(); return "comment"; }
      if (hash && stream.match(/^#\s*\w+/)) return "meta";
      if (text && stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
      if (stream.match(/^\d+/)) return "number";
      const found = stream.match(/^[A-Za-z_][A-Za-z_0-9]*(?:-free\b)?/);
      if (found) {
        if (keywords.has(found[0])) return "keyword";
        if (types?.has(found[0])) return "typeName";
        if (atoms?.has(found[0])) return "atom";
        return stream.match(/^\s*(?:\[[^\]\n]*\])?\s*:(?!:)/, false) ? "labelName" : "variableName";
      }
      if (stream.match(/^(?:<->|->|<>|\[\]|&&|\|\||[<>=!]=|::|\.\.=?|[-+*/%<>=!|@?])/)) return "operator";
      stream.next();
      return null;
    },
    languageData: { commentTokens: line ? { line: "//" } : { block: { open: "/*", close: "*/" } } },
  };
}

const LANGUAGES = {
  process: simple({
    keywords: words("process const invariant ltl tester spec fair deadlock-free for when in forall exists count var import watch"),
    types: words("weak strong just reject deadlock livelock infinite initial"),
    atoms: words("tau true false"),
    line: true, block: true, text: true,
  }),
  promela: simple({
    keywords: words("active assert atomic break c_code c_decl c_expr c_state c_track d_proctype d_step do else empty enabled eval fi for full goto hidden if init inline len local ltl nempty never nfull notrace np_ od of pc_value priority printf printm proctype provided return run select show timeout trace typedef unless xr xs always eventually until weakuntil release implies equivalent next"),
    types: words("bit bool byte chan int mtype pid short unsigned"),
    atoms: words("true false skip _pid _last _nr_pr"),
    line: true, block: true, text: true, hash: true,
  }),
  petri: {
    startState: () => ({ inside: null }),
    token(stream, state) {
      const until = (end, kind) => {
        state.inside = stream.match(end) ? null : kind;
        if (state.inside) stream.skipToEnd();
      };
      if (state.inside === "comment" || (!state.inside && stream.match("<!--"))) {
        until(/^.*?-->/, "comment");
        return "comment";
      }
      if (state.inside === "tag") {
        if (stream.eatSpace()) return null;
        if (stream.match(/^[/?]?>/)) { state.inside = null; return "angleBracket"; }
        if (stream.match(/^"[^"]*"?|^'[^']*'?/)) return "string";
        if (stream.match(/^[\w:.-]+/)) return "attributeName";
        stream.next();
        return null;
      }
      if (stream.match(/^<[/?!]?[\w:.-]*/)) { state.inside = "tag"; return "tagName"; }
      stream.match(/^[^<]+/) || stream.next();
      return null;
    },
  },
};

// Colors are in the style sheet, so that they follow the theme.
const COLORS = HighlightStyle.define([
  { tag: tags.keyword, class: "tok-keyword" },
  { tag: tags.typeName, class: "tok-type" },
  { tag: tags.atom, class: "tok-atom" },
  { tag: tags.number, class: "tok-number" },
  { tag: tags.string, class: "tok-string" },
  { tag: tags.comment, class: "tok-comment" },
  { tag: tags.meta, class: "tok-meta" },
  { tag: tags.labelName, class: "tok-label" },
  { tag: tags.operator, class: "tok-operator" },
  { tag: [tags.tagName, tags.angleBracket], class: "tok-keyword" },
  { tag: tags.attributeName, class: "tok-type" },
]);

const showLines = StateEffect.define();
const shownLines = StateField.define({
  create: () => Decoration.none,
  update(lines, transaction) {
    lines = lines.map(transaction.changes);
    for (const effect of transaction.effects) if (effect.is(showLines)) lines = effect.value;
    return lines;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export class Editor {
  constructor(parent, onChange) {
    this.language = new Compartment();
    this.quiet = false;
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        doc: "",
        extensions: [
          lineNumbers(), highlightActiveLine(), highlightActiveLineGutter(), highlightSpecialChars(), drawSelection(),
          history(), bracketMatching(), indentUnit.of("    "), EditorState.tabSize.of(8), lintGutter(),
          syntaxHighlighting(COLORS), this.language.of([]), shownLines,
          // Tab leaves the editor: nobody is caught who has no mouse.
          keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
          EditorView.contentAttributes.of({ "aria-label": "Text of the model", spellcheck: "false", tabindex: "0" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !this.quiet) onChange();
          }),
        ],
      }),
    });
  }

  get text() { return this.view.state.doc.toString(); }

  // Another text, which is not typed by anybody.
  set(text) {
    this.quiet = true;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text }, selection: { anchor: 0 } });
    this.quiet = false;
    this.view.scrollDOM.scrollTop = 0;
  }

  setLanguage(name) {
    const language = LANGUAGES[name];
    this.view.dispatch({ effects: this.language.reconfigure(language ? StreamLanguage.define(language) : []) });
  }

  // Messages with places in this text.
  setMessages(messages) {
    const length = this.view.state.doc.length;
    const found = messages.filter((one) => one.from !== undefined).map((one) => {
      const from = Math.min(one.from, length);
      return {
        from, to: Math.min(Math.max(one.to, from), length), severity: one.severity,
        message: [one.message, one.label, one.help].filter(Boolean).join("\n"),
      };
    });
    this.view.dispatch(setDiagnostics(this.view.state, found));
  }

  goTo(at) {
    const anchor = Math.min(at, this.view.state.doc.length);
    this.view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
    this.view.focus();
  }

  // Lights lines, by their numbers: where the run is.
  light(lines) {
    const doc = this.view.state.doc;
    const known = [...new Set(lines)].filter((line) => line >= 1 && line <= doc.lines).sort((a, b) => a - b);
    const mark = Decoration.line({ class: "lit-line" });
    const effects = [showLines.of(Decoration.set(known.map((line) => mark.range(doc.line(line).from))))];
    if (known.length > 0) effects.push(EditorView.scrollIntoView(doc.line(known[0]).from, { y: "nearest" }));
    this.view.dispatch({ effects });
  }
}
