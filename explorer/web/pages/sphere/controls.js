// The controls: the losses, where the points start, and how they move.
import { Checkbox, Fold, Select, Slider, TabPanel, Tabs } from "../../kit/components.js";
import { LossFields } from "../../kit/loss_fields.js";
import { letterOf, Named } from "../../kit/loss_legend.js";
import { pageData } from "../../kit/page_data.js";
import { group, h, show } from "../../kit/preact_view.js";
import { stored } from "../../kit/storage.js";
import { say } from "../../kit/words.js";

/** @typedef {{ channel: import("./state.js").SpherePage }} Page */

const KINDS = /** @type {const} */ (["classes", "random", "sentences"]);
const SECOND = { loss: "info_nce", convention: "", parameters: {} };
const MINE = "mine"; // the batch that was left on Explore, among the examples

/** @param {Page} properties */
function Controls({ channel }) {
  channel.observe("state", "film");
  return group(
    h(Fold, { title: say("sphere.losses"), kind: "lp-fold" }, h(Losses, { channel })),
    h(Fold, { title: say("sphere.start"), kind: "lp-fold" }, h(Start, { channel })),
    h(Fold, { title: say("sphere.motion"), kind: "lp-fold" }, h(Motion, { channel })),
  );
}

/** @param {Page} properties */
function Losses({ channel }) {
  const { sides } = channel;
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
          choose: (change) => channel.setSide(place, change),
          change: (name, value) =>
            channel.setSide(place, { parameters: { ...channel.sides[place].parameters, [name]: value } }),
        }),
      ),
    ),
    h(Checkbox, {
      id: "lp-second",
      name: say("sphere.second"),
      checked: sides.length > 1,
      change: (isOn) => channel.set({ sides: isOn ? [sides[0], SECOND] : [sides[0]] }),
    }),
  );
}

/** @param {Page} properties */
function Start({ channel }) {
  const { start } = channel.store.state;
  return group(
    h(Tabs, {
      id: "lp-start",
      label: say("sphere.start"),
      names: [...KINDS],
      chosen: start.kind,
      title: (name) => say(`sphere.kind.${name}`),
      choose: (kind) => channel.set({ start: { kind } }),
    }),
    h(
      TabPanel,
      { id: "lp-start", chosen: start.kind },
      h(PANELS[/** @type {keyof typeof PANELS} */ (start.kind)], { channel }),
    ),
    h(Select, {
      id: "lp-dimension",
      name: say("sphere.shape"),
      value: String(start.dimension),
      options: [2, 3].map((one) => [String(one), say(`sphere.shape.${one}`)]),
      change: (dimension) => channel.set({ start: { dimension: Number(dimension) } }),
    }),
  );
}

/**
 * A number of the state, by its name there.
 * @param {Page & { name: string, logarithmic?: boolean }} properties
 */
function NumberOf({ channel, name, logarithmic }) {
  const entry = channel.store.table.get(name);
  const [part, key] = name.split(".");
  return h(Slider, {
    entry: /** @type {any} */ (entry),
    value: channel.store.get(name),
    title: `sphere.${key}`,
    name: `lp-${key}`,
    logarithmic,
    change: (value) => channel.set({ [part]: { [key]: value } }),
  });
}

/** @param {Page} properties */
const Classes = ({ channel }) =>
  group(["points", "classes", "spread", "seed"].map((one) => h(NumberOf, { key: one, channel, name: `start.${one}` })));

/** @param {Page} properties */
const Random = ({ channel }) =>
  group(
    h(NumberOf, { channel, name: "start.points" }),
    h(Select, {
      id: "lp-labels",
      name: say("random.labels"),
      value: channel.store.state.start.labels,
      options: (channel.store.table.get("start.labels")?.choices ?? []).map((one) => [
        one,
        say(`random.labels.${one}`),
      ]),
      change: (labels) => channel.set({ start: { labels } }),
    }),
    h(NumberOf, { channel, name: "start.agreement" }),
    h(NumberOf, { channel, name: "start.seed" }),
  );

/** @param {Page} properties */
function Sentences({ channel }) {
  const { example, scene } = channel.store.state.start;
  const left = scene || stored("scene");
  const examples = pageData.sphere.examples.map((one) => [one, say(`example.${one}.title`)]);
  return h(Select, {
    id: "lp-example",
    name: say("sphere.kind.sentences"),
    value: scene ? MINE : example,
    options: left ? [...examples, [MINE, say("sphere.mine")]] : examples,
    change: (chosen) => channel.set({ start: chosen === MINE ? { scene: left } : { scene: "", example: chosen } }),
  });
}

const PANELS = { classes: Classes, random: Random, sentences: Sentences };

/** @param {Page} properties */
function Motion({ channel }) {
  const { steps } = channel.store.state;
  return group(
    h(Select, {
      id: "lp-optimiser",
      name: say("sphere.optimiser"),
      value: steps.optimiser,
      options: (channel.store.table.get("steps.optimiser")?.choices ?? []).map((one) => [
        one,
        say(`sphere.optimiser.${one}`),
      ]),
      change: (optimiser) => channel.set({ steps: { optimiser } }),
    }),
    h(NumberOf, { channel, name: "steps.rate", logarithmic: true }),
    h(NumberOf, { channel, name: "steps.count" }),
  );
}

/** @type {(root: HTMLElement, channel: import("./state.js").SpherePage) => void} */
export default function controls(root, channel) {
  show(root, Controls, { channel });
}
