// Keeps a campaign's page fresh while people annotate, and writes links out in full so that they can be copied. Without
// this module the page says the same when it is loaded again.

for (const link of document.querySelectorAll("a[data-link]")) link.textContent = link.href;

const box = document.getElementById("live");
const announced = document.getElementById("announced");

function show(place, text) {
  if (place && place.textContent !== text) place.textContent = text;
}

function fill(bar, done, total) {
  if (!bar) return;
  bar.max = total || 1;
  bar.value = done;
}

if (box?.dataset.events) {
  const stream = new EventSource(box.dataset.events);
  stream.addEventListener("status", (event) => {
    const now = JSON.parse(event.data);
    if (now.state !== box.dataset.state) {
      stream.close();
      location.reload();
      return;
    }
    const before = box.querySelector("[data-fact=labels]").textContent;
    for (const [key, text] of Object.entries(now.facts)) show(box.querySelector(`[data-fact="${key}"]`), text);
    fill(document.getElementById("progress"), now.done, now.total);
    now.generators.forEach(([done, wanted], k) => {
      const row = document.querySelector(`[data-generator="${k}"]`);
      show(row?.querySelector("[data-part=done]"), String(done));
      show(row?.querySelector("[data-part=wanted]"), String(wanted));
      fill(row?.querySelector("progress"), done, wanted);
    });
    if (now.facts.labels !== before) announced.textContent = `${now.facts.labels} labels.`;
  });
}
