// SVG of the page's own making: elements, and a drawing as a file that stands on its own.
import { contextOf, h } from "./dom.js";
import { language } from "./words.js";

const MARGIN = 24,
  SIZE = 12.5,
  LINE = 18;

/**
 * @param {string} tag of SVG
 * @param {import("./types").Look} [attributes] null, undefined and "" are left out
 * @param {...(Node | string)} children
 */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== "") element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

const pen = contextOf(h("canvas"));
/**
 * @param {string} text
 * @param {number} size
 * @param {string} font
 */
export function widthOf(text, size, font) {
  pen.font = `${size}px ${font}`;
  return pen.measureText(text).width;
}

/**
 * In lines that fit, broken at blanks, or anywhere in Chinese.
 * @param {string} text
 * @param {number} room
 * @param {string} font
 */
function wrapped(text, room, font) {
  const lines = [""];
  for (const piece of text.match(/[^\s\u2e80-\uffef]+\s*|[\u2e80-\uffef]|\s+/g) ?? []) {
    if (lines.at(-1) && widthOf((lines.at(-1) + piece).trimEnd(), SIZE, font) > room / 1.05) lines.push("");
    lines[lines.length - 1] += piece;
  }
  return lines.map((line) => line.trimEnd());
}

/**
 * The text of an SVG file: `drawn` (an svg of so many pixels) under its title, above its legend and
 * caption. Colours are those of the page.
 * @param {{ drawn: Element, wide: number, tall: number, title: string, caption: string[],
 *   legend?: { name: string, colour: string, dashes?: string, opacity?: number }[] }} drawing
 */
export function standalone({ drawn, wide, tall, title, legend = [], caption }) {
  const style = getComputedStyle(document.querySelector(".lp") ?? document.body);
  const font = style.fontFamily;
  const all = s("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    "font-family": font,
    "xml:lang": language(),
    role: "img",
  });
  /** @type {(x: number, y: number, words: string, look?: import("./types").Look) => void} */
  const text = (x, y, words, look = {}) =>
    all.append(s("text", { x, y, "font-size": SIZE, fill: "var(--lp-faint)", ...look }, words));
  let y = MARGIN + 16;
  text(MARGIN, y, title, { "font-size": 19, "font-weight": 650, fill: "var(--lp-ink)" });
  y += 12;
  const copy = s(
    "g",
    { transform: `translate(${MARGIN} ${y})`, "font-size": 11, fill: "var(--lp-faint)" },
    ...[...drawn.childNodes].map((node) => node.cloneNode(true)),
  );
  all.append(copy);
  y += tall + 6;
  let x = MARGIN;
  for (const { name, colour, dashes, opacity } of legend) {
    const room = 34 + 1.1 * widthOf(name, SIZE, font) + 18; // whoever opens it may have a wider face
    if (x > MARGIN && x + room > MARGIN + wide) {
      x = MARGIN;
      y += LINE;
    }
    all.append(
      s("line", {
        x1: x,
        x2: x + 26,
        y1: y + 10,
        y2: y + 10,
        stroke: colour,
        "stroke-width": 2.5,
        "stroke-opacity": opacity,
        "stroke-dasharray": dashes,
      }),
    );
    text(x + 34, y + 14, name, { fill: "var(--lp-ink)" });
    x += room;
  }
  if (legend.length) y += LINE + 6;
  all.append(s("line", { x1: MARGIN, x2: MARGIN + wide, y1: y + 4, y2: y + 4, stroke: "var(--lp-line)" }));
  y += 4;
  const mark = 80;
  caption.forEach((sentence, place) => {
    for (const line of wrapped(sentence, wide - mark, font)) {
      y += LINE;
      text(MARGIN, y, line, place ? {} : { fill: "var(--lp-ink)", "font-weight": 600 });
    }
  });
  text(MARGIN + wide, y, "LossPrism", { "text-anchor": "end", "font-size": 11 });
  const [width, height] = [wide + 2 * MARGIN, y + MARGIN];
  all.prepend(
    s("title", {}, title),
    s("desc", {}, caption.join("; ")),
    s("rect", { width, height, fill: "var(--lp-card)" }),
  );
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` }))
    all.setAttribute(name, String(value));
  /** @param {string} value */
  const written = (value) => value.replace(/var\((--[\w-]+)\)/g, (_whole, name) => style.getPropertyValue(name).trim());
  for (const element of all.querySelectorAll("*")) {
    for (const { name, value } of [...element.attributes]) {
      if (value.includes("var(")) element.setAttribute(name, written(value));
    }
  }
  return new XMLSerializer().serializeToString(all);
}
