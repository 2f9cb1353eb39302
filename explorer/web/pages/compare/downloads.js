// A part of the page as a file: a drawing as a figure with its caption, numbers as CSV.
import { colourOf, labelOf } from "../../kit/compared_loss_labels.js";
import { Fold } from "../../kit/components.js";
import { FigureButtons } from "../../kit/figure_export_options.js";
import { saveAnswer, saveCsv } from "../../kit/file_downloads.js";
import { h } from "../../kit/preact_view.js";
import { writtenOut } from "../../kit/shapes_read_from_drawn_svg.js";
import { say } from "../../kit/translated_sentences.js";

/** @typedef {import("../../kit/file_downloads.js").Rows} Rows */
/** @typedef {{ panels: object[], across?: number, title: string, note?: string, places?: number[] }} Figure */
/** @typedef {[key: string, act: () => void]} Button */
/** @typedef {import("../../kit/figure_export_options.js").SaveFigure} SaveFigure */

/** @param {{ buttons: Button[], figure?: SaveFigure }} properties */
export const SaveButtons = ({ buttons, figure }) =>
  h(
    Fold,
    { title: say("take.file"), kind: "lp-save" },
    h(
      "div.lp-downloads",
      figure ? h(FigureButtons, { button: "button.lp-crumb", kind: "div.lp-downloads", save: figure }) : null,
      buttons.map(([key, act]) => h("button.lp-crumb", { key, "data-take": key, onClick: act }, say(key))),
    ),
  );

/**
 * Buttons for a part of the page, called `name` in file names. `figure()` returns its present drawing, null for
 * none; `csv()` its numbers row by row; `more` are further buttons.
 * @param {{ page: import("./state.js").ComparePage, name: string, more?: Button[], figure?: () => Figure | null,
 *   csv: () => Rows }} properties
 */
export function Downloads({ page, name, figure, csv, more = [] }) {
  /**
   * @param {Parameters<SaveFigure>[0]} look
   * @param {number} ratio of a PNG
   */
  async function saveFigure(look, ratio) {
    const found = figure?.();
    if (!found) return;
    const { comparedSides } = page;
    const { note = "", places = comparedSides.map((_side, place) => place), ...rest } = found;
    const legend = places.map((place) => ({
      name: labelOf(comparedSides, place),
      colour: writtenOut(colourOf(place)),
    }));
    const chart = { ...rest, legend, caption: captionOf(page, note) };
    const answer = await page.server.chart({ ...look, name: `lossprism-${name}`, chart });
    if (answer.error) page.warn(answer.error);
    else await saveAnswer(answer, ratio);
  }
  return h(SaveButtons, { buttons: [...more, ["take.csv", () => saveCsv(name, csv())]], figure: figure && saveFigure });
}

/**
 * What a figure says below it: the losses, the batch, and a note.
 * @type {(page: import("./state.js").ComparePage, note: string) => string[]}
 */
function captionOf(page, note) {
  const { comparedSides } = page;
  const lines = [comparedSides.map((_side, place) => labelOf(comparedSides, place)).join("; "), batchName(page)];
  return note ? [...lines, note] : lines;
}

/**
 * Where the batch comes from, and how many pairs it has.
 * @param {import("./state.js").ComparePage} page
 */
export function batchName({ batch, store }) {
  const { source, example } = store.state.data;
  const where = say(source === "example" ? `example.${example}.title` : `compare.from.${source}`);
  return say("compare.caption", { where, count: batch?.labels.length ?? 0 });
}
