// A board on its way to its first ranking: says how many scores are computed, and shows the ranking once it is there.
// Without this module the page refreshes by itself.

const box = document.getElementById("board-progress");
const bar = box.querySelector("progress");
const words = box.querySelector("[role=status]");
const stream = new EventSource(box.dataset.events);

stream.addEventListener("progress", (event) => {
  const now = JSON.parse(event.data);
  words.textContent = now.words;
  if (bar && now.total) {
    bar.max = now.total;
    bar.value = now.done;
  }
});

stream.addEventListener("ranked", () => {
  stream.close();
  location.reload();
});
