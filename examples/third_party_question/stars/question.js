// Says how many stars are given. The answer itself is the radio button's value, which the page reads without help.
for (const question of document.querySelectorAll("fieldset.question.stars")) {
  const given = question.querySelector(".given");
  const options = question.querySelectorAll("input[type=radio]");
  question.addEventListener("change", () => {
    const chosen = question.querySelector("input:checked");
    given.textContent = chosen ? `${chosen.value} of ${options.length} stars` : "";
  });
}
