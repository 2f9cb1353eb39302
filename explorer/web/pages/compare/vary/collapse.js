// How far collapsed: all vectors moved towards one point, and what each loss is on the way.
import { nearest } from "../../../kit/axis_range.js";
import { floats } from "../../../kit/base64_arrays.js";
import { labelOf } from "../../../kit/compared_loss_labels.js";
import { percent, read, show } from "../../../kit/number_format.js";
import { group, h } from "../../../kit/preact_view.js";
import { say } from "../../../kit/translated_sentences.js";
import { useMemo, useRef, useState } from "../../../kit/vendor/preact/hooks.js";
import { Downloads } from "../downloads.js";
import { FoldingSection } from "../folding_section.js";
import { fallingWords } from "./collapse_summary.js";
import { Curves, chartsFigure, Scrub } from "./curves.js";
import { Result, useExperiment } from "./experiment_request.js";
import { LossTable, RefusedCell } from "./loss_table.js";

/** @typedef {import("../state.js").ComparePage} ComparePage */
/** @typedef {import("../../../wire").CollapseCurves} Answer */
/** @typedef {import("../../../wire").CollapseCurve} CollapseCurve */
/** @typedef {{ ways: (CollapseCurve | null)[], shares: number[], spread: Float32Array, values: Float32Array[] }} CollapseData */

const POINTS = 41;

/** @param {{ page: ComparePage }} properties */
export function Collapse({ page }) {
  /** @type {import("./experiment_request.js").Experiment<Answer>} */
  const experiment = useExperiment(page, "collapse", { points: POINTS });
  const { answer, sides } = experiment;
  const curves = useMemo(() => answer && readAnswer(answer), [answer]);
  return h(Result, { experiment }, curves && answer && h(CollapseCurves, { page, answer, curves, sides }));
}

/** @type {(answer: Answer) => CollapseData} */
function readAnswer({ shares, spread, sides }) {
  const ways = sides.map(({ found }) => /** @type {CollapseCurve | null} */ (found));
  return {
    ways,
    shares: Array.from(floats(shares), (v) => Number(v.toPrecision(6))),
    spread: floats(spread),
    values: ways.map((way) => (way ? floats(way.values) : new Float32Array())),
  };
}

/**
 * @param {{ page: ComparePage, answer: Answer, curves: CollapseData,
 *   sides: import("./experiment_request.js").Side[] }} properties
 */
function CollapseCurves({ page, answer, curves, sides }) {
  const [share, setShare] = useState(0);
  const [reached, reach] = useState(/** @type {number | null} */ (null));
  const charts = useRef(new Map()).current;
  const { ways, shares, spread, values } = curves;
  const shown = useMemo(() => ways.map((way, place) => panelContent(curves, way, place)), [curves]);
  const at = nearest(shares, reached ?? share);
  const titles = sides.map((_side, place) => labelOf(sides, place)).filter((_title, place) => ways[place]);
  const columns = ["compare.vary.start", "compare.vary.here", "compare.vary.reached", "figure.collapse"];
  const { falling, others } = fallingWords(ways);
  const remarks = page.answering ? [] : falling;
  return group(
    answer.by_cosines ? h("p.lp-note", say("compare.vary.by_cosines")) : null,
    h(
      "div.lp-vary-panels.lp-vary-small",
      ways.map((way, place) =>
        way
          ? h(Curves, {
              key: place,
              title: labelOf(sides, place),
              shown: shown[place],
              at: shares[at],
              charts,
              reach,
              press: setShare,
            })
          : null,
      ),
    ),
    h(Scrub, {
      label: say("compare.vary.collapsed"),
      share: shares[at],
      steps: 100,
      words: say("compare.vary.moved", { share: percent(shares[at]), spread: show(spread[at], 3) }),
      change: setShare,
    }),
    h(
      "ul.lp-remarks.lp-falling",
      remarks.map((text) => h("li", { key: text }, text)),
    ),
    h(FoldingSection, {
      page,
      name: "collapse-details",
      title: `ⓘ ${say("ui.details")}`,
      kind: "lp-notes",
      content: () =>
        group(
          h(LossTable, {
            label: say("compare.vary.collapse"),
            heads: columns.map((key) => say(key)),
            sides,
            cells: (place) => {
              const way = ways[place];
              if (!way) return h(RefusedCell, { problem: answer.sides[place].problem, columns: columns.length });
              const here = h("b", show(values[place][at]));
              const line = way.line === null ? say("compare.vary.unknown") : show(way.line);
              return [show(way.start), here, show(way.reached), line].map((cell) => h("td", cell));
            },
          }),
          h(
            "ul.lp-remarks",
            [...others, say("compare.vary.collapse.about")].map((text) => h("li", { key: text }, text)),
          ),
          h(Downloads, {
            page,
            name: "collapse",
            figure: () => ({
              ...chartsFigure(charts, titles),
              title: say("compare.vary.collapse"),
              note: say("compare.vary.collapse.about"),
            }),
            csv: () => csvOf(curves, sides),
          }),
        ),
    }),
  );
}

/** @type {(curves: CollapseData, way: CollapseCurve | null, place: number) => import("./curves.js").CurvePanelContent} */
function panelContent({ shares, values }, way, place) {
  const limit = way && way.line !== null ? read(way.line) : null;
  return { axis: { span: [0, 1], logarithmic: false }, curves: [{ place, x: shares, y: values[place], limit }] };
}

/** @type {(curves: CollapseData, sides: import("./experiment_request.js").Side[]) => import("../downloads.js").Rows} */
const csvOf = ({ shares, spread, values }, sides) => [
  ["share", "spread", ...values.map((_one, place) => labelOf(sides, place))],
  ...shares.map((share, i) => [share, spread[i], ...values.map((line) => line[i] ?? "")]),
];
