// Draws a graph in layers: what is reached first is on the left. Nodes can be clicked, and reached by the keyboard.

import { h, svg } from "./dom.js";

const WIDTH = 190;
const GAP = 60;
const LINE = 15;

// Layers by the distance from the first nodes, and an order in each that keeps edges short.
function layers(nodes, edges) {
  const next = new Map(nodes.map((node) => [node.id, []]));
  const before = new Map(nodes.map((node) => [node.id, []]));
  for (const { from, to } of edges) {
    next.get(from)?.push(to);
    before.get(to)?.push(from);
  }
  const depth = new Map();
  let wave = nodes.filter((node) => node.initial).map((node) => node.id);
  if (wave.length === 0 && nodes.length > 0) wave = [nodes[0].id];
  for (let d = 0; wave.length > 0; d += 1) {
    for (const id of wave) depth.set(id, d);
    wave = [...new Set(wave.flatMap((id) => next.get(id)))].filter((id) => next.has(id) && !depth.has(id));
  }
  const made = [];
  for (const node of nodes) {
    const d = depth.get(node.id) ?? 0;
    (made[d] ??= []).push(node);
  }
  const all = made.map((layer) => layer ?? []);
  const place = new Map();
  const number = () => all.forEach((layer) => layer.forEach((node, at) => place.set(node.id, at - layer.length / 2)));
  number();
  for (let round = 0; round < 6; round += 1) {
    const near = round % 2 === 0 ? before : next;
    for (const layer of all) {
      const wish = (node) => {
        const known = near.get(node.id).map((id) => place.get(id)).filter((at) => at !== undefined);
        return known.length === 0 ? place.get(node.id) : known.reduce((a, b) => a + b, 0) / known.length;
      };
      const wishes = new Map(layer.map((node) => [node, wish(node)]));
      layer.sort((a, b) => wishes.get(a) - wishes.get(b));
    }
    number();
  }
  return all;
}

// nodes: { id, lines, initial, here, kind }; edges: { from, to, label, title }.
export function drawGraph(nodes, edges, onChoose, name) {
  const places = new Map();
  let x = 20;
  let height = 0;
  const all = layers(nodes, edges);
  const heights = all.map((layer) => layer.reduce((sum, node) => sum + node.lines.length * LINE + 42, 0));
  const most = Math.max(60, ...heights);
  all.forEach((layer, at) => {
    let y = 20 + (most - heights[at]) / 2;
    for (const node of layer) {
      const tall = node.lines.length * LINE + 14;
      places.set(node.id, { x, y, w: WIDTH, h: tall });
      y += tall + 28;
    }
    height = Math.max(height, y);
    x += WIDTH + GAP + Math.min(120, 8 * Math.max(0, ...edges.filter((edge) => layer.some((node) => node.id === edge.from)).map((edge) => edge.label.length)));
  });
  const cut = (text) => (text.length > 27 ? `${text.slice(0, 26)}…` : text);
  const lines = edges.filter((edge) => places.has(edge.from) && places.has(edge.to)).map((edge) => {
    const [one, two] = [places.get(edge.from), places.get(edge.to)];
    const ahead = two.x > one.x;
    const [x1, y1] = [one.x + (ahead ? one.w : one.w / 2), one.y + (ahead ? one.h / 2 : one.h)];
    const [x2, y2] = ahead ? [two.x, two.y + two.h / 2] : [two.x + two.w / 2 + 14, two.y + (edge.from === edge.to ? 0 : two.h)];
    const bend = ahead ? Math.max(30, (x2 - x1) / 2) : 0;
    const path = ahead ? `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 6} ${y2}` : `M${x1} ${y1}C${x1} ${y1 + 46} ${x2} ${y2 + 46} ${x2} ${y2 + 6}`;
    const tip = ahead ? `M${x2} ${y2}l-8 -4v8z` : `M${x2} ${y2}l-4 8h8z`;
    return svg("g", { class: "graph-edge" }, svg("title", {}, edge.title ?? edge.label), svg("path", { d: path }), svg("path", { class: "tip", d: tip }),
      ahead && edge.label && svg("text", { x: x1 + (x2 - x1) * 0.5, y: y1 + (y2 - y1) * 0.5 - 5, "text-anchor": "middle" }, cut(edge.label)));
  });
  const boxes = nodes.map((node) => {
    const at = places.get(node.id);
    const choose = () => onChoose(node);
    const key = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } };
    return svg("g", { class: `graph-node ${node.kind ?? ""} ${node.here ? "here" : ""} ${node.initial ? "first" : ""}`, tabindex: "0", role: "button", onclick: choose, onkeydown: key, "data-id": node.id },
      svg("rect", { x: at.x, y: at.y, width: at.w, height: at.h, rx: 9 }),
      node.initial && svg("path", { class: "tip", d: `M${at.x - 2} ${at.y + at.h / 2}l-10 -6v12z` }),
      node.lines.map((line, number) => svg("text", { x: at.x + 9, y: at.y + 7 + LINE * (number + 0.78) }, cut(line))));
  });
  const [wide, tall] = [Math.max(200, x), Math.max(100, height + 30)];
  const picture = svg("svg", { class: "graph", viewBox: `0 0 ${wide} ${tall}`, role: "group", "aria-label": name }, lines, boxes);
  const box = h("div", { class: "scroll graph-box" }, picture);
  const zoom = (factor) => {
    size = factor;
    picture.setAttribute("width", Math.round(wide * size));
    picture.setAttribute("height", Math.round(tall * size));
  };
  zoom(size);
  const button = (text, label, act) => h("button", { type: "button", class: "icon", "aria-label": label, title: label, onclick: act }, text);
  const reveal = () => {
    const shown = picture.querySelector(".here") ?? picture.querySelector(".first");
    if (!shown) return;
    const [inner, outer] = [shown.getBoundingClientRect(), box.getBoundingClientRect()];
    if (inner.top < outer.top || inner.bottom > outer.bottom) box.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2;
    if (inner.left < outer.left || inner.right > outer.right) box.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  };
  const fit = () => { zoom(Math.max(0.25, Math.min(1, (box.clientWidth - 4) / wide))); reveal(); };
  const frame = h("div", { class: "graph-frame" },
    h("div", { class: "graph-zoom", role: "group", "aria-label": "Size" },
      button("−", "Smaller", () => { zoom(Math.max(0.25, size / 1.3)); reveal(); }), button("+", "Larger", () => { zoom(Math.min(2, size * 1.3)); reveal(); }), button("⤢", "Fit the width", fit)), box);
  return { frame, box, reveal };
}

// How large graphs are drawn: the same for all of them.
let size = 1;
