// How the similarities of each label are spread.
import { rampColour, rampTable } from "../../kit/colours.js";
import { h, worded } from "../../kit/dom.js";
import { grouped, show } from "../../kit/number_format.js";
import { ridges } from "../../kit/ridge_histograms.js";
import { say } from "../../kit/translated_sentences.js";

/** @type {(root: HTMLElement, page: import("./state.js").LargePage) => void} */
export default function histogram(root, page) {
  root.append(worded("h2", "large.histogram"));
  const chart = ridges(root, { row: 34, reach: 0.95, together: true }, (_what, bin) => describeBin(bin));
  const card = h("p.lp-note");
  root.append(card);

  /** @type {import("../../wire").ScoreHistogram | null} */
  let seen = null;
  /**
   * From blue to orange with the label; neighbours also differ in their place in the stack.
   * @type {(group: number, count: number) => string}
   */
  const colour = (group, count) => {
    const share = count > 1 ? group / (count - 1) : 0;
    return rampColour(rampTable("diverging"), share < 0.5 ? 10 + 110 * share : 135 + 110 * share);
  };
  /** @param {import("../../kit/types").Span} range */
  const named = ([low, high]) =>
    low === high ? show(low, 3) : say("large.from_to", { low: show(low, 3), high: show(high, 3) });

  // One ridge for each label, the lowest at the bottom, all on one scale.
  function draw() {
    if (!seen) return;
    const { groups, counts, edges } = seen;
    const names = groups.map(named);
    const rows = groups.map((_, i) => ({
      name: names[i],
      counts: counts[i],
      colour: colour(i, groups.length),
    }));
    /** @type {import("../../kit/types").Span} */
    const span = [edges[0], edges[edges.length - 1]];
    const sums = names.map((name, i) => `${name}: ${grouped(counts[i].reduce((a, b) => a + b, 0))}`);
    const label = `${say("large.histogram")}: ${sums.join("; ")}`;
    chart.update({ data: { edges, rows, span, label } });
    describeBin(null);
  }

  /** @param {number | null} bin */
  function describeBin(bin) {
    if (!seen || bin === null) {
      card.textContent = say("large.histogram_note");
      return;
    }
    const { groups, counts, edges } = seen;
    const each = groups.map((group, i) => `${named(group)}: ${grouped(counts[i][bin])}`);
    const range = say("large.from_to", { low: show(edges[bin], 3), high: show(edges[bin + 1], 3) });
    card.textContent = `${range} — ${each.reverse().join(" · ")}`;
  }

  page.on("details", () => {
    seen = page.details?.histogram ?? null;
    draw();
  });
  page.on("theme", draw);
  page.on("language", draw);
}
