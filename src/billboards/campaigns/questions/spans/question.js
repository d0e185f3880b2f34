// Marking errors in an output or its source, by mouse, touch or keyboard. The server counts places in code points, a
// browser's texts in units of UTF-16; places are turned from one into the other where marks are read and written.
const NO_TRANSLATION = "Non-translation";
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

// A message with its places filled in. A value that may run against the message is isolated, so that neither of them
// turns the other's commas and quotes around.
function fill(message, values, direction) {
  return message.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return direction === "rtl" || RIGHT_TO_LEFT.test(value) ? `\u2068${value}\u2069` : value;
  });
}

const toPoints = (text, unit) => [...text.slice(0, unit)].length;
const toUnits = (text, point) => [...text].slice(0, point).join("").length;

function wordsOf(text, language) {
  if (!("Segmenter" in Intl)) return [...text.matchAll(/\S+/g)].map((match) => [match.index, match.index + match[0].length]);
  const words = [];
  for (const piece of new Intl.Segmenter(language || undefined, { granularity: "word" }).segment(text)) {
    if (piece.segment.trim()) words.push([piece.index, piece.index + piece.segment.length]);
  }
  return words;
}

class Marking {
  constructor(question) {
    this.question = question;
    this.field = question.querySelector("input[type=hidden]");
    this.tools = question.querySelector(".marking");
    this.list = this.tools.querySelector(".marks");
    this.state = this.tools.querySelector(".state");
    this.severities = this.tools.dataset.severities.split("|");
    // Every word that is written into the page, in its language.
    this.words = JSON.parse(this.tools.dataset.words);
    this.category = this.tools.querySelector("[data-category]");
    this.comment = this.tools.querySelector("[data-comment]");
    const item = question.closest("[data-item]") ?? document;
    this.texts = [...item.querySelectorAll("[data-output]")].map((element, place) => this.text(element, place, false));
    const source = "marksSource" in this.tools.dataset ? item.querySelector("[data-source]") : null;
    if (source) this.texts.push(this.text(source, null, true));
    const kept = this.field.value === "" ? [] : JSON.parse(this.field.value);
    this.marks = kept.map((mark) => {
      const { text } = this.textOf(mark);
      return { ...mark, start: toUnits(text, mark.start), end: toUnits(text, mark.end) };
    });
    this.past = [];
    this.future = [];
    // The cursor: the words that are selected, and in which text.
    this.chosen = null;
    // The mark that is being changed, and whether arrows change its extent.
    this.edited = null;
    this.resizing = false;
    this.missing = false;
    this.output = 0;
    this.texts.forEach((text) => this.listen(text));
    this.listenToTools();
  }

  text(element, place, source) {
    const heading = element.closest("[data-cell]")?.querySelector("h2")?.textContent ?? "";
    element.tabIndex = 0;
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", this.word(source ? "toMarkSource" : "toMark", { heading }));
    return { element, place, source, text: element.textContent, words: wordsOf(element.textContent, element.lang) };
  }

  word(name, values = {}) {
    return fill(this.words[name], values, this.tools.dir);
  }

  textOf(mark) {
    return this.texts.find((text) => (mark.source ? text.source : text.place === mark.output));
  }

  // What is marked.

  write() {
    this.field.value = JSON.stringify(
      this.marks.map((mark) => {
        const { text } = this.textOf(mark);
        return { ...mark, start: toPoints(text, mark.start), end: toPoints(text, mark.end) };
      }),
    );
  }

  change(marks, edited = null) {
    this.past.push(this.marks);
    this.future = [];
    this.set(marks, edited);
  }

  set(marks, edited = null) {
    const order = (mark) => (mark.source ? 1e6 : 0) + mark.output * 1e7 + mark.start;
    this.marks = [...marks].sort((a, b) => order(a) - order(b));
    this.edited = edited;
    this.resizing = this.resizing && edited !== null;
    this.write();
    this.draw();
    this.field.dispatchEvent(new Event("change", { bubbles: true }));
  }

  travel(from, to, word) {
    if (!from.length) return this.say(this.word("nothingToUndo"));
    to.push(this.marks);
    this.set(from.pop());
    this.say(word);
  }

  replace(mark, values) {
    const next = { ...mark, ...values };
    for (const key of Object.keys(next)) if (next[key] === undefined) delete next[key];
    this.change(this.marks.map((other) => (other === mark ? next : other)), next);
    return next;
  }

  // The mark at hand: the one being changed, else one with the very extent of the cursor, else one around it.
  atHand() {
    if (this.edited) return this.edited;
    if (!this.chosen) return null;
    const { start, end } = this.chosen;
    const here = this.marks.filter((mark) => this.textOf(mark) === this.chosen.text && mark.start <= start && mark.end >= end);
    return here.sort((a, b) => a.end - a.start - (b.end - b.start))[0] ?? null;
  }

  isExact(mark) {
    return mark === this.edited || (mark.start === this.chosen.start && mark.end === this.chosen.end);
  }

  mark(severity) {
    const at = this.atHand();
    if (at && this.isExact(at) && !this.missing) {
      this.replace(at, { severity });
      return this.say(this.word("marked", { quoted: this.quoted(at), severity }));
    }
    if (!this.chosen) return this.say(this.word("selectFirst"));
    const { text, start, end } = this.chosen;
    const made = { output: text.source ? this.output : text.place, start, end: this.missing ? start : end, severity };
    if (this.category) made.category = this.category.value;
    if (text.source) made.source = true;
    if (this.missing) made.missing = true;
    const omission = text.source && this.category && [...this.category.options].find(({ value }) => /omission$/i.test(value));
    if (omission) made.category = omission.value;
    this.missing = false;
    getSelection().removeAllRanges();
    this.change([...this.marks.filter((mark) => mark.output !== made.output || mark.category !== NO_TRANSLATION), made], made);
    text.element.focus({ preventScroll: true });
    this.say(this.word("marked", { quoted: this.quoted(made), severity }));
  }

  remove(mark) {
    const quoted = this.quoted(mark);
    this.change(this.marks.filter((other) => other !== mark));
    this.say(this.word("removed", { quoted }));
  }

  refuseTranslation() {
    const { output } = this;
    const { text } = this.texts[output];
    const before = this.marks.find((mark) => mark.output === output && mark.category === NO_TRANSLATION);
    if (before) return this.remove(before);
    const made = { output, start: 0, end: text.length, severity: this.tools.dataset.worst, category: NO_TRANSLATION };
    this.change([...this.marks.filter((mark) => mark.output !== output), made], made);
    this.say(this.word("noTranslation"));
  }

  quoted(mark) {
    if (mark.category === NO_TRANSLATION) return this.word("noTranslation");
    if (mark.missing) return this.word("missing");
    const quoted = this.word("quoted", { words: this.textOf(mark).text.slice(mark.start, mark.end) });
    return mark.source ? this.word("leftOut", { quoted }) : quoted;
  }

  // The template's own words for a mark: how bad it is, and of what kind.
  judged({ severity, category }) {
    return category && category !== NO_TRANSLATION ? `${severity}, ${category}` : severity;
  }

  // What is seen.

  say(words) {
    this.state.textContent = words;
  }

  draw() {
    const at = this.atHand();
    for (const text of this.texts) this.drawText(text, at);
    this.list.replaceChildren(...this.marks.map((mark) => this.listed(mark, mark === at)));
    this.tools.querySelector(".none").hidden = this.marks.length > 0;
    this.drawTools(at);
  }

  drawText({ element, text }, at) {
    const mine = this.marks.filter((mark) => this.textOf(mark).element === element);
    const here = this.chosen && this.chosen.text.element === element ? [this.chosen] : [];
    const ends = [0, text.length, ...[...mine, ...here].flatMap((mark) => [mark.start, mark.end])];
    const places = [...new Set(ends)].sort((a, b) => a - b);
    element.replaceChildren();
    places.forEach((start, k) => {
      for (const mark of mine.filter((other) => other.missing && other.start === start)) {
        const gap = document.createElement("span");
        gap.className = `gap s${this.severities.indexOf(mark.severity)}`;
        gap.dataset.at = start;
        element.append(gap);
      }
      if (k + 1 === places.length) return;
      const end = places[k + 1];
      const piece = document.createElement("span");
      piece.textContent = text.slice(start, end);
      const over = mine.filter((mark) => mark.start < end && mark.end > start);
      if (over.length) {
        const worst = Math.max(...over.map((mark) => this.severities.indexOf(mark.severity)));
        piece.classList.add("marked", `s${worst}`);
        if (over.length > 1) piece.classList.add("twice");
        if (over.includes(at)) piece.classList.add("at-hand");
      }
      if (here.some((mark) => mark.start < end && mark.end > start)) piece.classList.add("chosen");
      element.append(piece);
    });
  }

  listed(mark, isAtHand) {
    const item = document.createElement("li");
    item.classList.toggle("is-at-hand", isAtHand);
    const quoted = this.quoted(mark);
    const word = Object.assign(document.createElement("button"), { type: "button", className: "plain word", textContent: quoted });
    word.setAttribute("aria-label", this.word("change", { quoted, severity: mark.severity }));
    word.addEventListener("click", () => this.open(mark));
    const remove = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: this.word("remove") });
    remove.setAttribute("aria-label", this.word("removeIt", { quoted, severity: mark.severity }));
    remove.addEventListener("click", () => {
      this.remove(mark);
      this.toText();
    });
    const which = this.texts.filter(({ source }) => !source).length > 1 ? ` (${this.texts[mark.output].element.closest("[data-cell]").querySelector("h2").textContent})` : "";
    const apart = (text) => Object.assign(document.createElement("bdi"), { textContent: text });
    item.append(word, ": ", apart(this.judged(mark)), which, ...(mark.comment ? [" – ", apart(mark.comment)] : []), " ", remove);
    return item;
  }

  drawTools(at) {
    const find = (what) => this.tools.querySelector(`[data-${what}]`);
    for (const button of this.tools.querySelectorAll("[data-severity]")) {
      button.setAttribute("aria-pressed", String(at?.severity === button.dataset.severity));
    }
    if (this.category && at && at.category !== NO_TRANSLATION) this.category.value = at.category;
    if (this.comment) {
      this.comment.disabled = !at;
      if (document.activeElement !== this.comment) this.comment.value = at?.comment ?? "";
    }
    find("missing")?.setAttribute("aria-pressed", String(this.missing));
    const refused = this.marks.some((mark) => mark.output === this.output && mark.category === NO_TRANSLATION);
    find("no-translation")?.setAttribute("aria-pressed", String(refused));
    find("resize").disabled = !at || at.category === NO_TRANSLATION || Boolean(at.missing);
    find("resize").setAttribute("aria-pressed", String(this.resizing));
    find("remove").disabled = !at;
    find("back").disabled = !this.past.length;
    find("forth").disabled = !this.future.length;
  }

  // Where the cursor is.

  select(text, start, end) {
    this.chosen = { text, start, end };
    this.edited = null;
    this.resizing = false;
    if (!text.source) this.output = text.place;
    this.draw();
    const at = this.atHand();
    const quoted = at ? this.quoted(at) : this.word("quoted", { words: text.text.slice(start, end) });
    this.say(at ? this.word("atMark", { quoted, severity: this.judged(at) }) : this.word("selected", { quoted }));
    text.element.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
  }

  // Select a mark to change it.
  open(mark) {
    const text = this.textOf(mark);
    this.chosen = { text, start: mark.start, end: mark.end };
    this.edited = mark;
    this.resizing = false;
    this.output = mark.output;
    this.draw();
    text.element.focus({ preventScroll: true });
    this.say(this.word("atMark", { quoted: this.quoted(mark), severity: this.judged(mark) }));
  }

  step(text, forward, extend) {
    const { words } = text;
    if (!words.length) return;
    const mine = this.chosen && this.chosen.text === text ? this.chosen : null;
    const first = mine ? words.findIndex(([, end]) => end > mine.start) : -1;
    const last = mine ? words.findLastIndex(([start]) => start < Math.max(mine.end, mine.start + 1)) : -1;
    if (!mine || first === -1) {
      this.select(text, ...words[forward ? 0 : words.length - 1]);
    } else if (extend) {
      const end = Math.min(Math.max(first, last + (forward ? 1 : -1)), words.length - 1);
      this.select(text, words[first][0], words[end][1]);
    } else {
      const next = Math.min(Math.max(0, forward ? last + 1 : first - 1), words.length - 1);
      this.select(text, ...words[next]);
    }
  }

  // Move one end of the mark at hand, by word or by character.
  resize(forward, atEnd, byCharacter) {
    const mark = this.edited;
    const text = this.textOf(mark);
    const stops = byCharacter
      ? [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text.text)].flatMap(({ index, segment }) => [index, index + segment.length])
      : text.words.map(([start, end]) => (atEnd ? end : start));
    const now = atEnd ? mark.end : mark.start;
    const next = forward ? stops.find((stop) => stop > now) : stops.findLast((stop) => stop < now);
    if (next === undefined) return;
    const { start, end } = atEnd ? { start: mark.start, end: next } : { start: next, end: mark.end };
    if (start < end) this.stretch(mark, text, start, end);
  }

  stretch(mark, text, start, end) {
    const resizing = this.resizing;
    this.chosen = { text, start, end };
    const changed = this.replace(mark, { start, end });
    this.resizing = resizing;
    this.drawTools(changed);
    this.say(this.word("resizing", { quoted: this.quoted(changed) }));
  }

  beginResizing() {
    const mark = this.atHand();
    if (!mark || mark.missing || mark.category === NO_TRANSLATION) return;
    this.chosen = { text: this.textOf(mark), start: mark.start, end: mark.end };
    this.edited = mark;
    this.resizing = !this.resizing;
    this.draw();
    if (this.resizing) this.say(this.word("resizing", { quoted: this.quoted(mark) }));
  }

  toText() {
    const text = this.chosen?.text ?? this.texts[this.output];
    text.element.focus({ preventScroll: true });
  }

  switchSource() {
    const source = this.texts.find((text) => text.source);
    if (!source) return;
    const inSource = document.activeElement === source.element;
    const next = inSource ? this.texts[this.output] : source;
    next.element.focus({ preventScroll: true });
    this.step(next, true, false);
  }

  // Keys, mouse and touch.

  listen(text) {
    const { element } = text;
    element.addEventListener("keydown", (event) => {
      if (this.key(event, text)) event.preventDefault();
    });
    element.addEventListener("focus", () => {
      if (!text.source) this.output = text.place;
    });
    element.addEventListener("pointerup", (event) => this.tapped(event, text));
  }

  key(event, text) {
    const toRight = getComputedStyle(text.element).direction !== "rtl";
    const arrow = event.key === "ArrowRight" || event.key === "ArrowLeft";
    const forward = (event.key === "ArrowRight") === toRight;
    const control = event.ctrlKey || event.metaKey;
    if (control && /^[zy]$/i.test(event.key)) {
      if (event.key.toLowerCase() === "y" || event.shiftKey) this.travel(this.future, this.past, this.word("redone"));
      else this.travel(this.past, this.future, this.word("undone"));
    } else if (arrow && this.resizing && this.edited) {
      this.resize(forward, event.shiftKey, control);
    } else if (control || event.altKey) {
      return false;
    } else if (arrow) {
      this.step(text, forward, event.shiftKey);
    } else if (/^[1-9]$/.test(event.key) && this.severities[Number(event.key) - 1]) {
      this.mark(this.severities[Number(event.key) - 1]);
    } else if (event.key === "m" && this.tools.querySelector("[data-missing]")) {
      this.setMissing(!this.missing);
    } else if (event.key === "c" && this.category) {
      this.category.focus({ preventScroll: true });
    } else if (event.key === "n" && this.comment && !this.comment.disabled) {
      this.comment.focus({ preventScroll: true });
    } else if (event.key === "x" && this.tools.querySelector("[data-no-translation]")) {
      this.refuseTranslation();
    } else if (event.key === "s" && this.texts.some(({ source }) => source)) {
      this.switchSource();
    } else if (event.key === "e") {
      this.beginResizing();
    } else if ((event.key === "Backspace" || event.key === "Delete") && this.atHand()) {
      this.remove(this.atHand());
    } else if (event.key === "Escape") {
      if (this.resizing) this.resizing = false;
      else if (this.edited) this.edited = null;
      else this.chosen = null;
      this.draw();
    } else {
      return false;
    }
    return true;
  }

  setMissing(value) {
    this.missing = value;
    this.drawTools(this.atHand());
  }

  // A click or tap on a mark opens it, on a word selects it; by touch, or with Shift, on a second word all up to it.
  tapped(event, text) {
    if (!getSelection().isCollapsed || event.button > 0) return;
    const place = placeAt(event, text);
    if (place === null) return;
    const marks = this.marks.filter((mark) => this.textOf(mark) === text && mark.start <= place && (mark.end > place || mark.missing));
    const word = text.words.find(([start, end]) => start <= place && place < end);
    const extends_ = event.pointerType === "touch" || event.shiftKey;
    if (extends_ && word && this.chosen && this.chosen.text === text && !this.marks.includes(this.edited)) {
      const inside = word[0] >= this.chosen.start && word[1] <= this.chosen.end;
      if (inside && marks.length) return this.open(marks[0]);
      if (inside) {
        this.chosen = null;
        return this.draw();
      }
      return this.select(text, Math.min(word[0], this.chosen.start), Math.max(word[1], this.chosen.end));
    }
    if (this.resizing && this.edited && this.textOf(this.edited) === text && word) {
      const { start, end } = this.edited;
      const inside = word[0] >= start && word[1] <= end;
      return this.stretch(this.edited, text, inside ? word[0] : Math.min(start, word[0]), inside ? word[1] : Math.max(end, word[1]));
    }
    if (marks.length) return this.open(marks[(marks.indexOf(this.edited) + 1) % marks.length]);
    if (word) this.select(text, ...word);
  }

  // The mouse and a long touch: what is selected in a text is what is meant.
  selected() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return;
    const range = selection.getRangeAt(0);
    const text = this.texts.find(({ element }) => element.contains(range.startContainer) && element.contains(range.endContainer));
    if (!text) return;
    const start = placeIn(text.element, range.startContainer, range.startOffset);
    this.chosen = { text, start, end: start + range.toString().length };
    if (!text.source) this.output = text.place;
    if (this.edited && this.textOf(this.edited) !== text) this.edited = null;
    // Drawing now would take the selection away; the buttons must know all the same.
    if (!this.resizing) this.edited = null;
    this.drawTools(this.atHand());
  }

  // New words for the extent of the mark that is being changed.
  released() {
    if (!this.resizing || !this.edited || getSelection().isCollapsed || !this.chosen) return;
    const { text, start, end } = this.chosen;
    if (text !== this.textOf(this.edited) || (start === this.edited.start && end === this.edited.end)) return;
    getSelection().removeAllRanges();
    this.stretch(this.edited, text, start, end);
  }

  listenToTools() {
    const { tools } = this;
    const on = (what, act) => tools.querySelector(`[data-${what}]`)?.addEventListener("click", act);
    for (const button of tools.querySelectorAll(".tools button")) {
      // Pressing a button must not take the selection, or the focus, away from the text.
      button.addEventListener("pointerdown", (event) => event.preventDefault());
    }
    for (const button of tools.querySelectorAll("[data-severity]")) {
      button.addEventListener("click", () => this.mark(button.dataset.severity));
    }
    on("missing", () => this.setMissing(!this.missing));
    on("no-translation", () => this.refuseTranslation());
    on("resize", () => this.beginResizing());
    on("remove", () => this.atHand() && this.remove(this.atHand()));
    on("back", () => this.travel(this.past, this.future, this.word("undone")));
    on("forth", () => this.travel(this.future, this.past, this.word("redone")));
    this.category?.addEventListener("change", (event) => {
      event.stopPropagation();
      const mark = this.atHand();
      if (mark && mark.category !== NO_TRANSLATION && mark.category !== this.category.value) this.replace(mark, { category: this.category.value });
    });
    this.comment?.addEventListener("change", (event) => {
      event.stopPropagation();
      const mark = this.atHand();
      if (mark) this.replace(mark, { comment: this.comment.value.trim() || undefined });
    });
    for (const input of [this.category, this.comment]) {
      input?.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== "Escape") return event.stopPropagation();
        event.preventDefault();
        event.stopPropagation();
        this.toText();
      });
    }
  }
}

function placeIn(element, container, offset) {
  const before = document.createRange();
  before.selectNodeContents(element);
  before.setEnd(container, offset);
  return before.toString().length;
}

// The character under the pointer; null where there is none.
function placeAt(event, text) {
  if (event.target.dataset?.at) return Number(event.target.dataset.at);
  const caret = document.caretPositionFromPoint?.(event.clientX, event.clientY);
  const range = caret ? null : document.caretRangeFromPoint?.(event.clientX, event.clientY);
  const node = caret?.offsetNode ?? range?.startContainer;
  if (!node || !text.element.contains(node)) return null;
  const place = placeIn(text.element, node, caret?.offset ?? range.startOffset);
  // Between two characters, the one whose box the pointer is in.
  const box = document.createRange();
  const offset = caret?.offset ?? range.startOffset;
  if (node.nodeType === Node.TEXT_NODE && offset > 0) {
    box.setStart(node, offset - 1);
    box.setEnd(node, offset);
    const { left, right, top, bottom } = box.getBoundingClientRect();
    if (event.clientX >= left && event.clientX < right && event.clientY >= top && event.clientY <= bottom) return place - 1;
  }
  return Math.min(place, text.text.length - 1);
}

const markings = [...document.querySelectorAll("fieldset.question.spans")].map((question) => new Marking(question));
document.addEventListener("selectionchange", () => markings.forEach((marking) => marking.selected()));
document.addEventListener("pointerup", () => markings.forEach((marking) => marking.released()));
for (const marking of markings) {
  // Where the page puts the focus when it comes to this question.
  marking.question.begin = () => marking.toText();
}
// Only once the page's own script has set its focus: an untouched list of marks counts as an answer from here on.
addEventListener("DOMContentLoaded", () => {
  for (const marking of markings) {
    marking.tools.hidden = false;
    marking.write();
    marking.draw();
  }
});
