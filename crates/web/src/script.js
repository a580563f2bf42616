// The pages of the info ports: tables that sort and filter, plots that tell the moment that is pointed at, and all of it fresh.
// Without this script the pages show the same once.
"use strict";

const REFRESH_MS = 5000;

/** What a reader has chosen, by section: it outlives the content. */
const chosen = new Map();

function ofSection(element) {
  const id = element.closest("section").id;
  if (!chosen.has(id)) chosen.set(id, { column: null, down: false, filter: "" });
  return chosen.get(id);
}

function cellValue(row, column) {
  const cell = row.cells[column];
  if (cell === undefined) return "";
  return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
}

function sort(table, { column, down }) {
  if (column === null) return;
  const body = table.tBodies[0];
  const compare = (a, b) => {
    const [x, y] = [cellValue(a, column), cellValue(b, column)];
    if (typeof x !== typeof y) return typeof x === "string" ? 1 : -1; // unknown figures come last
    const order = typeof x === "number" ? x - y : x.localeCompare(y);
    return down ? -order : order;
  };
  body.append(...[...body.rows].sort(compare));
  [...table.tHead.rows[0].cells].forEach((th, i) => {
    if (i === column) th.setAttribute("aria-sort", down ? "descending" : "ascending");
    else th.removeAttribute("aria-sort");
  });
}

function filter(table, text) {
  const wanted = text.toLowerCase();
  for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
}

const WORTH_A_FILTER = 12;

function equip(content) {
  for (const table of content.querySelectorAll("table")) {
    const choice = ofSection(table);
    sort(table, choice);
    filter(table, choice.filter);
    [...table.tHead.rows[0].cells].forEach((th, i) => th.addEventListener("click", () => {
      // Large figures first, names from the beginning.
      choice.down = choice.column === i ? !choice.down : th.classList.contains("number");
      choice.column = i;
      sort(table, choice);
    }));
    const section = table.closest("section");
    if (table.tBodies[0].rows.length >= WORTH_A_FILTER && !section.querySelector("input.filter")) {
      const input = document.createElement("input");
      input.className = "filter";
      input.placeholder = "filter";
      input.setAttribute("aria-label", "filter");
      input.addEventListener("input", () => {
        choice.filter = input.value;
        section.querySelectorAll("table").forEach((one) => filter(one, choice.filter));
      });
      section.querySelector(".live").before(input);
    }
  }
  content.querySelectorAll("figure.timeline").forEach(point);
}

/** Shows the values of the moment under the pointer in the legend. */
function point(figure) {
  const svg = figure.querySelector("svg");
  const [left, right, room] = ["left", "right", "room"].map((name) => Number(svg.dataset[name]));
  const step = Number(figure.dataset.step);
  const spans = [...figure.querySelectorAll(".legend span")];
  const now = spans.map((span) => span.querySelector("b").textContent);
  const caption = figure.querySelector("figcaption");
  const when = document.createElement("span");
  when.className = "when";
  caption.append(when);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  line.setAttribute("class", "cursor");
  line.setAttribute("y1", 8);
  line.setAttribute("y2", svg.viewBox.baseVal.height - 22);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    const places = Math.max(room - 1, 1);
    const ago = Math.min(Math.max(Math.round(((right - x) / (right - left)) * places), 0), room - 1);
    const at = right - (ago * (right - left)) / places;
    line.setAttribute("x1", at);
    line.setAttribute("x2", at);
    svg.append(line);
    const seconds = ago * step;
    when.textContent = ago === 0 ? "" : ` – ${Math.floor(seconds / 60)} min ${seconds % 60} s ago`;
    for (const span of spans) {
      const values = span.dataset.values.split("|");
      span.querySelector("b").textContent = values[values.length - 1 - ago] || "–";
    }
  });
  svg.addEventListener("pointerleave", () => {
    line.remove();
    when.textContent = "";
    spans.forEach((span, i) => { span.querySelector("b").textContent = now[i]; });
  });
}

async function refresh() {
  const live = document.getElementById("live");
  if (!live.checked || document.hidden) return;
  let text;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    text = await answer.text();
  } catch {
    return; // the server is away: what was seen last stays, and it is asked again
  }
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const section of document.querySelectorAll("section")) {
    const [content, next] = [section, fresh.getElementById(section.id)].map((one) => one && one.querySelector(".live"));
    // What is pointed at or marked is left as it is.
    if (!next || content.matches(":hover") || content.contains(document.getSelection().focusNode)) continue;
    content.replaceWith(document.adoptNode(next));
    equip(section);
  }
}

document.querySelector("label.live").hidden = false;
equip(document.querySelector("main"));
setInterval(refresh, REFRESH_MS);
