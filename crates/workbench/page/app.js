// Puts the page together: the model and its messages, tabs, files, links, theme.

import { h, byId, count, quoted, toast, bytes } from "./dom.js";
import { get, post } from "./server.js";
import { Editor } from "./editor.js";
import { Checks } from "./checks.js";
import { Runs } from "./run.js";
import { Simulator } from "./simulator.js";
import { Space } from "./space.js";
import { Picture } from "./picture.js";

// After typing, so many milliseconds pass before the model is read.
const PAUSE = 250;

class App {
  constructor(start) {
    this.start = start;
    this.name = null;
    this.saved = "";
    this.version = 0;
    this.info = null;
    this.editor = new Editor(byId("editor"), () => this.typed());
    this.views = {};
    this.checks = new Checks(byId("checks"), this);
    this.runs = new Runs(byId("run"), this);
    this.simulator = new Simulator(byId("simulator"), this);
    this.space = new Space(byId("space"), this);
    this.picture = new Picture(byId("picture"), this);
    this.parts = [this.checks, this.runs, this.simulator, this.space, this.picture];
    this.makeTop();
    this.makeTabs();
  }

  // The model, as the server reads it.
  model() {
    return { name: this.name, language: this.language, text: this.editor.text, definitions: this.definitions };
  }

  // Another model: from a file, an example or a link.
  load({ name, text, definitions = [], language }) {
    this.name = name ?? null;
    this.editor.set(text);
    this.saved = name ? text : "";
    byId("constants").value = definitions.map(([key, value]) => (value === null ? key : `${key}=${value}`)).join(", ");
    this.definitions = definitions;
    this.setLanguage(language ?? this.languageOf(name) ?? "process");
    for (const part of this.parts) part.clear?.();
    this.version += 1;
    this.showFile();
    return this.read();
  }

  languageOf(name) {
    const extension = name?.split(".").pop();
    return this.start.languages.find((known) => known.extensions.includes(extension))?.name;
  }

  setLanguage(name) {
    this.language = name;
    byId("language").value = name;
    this.editor.setLanguage(name);
  }

  typed() {
    this.version += 1;
    this.checks.changed();
    this.editor.light([]);
    this.showFile();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.read(), PAUSE);
  }

  // Lets the server read the model; messages are shown at their places.
  async read() {
    clearTimeout(this.timer);
    this.reading?.abort();
    this.reading = new AbortController();
    const version = this.version;
    let told;
    try {
      told = await post("model", { model: this.model() }, this.reading.signal);
    } catch (error) {
      if (error.name !== "AbortError") byId("model-info").textContent = error.message;
      return;
    }
    if (version !== this.version) return;
    this.showMessages(told.messages);
    this.info = told.model ? told : null;
    if (told.model) {
      const { processes, actions, state_bytes: width } = told.model;
      byId("model-info").textContent = `${count(processes, "process")}, ${count(actions, "action")}, ${bytes(width)} per state`;
      this.checks.setProperties(told.properties);
      for (const part of this.parts) part.readModel?.(told);
    } else {
      const errors = told.messages.filter((one) => one.severity === "error").length;
      byId("model-info").textContent = told.limit ?? `${count(errors, "error")}: nothing can be checked yet`;
    }
  }

  showMessages(messages) {
    this.editor.setMessages(messages);
    byId("problems").replaceChildren(...messages.map((one) => h("li", { class: one.severity },
      h("button", { type: "button", class: "problem", disabled: one.from === undefined, onclick: () => this.goTo(one.from) },
        h("span", { class: "problem-place" }, one.line ? `${one.source ? `${one.source} ` : ""}${one.line}:${one.column}` : "–"),
        h("span", {}, quoted(one.message), one.help && h("span", { class: "muted" }, " ", quoted(one.help)))))));
  }

  showFile() {
    const text = this.editor.text;
    byId("file-name").textContent = this.name ?? "untitled";
    byId("file-state").textContent = this.name && text !== this.saved ? "changed" : "";
    document.title = `${this.name ?? "untitled"} · Stubborn workbench`;
  }

  goTo(at) {
    if (matchMedia("(max-width: 60rem)").matches) this.tab("model");
    this.editor.goTo(at);
  }

  light(lines) { this.editor.light(lines); }

  gotResults(results) { this.runs.setRuns(results); }

  showRun(result) {
    this.runs.show(result);
    this.tab("run");
    this.runs.lanes.element.focus();
  }

  // A run that somebody walked.
  showWalk(result) {
    this.runs.addWalk(result);
    this.showRun(result);
  }

  // Another place of the model, in the simulator.
  walkTo(path) {
    this.tab("simulator");
    return this.simulator.walkTo(path);
  }

  // Where somebody stands now, in a run or in the simulator.
  stand(lit, state) {
    this.standing = { lit, state };
    for (const part of this.parts) part.stood?.(this.standing);
  }

  // Tabs, by mouse and by arrow keys.
  makeTabs() {
    this.tabs = [...document.querySelectorAll("[role=tab]")];
    for (const tab of this.tabs) {
      tab.addEventListener("click", () => this.tab(tab.getAttribute("aria-controls")));
      tab.addEventListener("keydown", (event) => {
        const shown = this.tabs.filter((one) => one.offsetParent !== null);
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!by) return;
        event.preventDefault();
        const next = shown[(shown.indexOf(tab) + by + shown.length) % shown.length];
        this.tab(next.getAttribute("aria-controls"));
        next.focus();
      });
    }
    this.tab("checks");
  }

  tab(name) {
    document.body.dataset.tab = name;
    for (const tab of this.tabs) {
      const panel = tab.getAttribute("aria-controls");
      const chosen = panel === name;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      if (panel !== "model") byId(panel).hidden = !chosen;
    }
    this.runs.stopPlaying();
    for (const part of this.parts) if (part.root?.id === name) part.shownNow?.();
  }

  makeTop() {
    byId("language").replaceChildren(...this.start.languages.map((known) => h("option", { value: known.name }, known.name)));
    byId("language").addEventListener("change", (event) => { this.setLanguage(event.target.value); this.typed(); });
    byId("constants").addEventListener("input", (event) => this.readConstants(event.target.value));
    byId("open").addEventListener("click", () => this.openDialog());
    byId("save").addEventListener("click", () => this.saveDialog());
    byId("share").addEventListener("click", () => this.share());
    const themes = ["system", "light", "dark"];
    const signs = { system: "◐", light: "☀", dark: "☾" };
    let theme = localStorage.getItem("stubborn-theme") ?? "system";
    const show = () => {
      document.documentElement.dataset.theme = theme;
      const text = `Theme: ${theme === "system" ? "as the system" : theme}`;
      byId("theme").textContent = signs[theme];
      byId("theme").setAttribute("aria-label", text);
      byId("theme").title = text;
    };
    byId("theme").addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      localStorage.setItem("stubborn-theme", theme);
      show();
    });
    show();
  }

  readConstants(text) {
    const parts = text.split(/[\s,;]+/).filter(Boolean).map((part) => /^([A-Za-z_]\w*)(?:=(.*))?$/.exec(part));
    const bad = parts.includes(null);
    byId("constants-error").hidden = !bad;
    byId("constants-error").textContent = bad ? "Constants are written like N=3, M=2." : "";
    byId("constants").setAttribute("aria-invalid", String(bad));
    if (bad) return;
    this.definitions = parts.map(([, key, value]) => [key, value ?? null]);
    this.typed();
  }

  dialog(title, ...content) {
    const dialog = h("dialog", { "aria-label": title }, h("form", { method: "dialog", class: "dialog-head" }, h("h2", {}, title), h("button", { class: "quiet icon", "aria-label": "Close" }, "×")), ...content);
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
  }

  // What is typed is not lost without a question.
  mayLeave() {
    return !this.name || this.editor.text === this.saved || confirm(`${this.name} was changed. Open something else, and lose the changes?`);
  }

  openDialog() {
    const { examples, files, folder } = this.start;
    const take = async (what) => {
      if (!this.mayLeave()) return;
      dialog.close();
      try {
        const taken = await what();
        await this.load(taken);
        if (taken.asked) {
          this.checks.asked = taken.asked.filter((one) => typeof one?.what === "string");
          this.checks.setWay(taken.way ?? {});
          this.checks.show();
        }
        this.tab("checks");
      } catch (error) { toast(error.message); }
    };
    const link = h("input", { type: "text", class: "formula", "aria-label": "Link", placeholder: "paste a link that was shared" });
    const file = h("input", { type: "file", "aria-label": "A file of this computer", accept: this.start.languages.flatMap((known) => known.extensions.map((end) => `.${end}`)).join(","), onchange: () => take(async () => {
      const chosen = file.files[0];
      return { text: await chosen.text(), language: this.languageOf(chosen.name) };
    }) });
    const dialog = this.dialog("Open",
      h("h3", {}, "Examples"),
      h("ul", { class: "choose" }, examples.map((example) => h("li", {}, h("button", { type: "button", onclick: () => take(async () => ({ ...example, name: null, language: this.languageOf(example.name) })) }, h("b", {}, example.name), h("span", { class: "muted" }, example.about))))),
      folder && h("h3", {}, "Files in ", h("code", {}, folder)),
      folder && (files.length > 0
        ? h("ul", { class: "choose files" }, files.map((name) => h("li", {}, h("button", { type: "button", onclick: () => take(() => post("open", { name })) }, name))))
        : h("p", { class: "muted" }, "There are no models in it yet.")),
      h("h3", {}, "From this computer"), file,
      h("h3", {}, "Open a link"),
      h("form", { class: "question-line", onsubmit: (event) => { event.preventDefault(); take(() => fromFragment(link.value.slice(link.value.indexOf("#")))); } }, link, h("button", { type: "submit" }, "Open")));
  }

  saveDialog() {
    const { folder } = this.start;
    const extension = this.start.languages.find((known) => known.name === this.language).extensions[0];
    const name = h("input", { type: "text", class: "formula", required: true, "aria-label": "Name of the file", value: this.name ?? `model.${extension}` });
    const error = h("p", { class: "bad-text", role: "alert" });
    const write = async (replace) => {
      try {
        const told = await post("save", { name: name.value, text: this.editor.text, replace });
        this.start.files = told.files;
        this.name = name.value;
        this.saved = this.editor.text;
        this.showFile();
        dialog.close();
        toast(`Saved as ${name.value}`);
      } catch (problem) {
        if (problem.status === 409 && confirm(`There is a file ${name.value} already. Replace it?`)) return write(true);
        error.textContent = problem.message;
      }
    };
    const download = () => {
      const url = URL.createObjectURL(new Blob([this.editor.text], { type: "text/plain" }));
      h("a", { href: url, download: name.value.split("/").pop() }).click();
      URL.revokeObjectURL(url);
      dialog.close();
    };
    const dialog = this.dialog("Save",
      folder ? h("p", {}, "In the folder ", h("code", {}, folder)) : h("p", {}, "The workbench was given no folder, so the model can only be downloaded. Start it with ", h("code", {}, "stubborn serve --folder DIR"), " to save."),
      h("form", { class: "question-line", onsubmit: (event) => { event.preventDefault(); if (folder) write(name.value === this.name); else download(); } },
        name, folder && h("button", { type: "submit", class: "primary" }, "Save"), h("button", { type: "button", onclick: download }, "Download")),
      error);
    name.select();
  }

  // A link with the model and what was asked about it.
  async share() {
    const fragment = await toFragment({ ...this.model(), asked: this.checks.asked, way: this.checks.way });
    history.replaceState(null, "", fragment);
    const link = `${location.origin}/${fragment}`;
    const field = h("textarea", { readonly: true, rows: "4", class: "formula", "aria-label": "Link" }, link);
    const copy = async () => {
      try {
        await navigator.clipboard.writeText(link);
        toast("The link was copied");
      } catch {
        field.select();
        document.execCommand("copy");
      }
    };
    this.dialog("Share", h("p", {}, "The link carries the model and your questions, and not the token of this workbench. Who gets it opens a workbench of their own, chooses ", h("b", {}, "Open"), " and pastes it."),
      field, h("p", {}, h("button", { type: "button", class: "primary", onclick: copy }, "Copy")));
    field.select();
  }
}

// A document as a part of an address: compressed, in letters that need no escapes.
async function toFragment(document) {
  const stream = new Blob([JSON.stringify(document)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const packed = new Uint8Array(await new Response(stream).arrayBuffer());
  let letters = "";
  for (const byte of packed) letters += String.fromCharCode(byte);
  return `#m=${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

// A link may unpack to a longer text than anybody writes; then it is not taken.
const MAX_LINK = 8_000_000;

async function fromFragment(fragment) {
  const wrong = new Error("This is no link of a workbench.");
  if (!fragment.startsWith("#m=")) throw wrong;
  try {
    const letters = atob(fragment.slice(3).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const parts = [];
    let length = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.length;
      if (length > MAX_LINK) throw wrong;
      parts.push(value);
    }
    const { text, language, definitions, asked = [], way = {} } = JSON.parse(await new Blob(parts).text());
    if (typeof text !== "string") throw wrong;
    return { name: null, text, language, definitions, asked, way };
  } catch {
    throw wrong;
  }
}

const start = await get("start").catch((error) => {
  document.body.replaceChildren(h("main", { class: "empty" }, h("h1", {}, "The workbench could not start"), h("p", {}, error.message)));
  throw error;
});
const app = new App(start);
const begin = async () => {
  if (location.hash.startsWith("#m=")) {
    try {
      const linked = await fromFragment(location.hash);
      await app.load(linked);
      app.checks.asked = linked.asked.filter((one) => typeof one?.what === "string");
      app.checks.setWay(linked.way ?? {});
      app.checks.show();
      return;
    } catch (error) { toast(error.message); }
  }
  if (start.file?.text !== undefined) return app.load({ ...start.file, definitions: start.definitions });
  const first = start.examples[0];
  return app.load({ ...first, name: null, language: app.languageOf(first.name) });
};
await begin();
document.documentElement.dataset.ready = "yes";
