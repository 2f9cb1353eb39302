// Light or dark: a class of the body, which initial_theme.js sets, and which is remembered where a reader chose it.
import { onRelease } from "./listener_cleanup.js";
import { store } from "./storage.js";

/** @type {Set<() => void>} */
const listeners = new Set();

export const isDark = () => document.body.classList.contains("dark");
/** @param {() => void} listener */
export function onTheme(listener) {
  listeners.add(listener);
  onRelease(() => listeners.delete(listener));
}

/** @param {boolean} dark */
export function setTheme(dark) {
  document.body.classList.toggle("dark", dark);
  store("theme", dark ? "dark" : "light");
}

// The scroll bars follow the theme, and the title bar of the installed app; a rule with :has() would be tried at every
// change of the page.
function shade() {
  document.documentElement.style.colorScheme = isDark() ? "dark" : "light";
  const ground = getComputedStyle(document.body).backgroundColor;
  document.querySelector("meta[name=theme-color]")?.setAttribute("content", ground);
  for (const listener of listeners) listener();
}

export function watchTheme() {
  new MutationObserver(shade).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  shade();
}
