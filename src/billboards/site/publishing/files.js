// A board that is being written as files: says how far it is, and shows the archive once it is there.
// Without this module a link shows the page again.

const box = document.getElementById("files");
const bar = box.querySelector("progress");
const words = box.querySelector("[role=status]");
const number = new Intl.NumberFormat("en");

function left(seconds) {
  if (seconds === null) return "";
  return seconds < 90 ? `, about ${Math.max(1, Math.round(seconds))} seconds left` : `, about ${Math.round(seconds / 60)} minutes left`;
}

async function look() {
  let answer;
  try {
    answer = await fetch(box.dataset.facts, { credentials: "same-origin" });
  } catch {
    // The server is away for a moment; what is written goes on.
    setTimeout(look, 5000);
    return;
  }
  const now = answer.ok ? await answer.json() : null;
  if (now === null || now.state === "ready" || now.state === "failed") {
    location.reload();
    return;
  }
  if (now.total) {
    bar.max = now.total;
    bar.value = now.done;
    words.textContent = `${number.format(now.done)} of ${number.format(now.total)} pages${left(now.seconds)}.`;
  }
  setTimeout(look, 1000);
}

setTimeout(look, 1000);
