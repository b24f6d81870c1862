// A run as a table: a row per step, a lane per process. Steps of several processes connect their lanes; a message
// that waits in a channel is an arrow from the row where it is sent to the row where it is received.

import { h, svg, count } from "./dom.js";

// More rows are not made at once: around the step that is shown.
const WINDOW = 240;
const MAX_LANES = 24;
const MAX_CHANGES = 8;

// The processes that have lanes: all, or those that take part; none if these are too many.
function lanesOf(run) {
  const busy = new Set(run.steps.flatMap((step) => step.who));
  const all = run.processes.map((_, at) => at);
  const chosen = all.length <= MAX_LANES ? all : all.filter((at) => busy.has(at));
  // In a net, every transition is alone: lanes would say nothing.
  const alone = run.steps.slice(1).every((step) => step.who.length === 1 && run.processes[step.who[0]] === step.action);
  return chosen.length > MAX_LANES || alone ? [] : chosen;
}

// The arrows of messages: from the step where one is sent to the step where it is received.
function arrowsOf(run) {
  const waiting = [];
  const arrows = [];
  run.steps.forEach((step, row) => {
    for (const message of step.messages) {
      const text = message.values.join(",");
      const from = run.processes.indexOf(message.process);
      if (message.way === "sent") waiting.push({ channel: message.channel, text, from, row });
      else if (message.way === "received") {
        const at = waiting.findIndex((sent) => sent.channel === message.channel && sent.text === text);
        if (at >= 0) {
          const [sent] = waiting.splice(at, 1);
          arrows.push({ ...sent, to: from, end: row, label: `${message.channel}: ${text}` });
        }
      }
    }
  });
  return arrows;
}

export class Lanes {
  constructor(run, onGo, name) {
    this.run = run;
    this.onGo = onGo;
    this.lanes = lanesOf(run);
    this.arrows = arrowsOf(run);
    this.marks = new Map();
    this.start = 0;
    this.index = 0;
    this.body = h("tbody");
    this.overlay = svg("svg", { class: "arrows", "aria-hidden": "true" });
    const head = h("tr", {},
      h("th", { scope: "col" }, "Step"),
      this.lanes.length > 0
        ? this.lanes.map((at) => h("th", { scope: "col", class: "lane" }, run.processes[at]))
        : h("th", { scope: "col" }, "What happens"),
      h("th", { scope: "col" }, "What changes"),
      run.propositions.length > 0 && h("th", { scope: "col" }, "Propositions"),
      run.steps.some((step) => step.observer) && h("th", { scope: "col" }, "Observer"));
    this.element = h("div", { class: "steps", tabIndex: 0, role: "region", "aria-label": name },
      this.overlay, h("table", {}, h("thead", {}, head), this.body));
    this.makeRows();
    new ResizeObserver(() => this.drawArrows()).observe(this.body);
  }

  makeRows() {
    const { steps, cycle } = this.run;
    const end = Math.min(steps.length, this.start + WINDOW);
    const rows = [];
    if (this.start > 0) rows.push(this.gap(`${count(this.start, "step")} before`, this.start - 1));
    this.rows = new Map();
    for (let index = this.start; index < end; index += 1) {
      const hidden = index > 0 ? steps[index].n - steps[index - 1].n - 1 : 0;
      if (hidden > 0) rows.push(this.gap(`${count(hidden, "step")} left out`));
      const row = this.makeRow(index);
      this.rows.set(index, row);
      rows.push(row);
      if (index === cycle) {
        const text = cycle === steps.length - 1
          ? "↻ nothing more happens: this state repeats for ever" : "↻ from here on, the following repeats for ever";
        rows.push(h("tr", { class: "turn" }, h("td", { colspan: "99" }, text)));
      }
    }
    if (end < steps.length) rows.push(this.gap(`${count(steps.length - end, "step")} more`, end));
    if (this.run.failing) rows.push(h("tr", { class: "fails" }, h("td", { colspan: "99" }, `✗ ${this.run.failing} fails`)));
    this.body.replaceChildren(...rows);
  }

  gap(text, to) {
    const cell = to === undefined ? text : h("button", { type: "button", class: "quiet", onclick: () => this.onGo(to) }, text);
    return h("tr", { class: "gap" }, h("td", { colspan: "99" }, cell));
  }

  makeRow(index) {
    const { run } = this;
    const step = run.steps[index];
    const before = run.steps[Math.max(0, index - 1)];
    const inCycle = run.cycle !== null && index > run.cycle;
    const cells = [h("th", { scope: "row" }, String(step.n))];
    if (this.lanes.length > 0) cells.push(...this.laneCells(step, index));
    else {
      const who = step.who.map((at) => run.processes[at]).filter((name) => name !== step.action).join(", ");
      cells.push(h("td", {}, index === 0 ? h("span", { class: "start" }, "initial state") : h("span", { class: "act" }, who ? `${who}: ${step.action}` : step.action)));
    }
    const changes = step.changes.slice(0, MAX_CHANGES).map(([at, value]) =>
      h("span", { class: "change" }, h("b", {}, run.variables[at]), ` = ${value}`));
    if (step.changes.length > MAX_CHANGES) changes.push(h("span", { class: "change muted" }, `… ${step.changes.length - MAX_CHANGES} more`));
    changes.push(...step.notes.map((note) => h("span", { class: "change muted" }, note)));
    cells.push(h("td", { class: "changes" }, changes));
    if (run.propositions.length > 0) {
      const flips = run.propositions.map((text, at) => (index === 0 || before.truths[at] !== step.truths[at]) &&
        h("span", { class: "change" }, h("span", { class: step.truths[at] ? "true" : "false" }, step.truths[at] ? "✓ " : "✗ "), h("code", {}, text)));
      cells.push(h("td", { class: "changes" }, flips));
    }
    if (run.steps.some((one) => one.observer)) {
      cells.push(h("td", { class: "observer" }, index === 0 || before.observer !== step.observer ? step.observer : ""));
    }
    const row = h("tr", { class: [inCycle ? "in-cycle" : "", this.marks.get(index) ?? ""].join(" ").trim() || null, onclick: () => this.onGo(index) }, cells);
    row.dataset.index = index;
    return row;
  }

  laneCells(step, index) {
    const { run } = this;
    if (index === 0) return [h("td", { class: "start", colspan: String(this.lanes.length) }, "initial state")];
    const places = step.who.map((at) => this.lanes.indexOf(at)).filter((at) => at >= 0);
    const handed = step.messages.find((message) => typeof message.to === "string");
    const first = handed ? this.lanes.indexOf(run.processes.indexOf(handed.process)) : places[0];
    const to = handed ? this.lanes.indexOf(run.processes.indexOf(handed.to)) : -1;
    const [low, high] = [Math.min(...places), Math.max(...places)];
    return this.lanes.map((_, place) => {
      const inside = places.length > 1 && place >= low && place <= high;
      const name = ["lane", inside && place > low ? "from-left" : "", inside && place < high ? "to-right" : ""].filter(Boolean).join(" ");
      if (place === first) return h("td", { class: name }, h("span", { class: "act" }, step.action));
      if (places.includes(place)) {
        const sign = place === to ? (to > first ? "▶" : "◀") : "●";
        return h("td", { class: name }, h("span", { class: "dot", title: `${run.processes[this.lanes[place]]} takes part` }, sign));
      }
      return h("td", { class: name });
    });
  }

  drawArrows() {
    const children = [];
    if (this.arrows.length > 0 && this.lanes.length > 0) {
      const box = this.element.getBoundingClientRect();
      const place = (row, process) => {
        const cell = this.rows.get(row)?.querySelectorAll("td.lane")[this.lanes.indexOf(process)];
        if (!cell) return null;
        const at = cell.getBoundingClientRect();
        return { x: at.left - box.left + this.element.scrollLeft + at.width / 2, y: at.top - box.top + this.element.scrollTop + at.height / 2 };
      };
      for (const arrow of this.arrows) {
        const [one, two] = [place(arrow.row, arrow.from), place(arrow.end, arrow.to)];
        if (!one || !two || arrow.from === arrow.to) continue;
        const side = Math.sign(two.x - one.x);
        const [x1, x2] = [one.x + side * 4, two.x - side * 26];
        children.push(svg("path", { d: `M${x1} ${one.y}C${x1 + side * 40} ${one.y} ${x2 - side * 40} ${two.y} ${x2} ${two.y}` }, svg("title", {}, arrow.label)));
        children.push(svg("path", { class: "tip", d: `M${x2 + side * 8} ${two.y}l${-side * 8} -4v8z` }));
      }
    }
    this.overlay.setAttribute("width", this.body.parentNode.offsetWidth);
    this.overlay.setAttribute("height", this.body.parentNode.offsetHeight);
    this.overlay.replaceChildren(...children);
  }

  // Marks rows by classes, for comparing.
  mark(marks) {
    this.marks = marks;
    this.makeRows();
    this.go(this.index);
  }

  go(index) {
    this.rows.get(this.index)?.removeAttribute("aria-current");
    this.index = index;
    if (!this.rows.has(index)) {
      this.start = Math.max(0, Math.min(index - WINDOW / 2, this.run.steps.length - WINDOW));
      this.makeRows();
    }
    const row = this.rows.get(index);
    row.setAttribute("aria-current", "step");
    // Scrolls the table, not the page.
    const head = this.element.querySelector("thead").offsetHeight;
    const top = row.offsetTop - head - row.offsetHeight;
    const bottom = row.offsetTop + 2 * row.offsetHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (bottom > this.element.scrollTop + this.element.clientHeight) this.element.scrollTop = bottom - this.element.clientHeight;
  }
}

// The values of all variables after a step.
export function valuesAt(run, index) {
  const values = [...run.initial];
  for (const step of run.steps.slice(1, index + 1)) for (const [at, value] of step.changes) values[at] = value;
  return values;
}
