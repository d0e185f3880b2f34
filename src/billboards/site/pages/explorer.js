// Exploring by keyboard: j and k (or the arrows, once an entry is chosen) go from entry to entry, Enter opens the one that
// is chosen, / goes to the search, n and p turn pages, ? shows all keys. Everything else works without this module.

const keys = document.getElementById("keys");
const opener = document.getElementById("show-keys");
const links = () => [...document.querySelectorAll("[data-entry]")];

opener.hidden = false;
opener.addEventListener("click", () => keys.showModal());

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

function step(by) {
  const entries = links();
  const now = entries.indexOf(document.activeElement);
  const next = now < 0 ? (by > 0 ? 0 : entries.length - 1) : now + by;
  const entry = entries[Math.min(Math.max(next, 0), entries.length - 1)];
  if (!entry) return false;
  entry.focus();
  entry.scrollIntoView({ block: "center" });
  return true;
}

function follow(rel) {
  const link = document.querySelector(`a[rel=${rel}]`);
  if (link) location.assign(link.href);
  return link !== null;
}

const search = document.getElementById("text");
const isList = search !== null;

const acts = {
  j: () => (isList ? step(1) : follow("next")),
  k: () => (isList ? step(-1) : follow("prev")),
  n: () => follow("next"),
  p: () => follow("prev"),
  ArrowDown: () => links().includes(document.activeElement) && step(1),
  ArrowUp: () => links().includes(document.activeElement) && step(-1),
  ArrowRight: () => !isList && follow("next"),
  ArrowLeft: () => !isList && follow("prev"),
  "/": () => {
    if (!search) return false;
    search.focus();
    search.select();
    return true;
  },
  "?": () => {
    keys.showModal();
    return true;
  },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const act = acts[event.key];
  if (act && act()) event.preventDefault();
});
