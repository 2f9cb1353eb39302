// A page without a browser: import this before a module that makes elements.
import { parseHTML } from "linkedom";

const { window } = parseHTML("<!doctype html><html><body></body></html>");
globalThis.self = globalThis; // where KaTeX leaves itself
for (const name of ["document", "HTMLElement", "HTMLInputElement", "Event"]) globalThis[name] = window[name];

/** An event that bubbles, as a hand or a key makes it. */
export function happen(element, type, more = {}) {
  element.dispatchEvent(Object.assign(new window.Event(type, { bubbles: true, cancelable: true }), more));
}
