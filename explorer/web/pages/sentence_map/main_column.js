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
import { useLayoutEffect, useRef } from "../../kit/vendor/preact/hooks.js";
import { say } from "../../kit/words.js";
import { colourOf, MAX_LINES, MapPicture } from "./sentence_plot.js";
import { LARGE_BATCH, runBatch } from "./state.js";

/** @typedef {import("./state.js").MapPage} MapPage */
/** @typedef {{ page: MapPage }} Page */

const MAP_HEIGHT_PX = 560; // pixels of the map
const MAX_LISTED = 12; // pairs, and sentences, below the map
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

/** @type {(map: import("./state.js").SentenceMap, pair: number) => string} */
const textsOf = ({ sentences, first, second }, pair) => `${sentences[first[pair]]} | ${sentences[second[pair]]}`;

/** @param {Page} properties */
function MarkedPairs({ page }) {
  const { map, pairs } = page;
  if (!map || !pairs.length) return h("p.lp-note", say("sentence_map.hint"));
  const { gradient } = page;
  return h(
    "section.lp-map-marked",
    { "aria-live": "polite" },
    h("h2", say("sentence_map.marked", { count: pairs.length })),
    h(
      "ul",
      pairs.map((pair) =>
        h(
          "li",
          { key: pair },
          h("span", { "data-batch-text": "" }, textsOf(map, pair)),
          h("small", say("sentence_map.gradient", { value: number(gradient[pair], 3) })),
          h(
            "button.lp-square",
            {
              title: say("sentence_map.unmark"),
              "aria-label": say("sentence_map.unmark"),
              onClick: () => page.toggle(pair),
            },
            "×",
          ),
        ),
      ),
    ),
    page.store.state.run || page.batch === LARGE_BATCH
      ? null
      : h("button.lp-button", { id: "lp-on-explore", onClick: () => leave(page) }, say("sentence_map.explore")),
    h("button.lp-button", { id: "lp-unmark-all", onClick: () => page.mark([], false) }, say("sentence_map.unmark_all")),
  );
}

/** @param {MapPage} page */
async function leave(page) {
  const address = await page.onExplore();
  if (address) location.assign(new URL(address, document.baseURI));
}

/** The pairs with the largest gradients: what the map shows to those who cannot point. @param {Page} properties */
function HeaviestPairs({ page }) {
  const { map } = page;
  if (!map) return null;
  return h(
    "ol",
    page
      .heaviest()
      .slice(0, MAX_LISTED)
      .map((pair) =>
        h(
          "li",
          { key: pair },
          h(
            "button.lp-link",
            {
              ...{ type: "button", "data-batch-text": "", "aria-pressed": page.pairs.includes(pair) },
              onClick: () => page.toggle(pair),
            },
            textsOf(map, pair),
          ),
          ` ${number(page.gradient[pair], 3)}`,
        ),
      ),
  );
}

/** The sentences of which a run replaced the most neighbours. @param {Page} properties */
function ChangedSentences({ page }) {
  const { map } = page;
  if (!map) return null;
  const { changed, neighbours, sentences } = map;
  const order = Array.from(changed.keys()).sort((one, other) => changed[other] - changed[one]);
  return h(
    "ol",
    order
      .slice(0, MAX_LISTED)
      .map((place) =>
        h(
          "li",
          { key: place },
          h(
            "button.lp-link",
            { "data-batch-text": "", onClick: () => page.set({ search: sentences[place] }) },
            sentences[place],
          ),
          ` ${say("sentence_map.replaced", { count: changed[place], all: neighbours })}`,
        ),
      ),
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
