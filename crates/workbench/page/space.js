// The state space: a graph that grows by clicking, or all of it folded into classes.

import { h, count, number, quoted, seconds, toast } from "./dom.js";
import { post, Job } from "./server.js";
import { drawGraph } from "./graph.js";

// More states are not shown one by one.
const MAX_NODES = 150;

export class Space {
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.mode = h("select", { id: "space-mode", onchange: () => this.changeMode() },
      h("option", { value: "grow" }, "one by one: it grows by clicking"),
      h("option", { value: "parts" }, "folded by processes and variables"),
      h("option", { value: "truths" }, "folded by the truth of expressions"),
      h("option", { value: "components" }, "folded by strong components"),
      h("option", { value: "states" }, "all states"));
    this.exprs = h("input", { type: "text", class: "formula", spellcheck: "false", autocomplete: "off", "aria-label": "Expressions, between semicolons", placeholder: "P@a; x > 3" });
    this.partBoxes = h("fieldset", { class: "parts" });
    this.go = h("button", { type: "submit", class: "primary" }, "Show");
    this.stopButton = h("button", { type: "button", class: "stop", hidden: true, onclick: () => this.job?.stop() }, "Stop");
    this.news = h("p", { class: "news", role: "status" });
    this.error = h("div", { class: "errors", role: "alert" });
    this.canvas = h("div", {});
    this.about = h("div", { class: "card", hidden: true });
    root.append(h("div", { class: "bar-line" }, h("h2", {}, "State space")),
      h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); this.opened = []; this.fold(); } },
        h("div", { class: "question-line" }, h("label", { for: "space-mode" }, "Show it"), this.mode, this.exprs, this.go, this.stopButton), this.partBoxes),
      this.news, this.error, this.canvas, this.about);
    this.clear();
    this.changeMode(true);
  }

  clear() {
    this.nodes = new Map();
    this.edges = new Map();
    this.generation = null;
    this.opened = [];
    this.folded = null;
    this.isStale = true;
    this.canvas.replaceChildren();
    this.about.hidden = true;
    this.news.textContent = "";
    this.error.replaceChildren();
    this.chosenParts = null;
  }

  readModel() {
    const { mode } = this;
    const parts = this.chosenParts;
    this.clear();
    this.chosenParts = parts;
    if (!this.root.hidden && mode.value === "grow") this.shownNow();
  }

  shownNow() {
    if (this.isStale && this.app.info) this.begin();
  }

  changeMode(first) {
    const mode = this.mode.value;
    this.exprs.hidden = mode !== "truths";
    this.partBoxes.hidden = mode !== "parts";
    this.go.hidden = mode === "grow";
    this.about.hidden = true;
    this.canvas.replaceChildren();
    this.news.textContent = "";
    if (first) return;
    if (mode === "grow") this.begin();
    else if (mode === "components" || mode === "states") { this.opened = []; this.fold(); }
  }

  // What states consist of, to choose from: known from the initial state.
  showParts(names) {
    const kept = [...(this.chosenParts ?? [])].filter((name) => names.includes(name));
    this.chosenParts = kept.length > 0 ? new Set(kept) : null;
    if (!this.chosenParts) {
      const processes = new Set(this.app.info?.processes ?? []);
      this.chosenParts = new Set(names.filter((name) => processes.has(name)).slice(0, 1));
      if (this.chosenParts.size === 0) names.slice(0, 1).forEach((name) => this.chosenParts.add(name));
    }
    this.partBoxes.replaceChildren(h("legend", {}, "What is kept; all else is folded away"), ...names.slice(0, 200).map((name) => {
      const box = h("input", { type: "checkbox", checked: this.chosenParts.has(name), onchange: () => (box.checked ? this.chosenParts.add(name) : this.chosenParts.delete(name)) });
      return h("label", {}, box, ` ${name}`);
    }));
  }

  async begin() {
    this.isStale = false;
    this.nodes.clear();
    this.edges.clear();
    await this.expand({ initial: 0, steps: [] }, null);
  }

  fail(messages) {
    this.error.replaceChildren(...messages.map((one) => h("div", { class: "card error" }, h("p", {}, quoted(one.message)), one.help && h("p", { class: "muted" }, quoted(one.help)))));
  }

  // Asks what follows a state, and adds it.
  async expand(path, known) {
    const told = await post("walk", { model: this.app.model(), path, watched: [] }).catch((error) => ({ messages: [{ message: error.message }] }));
    if (told.messages) return this.fail(told.messages);
    this.error.replaceChildren();
    if (this.generation !== null && told.generation !== this.generation) {
      toast("The model was made larger: the graph begins again");
      this.generation = told.generation;
      return this.begin();
    }
    this.generation = told.generation;
    const { place } = told;
    this.showParts(place.state.map(([name]) => name));
    const node = known ?? this.node(place.id, path);
    node.place = place;
    node.initial ||= path.steps.length === 0;
    for (const choice of place.choices) {
      if (choice.fault) continue;
      if (!this.nodes.has(choice.to) && this.nodes.size >= MAX_NODES) {
        toast(`No more than ${MAX_NODES} states are shown one by one: fold them`);
        break;
      }
      const next = this.node(choice.to, { initial: path.initial, steps: [...path.steps, choice.step] });
      next.guess ??= { from: place.state, changes: choice.changes };
      const key = `${place.id} ${choice.to}`;
      const edge = this.edges.get(key) ?? { from: place.id, to: choice.to, labels: [] };
      if (!edge.labels.includes(choice.action)) edge.labels.push(choice.action);
      this.edges.set(key, edge);
    }
    this.here = node.id;
    if (this.mode.value === "grow") this.draw();
    this.tell(node);
    this.app.stand(place.lit, place.state);
    return undefined;
  }

  node(id, path) {
    if (!this.nodes.has(id)) this.nodes.set(id, { id, path });
    return this.nodes.get(id);
  }

  // What is shown of a state: what differs from the initial one.
  lines(node) {
    const first = this.nodes.values().next().value?.place?.state ?? [];
    if (!node.place) return [...node.guess.changes.slice(0, 4).map((text) => text.replace(/: .* -> /, " = ")), "click to see what follows"];
    const initial = new Map(first);
    const different = node.place.state.filter(([name, value]) => initial.get(name) !== value);
    const shown = (node.initial ? node.place.state.slice(0, 4) : different.slice(0, 5)).map(([name, value]) => `${name} = ${value}`);
    const more = node.initial ? node.place.state.length - 4 : different.length - 5;
    if (more > 0) shown.push(`… ${more} more`);
    if (shown.length === 0) shown.push("as at the beginning");
    return shown;
  }

  draw() {
    const nodes = [...this.nodes.values()].map((node) => {
      const dead = node.place && node.place.choices.length === 0;
      const lines = [node.initial && "initial state", dead && "✗ deadlock", ...this.lines(node)].filter(Boolean);
      return {
        id: node.id, lines, initial: node.initial, here: node.id === this.here,
        kind: dead ? "dead" : node.place ? "" : "open",
      };
    });
    const edges = [...this.edges.values()].map((edge) => ({ ...edge, label: edge.labels.join(", ") }));
    const focused = document.activeElement?.dataset?.id;
    const { frame, box, reveal } = drawGraph(nodes, edges, ({ id }) => { const node = this.nodes.get(id); this.expand(node.path, node); }, "States and steps");
    const old = this.canvas.querySelector(".graph-box");
    const scroll = old ? [old.scrollLeft, old.scrollTop] : [0, 0];
    this.canvas.replaceChildren(frame);
    [box.scrollLeft, box.scrollTop] = scroll;
    reveal();
    if (focused) box.querySelector(`[data-id="${focused}"]`)?.focus();
    const open = nodes.filter((node) => node.kind === "open").length;
    this.news.textContent = `${count(nodes.length, "state")} shown, of which ${number(open)} were not looked into yet.`;
  }

  // A state in all its parts, and where to go from it.
  tell(node) {
    this.about.hidden = false;
    this.about.replaceChildren(h("h3", {}, node.initial ? "Initial state" : `A state after ${count(node.path.steps.length, "step")}`),
      h("p", {}, h("button", { type: "button", onclick: () => this.app.walkTo(node.path) }, "Go there in the simulator")),
      h("dl", { class: "differences" }, node.place.state.slice(0, 200).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))));
  }

  async fold() {
    if (this.job) return;
    const by = this.mode.value;
    const names = by === "truths" ? this.exprs.value.split(";").map((text) => text.trim()).filter(Boolean) : by === "parts" ? [...(this.chosenParts ?? [])] : [];
    if ((by === "truths" || by === "parts") && names.length === 0) return;
    this.error.replaceChildren();
    this.go.disabled = true;
    this.stopButton.hidden = false;
    this.news.textContent = "Looking at the states …";
    this.job = new Job("fold", { model: this.app.model(), by, names, opened: this.opened }, ({ progress }) => {
      if (progress) this.news.textContent = `${count(progress.states, "state")}, ${seconds(progress.seconds)}`;
    });
    try {
      const told = await this.job.result;
      if (told.error) this.fail([{ message: told.error }]);
      else if (told.messages) this.fail(told.messages);
      else this.showFolded(told);
      if (told.error || told.messages) this.news.textContent = "";
    } catch (error) {
      this.fail([{ message: error.message }]);
    } finally {
      this.job = null;
      this.go.disabled = false;
      this.stopButton.hidden = true;
    }
  }

  showFolded(folded) {
    const cut = folded.cut ? ` These are not all: ${folded.cut}.` : "";
    const classes = folded.classes.length + Math.max(0, folded.others - 1);
    this.news.textContent = `${count(folded.states, "state")} and ${count(folded.transitions, "step")} in ${count(classes, "class")}.${cut}`;
    const nodes = folded.classes.map((one, at) => {
      const size = [count(one.states, "state"), one.inner && "with steps inside", one.deadlocks > 0 && count(one.deadlocks, "deadlock")].filter(Boolean).join(", ");
      // A component of many states has nothing in common but that.
      const label = this.mode.value === "components" && one.states > 1 ? [] : one.label.slice(0, 6);
      const more = one.label.length > label.length && label.length > 0 ? ["…"] : [];
      return { id: String(at), lines: [...label, ...more, size], initial: one.initial, kind: one.deadlocks > 0 ? "dead" : one.states > 1 ? "many" : "" };
    });
    const edges = folded.edges.map((edge) => ({ from: String(edge.from), to: String(edge.to), label: `${edge.labels.slice(0, 2).join(", ")}${edge.steps > 1 ? ` ×${number(edge.steps)}` : ""}`, title: `${edge.labels.join(", ")}: ${count(edge.steps, "step")}` }));
    const { frame, reveal } = drawGraph(nodes, edges, ({ id }) => this.tellClass(folded.classes[Number(id)]), "Classes of states, and steps between them");
    this.canvas.replaceChildren(frame);
    reveal();
    this.about.hidden = true;
  }

  tellClass(one) {
    this.about.hidden = false;
    const canOpen = one.number !== null && one.states > 1;
    this.about.replaceChildren(h("h3", {}, count(one.states, "state")),
      h("p", {}, one.path && h("button", { type: "button", onclick: () => this.app.walkTo(one.path) }, "Go to the nearest of them in the simulator"), " ",
        canOpen && h("button", { type: "button", onclick: () => { this.opened.push(one.number); this.fold(); } }, "Open: show its states")),
      h("ul", {}, one.label.map((line) => h("li", {}, h("code", {}, line)))));
    this.about.scrollIntoView({ block: "nearest" });
  }
}
