// Steps through the runs of the page. Without it, the tables say the same.
"use strict";
(() => {
  document.documentElement.classList.add("js");

  const element = (name, text, parent) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };

  // One run: its data, what is on the page for it, and the step that is shown.
  class Run {
    constructor(root) {
      this.root = root;
      this.number = Number(root.dataset.run);
      this.data = JSON.parse(root.querySelector("script.data").textContent);
      this.rows = [...root.querySelectorAll("tr[data-index]")];
      this.scroller = root.querySelector(".steps");
      this.slider = root.querySelector("input[type=range]");
      this.output = root.querySelector("output");
      this.index = 0;
      this.buttons = {};
      root.querySelector(".controls").hidden = false;
      for (const button of root.querySelectorAll("button[data-go]")) {
        this.buttons[button.dataset.go] = button;
        button.addEventListener("click", () => this.move(button.dataset.go));
      }
      this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
      this.rows.forEach((row, index) => row.addEventListener("click", () => this.go(index)));
      root.addEventListener("focusin", () => { used = this; });
      root.addEventListener("pointerdown", () => { used = this; });
      this.fields = this.makePanel(".variables", this.data.variables);
      this.truths = this.makePanel(".propositions", this.data.propositions);
      this.addFilter();
      this.findStates();
    }

    get last() { return this.data.steps.length - 1; }

    makePanel(selector, names) {
      const panel = this.root.querySelector(selector);
      if (names.length === 0) return [];
      panel.hidden = false;
      const list = element("dl", "", panel);
      // A long list scrolls, also by the keyboard.
      list.tabIndex = 0;
      return names.map((name) => {
        const item = element("div", "", list);
        element("dt", name, item);
        return { item, value: element("dd", "", item) };
      });
    }

    // Many variables never change in a run: they can be hidden.
    addFilter() {
      const changes = new Set(this.data.steps.flatMap((step) => step.c.map(([at]) => at)));
      if (changes.size === this.fields.length) return;
      const panel = this.root.querySelector(".variables");
      const label = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = this.fields.length > 40 && changes.size > 0;
      label.append(box, " only those that change in this run");
      panel.querySelector("dl").before(label);
      const show = () => this.fields.forEach(({ item }, at) => {
        item.hidden = box.checked && !changes.has(at);
        item.style.display = item.hidden ? "none" : "";
      });
      box.addEventListener("change", show);
      show();
    }

    // The states of the automaton, by the names that the drawing gives them.
    findStates() {
      this.states = new Map();
      for (const title of this.root.querySelectorAll("figure svg g > title")) {
        const name = title.textContent.split("\n").pop();
        const found = /^state (\d+)$/.exec(name);
        if (found) this.states.set(Number(found[1]), title.parentNode);
      }
    }

    valuesAt(index) {
      const values = [...this.data.initial];
      for (const step of this.data.steps.slice(1, index + 1)) {
        for (const [at, value] of step.c) values[at] = value;
      }
      return values;
    }

    // The step of a number; if it is left out, one beside it.
    find(number) {
      const index = this.data.steps.findIndex((step) => step.n >= number);
      return index < 0 ? this.last : index;
    }

    move(where) {
      const { cycle } = this.data;
      switch (where) {
        case "first": return this.go(0);
        case "previous": return this.go(Math.max(0, this.index - 1));
        case "next":
          if (this.index < this.last) return this.go(this.index + 1);
          // The last state is the one where the cycle begins.
          return cycle === null ? undefined : this.go(cycle + 1);
        case "last": return this.go(this.last);
        case "cycle": return cycle === null ? undefined : this.go(cycle);
        default: return undefined;
      }
    }

    go(index, quietly) {
      const { steps, cycle, way, length } = this.data;
      this.rows[this.index].removeAttribute("aria-current");
      this.index = index;
      const step = steps[index];
      const row = this.rows[index];
      row.setAttribute("aria-current", "step");
      this.slider.value = index;
      this.slider.setAttribute("aria-valuetext", `step ${step.n} of ${length}`);
      const what = index === 0 ? "initial state" : `${step.w ? `${step.w}: ` : ""}${step.a}`;
      const where = cycle !== null && index > cycle ? ", in the cycle" : "";
      this.output.textContent = `Step ${step.n} of ${length}${where}: ${what}`;
      this.buttons.first.disabled = index === 0;
      this.buttons.previous.disabled = index === 0;
      this.buttons.next.disabled = index === this.last && cycle === null;
      this.buttons.last.disabled = index === this.last;
      const changed = new Set(index === 0 ? [] : step.c.map(([at]) => at));
      this.valuesAt(index).forEach((value, at) => {
        this.fields[at].value.textContent = value;
        this.fields[at].item.classList.toggle("changed", changed.has(at));
      });
      const before = steps[Math.max(0, index - 1)].p;
      this.truths.forEach(({ item, value }, at) => {
        value.textContent = step.p[at] === "1" ? "✓ true" : "✗ false";
        item.classList.toggle("changed", before[at] !== step.p[at]);
      });
      for (const [state, group] of this.states) group.classList.toggle("here", way[index] === state);
      this.center(this.states.get(way[index]));
      this.reveal(row);
      if (!quietly) {
        used = this;
        try {
          history.replaceState(null, "", `#p${this.number}-step=${step.n}`);
        } catch {
          // Some browsers forbid it for files; then there is no link to this step.
        }
      }
    }

    // Scrolls the drawing so that a state can be seen.
    center(group) {
      if (!group) return;
      const box = group.closest(".scroll");
      const [inner, outer] = [group.getBoundingClientRect(), box.getBoundingClientRect()];
      box.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
    }

    // Scrolls the table, not the page.
    reveal(row) {
      const head = this.root.querySelector("thead").offsetHeight;
      const top = row.offsetTop - head - row.offsetHeight;
      const bottom = row.offsetTop + 2 * row.offsetHeight;
      if (top < this.scroller.scrollTop) {
        this.scroller.scrollTop = top;
      } else if (bottom > this.scroller.scrollTop + this.scroller.clientHeight) {
        this.scroller.scrollTop = bottom - this.scroller.clientHeight;
      }
    }
  }

  let used = null;
  const runs = [...document.querySelectorAll(".run")].map((root) => new Run(root));
  used = runs[0] ?? null;
  runs.forEach((run) => run.go(0, true));

  // `#p2-step=5` is step 5 of the run of the second property, `#step=5` that of the first run.
  const follow = () => {
    const found = /^#(?:p(\d+)-)?step=(\d+)$/.exec(location.hash);
    if (!found) return;
    const run = found[1] ? runs.find((one) => one.number === Number(found[1])) : runs[0];
    if (!run) return;
    run.go(run.find(Number(found[2])), true);
    used = run;
    run.root.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  follow();

  const keys = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last", c: "cycle" };
  addEventListener("keydown", (event) => {
    const where = keys[event.key];
    if (!where || !used || event.ctrlKey || event.altKey || event.metaKey) return;
    const target = event.target;
    // A slider knows its keys; Home and End belong to the page unless the run is in use.
    if (target instanceof HTMLInputElement && target.type === "range" && event.key !== "c") return;
    const inside = used.root.contains(target);
    if (!inside && (event.key === "Home" || event.key === "End")) return;
    event.preventDefault();
    used.move(where);
  });
})();
