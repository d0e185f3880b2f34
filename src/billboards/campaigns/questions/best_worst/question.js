// The best and the worst are two groups of options, and one output can't be both.
for (const question of document.querySelectorAll("fieldset.question.best-worst")) {
  question.answer = () => {
    const groups = [...question.querySelectorAll(".options")];
    const [best, worst] = groups.map((group) => group.querySelector("input:checked")?.value);
    if (best === undefined || worst === undefined || best === worst) return undefined;
    return { best: Number(best), worst: Number(worst) };
  };
}
