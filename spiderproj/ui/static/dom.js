// Elements made from text only: nothing that a site has sent is ever read as markup.

export function h(tag, attributes = {}, ...children) {
  const element = tag === "svg" || tag === "rect" || tag === "title" && attributes.svg
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false || name === "svg") continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else if (name === "checked" || name === "disabled" || name === "selected" || name === "open") element[name] = true;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

export function fill(element, ...children) {
  const fragment = document.createDocumentFragment();
  append(fragment, children);
  element.replaceChildren(fragment);
  return element;
}

// Text of a site: in any language, read in its own direction, without control characters, of bounded length.
export function foreign(text, limit = 200) {
  const clean = String(text ?? "").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, (found) => (/^[\u200c\u200d]+$/.test(found) ? found : " "));
  return h("bdi", { lang: "" }, clean.length > limit ? `${clean.slice(0, limit - 1)}…` : clean);
}

const whole = new Intl.NumberFormat("en");
export const number = (value) => (value === null || value === undefined ? "" : whole.format(value));

export function compact(value) {
  if (value < 10_000) return number(value);
  return value < 1_000_000 ? `${Math.round(value / 1000)}k` : `${(value / 1_000_000).toFixed(1)}M`;
}

export function bytes(value) {
  if (value === null || value === undefined) return "";
  if (value < 1024) return `${value} B`;
  let power = 0;
  for (; value >= 1024 && power < 4; power += 1) value /= 1024;
  return `${value >= 100 ? Math.round(value) : value.toFixed(1)} ${["B", "KiB", "MiB", "GiB", "TiB"][power]}`;
}

export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${Math.round(minutes / 1440)} days`;
}

export function moment(seconds) {
  return seconds ? new Date(seconds * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) : "";
}

export function clock(seconds) {
  const at = new Date(seconds * 1000);
  const isToday = Date.now() - at < 43_200_000;
  return isToday ? at.toLocaleTimeString("en-GB") : moment(seconds);
}

// The path of a URL below its host, for narrow places; the whole stands in its title.
export function address(url, limit = 120) {
  const short = url.replace(/^https?:\/\//, "");
  const shown = short.length > limit ? `${short.slice(0, limit / 2)}…${short.slice(-limit / 2 + 1)}` : short;
  const element = foreign(shown, limit + 1);
  element.title = url;
  return element;
}

let counted = 0;
export const fresh = (prefix) => `${prefix}-${(counted += 1)}`;

export function announce(text) {
  document.getElementById("live").textContent = text;
}

export function message(text, kind = "problem") {
  return h("p", { class: `message ${kind}`, role: kind === "problem" ? "alert" : "status" }, text);
}
