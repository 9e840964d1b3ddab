// The page's frame: the way in, where one is, and which screen is shown.

import { enter, get, Problem } from "./api.js";
import { address, fill, h, message } from "./dom.js";
import { choose } from "./choose.js";
import { home, STATES } from "./home.js";
import { look } from "./look.js";
import { result } from "./result.js";
import { run } from "./run.js";

const TABS = { look: ["Look", look], choose: ["Choose", choose], run: ["Run", run], result: ["Result", result] };
const top = document.getElementById("top");
const main = document.getElementById("main");
let leave = () => {};
let shown = "";

function crumbs(name, tab, copy) {
  const tabs = Object.entries(TABS).map(([key, [title]]) =>
    h("li", {}, h("a", { href: `#/${encodeURIComponent(name)}/${key}`, "aria-current": key === tab ? "page" : null }, title)));
  const state = copy ? STATES[copy.state] ?? copy.state : "new";
  fill(top, h("div", { class: "bar" },
    h("a", { class: "brand", href: "#/" }, "spiderproj"),
    name && h("span", { class: "where" }, address(name), h("span", { class: `state ${state}` }, state)),
    name && h("nav", { "aria-label": "This crawl" }, h("ul", {}, tabs))));
}

async function show() {
  const [name, tab = "look", ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  const place = `${name}/${tab}`;
  leave();
  leave = () => {};
  try {
    const state = await get("/api/state");
    const copy = state.copies.find((one) => one.name === name);
    const screen = name ? TABS[tab]?.[1] : home;
    if (!screen) throw new Problem(404, "There is no such screen.");
    document.title = name ? `${TABS[tab][0]} – ${name}` : "spiderproj";
    crumbs(name, tab, copy);
    const view = h("div", { class: "view" });
    fill(main, view);
    leave = (await screen(view, { state, name, copy, rest, refresh: show, head: () => heading(name, tab) })) ?? (() => {});
  } catch (problem) {
    if (problem.status === 401) return door();
    crumbs("", "", null);
    fill(main, message(problem.message));
  }
  if (shown && shown !== place) main.focus();
  shown = place;
}

// The state beside the crawl's name, after something was started or stopped.
async function heading(name, tab) {
  const state = await get("/api/state");
  crumbs(name, tab, state.copies.find((one) => one.name === name));
}

function door() {
  crumbs("", "", null);
  const field = h("input", { id: "password", type: "password", autocomplete: "current-password", required: true });
  const said = h("div", {});
  const form = h("form", { class: "door" },
    h("h1", {}, "Come in"),
    h("p", { class: "faint" }, "Open the address that scrapy ui has printed. Each start prints a new one."),
    h("label", { for: "password" }, "Token or password"),
    h("div", { class: "row" }, field, h("button", { class: "primary" }, "Come in")), said);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await enter(field.value);
      show();
    } catch (problem) {
      fill(said, message(problem.message));
    }
  });
  fill(main, form);
}

async function begin() {
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (token) {
    history.replaceState(null, "", location.pathname);
    await enter(token).catch(() => {});
  }
  window.addEventListener("hashchange", show);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  await show();
}

begin();
