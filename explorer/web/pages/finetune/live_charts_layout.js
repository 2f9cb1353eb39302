// What a training does, as it goes on: two large charts, the probe batch beside them, and the other charts below.
import { group, h, show } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { Chart, chartsOf } from "./curves.js";
import { Probe } from "./probe_batch.js";

/** @typedef {{ page: import("./state.js").FinetunePage }} Page */

const LARGE_PIXELS = 200,
  SMALL_PIXELS = 118; // height of a chart

/** @param {Page} properties */
function LiveCharts({ page }) {
  page.observe("run", "shown");
  const { large, small, key } = chartsOf(page);
  const isEmpty = !large.length && !small.length;
  /** @type {(all: typeof large, height: number) => import("preact").VNode[]} */
  const drawn = (all, height) =>
    all.map(({ about, data }) => h(Chart, { key: `${about.name}:${height}`, page, about, data, drawing: key, height }));
  return group(
    isEmpty ? null : h("h2.lp-spoken", say("finetune.curves")),
    h(
      "div.lp-training",
      { hidden: isEmpty },
      h("div.lp-charts.lp-large-charts", drawn(large, LARGE_PIXELS)),
      h(Probe, { page }),
    ),
    isEmpty ? null : h("div.lp-charts.lp-small-charts", drawn(small, SMALL_PIXELS)),
  );
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").FinetunePage} page
 */
export default (root, page) => show(root, LiveCharts, { page });
