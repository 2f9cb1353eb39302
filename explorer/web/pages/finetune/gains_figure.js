// What is measured on held-out pairs before and after as a figure: a row for each plan, its mean over seeds with
// every seed beside it, and how sure that is.
import { clip } from "../../kit/dom.js";
import { fixed, show, showWithin } from "../../kit/number_format.js";
import { h, hosted } from "../../kit/preact_view.js";
import { panelOf } from "../../kit/shapes_read_from_drawn_svg.js";
import { s } from "../../kit/svg_drawing.js";
import { say } from "../../kit/translated_sentences.js";
import { useLayoutEffect, useRef } from "../../kit/vendor/preact/hooks.js";
import { METRIC_DECIMALS } from "./held_out_metric_list_and_format.js";

/** @typedef {import("../../wire").Group} Group */
/**
 * `after`: one for each seed, `now` their mean; `low` and `high`: how sure the gain is.
 * @typedef {{ label: string, colour: string | undefined, before: number, after: number[], now: number,
 *   deviation: number | null | undefined, low: number, high: number }} Row
 */

/**
 * @param {{ page: import("./state.js").FinetunePage, answer: import("../../wire").Compared }} properties
 */
export function GainsFigure({ page, answer }) {
  const { comparison } = page;
  // One figure on one axis: the first that any group has.
  const known = new Set(answer.groups.filter(({ gain }) => gain).map(({ leading }) => leading));
  const leading = known.has("spearman") || !known.size ? "spearman" : "accuracy_at_1";
  const colours = new Map(page.groups().flatMap(({ names, colour }) => names.map((name) => [name, colour])));
  const rows = answer.groups.flatMap((group) => {
    if (group.leading !== leading) return [];
    return rowOf({ ...group, label: comparison.titleOf(group.label) }, colours.get(group.runs[0])) ?? [];
  });
  const title = say("finetune.gains_on", { figure: say(`finetune.${leading}`), pairs: answer.pairs });
  const note = say("finetune.gains_about", comparison.terms);
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  const drawing = useRef(/** @type {ReturnType<typeof gainsDrawing> | null} */ (null));
  useLayoutEffect(() => {
    if (!root.current) return;
    page.addFigure(page.drawings, {
      key: "finetune.gains",
      name: "gains",
      element: root.current,
      title: () => title,
      chart: ({ losses, origin }) => ({
        panels: drawing.current ? [drawing.current.panel()] : [],
        title,
        caption: [...losses, origin, note],
      }),
    });
  }, [title, note, rows.length]);
  return h(
    "figure.lp-chart.lp-gains-figure",
    { ref: root, hidden: !rows.length },
    h("div.lp-chart-head", h("h3", title)),
    hosted({
      make: (box) => {
        drawing.current = gainsDrawing(box);
        return drawing.current;
      },
      update: ({ update }) => update({ data: { rows, title } }),
    }),
    h("figcaption.lp-note", note),
  );
}

/**
 * A group's runs; null where its similarities have no order.
 * @type {(group: Group, colour: string | undefined) => Row | null}
 */
function rowOf({ label, gain, figures, leading }, colour) {
  if (!gain || !figures[leading]) return null;
  const { before } = gain;
  const [low, high] = [gain.low, gain.high].map((v) =>
    Math.min(1, Math.max(leading === "spearman" ? -1 : 0, before + v)),
  );
  const { values: after, mean: now, spread: deviation } = figures[leading];
  return { label, colour, before, after, now, deviation, low, high };
}

/**
 * The rows as a drawing, on one axis.
 * @param {HTMLElement} root
 */
function gainsDrawing(root) {
  const LEFT = 10,
    BOTTOM = 26;
  // On a telephone the figures stand between the name and the line, not beside it.
  const phone = window.matchMedia("(max-width: 760px)");
  const BESIDE = { wide: 720, right: 190, row: 52, line: 34, letters: 100 },
    BETWEEN = { wide: 380, right: 20, row: 70, line: 52, letters: 48 };
  const svg = s("svg", { role: "img" });
  root.append(svg);
  /** @type {Row[]} */
  let rows = [];
  let title = "";
  let [place, tall] = [BESIDE, 0];

  function draw() {
    place = phone.matches ? BETWEEN : BESIDE;
    const all = rows.flatMap(({ before, after, low, high }) => [before, ...after, low, high]);
    const air = 0.06 * (Math.max(...all) - Math.min(...all) || 0.1);
    const [least, largest] = [Math.min(...all) - air, Math.max(...all) + air];
    /** @param {number} v */
    const x = (v) => LEFT + ((v - least) / (largest - least)) * (place.wide - LEFT - place.right);
    tall = rows.length * place.row + BOTTOM;
    const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((one) => (largest - least) / one <= 7) ?? 1;
    const ticks = [];
    for (let v = Math.ceil(least / step) * step; v <= largest; v += step) ticks.push(Number(v.toFixed(4)));
    svg.setAttribute("viewBox", `0 0 ${place.wide} ${tall}`);
    svg.replaceChildren(
      ...ticks.flatMap((v) => [
        ...rows.map((_, i) =>
          s("line", {
            x1: x(v),
            x2: x(v),
            y1: i * place.row + place.line - 9,
            y2: i * place.row + place.line + 14,
            stroke: "var(--lp-line)",
          }),
        ),
        s("text", { x: x(v), y: tall - 8, "text-anchor": "middle" }, show(v, 3)),
      ]),
      ...rows.flatMap((row, i) => drawRow(row, i * place.row, x)),
    );
    svg.setAttribute(
      "aria-label",
      `${title}. ${rows.map(({ label, before, now }) => say("finetune.gain_says", { what: label, before: fixed(before, METRIC_DECIMALS), after: fixed(now, METRIC_DECIMALS) })).join(" ")}`,
    );
  }

  /** @type {(row: Row, top: number, x: (value: number) => number) => SVGElement[]} */
  function drawRow({ label, colour, before, after, now, deviation, low, high }, top, x) {
    const ink = `var(--lp-${colour})`;
    const y = top + place.line;
    const figures = place === BETWEEN ? { x: LEFT, y: y - 15 } : { x: place.wide - 6, y: y + 4, "text-anchor": "end" };
    return [
      s(
        "text",
        { x: LEFT, y: top + 19, fill: "var(--lp-ink)", "font-size": 12.5, "font-weight": 600 },
        clip(label, place.letters),
      ),
      s("line", { x1: x(before), x2: x(now), y1: y, y2: y, stroke: ink, "stroke-width": 4, opacity: 0.35 }),
      ...after.map((v) => s("circle", { cx: x(v), cy: y, r: 3, fill: ink, opacity: 0.45 })),
      ...(high > low
        ? [
            [low, low, 6],
            [low, high, 0],
            [high, high, 6],
          ]
        : []
      ).map(([from, to, half]) =>
        s("line", { x1: x(from), x2: x(to), y1: y - half, y2: y + half, stroke: ink, "stroke-width": 1.5 }),
      ),
      s("circle", { cx: x(before), cy: y, r: 5, fill: "var(--lp-card)", stroke: "var(--lp-faint)", "stroke-width": 2 }),
      s("circle", { cx: x(now), cy: y, r: 6, fill: ink }),
      s(
        "text",
        { ...figures, "font-size": 13, fill: "var(--lp-ink)" },
        `${fixed(before, METRIC_DECIMALS)} → ${showWithin(now, deviation, METRIC_DECIMALS)}`,
      ),
    ];
  }

  /** @param {{ data: { rows: Row[], title: string } }} next */
  function update({ data }) {
    ({ rows, title } = data);
    if (rows.length) draw();
  }

  const panel = () => panelOf({ drawn: svg, wide: place.wide, tall });
  phone.addEventListener("change", () => {
    if (rows.length) draw();
  });
  return { update, panel };
}
