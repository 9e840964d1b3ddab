// Watching a crawl: rates, the queue, what it is limited by, errors as they come; pause, resume, stop.

import { get, post } from "./api.js";
import { address, announce, clock, duration, fill, h, message, number } from "./dom.js";

const STATES = {
  running: "Running", finished: "Finished", stopped: "Paused", interrupted: "Interrupted", waiting: "Waiting for its window", starting: "Starting", null: "Not started",
};

export async function run(view, context) {
  const { name, state: place } = context;
  const title = h("h1", {}, "Run");
  const controls = h("div", { class: "row" });
  const said = h("div", {});
  const figures = h("dl", { class: "figures" });
  const chart = h("div", { class: "chart" });
  const limit = h("p", { class: "limit" });
  const queue = h("div", {}, h("p", { class: "faint" }, "Not counted yet."));
  const latest = h("div", {});
  const errors = h("div", {});
  const jobs = h("section", {});
  let gone = false;
  let before = null;
  let stopping = false;
  let beat = 0;

  async function deed(action, text) {
    try {
      await action();
      announce(text);
    } catch (problem) {
      fill(said, message(problem.message));
    }
    await tick(false);
  }

  const stop = () => deed(async () => {
    await post("/api/stop", { name });
    stopping = true;
  }, "Pausing");
  const resume = () => deed(async () => {
    const state = await get("/api/state");
    const copy = state.copies.find((one) => one.name === name);
    await post("/api/start", { name, arguments: changed(copy.arguments) });
  }, "Starting");

  function drawControls(now) {
    const key = `${now} ${stopping}`;
    if (controls.dataset.key === key) return;
    controls.dataset.key = key;
    const button = (text, action, kind = "") => h("button", { type: "button", class: kind, onclick: action }, text);
    const choose = h("a", { class: "button", href: `#/${encodeURIComponent(name)}/choose` }, now === "running" ? "Change the rules" : "Choose");
    if (now === "running" && stopping) fill(controls, h("span", { class: "busy" }, "Ending what is in flight…"), button("End at once", stop));
    else if (now === "running") fill(controls, button("Pause", stop, "primary"), choose);
    else if (now === "starting") fill(controls, h("span", { class: "busy" }, "Starting…"));
    else if (now === "finished") fill(controls, button("Ask again for what it has", resume), choose);
    else if (now) fill(controls, button("Resume", resume, "primary"), choose);
    else fill(controls, choose);
  }

  const figure = (term, value) => h("div", {}, h("dt", {}, term), h("dd", {}, value));

  function draw(found) {
    const now = found.state;
    if (now !== "running") stopping = false;
    if (before !== null && before !== now) {
      announce(STATES[now] ?? now);
      context.head();
    }
    before = now;
    drawControls(now);
    const isShut = now === "running" && found.limit?.startsWith("window ");
    title.textContent = STATES[isShut ? "waiting" : now] ?? "Run";
    const ended = found.child?.status;
    fill(said, ended && ended !== 6 && found.child.said ? message(lastLine(found.child.said)) : null);
    fill(figures, figure("answers", number(found.answers ?? 0)), figure("queued", number(found.pending ?? 0)), figure("URLs known", number(found.known ?? 0)),
      now === "running" && [figure("a second", (found.rate ?? 0).toFixed(1)), figure("left", found.left ? `about ${duration(found.left)}` : "–")]);
    fill(limit, found.limit ? ["Limited by ", h("strong", {}, found.limit)] : "");
    fill(chart, found.bars?.some(Boolean) ? [bars(found.bars), h("p", {}, "Answers in each second of the last minute")] : null);
    fill(latest, found.pages?.length ? pages(found.pages) : h("p", { class: "faint" }, "No answer yet."));
    fill(errors, found.errors?.length ? wrong(found.errors) : h("p", { class: "faint" }, "None so far."));
  }

  async function tick(again = true) {
    if (gone) return;
    try {
      const found = await get("/api/progress", { name });
      draw(found);
      if (found.queue) drawQueue(found.queue);
      else if (beat % 3 === 0) await countQueue();
      if (beat % 5 === 0) await drawJobs();
      beat += 1;
    } catch (problem) {
      fill(said, message(problem.message));
    }
    if (again) setTimeout(tick, document.hidden ? 5000 : 1000);
  }

  async function countQueue() {
    if (before === "starting" || before === null) return;
    const facets = await get("/api/facets", { name }).catch(() => null);
    if (facets) drawQueue(facets.queue);
  }

  function drawQueue(counts) {
    const most = Math.max(1, ...Object.values(counts));
    const rows = Object.entries(counts).map(([level, count]) => h("tr", {}, h("th", { scope: "row" }, level),
      h("td", { class: "meter" }, meter(count / most)), h("td", { class: "number" }, number(count))));
    fill(queue, rows.length ? h("table", { class: "list plain" }, h("caption", { class: "hidden" }, "Queued URLs by level"), h("tbody", {}, rows)) : h("p", { class: "faint" }, "Nothing is queued."));
  }

  async function drawJobs() {
    if (!place.scrapyds.length) return;
    const found = await Promise.all(place.scrapyds.map(async (one) => {
      try {
        return [one, (await get("/api/scrapyd", { url: one.url })).jobs];
      } catch (problem) {
        return [one, problem];
      }
    }));
    fill(jobs, h("h2", {}, "Scrapyd"), found.map(([one, list]) => [h("h3", {}, one.url),
      list instanceof Error ? message(list.message) : jobTable(one, list)]));
  }

  function jobTable(server, list) {
    const rows = Object.entries(list).flatMap(([state, each]) => each.slice(0, 10).map((job) => h("tr", {}, h("th", { scope: "row" }, job.id), h("td", {}, state),
      h("td", { class: "minor" }, job.start_time), h("td", {}, state !== "finished" && h("button", { type: "button", class: "small",
        onclick: () => deed(() => post("/api/scrapyd", { url: server.url, cancel: job.id }), "Cancelling") }, "Cancel")))));
    return rows.length ? h("table", { class: "list" }, h("tbody", {}, rows)) : h("p", { class: "faint" }, "No jobs.");
  }

  fill(view, h("div", { class: "title" }, title, controls), said, figures, chart, limit,
    h("div", { class: "columns" }, h("section", {}, h("h2", {}, "Queue by level"), queue), h("section", {}, h("h2", {}, "Errors, the latest first"), errors)),
    h("section", {}, h("h2", {}, "Latest answers"), latest), jobs);
  await tick();
  return () => { gone = true; };
}

function changed(all) {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
}

const lastLine = (text) => text.trim().split("\n").at(-1).replace(/^spiderproj: /, "");

function meter(share) {
  return h("svg", { viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, h("rect", { width: (100 * share).toFixed(1), height: 6 }));
}

function bars(counts) {
  const most = Math.max(1, ...counts);
  return h("svg", { viewBox: `0 0 ${counts.length * 5} 60`, preserveAspectRatio: "none", role: "img", "aria-label": `Answers in each of the last ${counts.length} seconds, at most ${most}` },
    counts.map((count, place) => h("rect", { x: place * 5, y: 60 - (60 * count) / most, width: 4, height: (60 * count) / most })));
}

function pages(list) {
  return h("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Latest answers" }, h("table", { class: "list" },
    h("thead", {}, h("tr", {}, ["URL", "Answer", "When"].map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, list.map((one) => h("tr", {}, h("td", {}, address(one.url, 100)), h("td", {}, one.error ?? `HTTP ${one.status}`),
      h("td", { class: "nowrap" }, clock(one.at)))))));
}

function wrong(list) {
  return h("ul", { class: "lines" }, list.map((one) => h("li", {}, h("span", { class: "bad" }, one.error), " ", address(one.url, 80))));
}
