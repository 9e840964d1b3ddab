// Why a URL was, or was not, fetched: in a dialog over any screen.

import { get, post } from "./api.js";
import { address, bytes, fill, foreign, h, message, moment, number } from "./dom.js";

const here = () => decodeURIComponent(location.hash.replace(/^#\/?/, "").split("/")[0]);
const ANSWERS = { "passes": "passes", "lets in": "lets it in", "refuses": "refuses" };
const FINAL = new Set(["robots", "invalid", "scheme", "too-long", "private-address"]);

export async function why(url) {
  const content = h("div", {}, h("p", { class: "faint" }, "Asking…"));
  const dialog = h("dialog", { class: "why", "aria-labelledby": "why-title" },
    h("form", { method: "dialog", class: "close" }, h("button", { "aria-label": "Close" }, "Close")),
    h("h2", { id: "why-title" }, address(url, 300)), content);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  try {
    fill(content, told(await get("/api/why", { name: here(), url }), dialog));
  } catch (problem) {
    fill(content, message(problem.message));
  }
}

function told(found, dialog) {
  return [
    h("p", { class: "verdict" }, verdict(found)),
    found.note && h("p", { class: "faint" }, foreign(found.note, 400)),
    deed(found, dialog),
    h("dl", { class: "facts" }, fact("Level", found.level), fact("Depth", number(found.depth)),
      fact("Type", found.type ? `${found.type}${found.answered ? ", as answered" : ", predicted"}` : "not known"), fact("Found by", found.found)),
    h("h3", {}, "The rules, in the order of asking"), rules(found),
    h("h3", {}, `Links to it: ${number(found.links_total)}`), links(found),
    found.fetches.length > 0 && [h("h3", {}, "Fetches"), fetches(found)],
  ];
}

function verdict(found) {
  if (!found.verdict) return "Nobody has named this URL in this crawl. This is what the rules say of a link to it.";
  if (found.verdict === "refused") return [h("strong", {}, "Refused"), `: ${found.reason}. `, foreign(found.rule, 300)];
  return h("strong", {}, found.verdict === "fetched" ? "Fetched" : "Queued");
}

function deed(found, dialog) {
  if (found.verdict !== "refused" || found.id === null) return null;
  if (FINAL.has(found.reason)) return h("p", { class: "faint" }, "Asking for it would not change that.");
  const said = h("div", {});
  const button = h("button", { class: "primary", type: "button" }, "Fetch it after all");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await post("/api/fetch", { name: here(), ids: [found.id] });
      dialog.close();
      location.hash = `#/${encodeURIComponent(here())}/run`;
    } catch (problem) {
      button.disabled = false;
      fill(said, message(problem.message));
    }
  });
  return h("div", { class: "row" }, button, said);
}

const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

function rules(found) {
  return h("table", { class: "list plain" },
    h("thead", {}, h("tr", {}, ["Rule", "Answer", "Of"].map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, found.rules.map((step) => h("tr", { class: step.rule === found.decided_by ? "decided" : "" },
      h("th", { scope: "row" }, step.rule), h("td", {}, ANSWERS[step.answer] ?? step.answer), h("td", {}, foreign(step.value, 200))))));
}

function links(found) {
  if (!found.links.length) return h("p", { class: "faint" }, "None on pages that were read.");
  return h("ul", { class: "lines" }, found.links.map((link) => h("li", {}, address(link.source ?? "", 160),
    h("span", { class: "under" }, foreign(`<${link.tag}> ${link.text || ""}`, 160)))));
}

function fetches(found) {
  return h("table", { class: "list plain" },
    h("thead", {}, h("tr", {}, ["When", "Answer", "Size", "Seconds"].map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, found.fetches.map((one) => h("tr", {}, h("td", {}, moment(one.fetched_at)),
      h("td", {}, one.error ?? `HTTP ${one.status}`), h("td", {}, bytes(one.size)), h("td", {}, Number(one.seconds).toFixed(2))))));
}
