// The list of crawls, and a field for the address of a new one.

import { post } from "./api.js";
import { address, fill, h, message, moment, number } from "./dom.js";

export const STATES = {
  running: "running", finished: "finished", stopped: "paused", waiting: "waiting", interrupted: "interrupted", unusable: "unusable", survey: "survey",
};

export function home(view, { state }) {
  const said = h("div", {});
  const seed = h("input", { id: "seed", type: "text", inputmode: "url", required: true, placeholder: "https://example.org/docs/",
    autocomplete: "off", spellcheck: "false", "aria-describedby": "seed-help" });
  const form = h("form", { class: "begin" },
    h("label", { for: "seed" }, "Where to begin"),
    h("div", { class: "row" }, seed,
      h("button", { class: "primary", value: "look" }, "Look first"),
      h("button", { value: "choose", type: "submit" }, "Choose and crawl")),
    h("p", { id: "seed-help", class: "faint" },
      "Looking first makes at most 300 requests, spread over the site, and tells what a crawl would bring."), said);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const kind = event.submitter?.value === "choose" ? "choose" : "look";
    try {
      const { name } = await post("/api/name", { arguments: { seed: seed.value } });
      sessionStorage.setItem(`seed ${name}`, seed.value);
      if (kind === "look") await post("/api/start", { kind: "survey", name, arguments: { seed: seed.value } });
      location.hash = `#/${encodeURIComponent(name)}/${kind}`;
    } catch (problem) {
      fill(said, message(problem.message));
    }
  });
  fill(view, h("h1", {}, "Look, choose, crawl"), form, h("h2", {}, "Crawls on this disk"), table(state));
}

function table(state) {
  if (!state.copies.length) return h("p", { class: "faint" }, `None yet in ${state.root}`);
  const rows = state.copies.map((copy) => h("tr", {},
    h("th", { scope: "row" }, h("a", { href: `#/${encodeURIComponent(copy.name)}/${target(copy)}` }, address(copy.name)),
      copy.seeds[0] && h("span", { class: "under" }, address(copy.seeds[0], 80)),
      copy.problem && h("span", { class: "under bad" }, copy.problem)),
    h("td", {}, h("span", { class: `state ${STATES[copy.state] ?? ""}` }, STATES[copy.state] ?? copy.state ?? "")),
    h("td", { class: "number" }, number(copy.answers)),
    h("td", { class: "number" }, number(copy.pending)),
    h("td", { class: "minor" }, moment(copy.latest))));
  return h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Crawls on this disk" }, h("table", { class: "list" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Crawl"), h("th", { scope: "col" }, "State"),
      h("th", { scope: "col", class: "number" }, "Answers"), h("th", { scope: "col", class: "number" }, "Queued"),
      h("th", { scope: "col", class: "minor" }, "Latest answer"))),
    h("tbody", {}, rows)));
}

function target(copy) {
  if (copy.state === "running") return "run";
  return copy.answers ? "result" : "look";
}
