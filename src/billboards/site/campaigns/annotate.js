// An annotator's page: keys, saving at every answer, and the time in which the page was really looked at. A page has one
// form, or one for each segment of a document; those are sent one by one, and the page stays.
// The page brings them in the annotator's language.
const WORDS = { ...document.body.dataset, refused: (why) => document.body.dataset.refused.replace("{why}", why) };
const entries = [...document.querySelectorAll("form.answer")].map((form, place) => ({
  form,
  place,
  item: form.closest("[data-item]") ?? document.body,
  statusLine: form.querySelector(".kept"),
  clock: form.elements.seconds,
  questions: [...form.querySelectorAll("fieldset.question")],
  inDocument: form.dataset.submit !== undefined,
  isAnswered: form.closest("[data-item]")?.dataset.state === "answered",
  spent: Number(form.elements.seconds.dataset.before) || 0,
  // What is to be sent: nothing, what there is so far, or the whole answer under an id of its own.
  waiting: false,
  submission: null,
  busy: false,
  failures: 0,
}));
const inDocument = entries.some((entry) => entry.inDocument);

// Time counts for the segment at hand, while the page is in sight.
let current = entries.find((entry) => !entry.isAnswered) ?? entries[0];
let since = document.visibilityState === "visible" ? performance.now() : null;
function countTime() {
  if (since !== null) current.spent += (performance.now() - since) / 1000;
  since = document.visibilityState === "visible" ? performance.now() : null;
}
document.addEventListener("visibilitychange", countTime);

function comeTo(entry) {
  if (entry !== current) countTime();
  current = entry;
  for (const other of entries) other.item.classList.toggle("at-hand", other === entry);
}
for (const entry of entries) entry.item.addEventListener("focusin", () => comeTo(entry));

// A kind of question with a script of its own gives its fieldset a function `answer`; others hold JSON in one field.
function answerOf(question) {
  if (question.answer) return question.answer();
  const value = question.closest("form").elements[`answer:${question.dataset.name}`]?.value ?? "";
  return value === "" ? undefined : JSON.parse(value);
}

function answersOf(entry) {
  const answers = {};
  for (const question of entry.questions) {
    const answer = answerOf(question);
    if (answer !== undefined) answers[question.dataset.name] = answer;
  }
  return answers;
}

// Where one begins: at the first question without an answer when the page came, in a document at the first of all. Later
// an untouched list of marks counts as an answer.
for (const entry of entries) {
  const open = entry.questions.find((question) => answerOf(question) === undefined);
  entry.first = entry.inDocument ? entry.questions[0] : (open ?? entry.questions.at(-1));
}

const isComplete = (entry) => entry.questions.every((question) => answerOf(question) !== undefined);

function identifier() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Every answer is kept as it is given. One request at a time; what changes meanwhile goes with the next one.
let leaving = false;
let request = new AbortController();
// What is on its way; a page's answers are sent behind it, so that an older draft never arrives last.
let onItsWay = Promise.resolve();
async function keep(entry) {
  entry.waiting = true;
  if (entry.busy) return;
  entry.busy = true;
  while (entry.waiting && !leaving) {
    entry.waiting = false;
    const sending = sent(entry);
    onItsWay = Promise.all([onItsWay, sending]);
    if (!(await sending) && !leaving) {
      entry.waiting = true;
      const wake = new Promise((resolve) => addEventListener("online", resolve, { once: true }));
      await Promise.race([wake, new Promise((resolve) => setTimeout(resolve, Math.min(30000, 1000 * 2 ** entry.failures)))]);
    }
  }
  entry.busy = false;
  finish();
}

async function sent(entry) {
  const { submission } = entry;
  if (entry === current) countTime();
  const body = { assignment: entry.form.elements.assignment.value, answer_id: submission ?? identifier(), answers: answersOf(entry), seconds: entry.spent };
  try {
    const response = await fetch(submission ? entry.form.dataset.submit : entry.form.dataset.draft, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", "x-csrf-token": entry.form.dataset.csrf },
      body: JSON.stringify(body),
      signal: request.signal,
    });
    if (response.ok || (response.status < 500 && response.status !== 429)) {
      entry.failures = 0;
      if (entry.submission === submission) entry.submission = null;
      else entry.waiting = true;
      await told(entry, response, submission);
      return true;
    }
  } catch {
    // No connection: it is tried again, and nothing on the page is lost.
  }
  entry.failures += 1;
  entry.statusLine.textContent = submission ? WORDS.notSent : WORDS.notKept;
  return false;
}

async function told(entry, response, submission) {
  if (response.ok) {
    // What changed meanwhile is not kept yet.
    if (!entry.waiting) entry.statusLine.textContent = submission ? WORDS.answered : WORDS.kept;
  } else if (submission) {
    const why = await response.json().then(({ error }) => error?.message ?? String(response.status), () => String(response.status));
    entry.statusLine.textContent = WORDS.refused(why);
    setAnswered(entry, false);
  } else {
    entry.statusLine.textContent = WORDS.gone;
  }
}

// What was answered already is answered anew by a change of it, so that it never falls back to a draft.
function changed(entry) {
  if (entry.inDocument && entry.isAnswered) {
    if (!isComplete(entry)) return;
    entry.submission = identifier();
  }
  entry.statusLine.textContent = "";
  keep(entry);
}

function setAnswered(entry, value) {
  entry.isAnswered = value;
  entry.item.classList.toggle("answered", value);
  entry.item.classList.toggle("open", !value);
  const done = entries.filter((other) => other.isAnswered).length;
  const count = document.querySelector("#in-document [data-done]");
  if (count) count.textContent = String(done);
  const bar = document.querySelector("progress.batch");
  if (bar) bar.value = done;
}

// The next document comes once all of this one is really there.
function finish() {
  if (!inDocument || leaving || !entries.every((entry) => entry.isAnswered && !entry.busy && !entry.waiting && !entry.submission)) return;
  leaving = true;
  location.reload();
}

async function sendPage(entry) {
  // What is being kept goes with the answer itself. Without a connection the page stays, and it is tried again.
  leaving = true;
  await Promise.race([onItsWay, new Promise((resolve) => setTimeout(resolve, 10000))]);
  request.abort();
  countTime();
  entry.clock.value = String(entry.spent);
  const body = new URLSearchParams(new FormData(entry.form));
  for (let failures = 0; ; failures += 1) {
    try {
      const response = await fetch(entry.form.action, { method: "POST", body, redirect: "manual" });
      if (response.type !== "opaqueredirect") return entry.form.submit();
      const address = new URL(location.href);
      address.searchParams.delete("stage");
      address.hash = "";
      return location.replace(address);
    } catch {
      entry.statusLine.textContent = WORDS.notSent;
      const wake = new Promise((resolve) => addEventListener("online", resolve, { once: true }));
      await Promise.race([wake, new Promise((resolve) => setTimeout(resolve, Math.min(30000, 1000 * 2 ** failures)))]);
    }
  }
}

for (const entry of entries) {
  entry.form.addEventListener("change", () => changed(entry));
  entry.form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!entry.inDocument) {
      if (!leaving) sendPage(entry);
      return;
    }
    entry.submission = identifier();
    setAnswered(entry, true);
    keep(entry);
    const open = entries.slice(entry.place + 1).find((other) => !other.isAnswered) ?? entries.find((other) => !other.isAnswered);
    if (open) begin(open);
    else finish();
  });
}
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  leaving = false;
  request = new AbortController();
});
addEventListener("beforeunload", (event) => {
  if (!leaving && entries.some((entry) => entry.failures && (entry.waiting || entry.submission))) event.preventDefault();
});

// Where the focus goes: a kind of question may say where it begins.
function focus(question, entry = current) {
  if (question?.begin) return question.begin();
  const inside = question?.querySelector("input:checked, input:not([type=hidden]):not([hidden]), textarea, button, [tabindex]");
  const target = inside ?? entry.form.querySelector("button[type=submit]:not([hidden])");
  target.focus({ preventScroll: inDocument });
  if (inDocument) target.scrollIntoView({ block: "nearest" });
}

// Instructions fold up when one begins; they are one press away.
function begin(entry) {
  document.querySelector("details.manual[open]")?.removeAttribute("open");
  comeTo(entry);
  focus(entry.first, entry);
  if (inDocument) entry.item.scrollIntoView({ block: "nearest" });
}

// Keys. The question at hand is the one with focus, else the first without an answer.
function questionAtHand() {
  const { activeElement } = document;
  const focused = activeElement?.closest?.("fieldset.question");
  if (focused) return focused;
  const { questions } = current;
  if (activeElement?.matches?.("[data-output], [data-source]")) return questions.find((question) => question.begin) ?? questions[0];
  if (inDocument) return questions[0];
  return questions.find((question) => answerOf(question) === undefined) ?? questions.at(-1);
}

function choose(question, digit) {
  const groups = [...question.querySelectorAll(".options")];
  const open = groups.find((group) => !group.querySelector("input:checked")) ?? groups.at(-1);
  const option = open.querySelectorAll("input[type=radio]")[digit - 1];
  if (!option) return;
  option.checked = true;
  option.dispatchEvent(new Event("change", { bubbles: true }));
  if (groups.every((group) => group.querySelector("input:checked"))) {
    const { questions } = current;
    focus(questions.slice(questions.indexOf(question) + 1).find((later) => answerOf(later) === undefined));
  }
}

function send() {
  const open = current.questions.find((question) => answerOf(question) === undefined);
  if (open && inDocument) focus(open);
  else current.form.requestSubmit();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const { target } = event;
  const typing = target.matches?.("input[type=number], input[type=text], select, textarea");
  const nowhere = target === document.body || target.id === "item";
  const inText = target.matches?.("[data-output], [data-source]");
  const stops = entries.flatMap((entry) => entry.questions.map((question) => [entry, question]));
  const at = stops.findIndex(([entry, question]) => entry === current && question === questionAtHand());
  const goBy = (step) => {
    const [entry, question] = stops[Math.min(Math.max(0, at + step), stops.length - 1)];
    comeTo(entry);
    focus(question, entry);
  };
  const digit = /^[0-9]$/.test(event.key);
  const arrow = (name, letter) => event.key === letter || (event.key === name && !target.matches("input[type=radio], input[type=range], [data-output], [data-source]"));
  if (digit && event.key !== "0" && !typing && questionAtHand().querySelector(".options input[type=radio]")) {
    choose(questionAtHand(), Number(event.key));
  } else if (digit && nowhere && questionAtHand().querySelector("input[type=number]")) {
    // What is typed goes into the field, from its first digit on.
    questionAtHand().querySelector("input[type=number]").focus();
    return;
  } else if (nowhere && /^Arrow(Left|Right)$/.test(event.key) && questionAtHand().begin) {
    begin(current);
  } else if (event.key === "Enter" && !target.matches("button, summary, a, select")) {
    send();
  } else if (event.key === "u" && !typing) {
    const back = document.getElementById("undo");
    if (!back.querySelector("button").disabled) back.requestSubmit();
  } else if (inDocument && inText && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    begin(entries[Math.min(Math.max(0, current.place + (event.key === "ArrowDown" ? 1 : -1)), entries.length - 1)]);
  } else if (arrow("ArrowDown", "j") && !typing) {
    goBy(1);
  } else if (arrow("ArrowUp", "k") && !typing) {
    goBy(-1);
  } else {
    return;
  }
  event.preventDefault();
});

document.body.classList.add("scripted");
for (const button of document.querySelectorAll("[data-next]")) button.hidden = !inDocument;
comeTo(current);
// An annotator who has begun goes straight to the first question; the first time, instructions come first. Kinds of
// questions have drawn what they show by then.
addEventListener("DOMContentLoaded", () => {
  if (!document.querySelector("details.manual[open]")) begin(current);
});
