// The colours of numbers, in both themes: those of the one palette (export/palette.json).
import { contextOf, h } from "./dom.js";
import { isDark } from "./theme.js";

/** The ramps and marks of the theme in force, as the palette's style sheet has them. */
export function palette() {
  const [diverging, sequential, mask] = ["diverging", "sequential", "mask"].map((name) => themeColour(name).split(" "));
  const [broken, hatch, sheet] = ["broken", "hatch", "sheet"].map(themeColour);
  return { diverging, sequential, mask, broken, hatch, sheet };
}

/** @type {(name: string) => string} The value of a colour on white paper, whatever the theme. */
export const paperColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--lp-${name}`).trim();

/** @type {Map<string, string>} */
const valuesInTheme = new Map();
/**
 * The value of a colour of the theme: `ink` of `--lp-ink`. Each is read once in a theme, since the browser makes up
 * the styles of the whole page to tell one.
 * @param {string} name
 */
export function themeColour(name) {
  const key = `${isDark()}|${name}`;
  const known = valuesInTheme.get(key) ?? getComputedStyle(document.body).getPropertyValue(`--lp-${name}`).trim();
  if (known) valuesInTheme.set(key, known); // the style sheet may not be there yet
  return known;
}
/** @param {string} hex */
const channelsOf = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** @type {Map<string, Uint32Array>} */
const tables = new Map();
/**
 * 256 colours of a ramp as little-endian RGBA words, ready for an ImageData buffer.
 * @type {(ramp: "diverging" | "sequential" | "mask") => Uint32Array}
 */
export function rampTable(ramp) {
  const stops = palette()[ramp];
  const key = stops.join();
  let table = tables.get(key);
  if (!table) {
    table = new Uint32Array(256);
    for (let i = 0; i < 256; i += 1) {
      const place = (i / 255) * (stops.length - 1);
      const left = Math.min(Math.floor(place), stops.length - 2);
      const [a, b] = [channelsOf(stops[left]), channelsOf(stops[left + 1])];
      const [r, g, bl] = a.map((from, k) => Math.round(from + (b[k] - from) * (place - left)));
      table[i] = (255 << 24) | (bl << 16) | (g << 8) | r;
    }
    tables.set(key, table);
  }
  return table;
}
/** @type {Map<string, CanvasPattern | null>} */
const hatchings = new Map();
/**
 * What is absent is hatched: lines of one width at any pixel ratio.
 * @type {(context: CanvasRenderingContext2D, ratio: number) => CanvasPattern | null}
 */
export function hatching(context, ratio) {
  const key = `${ratio}|${palette().hatch}`;
  const known = hatchings.get(key);
  if (known) return known;
  const side = Math.round(6 * ratio);
  const tile = h("canvas", { width: side, height: side });
  const line = contextOf(tile);
  line.strokeStyle = palette().hatch;
  line.lineWidth = ratio;
  line.beginPath();
  for (const shift of [-side, 0, side]) {
    line.moveTo(shift, side);
    line.lineTo(shift + side, 0);
  }
  line.stroke();
  const made = context.createPattern(tile, "repeat");
  hatchings.set(key, made);
  return made;
}

/** @param {string} hex */
export const rgbaWord = (hex) => {
  const [r, g, b] = channelsOf(hex);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
};
/** @type {(table: Uint32Array, i: number) => string} */
export const rampColour = (table, i) => {
  const value = table[Math.max(0, Math.min(255, Math.round(i)))];
  return `rgb(${value & 255},${(value >> 8) & 255},${(value >> 16) & 255})`;
};
