// The run explorer: lanes, what is so at each step, the automaton that watches; play, step, jump; compare two runs.

import { h, count, number, quoted, picture } from "./dom.js";
import { Lanes, valuesAt } from "./lanes.js";
import { badge } from "./checks.js";

const SPEED = 700;

export class Runs {
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.known = [];
    this.walks = [];
    this.shown = null;
    this.other = null;
    this.timer = null;
    this.empty = h("div", { class: "empty" },
      h("h2", {}, "No run yet"),
      h("p", {}, "Check a property. If it is violated, the run that breaks it is shown here, step by step."));
    this.body = h("div", { hidden: true });
    root.append(this.empty, this.body);
    root.addEventListener("keydown", (event) => this.onKey(event));
  }

  // Runs that were found: others are forgotten.
  setRuns(results) {
    this.known = [...results.filter((result) => result.run), ...this.walks];
    if (this.shown && !this.known.includes(this.shown)) {
      const same = this.known.find((result) => result.property === this.shown.property);
      if (same) this.show(same);
    } else if (this.shown) this.makeChoices();
  }

  // A run that was walked by hand: the last few are kept.
  addWalk(result) {
    this.known = this.known.filter((one) => !this.walks.includes(one));
    this.walks = [...this.walks, result].slice(-3);
    this.known.push(...this.walks);
  }

  clear() {
    this.stopPlaying();
    this.known = [];
    this.walks = [];
    this.shown = null;
    this.empty.hidden = false;
    this.body.hidden = true;
  }

  show(result) {
    this.stopPlaying();
    this.shown = result;
    this.other = null;
    this.index = 0;
    this.empty.hidden = true;
    this.body.hidden = false;
    const { run } = result;
    this.slider = h("input", { type: "range", min: "0", max: String(run.steps.length - 1), value: "0", "aria-label": "Step of the run", oninput: () => this.go(Number(this.slider.value)) });
    this.output = h("output", { class: "now", "aria-live": "polite" });
    this.playButton = h("button", { type: "button", onclick: () => this.play(), title: "Play or pause (space)" }, "▶ Play");
    const button = (label, text, key, act) => h("button", { type: "button", "aria-label": label, title: `${label} (${key})`, onclick: act }, text);
    this.chooser = h("select", { "aria-label": "Which run", onchange: () => this.show(this.known[Number(this.chooser.value)]) });
    this.comparer = h("select", { "aria-label": "Compare with another run", onchange: () => this.compare(this.comparer.value === "" ? null : this.known[Number(this.comparer.value)]) });
    this.jump = h("input", { type: "number", min: "0", max: String(run.length), class: "jump", "aria-label": "Go to step", placeholder: "step", onchange: () => this.go(this.find(Number(this.jump.value))) });
    this.lanes = new Lanes(run, (index) => this.go(index), `Steps of the run of ${result.property}`);
    this.side = h("div", { class: "side" });
    this.compared = h("div", { class: "compared", hidden: true });
    this.body.replaceChildren(...[
      h("div", { class: "bar-line" }, h("h2", {}, "Run"), this.chooser, result.verdict && badge(result.verdict), this.comparer),
      h("p", { class: "length" }, this.length(run)),
      result.words.length > 0 && h("details", { class: "card words", open: true }, h("summary", {}, "In words"), h("ul", { tabIndex: 0 }, result.words.map((sentence) => h("li", {}, quoted(sentence))))),
      h("div", { class: "controls", role: "group", "aria-label": "Go through the run" },
        button("First step", "«", "Home", () => this.go(0)),
        button("Previous step", "‹", "left arrow", () => this.move(-1)),
        this.playButton,
        button("Next step", "›", "right arrow", () => this.move(1)),
        button("Last step", "»", "End", () => this.go(run.steps.length - 1)),
        run.cycle !== null && button("To where the cycle begins", "↻", "c", () => this.go(run.cycle)),
        this.slider, this.jump, this.output),
      this.compared,
      h("div", { class: "run-columns" }, this.lanes.element, this.side)].filter(Boolean));
    this.makeChoices();
    this.makeSide(result);
    this.go(0);
  }

  makeChoices() {
    const option = (result, at) => h("option", { value: String(at) }, result.property);
    this.chooser.replaceChildren(...this.known.map(option));
    this.chooser.value = String(this.known.indexOf(this.shown));
    this.comparer.replaceChildren(h("option", { value: "" }, "Compare with …"),
      ...this.known.map((result, at) => result !== this.shown && option(result, at)).filter(Boolean));
    this.comparer.hidden = this.known.length < 2;
  }

  length(run) {
    const steps = count(run.length, "step");
    const cycle = run.cycle === null ? 0 : run.length - run.steps[run.cycle].n;
    switch (run.ending) {
      case "cycle": return cycle === 0 ? `${steps}, then nothing more: the last state repeats for ever.` : `${steps}, of which the last ${number(cycle)} ${cycle === 1 ? "repeats" : "repeat"} for ever.`;
      case "deadlock": return `${steps}, after which nothing more can happen.`;
      case "error": return `${steps}, after which the model goes wrong.`;
      default: return `${steps}.`;
    }
  }

  makeSide(result) {
    const { run } = result;
    const field = (name) => {
      const value = h("dd");
      const item = h("div", {}, h("dt", {}, name), value);
      return { item, value };
    };
    this.truths = run.propositions.map(field);
    this.fields = run.variables.map(field);
    const changing = new Set(run.steps.flatMap((step) => step.changes.map(([at]) => at)));
    const only = h("input", { type: "checkbox", checked: run.variables.length > 30, onchange: () => filter() });
    const filter = () => this.fields.forEach(({ item }, at) => { item.hidden = only.checked && !changing.has(at); });
    filter();
    const panel = (title, fields, before) => fields.length > 0 && h("section", { class: "card panel", "aria-label": title },
      h("h3", {}, title), before, h("dl", { tabIndex: 0 }, fields.map(({ item }) => item)));
    this.states = new Map();
    let figure = null;
    const drawn = result.picture && picture(result.picture.svg);
    if (drawn) {
      for (const title of drawn.querySelectorAll("g > title")) {
        const found = /^state (\d+)$/.exec(title.textContent.split("\n").pop());
        if (found) this.states.set(Number(found[1]), title.parentNode);
      }
      figure = h("figure", { class: "card" }, h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": result.picture.caption }, drawn),
        h("figcaption", { class: "muted" }, `${result.picture.caption}; lit is where it is now.`));
    }
    this.side.replaceChildren(...[
      panel("Propositions", this.truths, null), figure,
      panel("State", this.fields, changing.size < run.variables.length && h("label", { class: "check-line muted" }, only, " only what changes in this run")),
    ].filter(Boolean));
  }

  find(step) {
    const index = this.shown.run.steps.findIndex((one) => one.n >= step);
    return index < 0 ? this.shown.run.steps.length - 1 : index;
  }

  move(by) {
    const { steps, cycle } = this.shown.run;
    const next = this.index + by;
    if (next < 0) return;
    if (next < steps.length) this.go(next);
    else if (cycle !== null && cycle < steps.length - 1) this.go(cycle + 1);
    else this.stopPlaying();
  }

  play() {
    if (this.timer) return this.stopPlaying();
    this.playButton.textContent = "⏸ Pause";
    this.timer = setInterval(() => this.move(1), SPEED);
    this.move(1);
  }

  stopPlaying() {
    clearInterval(this.timer);
    this.timer = null;
    if (this.playButton) this.playButton.textContent = "▶ Play";
  }

  onKey(event) {
    if (!this.shown || event.ctrlKey || event.altKey || event.metaKey) return;
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    const { run } = this.shown;
    const acts = {
      ArrowLeft: () => this.move(-1), ArrowRight: () => this.move(1), Home: () => this.go(0),
      End: () => this.go(run.steps.length - 1), c: () => run.cycle !== null && this.go(run.cycle),
      " ": () => this.play(),
    };
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }

  go(index) {
    const { run, picture: drawn } = this.shown;
    this.index = index;
    const step = run.steps[index];
    this.lanes.go(index);
    this.slider.value = String(index);
    this.slider.setAttribute("aria-valuetext", `step ${step.n} of ${run.length}`);
    const who = step.who.map((at) => run.processes[at]).filter((name) => name !== step.action).join(", ");
    const what = index === 0 ? "initial state" : `${who ? `${who}: ` : ""}${step.action}`;
    const where = run.cycle !== null && index > run.cycle ? ", in the cycle" : "";
    this.output.textContent = `Step ${number(step.n)} of ${number(run.length)}${where}: ${what}`;
    const before = run.steps[Math.max(0, index - 1)];
    this.truths.forEach(({ item, value }, at) => {
      value.textContent = step.truths[at] ? "✓ true" : "✗ false";
      value.className = step.truths[at] ? "true" : "false";
      item.classList.toggle("changed", before.truths[at] !== step.truths[at]);
    });
    const changed = new Set(step.changes.map(([at]) => at));
    valuesAt(run, index).forEach((value, at) => {
      this.fields[at].value.textContent = value;
      this.fields[at].item.classList.toggle("changed", changed.has(at));
    });
    const values = valuesAt(run, index);
    this.app.stand(run.variables.map((name, at) => `${name}@${values[at]}`), run.variables.map((name, at) => [name, values[at]]));
    const here = drawn?.way?.[index];
    for (const [state, group] of this.states) group.classList.toggle("here", state === here);
    this.app.light(step.lines.map(([, line]) => line));
    if (this.other) this.showDifference();
  }

  // Another run beside this one.
  compare(result) {
    this.other = result;
    this.compared.hidden = !result;
    this.lanes.mark(new Map());
    if (!result) return;
    const same = (a, b) => a && b && a.action === b.action &&
      a.who.map((at) => this.shown.run.processes[at]).join() === b.who.map((at) => result.run.processes[at]).join();
    const [one, two] = [this.shown.run.steps, result.run.steps];
    let first = 1;
    while (first < one.length && first < two.length && same(one[first], two[first])) first += 1;
    this.differs = first;
    this.otherLanes = new Lanes(result.run, (index) => this.go(Math.min(index, one.length - 1)), `Steps of the run of ${result.property}`);
    const marks = (steps) => new Map(steps.map((_, at) => [at, at < first ? "same" : at === first ? "differs" : ""]));
    this.lanes.mark(marks(one));
    this.otherLanes.mark(marks(two));
    this.difference = h("div", { class: "difference" });
    const end = first >= one.length && first >= two.length;
    this.compared.replaceChildren(h("div", { class: "card" },
      h("h3", {}, `Compared with the run of ${result.property}`),
      h("p", {}, end ? "Both runs take the same steps." : first === 1 ? "They differ from the first step on." : `The first ${count(first - 1, "step")} ${first === 2 ? "is" : "are"} the same. `,
        !end && h("button", { type: "button", class: "link", onclick: () => this.go(Math.min(first, one.length - 1)) }, "Go to where they part")),
      this.otherLanes.element, this.difference));
    this.showDifference();
  }

  showDifference() {
    const [one, two] = [this.shown.run, this.other.run];
    const at = Math.min(this.index, two.steps.length - 1);
    this.otherLanes.go(at);
    const other = new Map(valuesAt(two, at).map((value, index) => [two.variables[index], value]));
    const differing = valuesAt(one, this.index).map((value, index) => [one.variables[index], value, other.get(one.variables[index])])
      .filter(([, mine, theirs]) => mine !== theirs);
    this.difference.replaceChildren(h("p", { class: "muted" }, differing.length === 0 ? "The states are the same here." : `${count(differing.length, "variable")} differ here:`),
      h("dl", { class: "differences" }, differing.slice(0, 40).map(([name, mine, theirs]) => h("div", {}, h("dt", {}, name), h("dd", {}, `${mine} ≠ ${theirs ?? "–"}`)))));
  }
}
