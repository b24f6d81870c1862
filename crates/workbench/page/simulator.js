// The simulator: what can happen as buttons, undo, a tree of what was tried, breakpoints, a way to a state that is looked
// for. The page keeps the paths; the server says where they lead.

import { h, count, number, quoted, toast, seconds } from "./dom.js";
import { post, Job } from "./server.js";

// More lines of the tree are not shown.
const MAX_LINES = 400;

export class Simulator {
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.watches = [];
    this.job = null;
    this.clear();
    const button = (text, title, act, name) => h("button", { type: "button", title, onclick: act, class: name }, text);
    this.undoButton = button("↶ Undo", "One step back (u)", () => this.undo());
    this.restartButton = button("Restart", "Back to the initial state", () => this.goTo(this.tree));
    this.amount = h("input", { type: "number", class: "jump", min: "1", max: "10000", value: "10", "aria-label": "Number of random steps" });
    this.where = h("p", { class: "now", "aria-live": "polite", tabIndex: -1 });
    this.choices = h("ul", { class: "steps-list", "aria-label": "What can happen" });
    this.error = h("div", { class: "errors", role: "alert" });
    this.state = h("dl", { tabIndex: 0, "aria-label": "State" });
    this.positions = h("ul", { class: "reasons" });
    this.lines = h("ol", { class: "tree", "aria-label": "What was tried" });
    this.watchList = h("ul", { class: "watches" });
    this.goal = h("input", { type: "text", class: "formula", spellcheck: "false", autocomplete: "off", "aria-label": "Expression that should become true", placeholder: "an expression" });
    this.watch = h("input", { type: "text", class: "formula", spellcheck: "false", autocomplete: "off", "aria-label": "Expression to watch", placeholder: "an expression" });
    this.seeking = h("p", { class: "news", hidden: true });
    this.stopButton = button("Stop", "Stop looking", () => this.job?.stop(), "stop");
    this.stopButton.hidden = true;
    root.append(
      h("div", { class: "bar-line" }, h("h2", {}, "Simulator"), this.undoButton, this.restartButton,
        button("Show as a run", "In the run explorer, where it can be compared", () => this.asRun()),
        button("Export", "As JSON, which `stubborn simulate --input` reads", () => this.download())),
      this.where, this.error,
      h("div", { class: "run-columns" },
        h("div", {},
          h("section", { class: "card", "aria-label": "Steps" }, h("h3", {}, "What can happen"), this.choices,
            h("div", { class: "question-line" }, button("Random", "Take random steps, until a breakpoint", () => this.random()), this.amount, h("span", { class: "muted" }, "steps, until a breakpoint"))),
          h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); this.seek(this.goal.value.trim()); } },
            h("h3", {}, "Take me to a state where …"),
            h("div", { class: "question-line" }, this.goal, h("button", { type: "submit" }, "Go"), button("to a deadlock", "The nearest state where nothing can happen", () => this.seek(null)), this.stopButton), this.seeking),
          h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); this.addWatch(); } },
            h("h3", {}, "Watch, and break where it becomes true"),
            h("div", { class: "question-line" }, this.watch, h("button", { type: "submit" }, "Add")), this.watchList)),
        h("div", { class: "side" },
          h("section", { class: "card panel", "aria-label": "State" }, h("h3", {}, "State"), this.state, this.positions),
          h("section", { class: "card", "aria-label": "Tree" }, h("h3", {}, "What was tried"), this.lines))));
    root.addEventListener("keydown", (event) => this.onKey(event));
  }

  // Another model: nothing was tried yet.
  clear() {
    this.tree = { parent: null, step: null, label: "initial state", children: [], depth: 0, number: 0 };
    this.n_nodes = 1;
    this.here = this.tree;
    this.place = null;
    this.before = null;
    this.watches = [];
    this.isStale = true;
    // What could happen in another model is nothing to click on.
    this.choices?.replaceChildren();
  }

  readModel() {
    this.isStale = true;
    if (!this.root.hidden) this.shownNow();
  }

  shownNow() {
    if (this.isStale && this.app.info) this.visit(this.here);
    else if (this.place) this.app.stand(this.place.lit, this.place.state);
  }

  path(node = this.here) {
    const steps = [];
    for (let at = node; at.parent; at = at.parent) steps.push(at.step);
    return { initial: 0, steps: steps.reverse() };
  }

  watched() { return this.watches.map((one) => one.text); }

  // Asks where a node of the tree is, and shows it.
  async visit(node) {
    const asked = (this.asked = {});
    let told;
    try {
      told = await post("walk", { model: this.app.model(), path: this.path(node), watched: this.watched() });
    } catch (error) {
      return this.fail([{ message: error.message }]);
    }
    if (this.asked !== asked) return;
    if (told.messages) {
      if (node !== this.tree && told.messages.some((one) => one.code === "bad-path")) {
        toast("The model has changed: the walk begins again");
        const { watches } = this;
        this.clear();
        this.watches = watches;
        return this.visit(this.tree);
      }
      return this.fail(told.messages);
    }
    this.error.replaceChildren();
    this.isStale = false;
    this.before = this.here === node ? null : this.place;
    this.here = node;
    this.place = told.place;
    this.app.stand(this.place.lit, this.place.state);
    this.show();
  }

  fail(messages) {
    this.error.replaceChildren(...messages.map((one) => h("div", { class: "card error" }, h("p", {}, quoted(one.message)),
      one.excerpt && h("pre", { class: "excerpt" }, `${one.excerpt}\n${" ".repeat(Math.max(0, one.column - 1))}^ ${one.label ?? ""}`),
      one.help && h("p", { class: "muted" }, quoted(one.help)))));
  }

  // The child of a node by a step, which may be known.
  child(node, step, label) {
    const known = node.children.find((one) => one.step[1] === step[1]);
    if (known) return known;
    const made = { parent: node, step, label, children: [], depth: node.depth + 1, number: this.n_nodes };
    this.n_nodes += 1;
    node.children.push(made);
    return made;
  }

  take(choice) {
    if (choice.fault) return undefined;
    const label = `${choice.who.join(", ")}: ${choice.action}`;
    return this.visit(this.child(this.here, choice.step, label));
  }

  goTo(node) { return this.visit(node); }

  undo() { if (this.here.parent) this.visit(this.here.parent); }

  onKey(event) {
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "u") this.undo();
    const at = "123456789".indexOf(event.key);
    if (at >= 0 && this.place?.choices[at]) this.take(this.place.choices[at]);
  }

  show() {
    const { place } = this;
    const end = place.choices.length > 0 ? "" : place.may_end ? ": a valid end" : ": nothing can happen, a deadlock";
    this.where.textContent = `After ${count(this.here.depth, "step")}${end}`;
    this.undoButton.disabled = !this.here.parent;
    this.restartButton.disabled = this.here === this.tree;
    const wasChoosing = this.choices.contains(document.activeElement);
    this.choices.replaceChildren(...[...place.choices.map((choice, at) => h("li", {},
      h("button", { type: "button", class: "choice-button", disabled: !!choice.fault, onclick: () => this.take(choice) },
        h("span", { class: "choice-number", "aria-hidden": "true" }, at < 9 ? String(at + 1) : ""),
        h("span", {}, h("b", {}, choice.action), choice.who.join() !== choice.action && h("span", { class: "muted" }, ` ${choice.who.join(", ")}`),
          choice.fails && h("span", { class: "change violated" }, `✗ ${choice.fails}`),
          h("span", { class: "change muted" }, choice.fault ? `✗ ${choice.fault}` : choice.changes.slice(0, 6).join(", ")))))),
      place.more > 0 && h("li", { class: "muted" }, `… and ${number(place.more)} more`)].filter(Boolean));
    if (place.choices.length === 0) this.choices.replaceChildren(h("li", { class: "muted" }, place.may_end ? "Every process may stay where it is." : "Nothing can happen here."));
    const before = new Map(this.before?.state ?? place.state);
    this.state.replaceChildren(...place.state.map(([name, value]) => h("div", { class: before.get(name) !== value ? "changed" : null }, h("dt", {}, name), h("dd", {}, value))));
    this.positions.replaceChildren(...place.positions.map((line) => h("li", {}, line)));
    this.app.light(place.choices.flatMap((choice) => choice.lines.slice(0, 1)));
    this.showWatches();
    this.showTree();
    // Who has no mouse goes on where something can be done.
    if (wasChoosing) this.choices.querySelector("button:enabled")?.focus({ preventScroll: true });
    const at = document.activeElement;
    if ((at === document.body || at.disabled) && !this.root.hidden) this.where.focus({ preventScroll: true });
  }

  showWatches() {
    this.watchList.replaceChildren(...this.watches.map((one, at) => {
      const value = this.place?.watched[at];
      const box = h("input", { type: "checkbox", checked: one.breaks, onchange: () => { one.breaks = box.checked; } });
      return h("li", {}, h("code", {}, one.text), " ",
        h("b", { class: value ? "true" : "false" }, value === null || value === undefined ? "–" : value ? "✓ true" : "✗ false"),
        h("label", {}, box, " break"),
        h("button", { type: "button", class: "quiet icon", "aria-label": `Forget ${one.text}`, onclick: () => { this.watches.splice(at, 1); this.visit(this.here); } }, "×"));
    }));
  }

  // What was tried: the way on stays at its depth, other ways are indented.
  showTree() {
    const lines = [];
    const work = [[this.tree, 0]];
    while (work.length > 0 && lines.length < MAX_LINES) {
      const [node, indent] = work.pop();
      const here = node === this.here;
      lines.push(h("li", { style: `padding-left: ${Math.min(indent, 12)}rem` }, h("button", { type: "button", class: "tree-line", "aria-current": here ? "step" : null, onclick: () => this.goTo(node) },
        h("span", { class: "muted" }, `${node.depth} `), node.label)));
      node.children.slice(1).reverse().forEach((child) => work.push([child, indent + 1]));
      if (node.children[0]) work.push([node.children[0], indent]);
    }
    if (work.length > 0) lines.push(h("li", { class: "muted" }, "…"));
    this.lines.replaceChildren(...lines);
    const current = this.lines.querySelector("[aria-current]");
    if (current) this.lines.scrollTop = current.offsetTop - this.lines.offsetTop - this.lines.clientHeight / 2;
  }

  // Steps that somebody else chose: all of them become part of the tree.
  async follow(steps, labels) {
    let node = this.here;
    steps.forEach((step, at) => { node = this.child(node, step, labels?.[at] ?? "step"); });
    const from = this.here;
    await this.visit(node);
    await this.nameSteps(from);
  }

  // A path from the beginning.
  async walkTo(path) {
    this.here = this.tree;
    await this.follow(path.steps);
  }

  // What the steps of the way here are called, from the run itself.
  async nameSteps(from) {
    const told = await post("trace", { model: this.app.model(), path: this.path(), watched: [] }).catch(() => null);
    if (!told?.run) return;
    const { steps, processes } = told.run;
    for (let node = this.here; node && node !== from; node = node.parent) {
      const step = steps.find((one) => one.n === node.depth);
      if (step) node.label = `${step.who.map((at) => processes[at]).join(", ")}: ${step.action}`;
    }
    this.showTree();
  }

  async random() {
    const seed = Math.floor(Math.random() * 2 ** 32);
    const breakpoints = this.watches.filter((one) => one.breaks).map((one) => one.text);
    const told = await post("wander", { model: this.app.model(), path: this.path(), steps: Number(this.amount.value) || 1, seed, breakpoints }).catch((error) => ({ messages: [{ message: error.message }] }));
    if (told.messages) return this.fail(told.messages);
    await this.follow(told.steps);
    const { end, at, what } = told.ended;
    if (end === "breakpoint") toast(`${breakpoints[at]} became true after ${count(told.steps.length, "step")}`);
    if (end === "deadlock") toast(`Nothing can happen any more after ${count(told.steps.length, "step")}`);
    if (end === "fault") toast(`The model goes wrong: ${what}`);
    return undefined;
  }

  async seek(goal) {
    if (this.job || goal === "") return;
    this.error.replaceChildren();
    this.seeking.hidden = false;
    this.stopButton.hidden = false;
    this.seeking.textContent = "Looking …";
    this.job = new Job("seek", { model: this.app.model(), path: this.path(), goal }, (news) => {
      if (news.progress) this.seeking.textContent = `Looking: ${count(news.progress.states, "state")}, ${seconds(news.progress.seconds)}`;
    });
    try {
      const told = await this.job.result;
      this.seeking.hidden = true;
      if (told.error) this.fail([{ message: told.error }]);
      else if (told.messages) this.fail(told.messages);
      else if (told.steps) {
        await this.follow(told.steps);
        toast(told.steps.length === 0 ? "It is so here" : `${count(told.steps.length, "step")} lead there: no way is shorter`);
      } else {
        this.seeking.hidden = false;
        this.seeking.textContent = told.limit ? `Not found: ${told.limit}, after ${count(told.states, "state")}.` : `It is never so from here: all ${count(told.nowhere, "state")} were looked at.`;
      }
    } catch (error) {
      this.fail([{ message: error.message }]);
    } finally {
      this.job = null;
      this.stopButton.hidden = true;
    }
  }

  addWatch() {
    const text = this.watch.value.trim();
    if (!text || this.watches.some((one) => one.text === text)) return;
    this.watches.push({ text, breaks: true });
    this.visit(this.here).then(() => {
      // What cannot be read is not kept.
      if (this.error.childElementCount > 0) this.watches.pop();
      else this.watch.value = "";
      this.showWatches();
    });
  }

  async told() {
    const told = await post("trace", { model: this.app.model(), path: this.path(), watched: this.watched() }).catch((error) => ({ messages: [{ message: error.message }] }));
    if (told.messages) this.fail(told.messages);
    return told;
  }

  async asRun() {
    const told = await this.told();
    if (told.run) this.app.showWalk({ property: `walk of ${count(told.run.length, "step")}`, verdict: null, words: [], picture: null, run: told.run });
  }

  async download() {
    const told = await this.told();
    if (!told.document) return;
    const url = URL.createObjectURL(new Blob([JSON.stringify(told.document, null, 1)], { type: "application/json" }));
    h("a", { href: url, download: "run.json" }).click();
    URL.revokeObjectURL(url);
  }
}
