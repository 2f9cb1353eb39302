// What can be taken away of a part of the page: a drawing as a figure with its caption, numbers as CSV.
import { h, worded } from "../../kit/dom.js";
import { writtenOut } from "../../kit/drawing.js";
import { figureButtons } from "../../kit/figure_choices.js";
import { saved } from "../../kit/files.js";
import { GONE } from "../../kit/server.js";
import { say } from "../../kit/words.js";
import { colourOf, labelOf } from "./legend.js";

/** @typedef {{ panels: object[], across?: number, title: string, note?: string, places?: number[] }} Figure */

/**
 * Buttons for a part of the page called `name` in file names. `figure()` is its drawing as it is now, null
 * for none; `csv()` its numbers row by row.
 * @param {import("./state.js").ComparePage} channel
 * @param {{ name: string, figure?: () => Figure | null, csv?: () => (string | number)[][] }} options
 */
export function downloads(channel, { name, figure, csv }) {
  /** @param {string} ending */
  const fileName = (ending) => `lossprism-${name}${ending}`;

  /**
   * @param {ReturnType<typeof import("../../kit/figure_choices.js").figureLook>} look
   * @param {number} ratio of a PNG
   */
  async function picture(look, ratio) {
    const found = figure?.();
    if (!found) return;
    const { note = "", places = channel.of.map((_side, place) => place), ...rest } = found;
    const legend = places.map((place) => ({ name: labelOf(channel.of, place), colour: writtenOut(colourOf(place)) }));
    const chart = { ...rest, legend, caption: captionOf(channel, note) };
    const answer = await channel.server?.chart({ ...look, name: fileName(""), chart });
    if (!answer || answer.error) channel.warn(answer?.error ?? GONE);
    else await saved(answer, ratio);
  }

  /** @type {(key: string, act: () => void) => HTMLElement} */
  const button = (key, act) => worded("button.lp-crumb", key, { type: "button", onclick: act });
  const element = h(
    "div.lp-downloads",
    {},
    figure ? figureButtons("button.lp-crumb", picture) : [],
    csv ? button("take.csv", () => saved({ name: fileName(".csv"), type: "text/csv", text: written(csv()) })) : null,
  );
  return { element };
}

/**
 * What a figure says below it: the losses, the batch, and what is to be known besides.
 * @param {import("./state.js").ComparePage} channel
 * @param {string} note
 */
function captionOf({ of: sides, batch, store }, note) {
  const { data } = store.state;
  const where = data.source === "example" ? say(`example.${data.example}.title`) : say(`compare.from.${data.source}`);
  const lines = [
    sides.map((_side, place) => labelOf(sides, place)).join("; "),
    say("compare.caption", { where, count: batch?.labels.length ?? 0 }),
  ];
  return note ? [...lines, note] : lines;
}

/**
 * Comma-separated, as RFC 4180 has it; what a spreadsheet would take for a formula is written as text.
 * @param {(string | number)[][]} rows
 */
export const written = (rows) => `${rows.map((row) => row.map(cellOf).join(",")).join("\r\n")}\r\n`;

/** @param {string | number} value */
function cellOf(value) {
  if (typeof value === "number") return String(value);
  const isNumber = value === "-inf" || Number.isFinite(Number(value));
  const plain = /^[=+\-@\t\r]/.test(value) && !isNumber ? `'${value}` : value;
  return /[",\r\n]/.test(plain) ? `"${plain.replace(/"/g, '""')}"` : plain;
}
