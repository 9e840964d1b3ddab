// The first screen of a crawl: what a survey says of the site, and every link that is known, to be sorted and narrowed.

import { get, post } from "./api.js";
import { bytes, duration, fill, foreign, h, message, moment, number } from "./dom.js";
import { urlTable } from "./table.js";

export async function look(view, context) {
  const { name, copy } = context;
  const survey = h("section", { "aria-labelledby": "survey-title" });
  const list = h("section", { "aria-labelledby": "links-title" });
  fill(survey, h("p", { class: "busy" }, "Reading the survey…"));
  fill(view, h("h1", {}, "Look"), survey, list);
  let gone = false;
  let drawn = "";

  async function surveyed() {
    const found = await get("/api/survey", { name });
    if (gone) return;
    const runs = found.child && found.child.status === null;
    const key = `${runs} ${found.survey?.surveyed_at} ${found.child?.status}`;
    if (key !== drawn) fill(survey, heading(found), runs ? waiting() : found.survey ? told(found.survey) : none(found));
    if (drawn.startsWith("true") && !runs) context.head();
    if (key !== drawn && !runs) await links();
    drawn = key;
    if (runs) setTimeout(() => gone || surveyed().catch(() => {}), 1000);
  }

  const heading = (found) => h("div", { class: "title" }, h("h2", { id: "survey-title" }, "Survey"),
    found.survey && h("span", { class: "faint" }, moment(found.survey.surveyed_at)));

  const waiting = () => h("p", { role: "status", class: "busy" },
    "Looking: at most 300 requests, at the polite pace. This takes a minute, or five on a site that asks for patience.");

  function none(found) {
    const seed = copy?.arguments?.seed ?? sessionStorage.getItem(`seed ${name}`) ?? copy?.seeds.join(" ") ?? "";
    const said = h("div", {});
    const button = h("button", { type: "button", class: "primary" }, "Survey the site");
    button.addEventListener("click", async () => {
      try {
        await post("/api/start", { kind: "survey", name, arguments: { seed } });
        await surveyed();
      } catch (problem) {
        fill(said, message(problem.message));
      }
    });
    return [found.child?.status ? message(found.child.said || "The survey ended without a result.") : null,
      h("p", { class: "faint" }, "Not surveyed. A survey tells how many pages, bytes and hours each choice would take."),
      seed && h("div", { class: "row" }, button), said];
  }

  async function links() {
    fill(list, h("h2", { id: "links-title" }, "Links"), h("p", { class: "busy" }, "Reading the store…"));
    const state = await get("/api/state");
    const known = state.copies.find((one) => one.name === name);
    if (!known || (!known.known && !known.has_survey)) {
      fill(list, h("h2", { id: "links-title" }, "Links"), h("p", { class: "faint" }, "None are known yet."));
      return;
    }
    const facets = await get("/api/facets", { name });
    const urls = urlTable({ ...context, files: state.files }, {
      view: "all", facets, caption: "Links that are known", filters: ["level", "type", "host"],
      columns: ["text", "url", "level", "type", "host", "size", "verdict"],
    });
    fill(list, h("div", { class: "title" }, h("h2", { id: "links-title" }, "Links"), h("span", { class: "faint" }, `${number(facets.total)} known`)),
      urls.element);
    await urls.load();
  }

  await surveyed();
  return () => { gone = true; };
}

const range = (value, form) => (value.high === null ? `${form(value.low)} or more`
  : Math.round(value.low) === Math.round(value.high) ? form(value.low) : `${form(value.low)} to ${form(value.high)}`);
const count = (value) => number(Math.round(value));

function told(survey) {
  return [
    survey.title && h("p", { class: "lead" }, foreign(survey.title)),
    h("h3", {}, "What each choice would take"), choices(survey.choices),
    h("div", { class: "columns" }, remarks(survey).map(([title, lines]) =>
      h("div", {}, h("h3", {}, title), h("ul", { class: "lines" }, lines.map((line) => h("li", {}, line)))))),
  ];
}

function choices(list) {
  const rows = list.map((one) => h("tr", {}, h("th", { scope: "row" }, one.name, one.note && h("span", { class: "under" }, one.note)),
    h("td", { class: "number" }, range(one.pages, count)), h("td", { class: "number" }, range(one.files, count)),
    h("td", { class: "number" }, range(one.bytes, bytes)), h("td", { class: "number" }, range(one.hours, (hours) => duration(hours * 3600)))));
  return h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "What each choice would take" },
    h("table", { class: "list" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Choice"),
      ["Pages", "Files", "Bytes", "Time"].map((title) => h("th", { scope: "col", class: "number" }, title)))), h("tbody", {}, rows)));
}

function remarks(survey) {
  const { rate, head, validators, sitemaps } = survey;
  const requests = Object.values(rate.requests).reduce((sum, each) => sum + each, 0);
  const found = [
    ["Pace", [`${number(requests)} requests in ${duration(rate.seconds)}`, `limited by ${rate.limited_by}`]],
    ["Revisits", [`${validators.etag + validators.last_modified > 0 ? `${number(validators.unchanged)} of ${number(validators.asked)} conditional requests answered "unchanged"` : "no validators: a revisit fetches everything"}`,
      `${number(head.same)} of ${number(head.asked)} HEADs agree with the GET`]],
    ["Sitemaps", [sitemaps.files.length ? `${number(sitemaps.urls)} URLs in ${number(sitemaps.files.length)} files` : "none",
      sitemaps.files.length > 0 && `${number(sitemaps.unlisted)} known pages are not in them`].filter(Boolean)],
  ];
  const robots = survey.robots.flatMap((one) => [`${one.status ? `HTTP ${one.status}` : "no answer"}: refuses ${number(one.refused)} of the known URLs`,
    one.crawl_delay ? `asks for ${one.crawl_delay} s between requests` : ""]).filter(Boolean);
  if (robots.length) found.push(["robots.txt", robots]);
  if (survey.hosts.length) found.push(["Other hosts", survey.hosts.slice(0, 6).map((one) => [foreign(one.host, 60), ` ${number(one.urls)} URLs`])]);
  if (survey.suspects.length) found.push(["Possible traps", survey.suspects.slice(0, 6).map((one) => [foreign(one.family, 90), h("span", { class: "under" }, one.why)])]);
  return found;
}
