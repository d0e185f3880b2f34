// Live status of a submission: the server sends each new state and log line as it comes. Without this module, or where
// the stream breaks for good, the page's own link and its refresh show the same.

const box = document.getElementById("live");
const log = document.getElementById("log");
const announced = document.getElementById("announced");
const stream = new EventSource(box.dataset.events);

function show(id, text) {
  const place = document.getElementById(id);
  if (place) place.textContent = text;
}

stream.addEventListener("status", (event) => {
  const status = JSON.parse(event.data);
  if (status.state !== box.dataset.state) {
    announced.textContent = `Now ${status.state}.`;
    box.dataset.state = status.state;
  }
  show("state", status.state);
  show("progress-words", status.words);
  const bar = document.getElementById("progress");
  if (bar && status.total) {
    bar.max = status.total;
    bar.value = status.done;
  }
  if (status.ended) {
    stream.close();
    location.reload();
  }
});

stream.addEventListener("log", (event) => {
  const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
  log.append(`${JSON.parse(event.data)}\n`);
  if (atEnd) log.scrollTop = log.scrollHeight;
});
