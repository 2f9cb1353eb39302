// The losses over the score of a positive and of a negative, with the comparisons of the batch as dots.
import { labelOf, Named } from "../../../kit/compared_loss_labels.js";
import { boundaryWords, LandscapePlot, landscapePanel, landscapesIn } from "../../../kit/landscape.js";
import { show } from "../../../kit/number_format.js";
import { group, h } from "../../../kit/preact_view.js";
import { numbered } from "../../../kit/state_link.js";
import { say } from "../../../kit/translated_sentences.js";
import { useMemo } from "../../../kit/vendor/preact/hooks.js";
import { Downloads } from "../downloads.js";
import { Result, useExperiment } from "./experiment_request.js";
import { LossTable, RefusedCell } from "./loss_table.js";

/** @typedef {import("../state.js").ComparePage} ComparePage */
/** @typedef {import("./experiment_request.js").Side} Side */
/** @typedef {import("../../../wire").Landscapes} Answer */
/** @typedef {ReturnType<typeof landscapesIn>} ReadLandscapes */

const PANEL = 420; // pixels of a side of a landscape in a file
const HEADS = ["landscape.lowest", "landscape.highest", "compare.vary.comparisons"];

/** @param {{ page: ComparePage }} properties */
export function LandscapeExperiment({ page }) {
  /** @type {import("./experiment_request.js").Experiment<Answer>} */
  const experiment = useExperiment(page, "landscape", {});
  const { answer, sides } = experiment;
  const landscapes = useMemo(() => answer && landscapesIn(answer), [answer]);
  return h(Result, { experiment }, answer && landscapes && h(Landscapes, { page, answer, landscapes, sides }));
}

/** @param {{ page: ComparePage, answer: Answer, landscapes: ReadLandscapes, sides: Side[] }} properties */
function Landscapes({ page, answer, landscapes, sides }) {
  const two = sides.filter((_side, place) => landscapes[place]).slice(0, 2);
  const address = new URL(`learn/landscape#${new URLSearchParams(numbered(two))}`, document.baseURI).href;
  return group(
    h(
      "div.lp-landscape-sides",
      landscapes.map((landscape, place) => {
        if (!landscape) return null;
        const label = say("landscape.picture", { loss: labelOf(sides, place) });
        return h(
          "section",
          { key: place },
          h(Named, { sides, place }),
          h("p.lp-note", boundaryWords(landscape, 0)),
          h(LandscapePlot, { landscape, stop: 0, view: "levels", negative: null, label }),
        );
      }),
    ),
    h(LossTable, {
      label: say("compare.vary.landscape"),
      heads: HEADS.map((key) => say(key)),
      sides,
      cells: (place) => {
        const landscape = landscapes[place];
        if (!landscape) return h(RefusedCell, { problem: answer.sides[place].problem, columns: HEADS.length });
        const { heights, comparisons } = landscape;
        const numbers = [show(Math.min(...heights)), show(Math.max(...heights)), String(comparisons)];
        return numbers.map((cell) => h("td", cell));
      },
    }),
    h("p.lp-note", say("landscape.about"), " ", h("a.lp-link", { href: address }, say("landscape.open"))),
    h(Downloads, {
      page,
      name: "landscape",
      figure: () => ({
        panels: landscapes.flatMap((landscape, place) => {
          const at = { stop: 0, negative: null, side: PANEL, title: labelOf(sides, place) };
          return landscape ? [landscapePanel(landscape, at)] : [];
        }),
        across: 2,
        title: say("compare.vary.landscape"),
        note: say("landscape.about"),
      }),
      csv: () => csvOf(answer, landscapes, sides),
    }),
  );
}

/**
 * The loss at each point, row by row of the score of the negative.
 * @type {(answer: Answer, landscapes: ReadLandscapes, sides: Side[]) => import("../downloads.js").Rows}
 */
const csvOf = ({ axis }, landscapes, sides) => [
  ["positive", "negative", ...sides.map((_side, place) => labelOf(sides, place))],
  ...axis.flatMap((negative, row) =>
    axis.map((positive, column) => [
      ...[positive, negative].map((one) => Number(one.toFixed(6))),
      ...landscapes.map((landscape) => landscape?.heights[row * axis.length + column] ?? ""),
    ]),
  ),
];
