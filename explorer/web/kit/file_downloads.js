// Files that the page saves: text, tables as CSV, figures as SVG or PNG, and what the server has packed.
import { bytes } from "./base64_arrays.js";
import { contextOf, h } from "./dom.js";

/** @type {(file: { path: string, name: string }) => void} Have the browser fetch a file and save it. */
export const download = ({ path, name }) => h("a", { href: path, download: name }).click();

/** @type {(name: string, blob: Blob) => void} */
function saveBlob(name, blob) {
  const address = URL.createObjectURL(blob);
  download({ path: address, name });
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // a busy browser begins late
}

/**
 * What the server answers as text, saved as a file: a figure as it is, or as PNG with `ratio` pixels to
 * a unit; a ZIP or a PDF travels as base64.
 * @param {import("../wire").Text} answer
 */
export async function saveAnswer({ name, type, text }, ratio = 1) {
  if (ratio !== 1) {
    saveBlob(name.replace(/\.svg$/, `@${ratio}x.png`), await rasterised(text, ratio));
    return;
  }
  if (type === "application/zip" || type === "application/pdf") {
    saveBlob(name, new Blob([bytes(text)], { type }));
    return;
  }
  const mark = type === "text/csv" ? "\ufeff" : ""; // spreadsheets read Chinese by it
  saveBlob(name, new Blob([mark, text], { type }));
}

/** @typedef {(string | number)[][]} Rows */

/** @type {(name: string, rows: Rows) => Promise<void>} Save rows as comma-separated values. */
export const saveCsv = (name, rows) =>
  saveAnswer({ name: `lossprism-${name}.csv`, type: "text/csv", text: csvText(rows) });

/**
 * Comma-separated values (RFC 4180); what a spreadsheet would take for a formula is written as text.
 * @param {Rows} rows
 */
const csvText = (rows) => `${rows.map((row) => row.map(cellOf).join(",")).join("\r\n")}\r\n`;

const MARK = "\x22"; // a quotation mark, which stands twice inside a pair of them

/** @param {string | number} value */
function cellOf(value) {
  if (typeof value === "number") return String(value);
  const isNumber = value === "-inf" || Number.isFinite(Number(value));
  const plain = /^[=+\-@\t\r]/.test(value) && !isNumber ? `'${value}` : value;
  const needsMarks = [MARK, ",", "\r", "\n"].some((one) => plain.includes(one));
  return needsMarks ? `${MARK}${plain.replaceAll(MARK, MARK + MARK)}${MARK}` : plain;
}

/**
 * The browser turns a figure into pixels: the same drawing, so many pixels to a unit.
 * @type {(svg: string, ratio: number) => Promise<Blob>}
 */
async function rasterised(svg, ratio) {
  const picture = new Image();
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  picture.src = address;
  await picture.decode();
  const [width, height] = [picture.width, picture.height].map((side) => Math.round(side * ratio));
  const canvas = h("canvas", { width, height });
  contextOf(canvas).drawImage(picture, 0, 0, width, height);
  URL.revokeObjectURL(address);
  return new Promise((done) => {
    canvas.toBlob((blob) => done(/** @type {Blob} */ (blob)), "image/png");
  });
}
