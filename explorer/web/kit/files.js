// Files in and out of the page: one that the user chose as base64, one to be saved, an SVG as PNG.
import { contextOf, h } from "./dom.js";
import { problem } from "./server.js";
import { say } from "./words.js";

const PIECE = 2 ** 21; // bytes of a file that travel at a time

/** @type {(blob: Blob) => Promise<string>} */
function base64Of(blob) {
  return new Promise((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => fail(reader.error);
    reader.readAsDataURL(blob);
  });
}

/**
 * Why a file is not sent: it has more than so many bytes. Else null.
 * @param {File} file
 * @param {number} most
 * @param {string} key of the problem
 */
export const tooLarge = ({ name, size }, most, key = "file_too_large") =>
  size > most ? problem(key, { name, most: most / 2 ** 20 }) : null;

/** @type {(file: File) => Promise<{ name: string; content: string; }>} A file as it is sent whole. */
export const sent = async (file) => ({ name: file.name, content: await base64Of(file) });

/**
 * A file that goes over piece by piece, as `put` sends each: the answer to the last piece, or to the first
 * that was refused; null where `isWanted` says that nobody waits for it any more. What was sent of a file
 * that does not arrive is forgotten there. `report` hears how much of it is there.
 * @template {{ error?: import("../wire").Problem }} Answer
 * @param {File} file
 * @param {{ put: (request: object) => Promise<Answer>, report: (share: number) => void,
 *   isWanted: () => boolean }} way
 * @returns {Promise<Answer | null>}
 */
export async function sentInPieces(file, { put, report, isWanted }) {
  const token = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  for (let start = 0; ; start += PIECE) {
    report(start / Math.max(file.size, 1));
    const last = start + PIECE >= file.size;
    const content = await base64Of(file.slice(start, start + PIECE));
    const answer = await put({ name: file.name, token, start, content, last });
    if (isWanted() && !answer.error && !last) continue;
    if (!isWanted() || answer.error) await put({ token, forget: true });
    return isWanted() ? answer : null;
  }
}

/**
 * A file that is chosen, or dropped on the button that opens the chooser.
 * @type {(chooser: HTMLInputElement, drop: HTMLElement, take: (file: File) => void) => void}
 */
export function onFile(chooser, drop, take) {
  /** @param {FileList | undefined | null} files */
  const first = (files) => {
    if (files?.[0]) take(files[0]);
  };
  chooser.addEventListener("change", () => {
    first(chooser.files);
    chooser.value = "";
  });
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("lp-over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("lp-over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("lp-over");
    first(event.dataTransfer?.files);
  });
}

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
export async function saved({ name, type, text }, ratio = 1) {
  if (ratio !== 1) {
    saveBlob(name.replace(/\.svg$/, `@${ratio}x.png`), await rasterised(text, ratio));
    return;
  }
  if (type === "application/zip" || type === "application/pdf") {
    saveBlob(name, new Blob([Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0))], { type }));
    return;
  }
  const mark = type === "text/csv" ? "\ufeff" : ""; // spreadsheets read Chinese by it
  saveBlob(name, new Blob([mark, text], { type }));
}

/** @typedef {(string | number)[][]} Rows */

/** @type {(name: string, rows: Rows) => Promise<void>} Save rows as comma-separated values. */
export const saveCsv = (name, rows) => saved({ name: `lossprism-${name}.csv`, type: "text/csv", text: csvText(rows) });

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

/** @typedef {{ key: string, values: Record<string, string> }} ReadingNote how a table was read */

// What the fields below a file show: one column for each role.
const IN_FIELDS = ["first", "second", "score", "anchor", "teacher", "text", "class"].map((role) => `reading.${role}`);

/**
 * Which columns were read besides those in the fields, which were not, and in which order a library
 * would read them.
 * @param {ReadingNote[] | undefined} notes
 * @param {boolean} hasFields whether fields say which columns are the texts and the score
 */
export function readingNotes(notes, hasFields = true) {
  const shown = (notes ?? []).filter(({ key }) => !hasFields || !IN_FIELDS.includes(key));
  return shown.map(({ key, values }) => say(key, values));
}

/**
 * What was read of a file, and of what kind its labels are, where they are no plain scores.
 * @param {string} read
 * @param {{ labelled?: boolean, inference?: boolean, notes?: ReadingNote[] } | null | undefined} file
 * @param {boolean} hasFields as of `readingNotes`
 */
export function withLabels(read, file, hasFields = true) {
  const sentences = [read, ...readingNotes(file?.notes, hasFields)];
  if (file?.labelled === false) sentences.push(say("ui.all_positives"));
  else if (file?.inference) sentences.push(say("ui.inference"));
  return sentences.join(" ");
}
