// The model as a picture, with the state lit where somebody stands: in a run, in the simulator, in the state space.

import { h, svg, quoted, picture } from "./dom.js";
import { post } from "./server.js";

const DOTS = [[], [[0, 0]], [[-5, 0], [5, 0]], [[0, -5], [-5, 4], [5, 4]], [[-5, -5], [5, -5], [-5, 5], [5, 5]]];

export class Picture {
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.isStale = true;
    this.about = h("p", { class: "muted", role: "status" });
    this.box = h("div", { class: "scroll picture-box", tabIndex: 0, role: "region", "aria-label": "Picture of the model" });
    root.append(h("div", { class: "bar-line" }, h("h2", {}, "Picture"),
      h("button", { type: "button", onclick: () => this.download() }, "Download SVG")), this.about, h("div", { class: "card" }, this.box));
  }

  clear() {
    this.isStale = true;
    this.box.replaceChildren();
    this.about.textContent = "";
    this.places = new Map();
  }

  readModel() {
    this.isStale = true;
    if (!this.root.hidden) this.shownNow();
  }

  async shownNow() {
    if (!this.isStale || !this.app.info) return this.stood(this.app.standing);
    this.isStale = false;
    const told = await post("draw", { model: this.app.model() }).catch((error) => ({ error: error.message }));
    this.places = new Map();
    if (!told.svg) {
      this.about.replaceChildren(...quoted(told.error ?? told.messages?.[0]?.message ?? ""));
      this.box.replaceChildren();
      return undefined;
    }
    this.svg = told.svg;
    const drawn = picture(told.svg);
    this.box.replaceChildren(drawn);
    for (const group of drawn.querySelectorAll("g")) {
      const node = group.querySelector(".node");
      if (!node) continue;
      const title = group.querySelector("title")?.textContent.split("\n").pop();
      this.places.set(title ?? group.querySelector("text")?.textContent, group);
    }
    this.about.textContent = `${told.about} Lit is where you stand: in a run, in the simulator or in the state space.`;
    return this.stood(this.app.standing);
  }

  stood(standing) {
    if (!standing || this.root.hidden || !this.places) return;
    const lit = new Set(standing.lit);
    const tokens = new Map(standing.state);
    for (const [name, group] of this.places) {
      const circle = group.querySelector("circle.node");
      if (circle) this.setTokens(group, circle, Number(tokens.get(name) ?? 0));
      group.classList.toggle("here", circle ? Number(tokens.get(name)) > 0 : lit.has(name));
    }
    this.box.querySelector(".here")?.scrollIntoView?.({ block: "nearest", inline: "nearest" });
  }

  // Tokens as dots, many as a number.
  setTokens(group, circle, n) {
    const [x, y] = [Number(circle.getAttribute("cx")), Number(circle.getAttribute("cy"))];
    for (const old of group.querySelectorAll(".token")) old.remove();
    for (const text of group.querySelectorAll("text")) if (text.getAttribute("text-anchor") === "middle") text.remove();
    if (DOTS[n]) group.append(...DOTS[n].map(([dx, dy]) => svg("circle", { class: "token", cx: x + dx, cy: y + dy, r: 3.4 })));
    else group.append(svg("text", { x, y: y + 5, "text-anchor": "middle" }, String(n)));
  }

  download() {
    if (!this.svg) return;
    const url = URL.createObjectURL(new Blob([this.svg], { type: "image/svg+xml" }));
    h("a", { href: url, download: "model.svg" }).click();
    URL.revokeObjectURL(url);
  }
}
