// What this browser remembers between visits, or this tab from page to page; in a private window or a frame of
// another site it may remember nothing.

/** @typedef {"localStorage" | "sessionStorage"} Memory */

/**
 * @param {string} name
 * @param {Memory} memory
 */
export function stored(name, memory = "localStorage") {
  try {
    return globalThis[memory].getItem(`lossprism.${name}`);
  } catch {
    return null;
  }
}

/**
 * @param {string} name
 * @param {string} value
 * @param {Memory} memory
 */
export function store(name, value, memory = "localStorage") {
  try {
    globalThis[memory].setItem(`lossprism.${name}`, value);
  } catch {
    /* private window */
  }
}
