// The filter as rows of name, test and value, and as text: each is made of the other by the server.

import { post } from "./api.js";
import { fill, fresh, h } from "./dom.js";

const NAMES = ["url", "scheme", "host", "path", "query", "ext", "level", "type", "text", "source", "depth", "size"];
const NUMBERS = new Set(["depth", "size"]);
const OF_TEXT = ["is", "is not", "contains", "does not contain", "begins with", "ends with", "matches", "does not match", "is one of", "is none of"];
const OF_NUMBERS = ["is", "is not", "at most", "at least", "below", "above"];

const options = (values, chosen) => values.map((value) => h("option", { value, selected: value === chosen }, value));

export function builder(text, changed) {
  let parts = [];
  let joint = "and";
  const field = h("textarea", { id: "filter", rows: 2, spellcheck: "false", "aria-describedby": "filter-said filter-help", value: text });
  const said = h("p", { id: "filter-said", class: "error", role: "alert" });
  const rows = h("div", { class: "parts" });

  function draw() {
    fill(rows, parts.map(row), parts.length > 1 && jointField(),
      h("button", { type: "button", class: "small", onclick: () => {
        parts.push(["ext", "is", ""]);
        draw();
        rows.querySelectorAll("input")[parts.length - 1]?.focus();
      } }, "Add a condition"));
  }

  function jointField() {
    const select = h("select", { id: fresh("joint"), onchange: () => { joint = select.value; write(); } },
      h("option", { value: "and", selected: joint === "and" }, "all of these"), h("option", { value: "or", selected: joint === "or" }, "any of these"));
    return h("div", { class: "joint" }, h("label", { for: select.id }, "Must hold:"), select);
  }

  function row(part, place) {
    const [name, test, value] = part;
    const change = (index) => (event) => {
      part[index] = event.target.value;
      if (index === 0 && !(NUMBERS.has(part[0]) ? OF_NUMBERS : OF_TEXT).includes(part[1])) part[1] = "is";
      if (index === 0) draw();
      write();
    };
    const label = `Condition ${place + 1}`;
    return h("div", { class: "part", role: "group", "aria-label": label },
      h("select", { "aria-label": `${label}: name`, onchange: change(0) }, options(NAMES, name)),
      h("select", { "aria-label": `${label}: test`, onchange: change(1) }, options(NUMBERS.has(name) ? OF_NUMBERS : OF_TEXT, test)),
      h("input", { "aria-label": `${label}: value`, value, oninput: change(2), spellcheck: "false", autocomplete: "off" }),
      h("button", { type: "button", class: "small", "aria-label": `Remove condition ${place + 1}`, onclick: () => {
        parts.splice(place, 1);
        draw();
        write();
      } }, "Remove"));
  }

  async function write() {
    if (parts.some(([, , value]) => value === "")) return;
    await exchange({ joint, parts }, (found) => { field.value = found.text; });
  }

  async function read() {
    await exchange({ text: field.value }, (found) => {
      rows.hidden = found.built === null;
      help.textContent = found.built === null ? "Richer than rows can show: change it as text." : HELP;
      if (found.built) {
        ({ joint } = found.built);
        parts = found.built.parts.map((part) => [...part]);
        draw();
      }
    });
  }

  async function exchange(body, take) {
    try {
      take(await post("/api/expression", body));
      said.textContent = "";
      field.removeAttribute("aria-invalid");
    } catch (problem) {
      said.textContent = problem.message;
      field.setAttribute("aria-invalid", "true");
      return;
    }
    changed(field.value.trim());
  }

  const HELP = "What the other arguments cannot say, in a small part of Python’s expressions. Rows and text say the same.";
  const help = h("p", { id: "filter-help", class: "faint" }, HELP);
  let timer = 0;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(read, 300);
  });
  draw();
  if (text) read();
  return h("fieldset", { class: "filter" }, h("legend", {}, "Filter"), rows, h("label", { for: "filter" }, "As text"), field, said, help);
}
