// A text of the batch as it is shown everywhere: with its picture, where a table brought one.
import { clip } from "./dom.js";

/**
 * A text, whom it belongs to (a batch or a pair, whose `pictures` are known by the texts that name them; the server made
 * each small and encoded it anew), and what stands before it.
 * @typedef {{ text: string, of?: { pictures?: Record<string, string> } | null, before?: string }} BatchText
 */

/**
 * The `h` of dom.js or of preact_view.js.
 * @template Element
 * @typedef {(kind: "img.lp-miniature", attributes: { src: string, alt: string }) => Element} Making
 */

/**
 * The picture that a text names, in a list; of any other an empty one.
 * @template Element
 * @param {Making<Element>} h
 * @param {BatchText} text
 * @returns {Element[]}
 */
export function pictureOf(h, { text, of }) {
  const src = of?.pictures?.[text];
  return src ? [h("img.lp-miniature", { src, alt: "" })] : [];
}

/**
 * What an element with a text of the batch is filled with.
 * @template Element
 * @param {Making<Element>} h
 * @param {BatchText} text
 * @param {number} [most] letters of it that are shown
 * @returns {(Element | string)[]}
 */
export const batchText = (h, text, most = Infinity) => [
  text.before ?? "",
  ...pictureOf(h, text),
  clip(text.text, most),
];

/**
 * Both texts of a pair in one line.
 * @template Element
 * @param {Making<Element>} h
 * @param {{ first: string[], second: string[], pictures?: Record<string, string> }} of
 * @param {number} pair
 * @param {number} most letters of each
 * @returns {(Element | string)[]}
 */
export const quotedPair = (h, of, pair, most) => [
  ...batchText(h, { of, text: of.first[pair] ?? "", before: "“" }, most),
  ...batchText(h, { of, text: of.second[pair] ?? "", before: "” · “" }, most),
  "”",
];
