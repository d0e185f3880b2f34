// The board without reloading: sort by any column, pin and hide columns, find a generator. Each of these also works as
// a plain link or form; this module only saves the round trip and keeps the address in step, so that it can be shared.
// Where the table is one page of several, sorting and finding are left to the links: they must look at every generator.

const table = document.getElementById("board");
const statusLine = document.getElementById("told");
const FIXED = 2; // rank and name
const isPart = "part" in table.dataset;

function say(words) {
  statusLine.textContent = words;
}

function headers() {
  return [...table.tHead.rows[0].cells];
}

function valueOf(row, place) {
  const cell = row.cells[place];
  if (place === 1) return row.dataset.name.toLocaleLowerCase();
  return cell.dataset.value === "" ? null : Number(cell.dataset.value);
}

// What has no value stands last, whichever way the column is sorted.
function compare(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  return sign * (typeof a === "string" ? a.localeCompare(b) : a - b);
}

function arrow(direction) {
  return direction === "ascending" ? "↑" : direction === "descending" ? "↓" : "↕";
}

function sortBy(key, direction) {
  const place = headers().findIndex((header) => header.dataset.key === key);
  if (place < 0) return;
  const body = table.tBodies[0];
  const sign = direction === "ascending" ? 1 : -1;
  const rows = [...body.rows].map((row, k) => [valueOf(row, place), k, row]);
  rows.sort((a, b) => compare(a[0], b[0], sign) || a[1] - b[1]);
  body.append(...rows.map(([, , row]) => row));
  for (const header of headers()) {
    const chosen = header.dataset.key === key;
    const link = header.querySelector(".sort");
    if (chosen) header.setAttribute("aria-sort", direction);
    else header.removeAttribute("aria-sort");
    if (chosen) link.dataset.direction = direction;
    else delete link.dataset.direction;
    link.textContent = arrow(chosen ? direction : null);
  }
  body.classList.toggle("reordered", !(key === "rank" && direction === "ascending"));
  table.dataset.sort = key;
  table.dataset.direction = direction;
  say(`Sorted by ${key}, ${direction}.`);
  remember((query) => {
    query.set("sort", key);
    query.set("direction", direction);
  });
}

function firstDirection(key) {
  return key === "rank" || key === "generator" ? "ascending" : "descending";
}

function remember(change) {
  const address = new URL(location.href);
  change(address.searchParams);
  history.replaceState(null, "", address);
}

table.tHead.addEventListener("click", (event) => {
  const link = event.target.closest("a.sort");
  if (isPart || !link || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  const key = link.closest("th").dataset.key;
  const turned = table.dataset.direction === "ascending" ? "descending" : "ascending";
  sortBy(key, table.dataset.sort === key ? turned : firstDirection(key));
});

// Columns: a cell's place in its row is its column's, except in the rows above the generators, whose name spans two.
function eachCell(place, act) {
  for (const row of table.rows) {
    const spanning = row.cells[0].colSpan === 2;
    act(row.cells[place - (spanning ? 1 : 0)]);
  }
}

function placeOf(key) {
  return headers().findIndex((header) => header.dataset.key === key);
}

function moveColumn(from, to) {
  for (const row of table.rows) {
    const shift = row.cells[0].colSpan === 2 ? 1 : 0;
    const cell = row.cells[from - shift];
    const rest = [...row.cells].filter((other) => other !== cell);
    row.insertBefore(cell, rest[to - shift] ?? null);
  }
}

const columns = document.querySelector("#columns form");
const order = headers().map((header) => header.dataset.key);

function chosen(name) {
  return [...columns.querySelectorAll(`input[name=${name}]:checked`)].map((box) => box.value);
}

function arrange() {
  const hidden = new Set(chosen("hide"));
  const pinned = chosen("pin");
  const keys = order.slice(FIXED);
  const wanted = [...keys.filter((key) => pinned.includes(key)), ...keys.filter((key) => !pinned.includes(key))];
  wanted.forEach((key, k) => moveColumn(placeOf(key), FIXED + k));
  wanted.forEach((key, k) => {
    eachCell(FIXED + k, (cell) => {
      cell.hidden = hidden.has(key);
      const pin = pinned.includes(key) && k < 2;
      cell.classList.toggle("pinned", pin);
      cell.classList.toggle("pin-1", pin && k === 0);
      cell.classList.toggle("pin-2", pin && k === 1);
    });
  });
  remember((query) => {
    query.delete("hide");
    query.delete("pin");
    for (const key of hidden) query.append("hide", key);
    for (const key of pinned) query.append("pin", key);
    query.set("columns", "all");
  });
  keepColumns();
  say(`${wanted.length - hidden.size} of ${wanted.length} columns shown, ${pinned.length} pinned.`);
}

// Columns that were hidden when the page was written are not in it: showing them again takes the plain form.
const complete = [...columns.querySelectorAll("input[name=hide]:checked")].every((box) => placeOf(box.value) >= 0);
if (complete) {
  columns.addEventListener("change", arrange);
  columns.querySelector("button").hidden = true;
} else {
  columns.addEventListener("change", () => columns.requestSubmit());
}

// What a reader chose for this board is kept on this device; an address that names columns goes before it.
const KEPT = `columns ${location.pathname}`;
const COLUMN_WORDS = ["hide", "pin", "columns"];

function keepColumns() {
  const query = new URLSearchParams(location.search);
  const chosenWords = [...query].filter(([word]) => COLUMN_WORDS.includes(word));
  try {
    localStorage.setItem(KEPT, new URLSearchParams(chosenWords).toString());
  } catch {
    // Without storage the address holds the choice.
  }
}

function bringBackColumns() {
  const address = new URL(location.href);
  try {
    if (address.searchParams.get("columns") === "default") localStorage.removeItem(KEPT);
    else if (COLUMN_WORDS.some((word) => address.searchParams.has(word))) keepColumns();
    else if (localStorage.getItem(KEPT)) {
      for (const [word, value] of new URLSearchParams(localStorage.getItem(KEPT))) address.searchParams.append(word, value);
      location.replace(address);
    }
  } catch {
    // Without storage nothing was kept.
  }
}
bringBackColumns();

// Finding a generator while typing, where all of them are here; else the form asks the server.
const find = document.getElementById("f-find");
function findHere() {
  const wanted = find.value.trim().toLocaleLowerCase();
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    row.hidden = !row.dataset.name.toLocaleLowerCase().includes(wanted);
    shown += row.hidden ? 0 : 1;
  }
  remember((query) => (wanted ? query.set("find", wanted) : query.delete("find")));
  say(`${shown} generators shown.`);
}
if (!isPart) {
  find.addEventListener("input", findHere);
  find.form.querySelector("button").hidden = true;
  find.form.addEventListener("submit", (event) => event.preventDefault());
}

for (const select of document.querySelectorAll(".filters select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}

// A tooltip can be sent away without moving the pointer or the focus.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const tip of document.querySelectorAll(".tip:hover, .tip:focus-within")) tip.classList.add("hushed");
});
for (const name of ["pointerout", "focusout"]) {
  document.addEventListener(name, (event) => event.target.closest?.(".tip")?.classList.remove("hushed"));
}
