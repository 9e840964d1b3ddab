// Choosing what belongs to a crawl: every choice says at once how much it takes of what is known.

import { get, post } from "./api.js";
import { address, announce, bytes, compact, fill, h, message, number } from "./dom.js";
import { builder } from "./builder.js";

const LEVELS = ["page", "child", "parent", "host", "other"];
const TYPES = ["html", "image", "style", "script", "font", "document", "archive", "audio", "video", "data", "other"];
const MODES = {
  local: ["The host", "page,child,parent,host:html"],
  directory: ["The section", "page:all child:html parent:image"],
  files: ["The files it links to", "page,child,parent,host,other:image,style,script,font,document,archive,audio,video,data,other"],
  all: ["Every host", "page,child,parent,host,other:html"],
};
const LEVEL_HELP = {
  page: "the seed’s own directory", child: "below it", parent: "above it", host: "elsewhere on the host", other: "other hosts",
};
const PLAIN = { seed: "", mode: "local", select: "", near: "0", requisites: "0", depth: "", allow: "", deny: "", deny_types: "", filter: "",
  order: "", gate: "auto", sitemap: "off", unique: "exact", window: "", window_end: "wait", mirror: "0", warc: "0", render: "never", keywords: "", pages: "", delay: "" };

export function parseSelect(text) {
  const found = Object.fromEntries(LEVELS.map((level) => [level, new Set()]));
  for (const pair of text.split(/[\s;]+/).filter(Boolean)) {
    const [levels, types = ""] = pair.split(":");
    for (const level of levels.split(",")) {
      for (const type of types.split(",")) {
        if (!found[level]) continue;
        if (type === "all") TYPES.forEach((one) => found[level].add(one));
        else if (TYPES.includes(type)) found[level].add(type);
      }
    }
  }
  return found;
}

export function writeSelect(select) {
  const groups = new Map();
  for (const level of LEVELS) {
    const types = TYPES.filter((type) => select[level].has(type));
    const text = types.length === TYPES.length ? "all" : types.join(",");
    if (text) groups.set(text, [...(groups.get(text) ?? []), level]);
  }
  return [...groups].map(([types, levels]) => `${levels.join(",")}:${types}`).join(" ");
}

export async function choose(view, context) {
  const { name, copy, state } = context;
  const values = { ...PLAIN, seed: sessionStorage.getItem(`seed ${name}`) ?? copy?.seeds.join(" ") ?? "", ...copy?.arguments };
  values.window_end ||= PLAIN.window_end;
  let select = parseSelect(values.select || MODES[values.mode][1]);
  let facets = null;
  let asked = 0;
  const errors = new Map();
  const outcome = h("div", { class: "outcome" });
  const matrix = h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Types at each level" });
  const selectField = field("select", "As text", { oninput: (event) => { select = parseSelect(event.target.value); drawMatrix(); } });

  function given() {
    const chosen = Object.fromEntries(Object.entries(values).filter(([key, value]) => value !== "" && value !== PLAIN[key]));
    if (chosen.order === (values.mode === "directory" ? "section" : "breadth")) delete chosen.order;
    if (values.mode === "local") delete chosen.mode;
    if (!values.window) delete chosen.window_end;
    delete chosen.select;
    const text = writeSelect(select);
    if (text !== writeSelect(parseSelect(MODES[values.mode][1]))) chosen.select = text || "page:none";
    return { ...chosen, seed: values.seed };
  }

  // --- fields

  function field(key, label, more = {}, tag = "input") {
    const said = h("p", { class: "error", id: `${key}-said` });
    const input = h(tag, { id: key, value: values[key], spellcheck: "false", autocomplete: "off", "aria-describedby": `${key}-said`, ...more });
    input.addEventListener("input", () => { values[key] = input.value; estimate(); });
    errors.set(key, { input, said });
    return h("div", { class: "field" }, h("label", { for: key }, label), input, said);
  }

  function tick(key, label, help) {
    const input = h("input", { type: "checkbox", id: key, checked: values[key] === "1" });
    input.addEventListener("change", () => { values[key] = input.checked ? "1" : "0"; estimate(); });
    errors.set(key, { input, said: h("p", {}) });
    return h("div", { class: "check" }, input, h("label", { for: key }, label, help && h("span", { class: "under" }, help)));
  }

  function pick(key, label, choices) {
    const input = h("select", { id: key }, choices.map(([value, text]) => h("option", { value, selected: value === values[key] }, text)));
    const said = h("p", { class: "error", id: `${key}-said` });
    input.addEventListener("change", () => { values[key] = input.value; estimate(); });
    errors.set(key, { input, said });
    return h("div", { class: "field" }, h("label", { for: key }, label), input, said);
  }

  function modes() {
    return h("fieldset", { class: "modes" }, h("legend", {}, "What belongs to it"), Object.entries(MODES).map(([mode, [title, text]]) => {
      const input = h("input", { type: "radio", name: "mode", id: `mode-${mode}`, value: mode, checked: values.mode === mode });
      input.addEventListener("change", () => {
        values.mode = mode;
        select = parseSelect(text);
        drawMatrix();
        estimate();
      });
      return [input, h("label", { for: `mode-${mode}` }, title)];
    }));
  }

  // --- the matrix

  function toggle(cells) {
    const all = cells.every(([level, type]) => select[level].has(type));
    for (const [level, type] of cells) select[level][all ? "delete" : "add"](type);
    drawMatrix();
    estimate();
  }

  const known = (level, type) => Object.values(facets?.matrix?.[level]?.[type] ?? {}).reduce((sum, each) => sum + each, 0);

  function drawMatrix() {
    const focused = document.activeElement?.dataset?.cell;
    const column = (level) => h("th", { scope: "col" }, h("button", { type: "button", class: "head", "data-cell": `${level} *`,
      title: LEVEL_HELP[level], onclick: () => toggle(TYPES.map((type) => [level, type])) }, level));
    const cell = (level, type) => {
      const taken = select[level].has(type);
      const count = known(level, type);
      return h("td", {}, h("button", { type: "button", class: `cell${count ? "" : " empty"}`, "aria-pressed": String(taken), "data-cell": `${level} ${type}`,
        "aria-label": `${type} at level ${level}, ${number(count)} known`, onclick: () => toggle([[level, type]]) }, facets ? compact(count) : ""));
    };
    fill(matrix, h("table", { class: "matrix" }, h("caption", { class: "hidden" }, "Types that are fetched at each level, with the number of known URLs"),
      h("thead", {}, h("tr", {}, h("td", {}), LEVELS.map(column))),
      h("tbody", {}, TYPES.map((type) => h("tr", {}, h("th", { scope: "row" }, h("button", { type: "button", class: "head", "data-cell": `* ${type}`,
        onclick: () => toggle(LEVELS.map((level) => [level, type])) }, type)), LEVELS.map((level) => cell(level, type)))))));
    if (focused) matrix.querySelector(`[data-cell="${focused}"]`)?.focus();
    if (document.activeElement?.id !== "select") selectField.querySelector("input").value = writeSelect(select);
  }

  // --- what it takes

  let timer = 0;
  function estimate() {
    clearTimeout(timer);
    timer = setTimeout(ask, 120);
  }

  async function ask() {
    const turn = (asked += 1);
    try {
      const found = await post("/api/estimate", { name, arguments: given() });
      if (turn === asked) drawOutcome(found);
      complain(null);
    } catch (problem) {
      if (turn === asked) complain(problem);
    }
  }

  function complain(problem) {
    const key = problem?.field?.split(".")[0];
    for (const [name_, { input, said }] of errors) {
      const mine = name_ === key;
      said.textContent = mine ? problem.message : "";
      if (mine) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
    if (problem && !errors.has(key)) fill(outcome, message(`${problem.field ?? ""} ${problem.message}`.trim()));
  }

  function drawOutcome(found) {
    const copyButton = h("button", { type: "button", class: "small" }, "Copy");
    copyButton.addEventListener("click", async () => {
      await navigator.clipboard.writeText(found.command).catch(() => {});
      copyButton.textContent = "Copied";
      announce("The command line was copied");
    });
    const exact = h("div", {});
    const taken = found.takes === null ? h("p", { class: "big" }, "Nothing is known yet")
      : h("p", { class: "big", role: "status" }, h("strong", {}, number(found.takes)), found.error ? ` ± ${number(found.error)}` : "", ` of ${number(found.of)} known URLs`,
        found.bytes ? h("span", { class: "faint" }, `, about ${bytes(found.bytes)}`) : "");
    const left = Object.entries(found.refused ?? {}).filter(([, count]) => count);
    fill(outcome, taken,
      left.length > 0 && h("p", { class: "faint" }, "Left out: ", left.map(([reason, count]) => `${number(count)} ${reason}`).join(", ")),
      found.examples?.length > 0 && h("details", {}, h("summary", {}, "Some that it takes"),
        h("ul", { class: "lines" }, found.examples.map((one) => h("li", {}, address(one.url, 100))))),
      found.takes !== null && copy?.known && h("div", { class: "row" }, h("button", { type: "button", class: "small", onclick: () => replayed(exact) }, "Exactly"), exact),
      h("div", { class: "command" }, h("code", { tabindex: "0" }, found.command), copyButton));
  }

  async function replayed(place) {
    fill(place, h("span", { class: "busy", role: "status" }, "Deciding anew about every link…"));
    try {
      const { job } = await post("/api/replay", { name, arguments: given() });
      const found = await get("/api/replay", { job });
      if (found.status !== 0) throw new Error(found.said);
      const { comes_in: comesIn, goes, stays } = found.answer;
      fill(place, h("span", { role: "status" }, `${number(stays)} stay, ${number(comesIn.total)} come in, ${number(goes.total)} go`));
    } catch (problem) {
      fill(place, message(problem.message));
    }
  }

  // --- starting

  const said = h("div", {});
  const where = h("select", { id: "where" }, h("option", { value: "" }, "on this machine"),
    state.scrapyds.map((one) => h("option", { value: one.url }, one.url)));

  async function start(event) {
    event.preventDefault();
    fill(said);
    try {
      if (where.value) await post("/api/scrapyd", { url: where.value, name, arguments: given() });
      else {
        if (copy?.state === "running") await pauseFirst();
        await post("/api/start", { name, arguments: given() });
      }
      location.hash = `#/${encodeURIComponent(name)}/run`;
    } catch (problem) {
      complain(problem);
      fill(said, message(problem.message));
    }
  }

  async function pauseFirst() {
    fill(said, h("p", { class: "busy", role: "status" }, "Pausing, to go on with the new rules…"));
    await post("/api/stop", { name });
    for (let tries = 0; tries < 120; tries += 1) {
      const { state: now, child } = await get("/api/progress", { name });
      if (now !== "running" && (child === null || child.status !== null)) return;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    throw new Error("The crawl has not ended yet: try again in a moment.");
  }

  const verb = copy?.state === "running" ? "Go on with these rules" : copy?.answers ? "Crawl on with these" : "Crawl";
  const startBar = h("div", { class: "start" }, outcome, h("div", { class: "row" }, h("button", { class: "primary", type: "submit" }, verb),
    state.scrapyds.length > 0 && [h("label", { for: "where" }, "Where"), where]), said);

  fill(view, h("h1", {}, "Choose"), h("form", { class: "choose", onsubmit: start },
    h("div", { class: "rules" },
      field("seed", "Where to begin", { rows: 2, inputmode: "url" }, "textarea"),
      modes(),
      h("fieldset", {}, h("legend", {}, "Types at each level"), matrix, selectField),
      h("div", { class: "pair" }, field("depth", "Depth, in links from the start", { inputmode: "numeric", placeholder: "no limit" }),
        pick("order", "What comes first", [["", "by mode"], ["section", "the section, its files first"], ["breadth", "what is nearest"], ["depth", "what is deepest"], ["files", "files"]])),
      h("div", { class: "checks" }, tick("near", "Files near the pages", "also from other hosts; nothing is followed from them"),
        tick("requisites", "What pages are shown with", "images, styles, fonts, wherever they are"), tick("mirror", "A copy to open offline", "links are rewritten")),
      h("div", { class: "pair" }, field("allow", "Only URLs that match", { rows: 2, placeholder: "a pattern a line" }, "textarea"),
        field("deny", "Never URLs that match", { rows: 2, placeholder: "a pattern a line" }, "textarea")),
      builder(values.filter, (text) => { values.filter = text; estimate(); }),
      h("details", {}, h("summary", {}, "More"), h("div", { class: "pair" },
        pick("sitemap", "Sitemaps", [["off", "not read"], ["on", "read too"], ["only", "only what they list"]]),
        pick("gate", "How types are learned", [["auto", "a HEAD where in doubt"], ["head", "always a HEAD"], ["get", "never a HEAD"], ["extension", "by the ending"]]),
        pick("unique", "What counts as a duplicate", [["exact", "equal bytes"], ["strict", "learned, proved for each page"], ["learn", "learned, for all of a kind"], ["off", "nothing"]]),
        field("window", "Only between these hours", { placeholder: "22:00-06:00, or +6h" }),
        pick("window_end", "When these hours are over", [["wait", "wait for the next"], ["stop", "end"]]),
        pick("render", "Pages drawn by script", [["never", "as received"], ["auto", "drawn where needed"], ["always", "always drawn"]]),
        field("pages", "End after so many pages", { inputmode: "numeric", placeholder: "no limit" }),
        field("delay", "Seconds between requests", { inputmode: "decimal", placeholder: "1" }),
        field("keywords", "Your key words"), tick("warc", "Also WARC files")))),
    startBar));
  drawMatrix();
  estimate();
  if (copy?.known || copy?.has_survey) get("/api/facets", { name }).then((found) => { facets = found; drawMatrix(); }, () => {});
}
