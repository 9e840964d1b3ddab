// What came of a crawl: pages and files, what was refused, broken links, duplicates, what it has found out by itself.

import { get, post } from "./api.js";
import { fill, h, message, number } from "./dom.js";
import { review, showReview } from "./review.js";
import { urlTable } from "./table.js";

const VIEWS = {
  stored: ["Pages and files", ["title", "url", "type", "size"], ["type", "level", "host"], "A title opens the stored page: no script of it runs, nothing is loaded from elsewhere."],
  refused: ["Refused", ["url", "reason", "level", "type"], ["reason", "level", "type", "host"], "Choose some to fetch them after all. What robots.txt refuses stays refused."],
  broken: ["Broken links", ["url", "status", "sources"], ["level", "host"], "Links that lead to no whole answer, with the first pages they stand on."],
  duplicates: ["Duplicates", ["url", "twin", "size"], ["type"], "Bodies that another URL had brought already, stored once."],
};
const SUMS = { stored: (facets) => facets.stored, refused: (facets) => facets.verdicts.refused, broken: (facets) => facets.broken, duplicates: (facets) => facets.duplicates };

export async function result(view, context) {
  const { name, copy, rest, state } = context;
  const chosen = VIEWS[rest[0]] || review[rest[0]] ? rest[0] : "stored";
  if (!copy?.known) {
    fill(view, h("h1", {}, "Result"), h("p", { class: "faint" }, "Nothing was fetched yet."));
    return;
  }
  fill(view, h("h1", {}, "Result"), h("p", { class: "busy" }, "Reading the store…"));
  const facets = await get("/api/facets", { name });
  const has = { learned: ["strict", "learn"].includes(copy.arguments?.unique), traps: copy.has_traps, changes: copy.is_revisited };
  const titles = [...Object.entries(VIEWS).map(([key, [text]]) => [key, text]), ...Object.entries(review).filter(([key]) => has[key])];
  const tabs = titles.map(([key, text]) => h("li", {}, h("a", {
    href: `#/${encodeURIComponent(name)}/result/${key}`, "aria-current": key === chosen ? "page" : null,
  }, text, h("span", { class: "count" }, SUMS[key] ? number(SUMS[key](facets) ?? 0) : ""))));
  const nav = h("nav", { "aria-label": "Lists", class: "sub" }, h("ul", {}, tabs));
  if (review[chosen]) {
    const list = h("div", {});
    fill(view, h("h1", {}, "Result"), nav, list);
    await showReview(list, chosen, context);
    return;
  }
  const [title, columns, filters, meaning] = VIEWS[chosen];
  const bar = h("div", { class: "chosen" });
  const urls = urlTable({ ...context, files: state.files }, {
    view: chosen, columns, filters, facets, caption: title, select: chosen === "refused" ? (rows) => drawChosen(bar, name, rows) : null,
  });
  fill(view, h("h1", {}, "Result"), nav,
    h("p", { class: "faint" }, meaning), urls.element, bar);
  if (chosen === "refused") drawChosen(bar, name, new Map());
  await urls.load();
}

function drawChosen(bar, name, rows) {
  const said = h("div", {});
  const button = h("button", { type: "button", class: "primary", disabled: rows.size === 0 },
    rows.size ? `Fetch ${rows.size === 1 ? "this one" : `these ${number(rows.size)}`} after all` : "Fetch after all");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const found = await post("/api/fetch", { name, ids: [...rows.keys()] });
      const passed = Object.entries(found.passed_over).map(([reason, count]) => `${number(count)} ${reason}`).join(", ");
      if (!found.queued) throw new Error(`None can be fetched: ${passed}`);
      location.hash = `#/${encodeURIComponent(name)}/run`;
    } catch (problem) {
      button.disabled = false;
      fill(said, message(problem.message));
    }
  });
  fill(bar, h("div", { class: "row" }, button, h("span", { class: "faint" }, rows.size ? `${number(rows.size)} chosen` : "None chosen")), said);
}
