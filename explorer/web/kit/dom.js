// Elements, and how large they are.
import { say } from "./translated_sentences.js";

/**
 * h("button.quiet", {onclick}, "text", child): an element; strings become text, never HTML. Attributes may be left
 * out; those that are null, undefined or false are.
 * @template {string} Kind
 * @param {Kind} kind a tag, and after each dot a class
 * @param {...any} content
 * @returns {import("./types").ElementOf<Kind>}
 */
export function h(kind, ...content) {
  const attributes = content[0]?.constructor === Object ? content.shift() : {};
  const [tag, ...classes] = kind.split(".");
  /** @type {any} */ // any element has every attribute that is asked for
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  if (element.dataset.title) entitle(element);
  element.append(...content.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/**
 * The text of an element, which is written only where it is another: to write the same again has the page laid
 * out again.
 * @type {(element: Element, text: string) => void}
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @type {(root: ParentNode, selector: string) => HTMLElement} An element that is known to be there. */
export function find(root, selector) {
  const found = root.querySelector(selector);
  if (!(found instanceof HTMLElement)) throw new Error(`missing: ${selector}`);
  return found;
}

/**
 * Open what hides a control, and focus it.
 * @param {HTMLElement | string | null} control itself, or its id
 */
export function reveal(control) {
  const element = typeof control === "string" ? document.getElementById(control) : control;
  for (let fold = element?.closest("details"); fold; fold = fold.parentElement?.closest("details")) fold.open = true;
  element?.focus();
}

/** @type {(canvas: HTMLCanvasElement) => CanvasRenderingContext2D} What a canvas is drawn with. */
export const contextOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/**
 * What shows a mere sign is called by a title, which follows the language too.
 * @param {HTMLElement} element
 */
function entitle(element) {
  element.title = say(element.dataset.title ?? "");
  element.setAttribute("aria-label", element.title);
}

/**
 * One stop of the tab key for all lines of a box; the up and down keys walk them.
 * @param {HTMLElement} box
 */
export function walkable(box) {
  box.addEventListener("keydown", (event) => {
    const line = /** @type {HTMLElement} */ (event.target);
    const down = event.key === "ArrowDown";
    if (!(down || event.key === "ArrowUp") || line.parentElement !== box) return;
    event.preventDefault();
    const next = /** @type {HTMLElement | null} */ (down ? line.nextElementSibling : line.previousElementSibling);
    if (!next || next.hidden) return;
    line.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}

/**
 * An element whose text follows the language.
 * @template {string} Kind
 * @param {Kind} kind
 * @param {string} key of the sentence
 * @param {Record<string, any>} [attributes]
 */
export const worded = (kind, key, attributes = {}) => h(kind, { "data-say": key, ...attributes }, say(key));

/** @type {(key: string, control: HTMLElement) => HTMLLabelElement} A control below its name, which follows the language. */
export const labelled = (key, control) => h("label.lp-field", worded("span", key), control);

/**
 * A button that shows the same as a table, filled anew each time it is opened or what it shows changes.
 * @param {"button.lp-button" | "button.lp-quiet"} kind
 * @param {HTMLElement} table
 * @param {() => void} fill
 */
export function asTable(kind, table, fill) {
  const button = worded(kind, "ui.as_table", { "aria-pressed": "false", onclick: () => show(Boolean(table.hidden)) });
  const refill = () => {
    if (!table.hidden) fill();
  };
  /** @param {boolean} open */
  function show(open) {
    table.hidden = !open;
    button.setAttribute("aria-pressed", String(open));
    refill();
  }
  return { button, refill, close: () => show(false) };
}

/** @param {HTMLElement} root */
export function reword(root) {
  /** @type {NodeListOf<HTMLElement>} */
  const spoken = root.querySelectorAll("[data-say]");
  for (const element of spoken) setText(element, say(element.dataset.say ?? ""));
  /** @type {NodeListOf<HTMLElement>} */
  const entitled = root.querySelectorAll("[data-title]");
  for (const element of entitled) entitle(element);
}

/** Whether the reader's system asks for no motion. */
export const prefersReducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * One stop of the tab key for all parts of a line; the left and right keys walk them.
 * @param {HTMLElement[]} parts
 */
export function walkableLine(parts) {
  parts.forEach((part, at) => {
    part.tabIndex = at ? -1 : 0;
    part.addEventListener("keydown", (event) => {
      const way = Number(event.key === "ArrowRight") - Number(event.key === "ArrowLeft");
      if (!way) return;
      event.preventDefault();
      const next = parts[(at + way + parts.length) % parts.length];
      part.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  });
}

/**
 * Presenting enlarges the page as a whole: so many pixels of the screen to one of its own. Older
 * browsers have to lay out the page to tell.
 * @type {(element: HTMLElement) => number}
 */
export const magnification = (element) =>
  element.currentCSSZoom ?? (element.getBoundingClientRect().width / element.offsetWidth || 1);

/**
 * How wide an element is and how far it is magnified, as it was last laid out: to ask while
 * drawing would have the page laid out for every picture. Out of sight it keeps its last width.
 * @type {(element: HTMLElement, changed: () => void) => { width: number; magnified: number; }}
 */
export function roomOf(element, changed) {
  const known = { width: 0, magnified: 1 };
  new ResizeObserver(() => {
    const now = { width: element.clientWidth, magnified: magnification(element) };
    if (!now.width || (now.width === known.width && now.magnified === known.magnified)) return;
    Object.assign(known, now);
    changed();
  }).observe(element);
  return known;
}

/**
 * A sentence, shortened for a label.
 * @param {string} text
 */
export function clip(text, most = 60) {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}
