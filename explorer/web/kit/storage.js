// What this browser remembers between visits, or this tab from page to page; in a private window or a frame of
// another site it may remember nothing.

/** @typedef {"localStorage" | "sessionStorage"} Memory */

/** @type {(name: string, memory?: Memory) => string | null} */
export function stored(name, memory = "localStorage") {
  try {
    return globalThis[memory].getItem(`lossprism.${name}`);
  } catch {
    return null;
  }
}

/** @type {(name: string, value: string, memory?: Memory) => void} */
export function store(name, value, memory = "localStorage") {
  try {
    globalThis[memory].setItem(`lossprism.${name}`, value);
  } catch {
    /* private window */
  }
}
