// The Landscape page: a lever above two losses beside each other, each from above or as a surface, with a cut below.

import { themeColour } from "../../kit/colours.js";
import { FigureFold, Fold, LossSelect, ProblemBox, Select, Tabs } from "../../kit/components.js";
import { boundaryWords, CutPlot, cutPanel, LandscapePlot, landscapePanel } from "../../kit/landscape.js";
import { show as number } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { h, show } from "../../kit/preact_view.js";
import { groupsOf } from "../../kit/sidebar_parts.js";
import { stored } from "../../kit/storage.js";
import { entitle } from "../../kit/title.js";
import { useLayoutEffect } from "../../kit/vendor/preact/hooks.js";
import { parameterName, say, titleOf } from "../../kit/words.js";
import { MINE } from "./state.js";

/** @typedef {import("./state.js").LandscapePage} LandscapePage */
/** @typedef {import("../../kit/landscape.js").View} View */

const VIEWS = /** @type {View[]} */ (["levels", "surface"]);
const CURVES = /** @type {const} */ (["heights", "curvature"]);
const CUT_HEIGHT = 430; // pixels
const PANEL = 420; // pixels of a side of a landscape in a file

/** @param {{ channel: LandscapePage }} properties */
function Main({ channel }) {
  channel.observe("state", "found");
  useLayoutEffect(() => entitle(say("page.landscape")));
  return h(
    "div.lp-landscape-page",
    null,
    h(ProblemBox, { channel, isShown: channel.found !== null }),
    h("h1", null, say("page.landscape")),
    h("p.lp-landscape-about", null, say("landscape.about")),
    h(Levers, { channel }),
    h(
      "div.lp-landscape-sides",
      { "aria-busy": channel.drawn ? "false" : "true" },
      channel.sides.map((_side, place) => h(Side, { key: place, channel, place })),
      h(Cuts, { channel }),
    ),
    h(
      "div.lp-landscape-more",
      null,
      h(Fold, { title: say("landscape.how") }, h(Reading, { channel })),
      h(FigureFold, { title: say("landscape.save"), channel, ask: (look) => figureFile(channel, look) }),
      h("a.lp-link", { href: `learn${location.search}` }, say("learn.all")),
    ),
  );
}

/** @param {{ channel: LandscapePage }} properties */
function Levers({ channel }) {
  const { levers, lever, stops, at, value } = channel;
  const { view } = channel.store.state;
  const batches = pageData.landscape.examples.map((name) => [name, say(`example.${name}.title`)]);
  if (stored("scene") || channel.batch === MINE) batches.push([MINE, say("landscape.mine")]);
  const name = lever ? parameterName(lever) : "";
  return h(
    "div.lp-landscape-levers",
    null,
    levers.length
      ? h(
          "div.lp-landscape-lever",
          null,
          h(Select, {
            id: "lp-lever",
            label: say("landscape.lever"),
            value: lever,
            options: levers.map((one) => [one, parameterName(one)]),
            change: (chosen) => channel.set({ lever: chosen }),
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
            onInput: (event) => channel.move(Number(event.currentTarget.value)),
          }),
          h("output", null, number(value ?? 0, 3)),
        )
      : null,
    h(Tabs, {
      id: "lp-view",
      label: say("landscape.view"),
      names: VIEWS,
      chosen: view,
      title: (one) => say(`landscape.view.${one}`),
      choose: (chosen) => channel.set({ view: chosen }),
    }),
    h(Select, {
      id: "lp-batch",
      name: say("landscape.pairs"),
      inline: true,
      value: channel.batch,
      options: batches,
      change: (chosen) => channel.show(chosen),
    }),
  );
}

/** @param {{ channel: LandscapePage, place: number }} properties */
function Side({ channel, place }) {
  const { loss } = channel.sides[place];
  const { view, negative } = channel.store.state;
  const found = channel.found?.landscapes[place];
  const problem = channel.found?.answer.sides[place].problem;
  const stop = channel.stopOf(place);
  const losses = Object.fromEntries(
    Object.entries(pageData.losses).filter(([name]) => name in pageData.landscape.levers),
  );
  const label = say("landscape.picture", { loss: titleOf(loss) });
  return h(
    "section",
    null,
    h(LossSelect, {
      id: `lp-loss-${place + 1}`,
      label: say("ui.loss"),
      value: loss,
      groups: groupsOf(losses),
      change: (chosen) => channel.choose(place, chosen),
    }),
    h("p.lp-note", null, problem ? say(problem.key, problem.values) : found ? boundaryWords(found, stop) : ""),
    found &&
      h(
        "div",
        { role: "tabpanel", id: place ? undefined : "lp-view-panel", "aria-label": label },
        h(LandscapePlot, {
          ...{ landscape: found, stop, view, negative, label },
          press: (score) => channel.set({ negative: Math.round(score * 100) / 100 }),
        }),
      ),
  );
}

/** @param {{ channel: LandscapePage }} properties */
function Negative({ channel }) {
  const { negative } = channel.store.state;
  return h(
    "label.lp-landscape-cut",
    null,
    h("span", null, say("landscape.cut")),
    h("input", {
      type: "range",
      min: -1,
      max: 1,
      step: 0.05,
      value: negative,
      onInput: (event) => channel.set({ negative: Number(event.currentTarget.value) }),
    }),
    h("output", null, number(negative, 2)),
  );
}

/** @param {LandscapePage} channel */
const cutSides = (channel) =>
  channel.sides.map((_side, place) => ({
    cut: channel.cut?.cuts[place] ?? null,
    stop: channel.stopOf(place),
  }));

/** @param {{ channel: LandscapePage }} properties */
const Cuts = ({ channel }) =>
  h(
    "section.lp-landscape-cuts",
    null,
    h(Negative, { channel }),
    h(
      "p.lp-note.lp-landscape-legend",
      null,
      channel.sides.map(({ loss }, place) =>
        h("span", { key: place, style: { color: `var(--lp-side-${place + 1})` } }, titleOf(loss)),
      ),
    ),
    h(CutPlot, { sides: cutSides(channel), height: CUT_HEIGHT, label: say("landscape.picture.cut") }),
  );

/** @param {{ channel: LandscapePage }} properties */
function Reading({ channel }) {
  const most = Math.max(0, ...(channel.found?.landscapes ?? []).map((one) => one?.comparisons ?? 0));
  return h(
    "ul",
    null,
    ["lines", "arrows", "held", "curvature"].map((key) => h("li", { key }, say(`landscape.how.${key}`))),
    h("li", null, say("landscape.how.dots", { count: most })),
  );
}

/**
 * Both landscapes from above, and their cuts, as one figure.
 * @param {LandscapePage} channel
 * @param {import("../../kit/components.js").Look} look
 */
function figureFile(channel, look) {
  const titles = channel.sides.map(({ loss }) => titleOf(loss));
  const panels = [
    ...titles.flatMap((title, place) => {
      const landscape = channel.found?.landscapes[place];
      const at = { stop: channel.stopOf(place), negative: channel.store.state.negative };
      return landscape ? [landscapePanel(landscape, { ...at, side: PANEL, title })] : [];
    }),
    ...CURVES.map((what) => cutPanel(cutSides(channel), what, PANEL, PANEL / 2)),
  ];
  const legend = titles.map((name, place) => ({ name, colour: themeColour(`side-${place + 1}`) }));
  const chart = {
    title: say("page.landscape"),
    caption: [caption(channel)],
    legend,
    panels,
    across: 2,
  };
  return channel.server?.chart({ ...look, name: "lossprism-landscape", chart });
}

/** @param {LandscapePage} channel */
function caption(channel) {
  const { lever, value } = channel;
  const at = lever ? `${parameterName(lever)} ${number(value ?? 0, 3)}. ` : "";
  return `${at}${say("landscape.about")}`;
}

/**
 * @param {HTMLElement} root
 * @param {LandscapePage} channel
 * @param {import("../../kit/types").Asking<import("../../wire").LandscapeServer>} server
 */
export default function main(root, channel, server) {
  show(root, Main, { channel });
  channel.connect(server);
}
