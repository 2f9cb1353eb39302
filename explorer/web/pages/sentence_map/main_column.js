// The Map page: where the sentences come from and how they are projected, the map, what it keeps, and the marked pairs.
import { nameOf } from "../../kit/compared_loss_labels.js";
import { Field, Fold, ProblemBox, Select, Tabs } from "../../kit/components.js";
import { batchOptions } from "../../kit/example_choice.js";
import { FigureFold } from "../../kit/figure_export_options.js";
import { grouped, show as number, percent } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { h, show } from "../../kit/preact_view.js";
import { Progress } from "../../kit/progress.js";
import { entitle } from "../../kit/title.js";
import { say } from "../../kit/translated_sentences.js";
import { useLayoutEffect, useRef } from "../../kit/vendor/preact/hooks.js";
import { ChangedSentences, HeaviestPairs, MarkedPairs } from "./pair_and_sentence_lists.js";
import { colourOf, MAX_LINES, MapPicture } from "./sentence_plot.js";
import { LARGE_BATCH, runBatch } from "./state.js";

/** @typedef {import("./state.js").MapPage} MapPage */
/** @typedef {{ page: MapPage }} Page */

const MAP_HEIGHT_PX = 560; // pixels of the map
const PANEL_PX = 620; // pixels of a side of the map in a file
const AROUND_PX = 330; // of the page's height, around the map
/** @type {[string, number][]} The word of a line, and the sign of its gradient. */
const DIRECTIONS = [
  ["sentence_map.pull", -1],
  ["sentence_map.push", 1],
];

/** @param {Page} properties */
function Main({ page }) {
  page.observe("state", "map");
  const example = pageData.sentence_map.examples.includes(page.batch) ? say(`example.${page.batch}.title`) : "";
  useLayoutEffect(() => entitle([say("page.sentence_map"), example].filter(Boolean).join(" · ")));
  const chart = useRef(/** @type {import("./sentence_plot.js").Chart | null} */ (null));
  const { map } = page;
  const height = Math.max(340, Math.min(MAP_HEIGHT_PX, innerHeight - AROUND_PX));
  return h(
    "div.lp-map-page",
    h(ProblemBox, { page, isShown: () => map !== null }),
    h("h1", say("page.sentence_map")),
    h(Choices, { page }),
    h(Progress, { page }),
    h("p.lp-note", { "aria-live": "polite" }, map ? fidelityWords(page) : ""),
    h(
      "div.lp-map-main",
      h(
        "div.lp-map-picture",
        {
          ...{ role: "tabpanel", id: "lp-method-panel", "aria-label": say("sentence_map.picture") },
          "aria-busy": page.drawn ? "false" : "true",
        },
        h(MapPicture, {
          ...{ page, height },
          keep: (made) => {
            chart.current = made;
          },
        }),
      ),
      h(Legend, { page }),
      h(MomentSlider, { page }),
    ),
    h(
      "div.lp-map-more",
      h(MarkedPairs, { page }),
      h(Fold, { title: say("sentence_map.pairs") }, h(HeaviestPairs, { page })),
      page.hasMoments ? h(Fold, { title: say("sentence_map.changed") }, h(ChangedSentences, { page })) : null,
      h(FigureFold, {
        page,
        ask: (look) => figureFile(page, chart.current, look),
      }),
    ),
  );
}

/**
 * The map as a file: its lines and points, without what answers a hand alone.
 * @param {MapPage} page
 * @param {import("./sentence_plot.js").Chart | null} chart
 * @param {import("../../kit/figure_export_options.js").Look} look
 */
function figureFile(page, chart, look) {
  const panel = chart?.panel(PANEL_PX, PANEL_PX);
  if (!panel) return undefined;
  const data = panel.data.filter(isInFile).map((trace) => ({ ...trace, type: "scatter" }));
  const legend = DIRECTIONS.map(([key, sign]) => ({ name: say(key), colour: colourOf(sign) }));
  const caption = [fidelityWords(page), say("sentence_map.width")];
  const drawn = { title: say("page.sentence_map"), caption, legend, panels: [{ ...panel, data }], across: 1 };
  return page.server.chart({ ...look, name: "lossprism-map", chart: drawn });
}

/** @param {any} trace */
const isInFile = ({ marker, x }) => x.length > 0 && marker?.opacity !== 0;

/** @param {Page} properties */
function Choices({ page }) {
  const { method, search } = page.store.state;
  const batches = batchOptions(pageData.sentence_map.examples, page.batch);
  if (page.batch === LARGE_BATCH) batches.push([LARGE_BATCH, say("sentence_map.large")]);
  for (const { id, loss } of page.runs) {
    batches.push([
      runBatch(id),
      say("sentence_map.run", { loss: nameOf({ loss, convention: "", parameters: {} }), id }),
    ]);
  }
  return h(
    "div.lp-map-choices",
    h(Select, {
      id: "lp-batch",
      name: say("sentence_map.batch"),
      inline: true,
      value: page.batch,
      options: batches,
      change: (chosen) => page.show(chosen),
    }),
    h(Tabs, {
      id: "lp-method",
      label: say("sentence_map.method"),
      names: [...page.store.choices("method")],
      chosen: method,
      title: (one) => say(`sentence_map.method.${one}`),
      choose: (chosen) => page.set({ method: chosen, sight: [] }),
    }),
    h(
      Field,
      { name: say("sentence_map.search"), inline: true },
      h("input", {
        type: "text",
        autocomplete: "off",
        id: "lp-search",
        value: search,
        onInput: (event) => page.set({ search: event.currentTarget.value }),
      }),
    ),
    search.trim() ? h("output", { for: "lp-search" }, say("sentence_map.hits", { count: page.hits.length })) : null,
    page.hits.length
      ? h(
          "button.lp-button",
          { id: "lp-mark-hits", onClick: () => page.mark(page.pairsOf(page.hits), true) },
          say("sentence_map.mark_hits"),
        )
      : null,
  );
}

/** How much of the vectors the map keeps. @param {MapPage} page */
function fidelityWords({ map }) {
  const { shares = [], trustworthiness = null } = map ?? {};
  if (shares.length) return say("sentence_map.kept", { share: percent(shares.reduce((sum, one) => sum + one, 0)) });
  if (trustworthiness === null) return say("sentence_map.untrusted");
  return say("sentence_map.trustworthiness", { value: number(trustworthiness, 3) });
}

/** @param {Page} properties */
function Legend({ page }) {
  page.observe("language");
  return h(
    "p.lp-note.lp-map-legend",
    DIRECTIONS.map(([key, sign]) =>
      h("span", { key }, h("i", { style: { background: colourOf(sign) }, "aria-hidden": "true" }), say(key)),
    ),
    h("span", say("sentence_map.width")),
    (page.map?.first.length ?? 0) > MAX_LINES
      ? h("span", say("sentence_map.lines", { count: grouped(MAX_LINES) }))
      : null,
  );
}

/** From before the run to after it. @param {Page} properties */
function MomentSlider({ page }) {
  if (!page.hasMoments || !page.map) return null;
  const [before, after] = page.map.steps;
  return h(
    "label.lp-map-moment",
    h("span", say("sentence_map.before", { step: before })),
    h("input", {
      type: "range",
      id: "lp-moment",
      min: 0,
      max: 1,
      step: 0.05,
      value: page.moment,
      "aria-label": say("sentence_map.moment"),
      onInput: (event) => page.set({ moment: Number(event.currentTarget.value) }),
    }),
    h("span", say("sentence_map.after", { step: after })),
  );
}

/**
 * @param {HTMLElement} root
 * @param {MapPage} page
 * @param {import("../../kit/types").Asking<import("../../wire").SentenceMapServer>} server
 */
export default function main(root, page, server) {
  show(root, Main, { page });
  page.connect(server);
}
