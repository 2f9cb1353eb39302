// The colours of numbers, in both themes.
import { contextOf, h } from "./dom.js";
import { isDark } from "./theme.js";

// Both ramps are safe for colour-blind readers: blue to orange through the page's own ground,
// and one hue that only grows darker (lighter on a dark page).
const RAMPS = {
  light: {
    diverging: ["#0b4f8a", "#4b8fc4", "#a9cce6", "#f6f5f2", "#f6c79b", "#dd7f2d", "#8f4207"],
    sequential: ["#f3f2f7", "#c9c8e6", "#8f8fd0", "#5a55b8", "#2c2478"],
    mask: ["#efeeea", "#4d5a70"],
    broken: "#c3127a",
    hatch: "rgba(60,60,70,.28)",
    ground: "#ffffff",
  },
  dark: {
    diverging: ["#8cc8ff", "#3f8bd0", "#1f4a74", "#1b1c21", "#6e3f14", "#cf7a2c", "#ffc48a"],
    sequential: ["#1d1d26", "#36346b", "#5f5bb5", "#9d9be6", "#e9e8ff"],
    mask: ["#22242b", "#93a1ba"],
    broken: "#ff5fb7",
    hatch: "rgba(220,220,235,.20)",
    ground: "#16171b",
  },
};
export const palette = () => RAMPS[isDark() ? "dark" : "light"];
/** @param {string} hex */
const channelsOf = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** @type {Map<string, Uint32Array>} */
const tables = new Map();
/**
 * 256 colours of a ramp as little-endian RGBA words, ready for an ImageData buffer.
 * @param {"diverging" | "sequential" | "mask"} ramp
 * @returns {Uint32Array}
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
 * @param {CanvasRenderingContext2D} context
 * @param {number} ratio
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
export const packed = (hex) => {
  const [r, g, b] = channelsOf(hex);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
};
/**
 * @param {Uint32Array} table
 * @param {number} i
 */
export const cssOf = (table, i) => {
  const value = table[Math.max(0, Math.min(255, Math.round(i)))];
  return `rgb(${value & 255},${(value >> 8) & 255},${(value >> 16) & 255})`;
};
