// The whole page: light and dark mode, links within it, the first feature.

const root = document.documentElement;
const themeButton = byId("theme");
const darkQuery = window.matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : darkQuery.matches;
}

function nameTheme() {
  themeButton.textContent = isDark() ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  tell("theme");
}

themeButton.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
});
darkQuery.addEventListener("change", nameTheme);
themeButton.hidden = false;
nameTheme();

// In the frame of a notebook a link to a section would load the notebook into the frame.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='#']");
  const target = link && byId(link.getAttribute("href").slice(1));
  if (!target) return;
  event.preventDefault();
  target.scrollIntoView();
  target.focus({ preventScroll: true });
});

tell("feature", 0, null, false);
root.dataset.ready = "true";
