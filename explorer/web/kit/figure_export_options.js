// How figures are taken away: their format, and, the same on all pages, their size and colours and whether words
// stand around them.
import { Fold, useLatest } from "./components.js";
import { h as make, worded } from "./dom.js";
import { saveAnswer } from "./file_downloads.js";
import { h, hosted } from "./preact_view.js";
import { store, stored } from "./storage.js";
import { isDark } from "./theme.js";
import { language, say } from "./translated_sentences.js";

const SIZES = ["slide", "two_columns", "one_column"];
const PALETTES = ["page", "light", "dark", "print"];
/**
 * The file of a format, with so many pixels to a unit where the browser makes a PNG of it.
 * @typedef {{ key: string, format: "svg" | "html" | "pdf", ratio: number }} Format
 */
/** @type {Format[]} */
const FORMATS = [
  { key: "take.svg", format: "svg", ratio: 1 },
  { key: "take.png2", format: "svg", ratio: 2 },
  { key: "take.png4", format: "svg", ratio: 4 },
  { key: "take.pdf", format: "pdf", ratio: 1 },
  { key: "take.page", format: "html", ratio: 1 },
];

/** @param {string} name */
const chosen = (name) => stored(`taken-${name}`) ?? "";

/**
 * What the server needs to know of a figure beside what it shows.
 * @param {Format["format"]} format
 */
export const figureLook = (format = "svg") => ({
  ...{ language: language(), dark: isDark(), format },
  size: SIZES.includes(chosen("size")) ? chosen("size") : SIZES[0],
  palette: PALETTES.slice(1).includes(chosen("palette")) ? chosen("palette") : "",
  picture_only: chosen("only") === "yes",
});

/**
 * A button for each format, and a fold with the choices.
 * @param {string} tag of a button
 * @param {(look: ReturnType<typeof figureLook>, ratio: number) => unknown} take
 */
export const figureButtons = (tag, take) => [
  ...FORMATS.map(({ key, format, ratio }) => worded(tag, key, { onclick: () => take(figureLook(format), ratio) })),
  choices(),
];

function choices() {
  const size = select("size", SIZES);
  const palette = select("palette", PALETTES);
  const only = make("input", {
    type: "checkbox",
    onchange: () => store("taken-only", only.checked ? "yes" : ""),
  });
  const element = make(
    "details.lp-figure-choices",
    { ontoggle: fill },
    worded("summary", "take.options"),
    make("label.lp-inline", worded("span", "take.size"), size),
    make("label.lp-inline", worded("span", "take.palette"), palette),
    make("label.lp-inline", only, worded("span", "take.picture_only")),
  );
  // Another fold of the page may have changed them.
  function fill() {
    const { size: wide, palette: colours, picture_only: bare } = figureLook();
    size.value = wide;
    palette.value = colours || PALETTES[0];
    only.checked = bare;
  }
  fill();
  return element;
}

/** @type {(name: string, values: string[]) => HTMLSelectElement} */
function select(name, values) {
  const options = values.map((value) => worded("option", `take.${name}.${value}`, { value }));
  const box = make("select", { onchange: () => store(`taken-${name}`, box.value) }, ...options);
  return box;
}

/** @typedef {Parameters<typeof figureButtons>[1]} SaveFigure called with the look of the file, and the ratio of a PNG */

/**
 * A button for each format of a figure; `button` is the kind of each, `kind` that of the line they stand in.
 * @param {{ button: string, kind: string, save: SaveFigure }} properties
 */
export function FigureButtons({ button, kind, save }) {
  const saving = useLatest(save);
  return hosted({ kind, make: (root) => root.append(...figureButtons(button, saving)) });
}

/** @typedef {Parameters<SaveFigure>[0]} Look the look of a file */
/** @typedef {import("./types").Answer<import("../wire").LearnServer, "chart"> | undefined} FigureFile */

/**
 * A fold that saves the figure above it in a format of choice: `ask` returns the server's answer, undefined where there
 * is nothing to save.
 * @param {{ page: Pick<import("./page_topics_notices_and_jobs.js").PageEvents, "warn">, ask: (look: Look) => Promise<FigureFile> | undefined }} properties
 */
export const FigureFold = ({ page, ask }) =>
  h(
    Fold,
    { title: say("ui.save_figure") },
    h(FigureButtons, {
      button: "button.lp-crumb",
      kind: "div.lp-downloads",
      save: async (look, ratio) => {
        const answer = await ask(look);
        if (answer?.error) page.warn(answer.error);
        else if (answer) await saveAnswer(answer, ratio);
      },
    }),
  );
