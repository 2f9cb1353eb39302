// The Landscape page: a lever above two losses beside each other, each from above or as a surface, with a cut below.
import { themeColour } from "../../kit/colours.js";
import { Fold, ProblemBox, Select, Tabs } from "../../kit/components.js";
import { batchOptions } from "../../kit/example_choice.js";
import { FigureFold } from "../../kit/figure_export_options.js";
import { boundaryWords, CutPlot, cutPanel, LandscapePlot, landscapePanel } from "../../kit/landscape.js";
import { groupsOf, LossSelect } from "../../kit/loss_choice.js";
import { show as number } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { h, show } from "../../kit/preact_view.js";
import { entitle } from "../../kit/title.js";
import { parameterName, say, titleOf } from "../../kit/translated_sentences.js";
import { useLayoutEffect } from "../../kit/vendor/preact/hooks.js";

/** @typedef {import("./state.js").LandscapePage} LandscapePage */
/** @typedef {import("../../kit/landscape.js").View} View */

const VIEWS = /** @type {View[]} */ (["levels", "surface"]);
const CURVES = /** @type {const} */ (["heights", "curvature"]);
const CUT_HEIGHT_PX = 430; // pixels
const PANEL_PX = 420; // pixels of a side of a landscape in a file

/** @param {{ page: LandscapePage }} properties */
function Main({ page }) {
  page.observe("state", "found");
  const compared = page.sides.map(({ loss }) => titleOf(loss)).join(say("ui.versus"));
  useLayoutEffect(() => entitle(`${say("page.landscape")} · ${compared}`));
  return h(
    "div.lp-landscape-page",
    h(ProblemBox, { page, isShown: () => page.found !== null }),
    h("h1", say("page.landscape")),
    h("p.lp-landscape-about", say("landscape.about")),
    h(Levers, { page }),
    h(
      "div.lp-landscape-sides",
      { "aria-busy": page.drawn ? "false" : "true" },
      page.sides.map((_side, place) => h(LossLandscape, { key: place, page, place })),
      h(Cuts, { page }),
    ),
    h(
      "div.lp-landscape-more",
      h(Fold, { title: say("landscape.how") }, h(HowToRead, { page })),
      h(FigureFold, { page, ask: (look) => figureFile(page, look) }),
    ),
  );
}

/** @param {{ page: LandscapePage }} properties */
function Levers({ page }) {
  const { levers, lever, stops, at, value } = page;
  const { view } = page.store.state;
  const name = lever ? parameterName(lever) : "";
  return h(
    "div.lp-landscape-levers",
    levers.length
      ? h(
          "div.lp-landscape-lever",
          h(Select, {
            id: "lp-lever",
            label: say("landscape.lever"),
            value: lever,
            options: levers.map((one) => [one, parameterName(one)]),
            change: (chosen) => page.set({ lever: chosen }),
          }),
          h("input", {
            type: "range",
            min: 0,
            max: Math.max(stops.length - 1, 0),
            step: 1,
            value: at,
            disabled: !stops.length,
            "aria-label": name,
            "aria-valuetext": number(value ?? 0, 3),
            onInput: (event) => page.move(Number(event.currentTarget.value)),
          }),
          h("output", number(value ?? 0, 3)),
        )
      : null,
    h(Tabs, {
      id: "lp-view",
      label: say("landscape.view"),
      names: VIEWS,
      chosen: view,
      title: (one) => say(`landscape.view.${one}`),
      choose: (chosen) => page.set({ view: chosen }),
    }),
    h(Select, {
      id: "lp-batch",
      name: say("landscape.pairs"),
      inline: true,
      value: page.batch,
      options: batchOptions(pageData.landscape.examples, page.batch),
      change: (chosen) => page.show(chosen),
    }),
  );
}

/** @param {{ page: LandscapePage, place: number }} properties */
function LossLandscape({ page, place }) {
  const { loss } = page.sides[place];
  const { view, negative } = page.store.state;
  const found = page.found?.landscapes[place];
  const problem = page.found?.answer.sides[place].problem;
  const stop = page.stopOf(place);
  const losses = Object.fromEntries(
    Object.entries(pageData.losses).filter(([name]) => name in pageData.landscape.levers),
  );
  const label = say("landscape.picture", { loss: titleOf(loss) });
  return h(
    "section",
    h(LossSelect, {
      id: `lp-loss-${place + 1}`,
      label: say("ui.loss"),
      value: loss,
      groups: groupsOf(losses),
      change: (chosen) => page.choose(place, chosen),
    }),
    h("p.lp-note", problem ? say(problem.key, problem.values) : found ? boundaryWords(found, stop) : ""),
    found &&
      h(
        "div",
        { role: "tabpanel", id: place ? undefined : "lp-view-panel", "aria-label": label },
        h(LandscapePlot, {
          ...{ landscape: found, stop, view, negative, label },
          press: (score) => page.set({ negative: Math.round(score * 100) / 100 }),
        }),
      ),
  );
}

/** @param {{ page: LandscapePage }} properties */
function NegativeScore({ page }) {
  const { negative } = page.store.state;
  return h(
    "label.lp-landscape-cut",
    h("span", say("landscape.cut")),
    h("input", {
      type: "range",
      min: -1,
      max: 1,
      step: 0.05,
      value: negative,
      onInput: (event) => page.set({ negative: Number(event.currentTarget.value) }),
    }),
    h("output", number(negative, 2)),
  );
}

/** @param {LandscapePage} page */
const cutSides = (page) =>
  page.sides.map((_side, place) => ({
    cut: page.cut?.cuts[place] ?? null,
    stop: page.stopOf(place),
  }));

/** @param {{ page: LandscapePage }} properties */
const Cuts = ({ page }) =>
  h(
    "section.lp-landscape-cuts",
    h(NegativeScore, { page }),
    h(
      "p.lp-note.lp-landscape-legend",
      page.sides.map(({ loss }, place) =>
        h("span", { key: place, style: { color: `var(--lp-side-${place + 1})` } }, titleOf(loss)),
      ),
    ),
    h(CutPlot, { sides: cutSides(page), height: CUT_HEIGHT_PX, label: say("landscape.picture.cut") }),
  );

/** @param {{ page: LandscapePage }} properties */
function HowToRead({ page }) {
  const most = Math.max(0, ...(page.found?.landscapes ?? []).map((one) => one?.comparisons ?? 0));
  return h(
    "ul",
    ["lines", "arrows", "held", "curvature"].map((key) => h("li", { key }, say(`landscape.how.${key}`))),
    h("li", say("landscape.how.dots", { count: most })),
  );
}

/**
 * Both landscapes from above, and their cuts, as one figure.
 * @param {LandscapePage} page
 * @param {import("../../kit/figure_export_options.js").Look} look
 */
function figureFile(page, look) {
  const titles = page.sides.map(({ loss }) => titleOf(loss));
  const panels = [
    ...titles.flatMap((title, place) => {
      const landscape = page.found?.landscapes[place];
      const at = { stop: page.stopOf(place), negative: page.store.state.negative };
      return landscape ? [landscapePanel(landscape, { ...at, side: PANEL_PX, title })] : [];
    }),
    ...CURVES.map((what) => cutPanel(cutSides(page), what, PANEL_PX, PANEL_PX / 2)),
  ];
  const legend = titles.map((name, place) => ({ name, colour: themeColour(`side-${place + 1}`) }));
  const chart = {
    title: say("page.landscape"),
    caption: [caption(page)],
    legend,
    panels,
    across: 2,
  };
  return page.server.chart({ ...look, name: "lossprism-landscape", chart });
}

/** @param {LandscapePage} page */
function caption(page) {
  const { lever, value } = page;
  const at = lever ? `${parameterName(lever)} ${number(value ?? 0, 3)}. ` : "";
  return `${at}${say("landscape.about")}`;
}

/**
 * @param {HTMLElement} root
 * @param {LandscapePage} page
 * @param {import("../../kit/types").Asking<import("../../wire").LandscapeServer>} server
 */
export default function main(root, page, server) {
  show(root, Main, { page });
  page.connect(server);
}
