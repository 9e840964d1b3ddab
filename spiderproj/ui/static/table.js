// A list of URLs: sorted by its heads, narrowed by its fields, a page at a time, or grouped by family.

import { get } from "./api.js";
import { address, announce, bytes, fill, foreign, fresh, h, message, number } from "./dom.js";
import { why } from "./why.js";

const CELLS = {
  url: ["URL", (row) => h("button", { class: "link", type: "button", onclick: () => why(row.url) }, address(row.url))],
  title: ["Title", (row, context) => row.path
    ? h("a", { href: context.files + path(context.name, row.path), target: "_blank", rel: "noopener noreferrer" }, foreign(row.title || row.text || row.url, 120))
    : foreign(row.title || row.text, 120)],
  text: ["Link text", (row) => foreign(row.text, 90)],
  level: ["Level", (row) => row.level, "minor"],
  type: ["Type", (row) => row.type || "not known"],
  host: ["Host", (row) => foreign(row.host, 40), "nowrap minor"],
  depth: ["Depth", (row) => number(row.depth), "number minor"],
  size: ["Size", (row) => bytes(row.size), "number"],
  status: ["Answer", (row) => row.error ?? (row.status ? `HTTP ${row.status}` : "")],
  reason: ["Reason", (row) => [row.reason, row.rule && h("span", { class: "under" }, foreign(row.rule, 120))]],
  verdict: ["Verdict", (row) => [row.verdict, row.reason && h("span", { class: "under" }, row.reason)]],
  twin: ["Same as", (row) => row.twin && address(row.twin, 80)],
  sources: ["Linked on", (row) => h("span", { "data-sources": row.id }, "…")],
};
const UNSORTED = new Set(["twin", "sources", "verdict"]);

const path = (name, file) => [name, ...file.split("/")].map(encodeURIComponent).join("/");

export function urlTable(context, { view, columns, facets, filters, select = null, caption }) {
  const root = h("div", { class: "urls" });
  const query = { view, sort: "id", desc: "", offset: 0, ...Object.fromEntries(filters.map((name) => [name, ""])), text: "" };
  const body = h("div", {});
  const chosen = new Map();
  let asked = 0;
  let grouped = false;

  async function load() {
    const turn = (asked += 1);
    body.setAttribute("aria-busy", "true");
    try {
      if (grouped) return fill(body, families());
      const page = await get("/api/urls", { name: context.name, ...query });
      if (turn !== asked) return undefined;
      fill(body, rows(page), pager(page));
      announce(`${total(page)} URLs`);
      if (columns.includes("sources")) await sources(page.rows);
    } catch (problem) {
      fill(body, message(problem.message));
    } finally {
      body.removeAttribute("aria-busy");
    }
    return undefined;
  }

  async function sources(list) {
    if (!list.length) return;
    const found = await get("/api/linkers", { name: context.name, ids: list.map((row) => row.id).join(",") });
    for (const cell of body.querySelectorAll("[data-sources]")) {
      const [count, ...pages] = found[cell.dataset.sources] ?? ["0"];
      const more = Number(count) - pages.length;
      fill(cell, pages.map((url) => h("span", { class: "line" }, address(url, 90))), more > 0 && `and ${number(more)} more`);
    }
  }

  function head(name) {
    const [title, , kind = ""] = CELLS[name];
    const direction = query.sort === name ? (query.desc ? "descending" : "ascending") : null;
    if (UNSORTED.has(name)) return h("th", { scope: "col", class: kind }, title);
    return h("th", { scope: "col", class: kind, "aria-sort": direction }, h("button", {
      type: "button", class: "sort",
      onclick: () => {
        query.desc = query.sort === name && !query.desc ? "1" : "";
        query.sort = name;
        query.offset = 0;
        load();
      },
    }, title, h("span", { "aria-hidden": "true" }, direction ? (query.desc ? " ↓" : " ↑") : "")));
  }

  function rows(page) {
    if (!page.rows.length) return h("p", { class: "faint" }, "Nothing here.");
    const mark = (row) => {
      const box = h("input", { type: "checkbox", checked: chosen.has(row.id), "aria-label": `Choose ${row.url}` });
      box.addEventListener("change", () => {
        if (box.checked) chosen.set(row.id, row);
        else chosen.delete(row.id);
        select(chosen);
      });
      return h("td", { class: "tick" }, box);
    };
    return h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption }, h("table", { class: "list" },
      h("caption", { class: "hidden" }, caption),
      h("thead", {}, h("tr", {}, select && h("th", { scope: "col", class: "tick" }, h("span", { class: "hidden" }, "Choose")), columns.map(head))),
      h("tbody", {}, page.rows.map((row) => h("tr", {}, select && mark(row),
        columns.map((name) => h("td", { class: CELLS[name][2] }, CELLS[name][1](row, context))))))));
  }

  function pager(page) {
    const last = page.offset + page.rows.length;
    const turn = (by) => () => {
      query.offset = Math.max(0, page.offset + by);
      load();
    };
    const atEnd = page.total === null ? last >= page.deepest : last >= page.total;
    return h("div", { class: "pager" },
      h("span", { class: "faint" }, page.rows.length ? `${number(page.offset + 1)} to ${number(last)} of ${total(page)}` : ""),
      h("button", { type: "button", disabled: page.offset === 0, onclick: turn(-page.page) }, "Previous"),
      h("button", { type: "button", disabled: atEnd || last >= page.deepest, onclick: turn(page.page) }, "Next"));
  }

  const total = (page) => (page.total === null ? `more than ${number(page.deepest)}` : number(page.total));

  function families() {
    return h("div", { class: "families" }, Object.entries(facets.families).map(([family, count]) => {
      const inner = h("div", {});
      const details = h("details", {}, h("summary", {}, foreign(family), h("span", { class: "count" }, number(count))), inner);
      details.addEventListener("toggle", () => {
        if (!details.open || inner.childElementCount) return;
        const narrowed = urlTable(context, { view, columns, facets, filters: [], select: null, caption: `URLs of ${family}` });
        narrowed.narrow({ family });
        fill(inner, narrowed.element);
      });
      return details;
    }));
  }

  function fields() {
    const search = h("input", { type: "search", id: fresh("text"), placeholder: "in URL, link text or title", autocomplete: "off" });
    let timer = 0;
    search.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        query.text = search.value;
        query.offset = 0;
        load();
      }, 250);
    });
    const choices = { level: facets.levels, type: facets.types, reason: Object.keys(facets.reasons), host: Object.keys(facets.hosts) };
    const selects = filters.map((name) => {
      const field = h("select", { id: fresh(name) }, h("option", { value: "" }, `any ${name}`),
        choices[name].map((value) => h("option", { value: value || "not known" }, value || "not known")));
      field.addEventListener("change", () => {
        query[name] = field.value;
        query.offset = 0;
        load();
      });
      return h("div", {}, h("label", { for: field.id }, CELLS[name][0]), field);
    });
    const group = h("input", { type: "checkbox", id: fresh("group") });
    group.addEventListener("change", () => {
      grouped = group.checked;
      load();
    });
    return h("form", { class: "narrow", role: "search", onsubmit: (event) => event.preventDefault() },
      h("div", { class: "wide" }, h("label", { for: search.id }, "Find"), search), selects,
      h("div", { class: "check" }, group, h("label", { for: group.id }, "By family")));
  }

  if (filters.length) root.append(fields());
  root.append(body);
  return {
    element: root,
    load,
    narrow(values) {
      Object.assign(query, values);
      load();
    },
  };
}
