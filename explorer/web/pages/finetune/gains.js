// What is measured on held-out pairs before and after as a figure: a row for each plan, its mean over seeds with
// every seed beside it, and how sure that is.
import { clip, h } from "../../kit/dom.js";
import { panelOf, s } from "../../kit/drawing.js";
import { fixed, show, showWithin } from "../../kit/numbers.js";
import { say } from "../../kit/words.js";
import { PLACES } from "./naming.js";

/** @typedef {import("../../wire").Group} Group */
/**
 * `after`: one for each seed; `low` and `high`: how sure the gain is.
 * @typedef {{ label: string, colour: string | undefined, before: number, after: number[],
 *   deviation: number | null | undefined, low: number, high: number }} Row
 */

/** @param {import("./state.js").FinetunePage} channel */
export function gainsFigure(channel) {
  const LEFT = 10,
    BOTTOM = 26;
  // On a telephone the figures stand between the name and the line, not beside it.
  const phone = window.matchMedia("(max-width: 760px)");
  const BESIDE = { wide: 720, right: 190, row: 52, line: 34, letters: 100 },
    BETWEEN = { wide: 380, right: 20, row: 70, line: 52, letters: 48 };
  const svg = s("svg", { role: "img" });
  const note = h("figcaption.lp-note");
  const heading = h("h3");
  /** @type {"spearman" | "accuracy_at_1"} */
  let leading = "spearman";
  /** @type {string | import("../../wire").Word} */
  let on = "";
  const title = () => say("finetune.gains_on", { figure: say(`finetune.${leading}`), pairs: on });
  const element = h(
    "figure.lp-chart.lp-gains-figure",
    { hidden: true },
    h("div.lp-chart-head", {}, heading),
    svg,
    note,
  );
  /** @type {Row[]} */
  let rows = [];
  let [place, tall] = [BESIDE, 0];

  /** @param {number[]} values */
  const mean = (values) => values.reduce((sum, v) => sum + v, 0) / values.length;

  /**
   * A group's runs; null where its similarities have no order.
   * @param {Group} group
   * @param {string | undefined} colour
   * @returns {Row | null}
   */
  function rowOf({ label, gain, figures, leading }, colour) {
    if (!gain || !figures[leading]) return null;
    const { before } = gain;
    const [low, high] = [gain.low, gain.high].map((v) =>
      Math.min(1, Math.max(leading === "spearman" ? -1 : 0, before + v)),
    );
    const { values: after, spread: deviation } = figures[leading];
    return { label, colour, before, after, deviation, low, high };
  }

  /**
   * @param {Group[]} groups
   * @param {(label: string) => string} titled
   * @param {{ level: string, least: number, pairs: string | import("../../wire").Word }} sure
   */
  function fill(groups, titled, sure) {
    on = sure.pairs;
    note.textContent = say("finetune.gains_about", sure);
    const colours = new Map(channel.groups().flatMap(({ names, colour }) => names.map((name) => [name, colour])));
    // One figure on one axis: the first that any of them has.
    const known = new Set(groups.filter(({ gain }) => gain).map((group) => group.leading));
    leading = known.has("spearman") || !known.size ? "spearman" : "accuracy_at_1";
    heading.textContent = title();
    rows = groups
      .filter((group) => group.leading === leading)
      .map((group) => rowOf({ ...group, label: titled(group.label) }, colours.get(group.runs[0])))
      .filter((row) => row !== null);
    element.hidden = !rows.length;
    if (rows.length) draw();
    channel.publish("figures");
  }

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
      `${title()}. ${rows.map(({ label, before, after }) => say("finetune.gain_says", { what: label, before: fixed(before, PLACES), after: fixed(mean(after), PLACES) })).join(" ")}`,
    );
  }

  /**
   * @param {Row} row
   * @param {number} top
   * @param {(value: number) => number} x
   */
  function drawRow({ label, colour, before, after, deviation, low, high }, top, x) {
    const ink = `var(--lp-${colour})`;
    const now = mean(after);
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
        `${fixed(before, PLACES)} → ${showWithin(now, deviation, PLACES)}`,
      ),
    ];
  }

  /** @param {import("./state.js").Caption} caption */
  const chart = ({ losses, origin }) => ({
    panels: [panelOf({ drawn: svg, wide: place.wide, tall })],
    title: title(),
    caption: [...losses, origin, String(note.textContent)],
  });
  phone.addEventListener("change", () => {
    if (rows.length) draw();
  });
  return { element, fill, key: "finetune.gains", title, name: "gains", chart };
}
