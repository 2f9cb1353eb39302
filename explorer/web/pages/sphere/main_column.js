// The page of the sphere: films worth watching, the points of one or two losses, how to play them, and their curves.
import { nameOf } from "../../kit/compared_loss_labels.js";
import { ProblemBox } from "../../kit/components.js";
import { percent } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { group, h, show } from "../../kit/preact_view.js";
import { entitle } from "../../kit/title.js";
import { say } from "../../kit/translated_sentences.js";
import { useLayoutEffect } from "../../kit/vendor/preact/hooks.js";
import { FigureExport } from "./figure_export.js";
import { Curves } from "./metric_curves.js";
import { Playback } from "./playback_controls.js";
import { LossPanel } from "./sphere_per_loss.js";

/** @typedef {{ page: import("./state.js").SpherePage }} Page */

/** @param {Page} properties */
function Main({ page }) {
  page.observe("state", "film");
  useLayoutEffect(() => entitle(`${say("page.sphere")} · ${page.sides.map(nameOf).join(say("ui.versus"))}`));
  const { preset, films, filmed } = page;
  return group(
    h("h1", say("sphere.heading")),
    h(Presets, { page }),
    h("p.lp-watch", { "aria-live": "polite" }, preset ? say(`sphere.watch.${preset.name}`) : say("sphere.own")),
    h(ProblemBox, { page, isShown: () => films.some(Boolean) }),
    h(
      "div.lp-show",
      { "aria-busy": filmed ? "false" : "true" },
      h(
        "div",
        h(
          "div.lp-stages",
          films.map((film, place) => (film ? h(LossPanel, { key: place, page, place }) : null)),
        ),
        h(Playback, { page }),
        h(Hint, { page }),
      ),
      h(Curves, { page }),
    ),
    h(VarianceShare, { page }),
    h(FigureExport, { page }),
  );
}

/** @param {Page} properties */
function Presets({ page }) {
  const { preset } = page;
  return h(
    "div.lp-presets",
    { role: "group", "aria-label": say("sphere.presets") },
    pageData.sphere.presets.map((one) =>
      h(
        "button.lp-button",
        {
          key: one.name,
          id: `lp-preset-${one.name}`,
          "aria-pressed": one.name === preset?.name ? "true" : "false",
          onClick: () => page.choose(one),
        },
        say(`sphere.preset.${one.name}`),
      ),
    ),
  );
}

/**
 * What the point under the hand is called; before, what a hand can do.
 * @param {Page} properties
 */
function Hint({ page }) {
  page.observe("frame");
  const { pointed, filmed } = page;
  if (!filmed) return null;
  return pointed === null
    ? h("p.lp-note", say(`sphere.hint.${filmed.dimension}`))
    : h("p.lp-note", { "data-batch-text": "", "aria-live": "polite" }, filmed.names[pointed]);
}

/**
 * How much of an encoder's vectors is seen.
 * @param {Page} properties
 */
function VarianceShare({ page: { filmed } }) {
  if (!filmed || filmed.variance_share === null) return null;
  const { dimension, left_out: count } = filmed;
  return h(
    "p.lp-note.lp-variance-share",
    say("sphere.kept", { share: percent(Number(filmed.variance_share)), dimension }),
    count ? ` ${say("sphere.left_out", { count, points: filmed.names.length })}` : "",
  );
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").SpherePage} page
 * @param {import("../../kit/types").Asking<import("../../wire").SphereServer>} server
 */
export default function main(root, page, server) {
  show(root, Main, { page });
  page.connect(server);
}
