// The shapes of an SVG drawing, as the file of a figure takes them.
import { themeColour } from "./colours.js";

const BAR = /M([-\d.]+) ([-\d.]+)h([-\d.]+)v([-\d.]+)/g;
const ACROSS = ["x", "x1", "x2", "cx"];
const DOWN = ["y", "y1", "y2", "cy"];

/**
 * The shapes of a drawing as a figure has them, each where it stands on the whole: lines, boxes, dots, texts and
 * images. A path of bars becomes a box for each.
 * @param {Element} drawn
 * @returns {Record<string, string | number>[]}
 */
function shapesOf(drawn, [x, y] = [0, 0]) {
  return [...drawn.children].flatMap((element) => {
    const of = Object.fromEntries([...element.attributes].map(({ name, value }) => [name, writtenOut(value)]));
    if (of.visibility === "hidden") return [];
    const [right = 0, down = 0] = String(of.transform ?? "").match(/-?[\d.]+/g) ?? [];
    /** @type {[number, number]} */
    const at = [x + Number(right), y + Number(down)];
    if (element.tagName === "g") return shapesOf(element, at);
    if (element.tagName === "path") {
      return [...String(of.d).matchAll(BAR)].map(([, left, top, width, height]) => ({
        ...{ tag: "rect", fill: of.fill, x: at[0] + Number(left), width: Number(width) },
        ...{ y: at[1] + Number(top) + Math.min(0, Number(height)), height: Math.abs(Number(height)) },
      }));
    }
    for (const name of ACROSS) if (name in of) of[name] = Number(of[name]) + at[0];
    for (const name of DOWN) if (name in of) of[name] = Number(of[name]) + at[1];
    return [{ ...of, tag: element.tagName, text: element.textContent ?? "" }];
  });
}

/**
 * The value of an attribute: a number, or a text in which the colours of the theme are written out.
 * @param {string} value
 */
export const writtenOut = (value) =>
  value !== "" && Number.isFinite(Number(value))
    ? Number(value)
    : value.replace(/var\(--lp-([\w-]+)\)/g, (_whole, name) => themeColour(name));

/**
 * A drawing as the one panel of a chart.
 * @param {{ drawn: Element, wide: number, tall: number }} drawing
 */
export const panelOf = ({ drawn, wide, tall }) => ({ wide, tall, title: "", shapes: shapesOf(drawn) });
