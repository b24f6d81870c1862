// The properties with their verdicts: check one or all, see how it goes, stop, and why it was done that way.

import { h, count, number, bytes, seconds, quoted, toast } from "./dom.js";
import { Job } from "./server.js";

const VERDICTS = {
  holds: ["✓", "holds"],
  violated: ["✗", "violated"],
  unknown: ["?", "unknown"],
};

const FAIRNESS = [
  ["", "as the file says"], ["none", "none: every run counts"], ["weak", "weak, to each process"],
  ["strong", "strong, to each process"], ["just", "just, to each process"], ["other", "other …"],
];

export function badge(verdict) {
  const [sign, word] = VERDICTS[verdict];
  return h("span", { class: `badge ${verdict}` }, h("span", { "aria-hidden": "true" }, `${sign} `), word);
}

// What a question is called by the server, where it differs from what was asked.
const keyOf = (ask) => `${ask.ask} ${ask.what ?? ""}`;

export class Checks {
  constructor(root, app) {
    this.app = app;
    this.job = null;
    this.results = new Map();
    this.asked = [];
    this.properties = [];
    this.all = h("button", { type: "button", class: "primary", onclick: () => this.checkAll() }, "Check all");
    this.stopButton = h("button", { type: "button", class: "stop", onclick: () => this.job?.stop() }, "Stop");
    this.summary = h("p", { class: "summary", role: "status" });
    this.bar = h("progress", { max: 1, "aria-label": "Time used of what is allowed" });
    this.news = h("p", { class: "news" });
    this.progress = h("div", { class: "progress card", hidden: true }, h("div", { class: "progress-line" }, this.news, this.stopButton), this.bar);
    this.list = h("ul", { class: "properties" });
    this.errors = h("div", { class: "errors", role: "alert" });
    this.unreached = h("details", { class: "card", hidden: true });
    root.append(
      h("div", { class: "bar-line" }, h("h2", {}, "Properties"), this.all),
      this.progress, this.errors, this.summary, this.list, this.makeQuestion(), this.makeWay(), this.unreached);
  }

  // A question of one's own.
  makeQuestion() {
    this.kind = h("select", { "aria-label": "Kind of question" },
      h("option", { value: "ltl" }, "Every run: LTL"), h("option", { value: "invariant" }, "Every state: invariant"));
    this.text = h("input", {
      type: "text", required: true, spellcheck: "false", autocomplete: "off", "aria-label": "Formula",
      placeholder: "[] (p -> <> q)", class: "formula",
    });
    const ask = (event) => {
      event.preventDefault();
      const question = { ask: this.kind.value, what: this.text.value.trim() };
      if (!question.what) return;
      if (!this.asked.some((known) => keyOf(known) === keyOf(question))) this.asked.push(question);
      this.text.value = "";
      this.show();
      this.check([question]);
    };
    return h("form", { class: "question card", onsubmit: ask },
      h("h3", {}, "Ask something else"),
      h("div", { class: "question-line" }, this.kind, this.text, h("button", { type: "submit" }, "Ask")));
  }

  // Method and fairness.
  makeWay() {
    this.way = {};
    const select = (name, label, values, about) => {
      const made = h("select", { id: `way-${name}`, onchange: () => { this.way[name] = made.value; } },
        values.map(([value, text]) => h("option", { value }, text)));
      return h("div", { class: "choice" }, h("label", { for: `way-${name}` }, label), made, h("p", { class: "muted" }, about));
    };
    const named = (names) => [["", "auto: what suits the property"], ...names.map((name) => [name, name])];
    const { methods } = this.app.start;
    this.otherFair = h("input", { type: "text", class: "formula", "aria-label": "Fairness assumptions", placeholder: "weak:P,Q strong-action:send", hidden: true, oninput: () => { this.way.fair = this.otherFair.value; } });
    const fair = h("select", { id: "way-fair", onchange: () => {
      this.otherFair.hidden = fair.value !== "other";
      this.way.fair = fair.value === "other" ? this.otherFair.value : fair.value;
    } }, FAIRNESS.map(([value, text]) => h("option", { value }, text)));
    const shortest = h("input", { type: "checkbox", onchange: () => { this.way.shortest = shortest.checked; } });
    return h("details", { class: "card" }, h("summary", {}, "Method and fairness"),
      h("div", { class: "choices" },
        h("div", { class: "choice" }, h("label", { for: "way-fair" }, "Fairness"), fair, this.otherFair,
          h("p", { class: "muted" }, "Which infinite runs count.")),
        select("reduce", "Reduction", named(methods.reduce), "Which interleavings are left out."),
        select("observer", "Observer", named(methods.observer), "The automaton that watches a run, for LTL."),
        select("search", "Search", named(methods.search), "How accepted runs are looked for, for LTL."),
        h("label", { class: "check-line" }, shortest, " Look for the shortest counterexample")));
  }

  // Method and fairness as a link says.
  setWay(way) {
    for (const name of ["fair", "reduce", "observer", "search"]) {
      const field = document.getElementById(`way-${name}`);
      if (typeof way[name] !== "string" || !field) continue;
      const known = [...field.options].some((option) => option.value === way[name]);
      if (!known && name !== "fair") continue;
      this.way[name] = way[name];
      field.value = known ? way[name] : "other";
      if (!known) {
        this.otherFair.value = way[name];
        this.otherFair.hidden = false;
      }
    }
  }

  // The model has changed: old answers may be wrong.
  changed() {
    for (const known of this.results.values()) known.stale = true;
    this.show();
  }

  // Another model: old answers are about something else.
  clear() {
    this.results.clear();
    this.asked = [];
    this.unreached.hidden = true;
    this.errors.replaceChildren();
    this.show();
  }

  setProperties(properties) {
    this.properties = properties;
    this.show();
  }

  questions() {
    const declared = this.properties.map((property) => {
      if (property.by_kind) return { ask: property.kind, property };
      return { ask: "property", what: property.name, property };
    });
    return [...declared, ...this.asked];
  }

  checkAll() {
    const wanted = this.questions().filter((question) => !question.property || question.property.by_default);
    return this.check(wanted.length > 0 ? wanted : this.questions());
  }

  async check(questions) {
    if (this.job) return;
    this.errors.replaceChildren();
    const plain = questions.map(({ ask, what }) => (what === undefined ? { ask } : { ask, what }));
    const text = this.app.version;
    this.job = new Job("check", { model: this.app.model(), questions: plain, way: this.way }, (news) => this.tell(news));
    this.tell(null);
    this.show();
    try {
      const result = await this.job.result;
      if (result.error) this.fail([{ severity: "error", message: result.error }]);
      else if (result.messages) this.fail(result.messages);
      else this.take(questions, result, text);
    } catch (error) {
      this.fail([{ severity: "error", message: error.message }]);
    } finally {
      this.job = null;
      this.progress.hidden = true;
      this.show();
    }
  }

  // How it goes.
  tell(news) {
    this.progress.hidden = false;
    const limit = this.app.start.limits.seconds;
    if (news?.stage === "waiting") {
      this.news.textContent = `Waiting: ${count(news.before, "job")} before this one.`;
      this.bar.removeAttribute("value");
    } else if (news?.stage === "running") {
      const { states, rate, depth, bytes: held, seconds: passed } = news.progress;
      const left = limit ? `, at most ${seconds(Math.max(0, limit - passed))} left` : "";
      this.news.textContent = `${count(states, "state")}, ${number(rate)} per second, depth ${number(depth)}, ${bytes(held)}, ${seconds(passed)}${left}`;
      if (limit) this.bar.value = Math.min(1, passed / limit);
    } else {
      this.news.textContent = "Starting …";
      this.bar.removeAttribute("value");
    }
  }

  fail(messages) {
    this.errors.replaceChildren(...messages.map((one) => h("div", { class: "card error" },
      h("p", {}, h("b", {}, one.source ? `${one.source}: ` : ""), quoted(one.message)),
      one.excerpt && h("pre", { class: "excerpt" }, `${one.excerpt}\n${" ".repeat(Math.max(0, one.column - 1))}^ ${one.label ?? ""}`),
      one.help && h("p", { class: "muted" }, quoted(one.help)))));
    this.app.showMessages(messages.filter((one) => one.from !== undefined));
  }

  take(questions, report, version) {
    // A question may have several answers: one for each instance of a property, or none of its own.
    const single = questions.length === 1 && report.results.length === 1;
    for (const result of report.results) {
      const asked = single ? questions[0] : questions.find((question) => (question.what ?? "") === result.property)
        ?? questions.find((question) => question.property?.name === result.property);
      const key = asked ? keyOf(asked) : `property ${result.property}`;
      this.results.set(key, { result, stale: version !== this.app.version });
    }
    this.unreached.hidden = !report.unreached?.length;
    if (report.unreached?.length) {
      this.unreached.replaceChildren(h("summary", {}, `Never executed: ${report.unreached.length}`),
        h("ul", {}, report.unreached.map((text) => h("li", {}, h("code", {}, text)))));
    }
    this.app.gotResults([...this.results.values()].map((known) => known.result));
    const bad = report.results.filter((result) => result.verdict === "violated").length;
    toast(bad > 0 ? `${count(bad, "property").replace("propertys", "properties")} violated` : report.results.every((result) => result.verdict === "holds") ? "Everything that was asked holds" : "Not everything could be decided");
  }

  show() {
    const busy = this.job !== null;
    this.all.disabled = busy || this.questions().length === 0;
    const questions = this.questions();
    this.list.replaceChildren(...questions.map((question) => this.makeRow(question, busy)));
    const found = [...this.results.values()].filter((known) => !known.stale).map((known) => known.result.verdict);
    const said = ["violated", "unknown", "holds"].map((verdict) => [found.filter((one) => one === verdict).length, verdict]).filter(([n]) => n > 0);
    this.summary.textContent = said.map(([n, verdict]) => `${n} ${verdict}`).join(" · ");
  }

  makeRow(question, busy) {
    const known = this.results.get(keyOf(question));
    const result = known?.result;
    const { property } = question;
    const name = property?.name ?? question.what;
    const place = property?.line && h("button", { type: "button", class: "link", onclick: () => this.app.goTo(property.from) }, `line ${property.line}`);
    const mine = !property && h("button", { type: "button", class: "quiet icon", "aria-label": `Forget ${name}`, onclick: () => {
      this.asked = this.asked.filter((other) => other !== question);
      this.results.delete(keyOf(question));
      this.show();
    } }, "×");
    const row = h("li", { class: `card property ${known?.stale ? "stale" : ""}` },
      h("div", { class: "property-line" },
        h("span", { class: "property-name" }, h("code", {}, name)),
        h("span", { class: "chip" }, property?.kind ?? question.ask), place,
        h("span", { class: "spring" }),
        result && badge(result.verdict),
        known?.stale && h("span", { class: "chip", title: "The model has changed since" }, "old"),
        h("button", { type: "button", disabled: busy, "aria-label": `${result ? "Again" : "Check"}: ${name}`, onclick: () => this.check([question]) }, result ? "Again" : "Check"),
        mine));
    if (result) row.append(this.makeAnswer(result));
    return row;
  }

  makeAnswer(result) {
    const { figures } = result;
    const parts = [];
    if (result.reason) parts.push(h("p", {}, quoted(result.reason)));
    if (result.words.length > 0) parts.push(h("p", { class: "lead" }, quoted(result.words[0])));
    if (result.run) {
      parts.push(h("p", {}, h("button", { type: "button", class: "primary", onclick: () => this.app.showRun(result) },
        `Step through the run (${count(result.run.length, "step")})`)));
    }
    const facts = figures && `${count(figures.states, "state")}, ${count(figures.transitions, "transition")}, depth ${number(figures.depth)}, ${seconds(figures.seconds)}, ${figures.memory}`;
    parts.push(h("details", {}, h("summary", { class: "muted" }, figures ? `${count(figures.states, "state")} · ${seconds(figures.seconds)} · how it was found` : "How it was found"),
      h("ul", { class: "reasons" },
        facts && h("li", {}, facts), result.method && h("li", {}, `Method: ${result.method}`),
        result.reasons.map((reason) => h("li", {}, quoted(reason))), result.fairness.map((fair) => h("li", {}, fair)))));
    return h("div", { class: "answer" }, parts);
  }
}
