// Light, dark, or as the system has it: the button that changes it, and what was chosen before.
const root = document.documentElement;
const THEMES = ["system", "light", "dark"];
const button = document.getElementById("theme");

function applyTheme(theme) {
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  choosePictures(theme);
  button.dataset.theme = theme;
  button.title = `Colours: ${theme === "system" ? "as the system has them" : theme}. Change`;
  button.setAttribute("aria-label", button.title);
}

// Pictures come in both; they follow the choice as the rest of the page does.
function choosePictures(theme) {
  const media = { system: "(prefers-color-scheme: dark)", light: "not all", dark: "all" }[theme];
  for (const source of document.querySelectorAll("source[data-dark]")) source.media = media;
}

function chosenTheme() {
  try {
    const kept = localStorage.getItem("theme");
    return THEMES.includes(kept) ? kept : "system";
  } catch {
    return "system";
  }
}

applyTheme(chosenTheme());
button.hidden = false;
button.addEventListener("click", () => {
  const theme = THEMES[(THEMES.indexOf(button.dataset.theme) + 1) % THEMES.length];
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // Without storage the choice holds for this page.
  }
  applyTheme(theme);
});
