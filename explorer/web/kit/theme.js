// Light or dark: Gradio's mark on the body decides, and is remembered where a reader chose it.
import { store, stored } from "./storage.js";

/** @type {Set<() => void>} */
const listeners = new Set();

export const isDark = () => document.body.classList.contains("dark");
/** @param {() => void} listener */
export const onTheme = (listener) => listeners.add(listener);

/** @param {boolean} dark */
export function setTheme(dark) {
  document.body.classList.toggle("dark", dark);
  store("theme", dark ? "dark" : "light");
}

// The scroll bars follow the theme; a rule with :has() would be tried at every change of the page.
function shade() {
  document.documentElement.style.colorScheme = isDark() ? "dark" : "light";
  for (const listener of listeners) listener();
}

export function begin() {
  const theme = stored("theme");
  if (theme && !new URLSearchParams(location.search).has("__theme")) setTheme(theme === "dark");
  new MutationObserver(shade).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  shade();
}
