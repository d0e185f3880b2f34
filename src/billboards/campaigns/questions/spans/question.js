// Marking errors in an output, by mouse, touch or keyboard. The server counts places in code points, a browser's texts
// in units of UTF-16; places are turned from one into the other where marks are read and written.
const question = document.querySelector("fieldset.question.spans");
const field = question.querySelector("input[type=hidden]");
const tools = question.querySelector(".marking");
const list = tools.querySelector(".marks");
const severities = tools.dataset.severities.split("|");
const category = tools.querySelector("[data-category]");
const said = document.getElementById("kept");
const texts = [...document.querySelectorAll("[data-output]")].map((element, place) => ({
  element,
  place,
  text: element.textContent,
  words: [],
}));

const toPoints = (text, unit) => [...text.slice(0, unit)].length;
const toUnits = (text, point) => [...text].slice(0, point).join("").length;

let marks = (field.value === "" ? [] : JSON.parse(field.value)).map((mark) => {
  const { text } = texts[mark.output];
  return { ...mark, start: toUnits(text, mark.start), end: toUnits(text, mark.end) };
});
let chosen = null;

function write() {
  field.value = JSON.stringify(
    marks.map((mark) => {
      const { text } = texts[mark.output];
      return { ...mark, start: toPoints(text, mark.start), end: toPoints(text, mark.end) };
    }),
  );
}

function wordsOf(text, language) {
  if (!("Segmenter" in Intl)) return [...text.matchAll(/\S+/g)].map((one) => [one.index, one.index + one[0].length]);
  const found = [];
  for (const piece of new Intl.Segmenter(language || undefined, { granularity: "word" }).segment(text)) {
    if (piece.segment.trim()) found.push([piece.index, piece.index + piece.segment.length]);
  }
  return found;
}

function draw() {
  for (const one of texts) {
    const mine = marks.filter((mark) => mark.output === one.place);
    const here = chosen && chosen.output === one.place ? [chosen] : [];
    const ends = [0, one.text.length, ...[...mine, ...here].flatMap((mark) => [mark.start, mark.end])];
    const places = [...new Set(ends)].sort((a, b) => a - b);
    one.element.replaceChildren();
    places.forEach((start, k) => {
      for (const mark of mine.filter((other) => other.missing && other.start === start)) {
        one.element.append(Object.assign(document.createElement("span"), { className: `gap s${severities.indexOf(mark.severity)}`, textContent: "" }));
      }
      if (k + 1 === places.length) return;
      const end = places[k + 1];
      const piece = document.createElement("span");
      piece.textContent = one.text.slice(start, end);
      const over = mine.find((mark) => mark.start < end && mark.end > start);
      if (over) piece.classList.add("marked", `s${severities.indexOf(over.severity)}`);
      if (here.some((mark) => mark.start < end && mark.end > start)) piece.classList.add("chosen");
      one.element.append(piece);
    });
  }
  list.replaceChildren(
    ...marks.map((mark) => {
      const item = document.createElement("li");
      const quoted = mark.missing ? "something is missing" : `“${texts[mark.output].text.slice(mark.start, mark.end)}”`;
      const remove = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: "remove" });
      remove.setAttribute("aria-label", `Remove: ${quoted}, ${mark.severity}`);
      remove.addEventListener("click", () => change(marks.filter((other) => other !== mark)));
      item.append(`${quoted}: ${mark.severity}${mark.category ? `, ${mark.category}` : ""} `, remove);
      return item;
    }),
  );
  tools.querySelector(".none").hidden = marks.length > 0;
}

function change(next) {
  marks = next;
  write();
  draw();
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

function select(output, start, end) {
  chosen = { output, start, end };
  draw();
  said.textContent = `Selected: ${texts[output].text.slice(start, end)}`;
}

let missing = false;
function mark(severity) {
  if (!chosen) {
    said.textContent = "Select the words first, then say how bad it is.";
    return;
  }
  const kind = category ? { category: category.value } : {};
  const place = missing ? { start: chosen.start, end: chosen.start, missing: true } : { start: chosen.start, end: chosen.end };
  const made = { output: chosen.output, ...place, severity, ...kind };
  setMissing(false);
  chosen = null;
  getSelection().removeAllRanges();
  change([...marks, made].sort((a, b) => a.output - b.output || a.start - b.start));
}

function setMissing(value) {
  missing = value;
  tools.querySelector("[data-missing]")?.setAttribute("aria-pressed", String(value));
}

// The mouse and touch: what is selected in a text is what is meant.
document.addEventListener("selectionchange", () => {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return;
  const range = selection.getRangeAt(0);
  const one = texts.find(({ element }) => element.contains(range.startContainer) && element.contains(range.endContainer));
  if (!one) return;
  const before = document.createRange();
  before.selectNodeContents(one.element);
  before.setEnd(range.startContainer, range.startOffset);
  const start = before.toString().length;
  chosen = { output: one.place, start, end: start + range.toString().length };
});

// The keyboard: one word at a time, Shift for more of them.
function step(one, forward, extend) {
  const { words } = one;
  if (!words.length) return;
  const mine = chosen && chosen.output === one.place ? chosen : null;
  const first = mine ? words.findIndex(([, end]) => end > mine.start) : -1;
  const last = mine ? words.findLastIndex(([start]) => start < mine.end) : -1;
  if (!mine) {
    select(one.place, ...words[forward ? 0 : words.length - 1]);
  } else if (extend) {
    const end = Math.min(Math.max(first, last + (forward ? 1 : -1)), words.length - 1);
    select(one.place, words[first][0], words[end][1]);
  } else {
    const next = Math.min(Math.max(0, forward ? last + 1 : first - 1), words.length - 1);
    select(one.place, ...words[next]);
  }
}

for (const one of texts) {
  const { element } = one;
  one.words = wordsOf(one.text, element.lang);
  element.tabIndex = 0;
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", `${element.parentElement.querySelector("h2").textContent}, to mark errors in`);
  element.setAttribute("aria-describedby", "marking-help");
  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const toRight = getComputedStyle(element).direction !== "rtl";
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      step(one, (event.key === "ArrowRight") === toRight, event.shiftKey);
    } else if (/^[1-9]$/.test(event.key) && severities[Number(event.key) - 1]) {
      mark(severities[Number(event.key) - 1]);
    } else if (event.key === "m" && tools.querySelector("[data-missing]")) {
      setMissing(!missing);
    } else if ((event.key === "Backspace" || event.key === "Delete") && chosen) {
      const { output, start, end } = chosen;
      change(marks.filter((other) => other.output !== output || other.start >= end || other.end <= start));
    } else if (event.key === "Escape") {
      chosen = null;
      draw();
    } else {
      return;
    }
    event.preventDefault();
  });
}

for (const button of tools.querySelectorAll("button")) {
  // Pressing a button must not take the selection away from the text.
  button.addEventListener("pointerdown", (event) => event.preventDefault());
}
for (const button of tools.querySelectorAll("[data-severity]")) {
  button.addEventListener("click", () => mark(button.dataset.severity));
}
tools.querySelector("[data-missing]")?.addEventListener("click", () => setMissing(!missing));
// Only once the page's own script has set its focus: an untouched list of marks counts as an answer from here on.
addEventListener("DOMContentLoaded", () => {
  tools.hidden = false;
  write();
  draw();
});
