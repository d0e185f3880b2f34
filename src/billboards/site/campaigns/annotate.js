// An annotator's page: keys, saving at every answer, and the time in which the page was really looked at.
const form = document.getElementById("answer");
const statusLine = document.getElementById("kept");
const clock = form.elements.seconds;
const questions = [...form.querySelectorAll("fieldset.question")];

// Time counts while the page is in sight.
let spent = Number(clock.dataset.before) || 0;
let since = document.visibilityState === "visible" ? performance.now() : null;
function seconds() {
  return spent + (since === null ? 0 : (performance.now() - since) / 1000);
}
document.addEventListener("visibilitychange", () => {
  spent = seconds();
  since = document.visibilityState === "visible" ? performance.now() : null;
});

// A kind of question with a script of its own gives its fieldset a function `answer`; others hold JSON in one field.
function answerOf(question) {
  if (question.answer) return question.answer();
  const value = form.elements[`answer:${question.dataset.name}`]?.value ?? "";
  return value === "" ? undefined : JSON.parse(value);
}

function identifier() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Every answer is kept as it is given. One request at a time; what changes meanwhile goes with the next one.
let waiting = false;
let busy = false;
let failures = 0;
let leaving = false;
let request = new AbortController();
async function keep() {
  waiting = true;
  if (busy) return;
  busy = true;
  while (waiting && !leaving) {
    waiting = false;
    const answers = {};
    for (const question of questions) {
      const answer = answerOf(question);
      if (answer !== undefined) answers[question.dataset.name] = answer;
    }
    const body = { assignment: form.elements.assignment.value, answer_id: identifier(), answers, seconds: seconds() };
    if (!(await sent(body)) && !leaving) {
      waiting = true;
      await new Promise((resolve) => setTimeout(resolve, Math.min(30000, 1000 * 2 ** failures)));
    }
  }
  busy = false;
}

async function sent(body) {
  try {
    const response = await fetch(form.dataset.draft, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json", "x-csrf-token": form.dataset.csrf },
      body: JSON.stringify(body),
      signal: request.signal,
    });
    if (response.ok || (response.status < 500 && response.status !== 429)) {
      failures = 0;
      statusLine.textContent = response.ok ? form.dataset.kept : form.dataset.gone;
      return true;
    }
  } catch {
    // No connection: it is tried again, and nothing on the page is lost.
  }
  failures += 1;
  statusLine.textContent = form.dataset.offline;
  return false;
}

form.addEventListener("change", keep);
form.addEventListener("submit", () => {
  // What is being kept goes with the answer itself.
  leaving = true;
  request.abort();
  clock.value = String(seconds());
});
addEventListener("pageshow", () => {
  leaving = false;
  request = new AbortController();
});

// Keys. The question at hand is the one with focus, else the first without an answer.
function current() {
  const focused = document.activeElement?.closest?.("fieldset.question");
  if (focused) return focused;
  return questions.find((question) => answerOf(question) === undefined) ?? questions.at(-1);
}

function focus(question) {
  const target = question?.querySelector("input:checked, input:not([type=hidden]):not([hidden]), textarea, button, [tabindex]");
  (target ?? form.querySelector("button[type=submit]")).focus();
}

function choose(question, digit) {
  const groups = [...question.querySelectorAll(".options")];
  const open = groups.find((group) => !group.querySelector("input:checked")) ?? groups.at(-1);
  const option = open.querySelectorAll("input[type=radio]")[digit - 1];
  if (!option) return;
  option.checked = true;
  option.dispatchEvent(new Event("change", { bubbles: true }));
  if (groups.every((group) => group.querySelector("input:checked"))) {
    focus(questions.slice(questions.indexOf(question) + 1).find((later) => answerOf(later) === undefined));
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const typing = event.target.matches?.("input[type=number], select, textarea");
  const place = questions.indexOf(current());
  if (/^[1-9]$/.test(event.key) && !typing && current().querySelector(".options input[type=radio]")) {
    choose(current(), Number(event.key));
  } else if (event.key === "Enter" && !event.target.matches("button, summary, a, select")) {
    form.requestSubmit();
  } else if (event.key === "u" && !typing) {
    const back = document.getElementById("undo");
    if (!back.querySelector("button").disabled) back.requestSubmit();
  } else if ((event.key === "j" || (event.key === "ArrowDown" && !event.target.matches("input[type=radio], input[type=range], [data-output]"))) && !typing) {
    focus(questions[Math.min(place + 1, questions.length - 1)]);
  } else if ((event.key === "k" || (event.key === "ArrowUp" && !event.target.matches("input[type=radio], input[type=range], [data-output]"))) && !typing) {
    focus(questions[Math.max(place - 1, 0)]);
  } else {
    return;
  }
  event.preventDefault();
});

// An annotator who has begun goes straight to the first question; the first time, instructions come first.
if (!document.querySelector("details.manual[open]")) focus(questions.find((question) => answerOf(question) === undefined));
