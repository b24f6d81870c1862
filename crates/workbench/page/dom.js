// Makes elements, and says numbers as people read them.

// h("button", { class: "x", onclick: f }, "text", child): null and false children are left out.
export function h(name, props = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key in made && key !== "list" && key !== "form" && typeof value !== "string") made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(name, props = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);

const numbers = new Intl.NumberFormat("en");
export const number = (value) => numbers.format(value);
export const count = (n, word) => `${number(n)} ${word}${n === 1 ? "" : word.endsWith("ss") ? "es" : "s"}`;

export function bytes(value) {
  const units = ["B", "kB", "MB", "GB"];
  let at = 0;
  while (value >= 1000 && at < units.length - 1) { value /= 1000; at += 1; }
  return `${value < 10 && at > 0 ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}

export function seconds(value) {
  if (value < 0.1) return `${Math.max(1, Math.round(value * 1000))} ms`;
  if (value < 60) return `${value.toFixed(1)} s`;
  return `${Math.floor(value / 60)} min ${Math.floor(value % 60)} s`;
}

// Text with `code` in backquotes, as messages have it.
export function quoted(text) {
  return text.split("`").map((part, at) => (at % 2 === 1 ? h("code", {}, part) : part));
}

let timer = null;
export function toast(text) {
  const box = byId("toast");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(() => { box.hidden = true; }, 4000);
}

// A picture that the server drew. It is XML that was made by us from escaped texts, and has no scripts; the page's
// policy would not run any.
export function picture(markup) {
  const text = markup.includes("xmlns=") ? markup : markup.replace("<svg", `<svg xmlns="${SVG}"`);
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (parsed.nodeName !== "svg") return null;
  // Its own style would be that of the whole page, and knows only the system's theme.
  parsed.querySelector("style")?.remove();
  parsed.classList.add("drawing");
  return document.importNode(parsed, true);
}
