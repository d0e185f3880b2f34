// While something is on its way to the board: says when the board has changed. Without this module, reloading does.

const note = document.getElementById("changed");
const stream = new EventSource(note.dataset.events);

stream.addEventListener("generation", (event) => {
  if (event.data === note.dataset.generation) return;
  note.querySelector("p").hidden = false;
  stream.close();
});
