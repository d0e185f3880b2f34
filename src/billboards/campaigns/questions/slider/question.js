// A number has a slider beside it, which counts once it was touched.
for (const question of document.querySelectorAll("fieldset.question.slider")) {
  const [number, range] = question.querySelectorAll("input");
  range.hidden = false;
  range.addEventListener("input", () => {
    number.value = range.value;
    range.classList.remove("untouched");
  });
  number.addEventListener("input", () => {
    if (number.value !== "") {
      range.value = number.value;
      range.classList.remove("untouched");
    }
  });
  question.answer = () => (number.value === "" || !number.checkValidity() ? undefined : Number(number.value));
}
