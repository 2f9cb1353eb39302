// What this browser remembers between visits; in a private window it may remember nothing.

/** @param {string} name */
export function stored(name) {
  try {
    return localStorage.getItem(`lossprism.${name}`);
  } catch {
    return null;
  }
}

/**
 * @param {string} name
 * @param {string} value
 */
export function store(name, value) {
  try {
    localStorage.setItem(`lossprism.${name}`, value);
  } catch {
    /* private window */
  }
}
