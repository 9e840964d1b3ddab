// What a crawl has found out by itself, and a person's word on it: learned rules, families set aside, changes.

import { get, post } from "./api.js";
import { address, fill, foreign, h, message, moment, number } from "./dom.js";

const MEANINGS = {
  learned: "Parts of URLs that never change the content of a page, by trial. What a rule has skipped is fetched by the next run once the rule is forbidden or dropped.",
  traps: "Families of URLs whose pages brought next to nothing new. What is set aside is fetched by the next run once its family is released.",
  changes: "What the last visit found other than the one before, by what pages say and not by their bytes.",
};
const VIEWS = { learned: ["/api/rules", "rules", ruleTable, "Nothing was learned."], traps: ["/api/traps", "traps", trapTable, "No family is set aside."] };
const NAMES = { "held-back": "held back" };

export const review = { learned: "Learned rules", traps: "Parked traps", changes: "Changes" };

export async function showReview(place, kind, context) {
  const list = h("div", {}, h("p", { class: "busy" }, "Reading the store…"));
  fill(place, h("p", { class: "faint" }, MEANINGS[kind]), list);
  await (kind === "changes" ? changes(list, context, { what: "", offset: 0 }) : decide(list, kind, context, {}));
}

// --- rules and traps: a change is a command of ours

async function decide(list, kind, context, change) {
  const [path, field, table, none] = VIEWS[kind];
  const again = (asked) => decide(list, kind, context, asked);
  try {
    const rows = (await post(path, { name: context.name, ...change }))[field];
    const isChanged = Object.keys(change).length > 0;
    fill(list, rows.length ? table(rows, again) : h("p", { class: "faint" }, none),
      isChanged && h("div", { class: "chosen" }, goOn(context, "Crawl on", "The next run takes this up.")));
  } catch (problem) {
    fill(list, message(problem.message));
  }
}

function ruleTable(rules, again) {
  const button = (rule, action, text) => deed(text, `rule ${rule.id}`, () => again({ action, rule: rule.id }));
  const rows = rules.map((rule) => h("tr", {}, h("th", { scope: "row" }, foreign(rule.rewrite.replace(":", ": ").replaceAll(",", ", "), 160),
    h("span", { class: "under" }, foreign(rule.where, 120))),
  h("td", {}, rule.standing), h("td", { class: "number" }, number(rule.skipped)),
  h("td", { class: "number minor" }, `${number(rule.same)} of ${number(rule.trials)}`),
  h("td", {}, h("div", { class: "row" }, rule.pin ? button(rule, "release", "Release") : [button(rule, "pin", "Pin"), button(rule, "forbid", "Forbid")],
    button(rule, "drop", "Drop")))));
  return table("Learned rules", [["Part of the URL"], ["Standing"], ["Skipped", "number"], ["Trials the same", "number minor"], ["Change"]], rows);
}

function trapTable(families, again) {
  const rows = families.map((one) => h("tr", {}, h("th", { scope: "row" }, foreign(one.family, 120),
    one.samples.map((url) => h("span", { class: "under" }, address(url, 100)))),
  h("td", {}, one.released ? "released" : one.state), h("td", { class: "number" }, number(one.set_aside)),
  h("td", { class: "number minor" }, `${number(one.new)} of ${number(one.fetched)}`),
  h("td", {}, !one.released && deed("Release", `family ${one.id}`, () => again({ release: String(one.id) })))));
  return [table("Parked traps", [["Family"], ["State"], ["Set aside", "number"], ["Brought new", "number minor"], ["Change"]], rows),
    families.filter((one) => !one.released).length > 1 && h("div", { class: "row" }, h("button", { type: "button", onclick: () => again({ release: "all" }) }, "Release all"))];
}

const deed = (text, what, action) => h("button", { type: "button", class: "small", "aria-label": `${text} ${what}`, onclick: action }, text);

// --- changes

async function changes(list, context, asked) {
  list.setAttribute("aria-busy", "true");
  try {
    const found = await get("/api/changes", { name: context.name, ...asked });
    fill(list, counts(found.counts, asked.what, (what) => changes(list, context, { what, offset: 0 })),
      found.rows.length ? changeTable(found.rows) : h("p", { class: "faint" }, "Nothing here."),
      found.total > found.page && pager(found, (offset) => changes(list, context, { ...asked, offset })),
      found.counts["held-back"] > 0 && h("div", { class: "chosen" }, goOn(context, "Ask again and believe it",
        "What is held back did not replace what was stored. When it is right, let it.", { believe: true })));
  } catch (problem) {
    fill(list, message(problem.message));
  }
  list.removeAttribute("aria-busy");
}

function counts(all, chosen, choose) {
  const button = (what, text, count) => h("button", { type: "button", class: "small", "aria-pressed": String(what === chosen), onclick: () => choose(what) },
    text, h("span", { class: "count" }, number(count)));
  const listed = Object.entries(all).filter(([what, count]) => count && !["touched", "unchanged"].includes(what));
  const total = listed.reduce((sum, [, count]) => sum + count, 0);
  return [h("div", { class: "row kinds" }, button("", "All", total), listed.map(([what, count]) => button(what, NAMES[what] ?? what, count))),
    h("p", { class: "faint" }, `${number(all.unchanged)} unchanged, and ${number(all.touched)} with other bytes that say the same.`)];
}

function changeTable(list) {
  const rows = list.map((one) => h("tr", {}, h("th", { scope: "row" }, address(one.url, 100), one.to && h("span", { class: "under" }, "now ", address(one.to, 100))),
    h("td", {}, NAMES[one.what] ?? one.what), h("td", { class: "minor" }, titles(one)),
    h("td", { class: "number" }, one.links_added ? `+${number(one.links_added)}` : "", one.links_removed ? ` −${number(one.links_removed)}` : ""),
    h("td", { class: "nowrap minor" }, moment(one.fetched_at))));
  return table("Changes since the visit before", [["URL"], ["What"], ["Title", "minor"], ["Links", "number"], ["When", "minor"]], rows);
}

function titles(one) {
  if (one.error) return h("span", { class: "bad" }, foreign(one.error, 200));
  const isOther = one.old_title && one.new_title && one.old_title !== one.new_title;
  return [foreign(one.new_title ?? one.old_title, 120), isOther && h("span", { class: "under" }, "was ", foreign(one.old_title, 120))];
}

function pager(found, turn) {
  const last = found.offset + found.rows.length;
  return h("div", { class: "pager" }, h("span", { class: "faint" }, `${number(found.offset + 1)} to ${number(last)} of ${number(found.total)}`),
    h("button", { type: "button", disabled: found.offset === 0, onclick: () => turn(Math.max(0, found.offset - found.page)) }, "Previous"),
    h("button", { type: "button", disabled: last >= Math.min(found.total, found.deepest), onclick: () => turn(last) }, "Next"));
}

// --- both

function goOn({ name, copy }, text, meaning, more = {}) {
  const said = h("div", {});
  const given = Object.fromEntries(Object.entries(copy.arguments).filter(([, value]) => value !== ""));
  const button = h("button", { type: "button", class: "primary" }, text);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await post("/api/start", { name, arguments: given, ...more });
      location.hash = `#/${encodeURIComponent(name)}/run`;
    } catch (problem) {
      button.disabled = false;
      fill(said, message(problem.message));
    }
  });
  return [h("div", { class: "row" }, button, h("span", { class: "faint" }, meaning)), said];
}

function table(caption, heads, rows) {
  return h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption }, h("table", { class: "list" },
    h("caption", { class: "hidden" }, caption),
    h("thead", {}, h("tr", {}, heads.map(([title, kind = null]) => h("th", { scope: "col", class: kind }, title)))), h("tbody", {}, rows)));
}
