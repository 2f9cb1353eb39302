// The controls: the losses, where the points start, and how they move.
import { letterOf, Named } from "../../kit/compared_loss_labels.js";
import { Checkbox, Fold, Select, TabPanel, Tabs } from "../../kit/components.js";
import { batchOptions, EXPLORE_BATCH } from "../../kit/example_choice.js";
import { LossFields } from "../../kit/loss_choice.js";
import { pageData } from "../../kit/page_data.js";
import { group, h, show } from "../../kit/preact_view.js";
import { Slider } from "../../kit/slider.js";
import { stored } from "../../kit/storage.js";
import { say } from "../../kit/translated_sentences.js";

/** @typedef {{ page: import("./state.js").SpherePage }} Page */

const SECOND_LOSS = { loss: "info_nce", convention: "", parameters: {} };

/** @param {Page} properties */
function Controls({ page }) {
  page.observe("state", "film");
  return group(
    h(Fold, { title: say("sphere.losses"), kind: "lp-fold" }, h(Losses, { page })),
    h(Fold, { title: say("sphere.start"), kind: "lp-fold" }, h(Start, { page })),
    h(Fold, { title: say("sphere.motion"), kind: "lp-fold" }, h(Motion, { page })),
  );
}

/** @param {Page} properties */
function Losses({ page }) {
  const { sides } = page;
  return group(
    sides.map((side, place) =>
      h(
        "div.lp-one-loss",
        { key: place },
        sides.length > 1 ? h(Named, { sides, place }) : null,
        h(LossFields, {
          id: `lp-side-${place}`,
          label: say("compare.loss_of", { letter: letterOf(place) }),
          side,
          choose: (change) => page.setSide(place, change),
          change: (name, value) =>
            page.setSide(place, { parameters: { ...page.sides[place].parameters, [name]: value } }),
        }),
      ),
    ),
    h(Checkbox, {
      id: "lp-second",
      name: say("sphere.second"),
      checked: sides.length > 1,
      change: (isOn) => page.set({ sides: isOn ? [sides[0], SECOND_LOSS] : [sides[0]] }),
    }),
  );
}

/** @param {Page} properties */
function Start({ page }) {
  const { start } = page.store.state;
  return group(
    h(Tabs, {
      id: "lp-start",
      label: say("sphere.start"),
      names: [...page.store.choices("start.kind")],
      chosen: start.kind,
      title: (name) => say(`sphere.kind.${name}`),
      choose: (kind) => page.set({ start: { kind } }),
    }),
    h(
      TabPanel,
      { id: "lp-start", chosen: start.kind },
      h(PANELS[/** @type {keyof typeof PANELS} */ (start.kind)], { page }),
    ),
    h(Select, {
      id: "lp-dimension",
      name: say("sphere.shape"),
      value: String(start.dimension),
      options: [2, 3].map((one) => [String(one), say(`sphere.shape.${one}`)]),
      change: (dimension) => page.set({ start: { dimension: Number(dimension) } }),
    }),
  );
}

/**
 * A number of the state, by its name there.
 * @param {Page & { name: string, logarithmic?: boolean }} properties
 */
function NumberOf({ page, name, logarithmic }) {
  const [part, key] = name.split(".");
  return h(Slider, {
    entry: page.store.entry(name),
    value: page.store.get(name),
    title: `sphere.${key}`,
    name: `lp-${key}`,
    logarithmic,
    change: (value) => page.set({ [part]: { [key]: value } }),
  });
}

/** @param {Page} properties */
const Classes = ({ page }) =>
  group(["points", "classes", "spread", "seed"].map((one) => h(NumberOf, { key: one, page, name: `start.${one}` })));

/** @param {Page} properties */
const Random = ({ page }) =>
  group(
    h(NumberOf, { page, name: "start.points" }),
    h(Select, {
      id: "lp-labels",
      name: say("random.labels"),
      value: page.store.state.start.labels,
      options: page.store.choices("start.labels").map((one) => [one, say(`random.labels.${one}`)]),
      change: (labels) => page.set({ start: { labels } }),
    }),
    h(NumberOf, { page, name: "start.agreement" }),
    h(NumberOf, { page, name: "start.seed" }),
  );

/** @param {Page} properties */
function Sentences({ page }) {
  const { example, scene } = page.store.state.start;
  const chosen = scene ? EXPLORE_BATCH : example;
  return h(Select, {
    id: "lp-example",
    name: say("sphere.kind.sentences"),
    value: chosen,
    options: batchOptions(pageData.sphere.examples, chosen),
    change: (next) =>
      page.set({ start: next === EXPLORE_BATCH ? { scene: scene || stored("scene") } : { scene: "", example: next } }),
  });
}

const PANELS = { classes: Classes, random: Random, sentences: Sentences };

/** @param {Page} properties */
function Motion({ page }) {
  const { steps } = page.store.state;
  return group(
    h(Select, {
      id: "lp-optimiser",
      name: say("sphere.optimiser"),
      value: steps.optimiser,
      options: page.store.choices("steps.optimiser").map((one) => [one, say(`sphere.optimiser.${one}`)]),
      change: (optimiser) => page.set({ steps: { optimiser } }),
    }),
    h(NumberOf, { page, name: "steps.rate", logarithmic: true }),
    h(NumberOf, { page, name: "steps.count" }),
  );
}

/** @type {(root: HTMLElement, page: import("./state.js").SpherePage) => void} */
export default function controls(root, page) {
  show(root, Controls, { page });
}
