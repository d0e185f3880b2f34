// A text is kept a moment after the last key; Enter is a new line in it, Ctrl+Enter sends.
for (const question of document.querySelectorAll("fieldset.question.text")) {
  const field = question.querySelector("textarea");
  const count = question.querySelector(".count");
  const bounds = count.textContent;
  let later = 0;
  field.addEventListener("input", () => {
    count.textContent = `${field.value.length} · ${bounds}`;
    clearTimeout(later);
    later = setTimeout(() => field.dispatchEvent(new Event("change", { bubbles: true })), 800);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey) field.form.requestSubmit();
  });
  question.answer = () => (field.value.trim() === "" || !field.checkValidity() ? undefined : field.value);
}
