// Where the pairs come from: drawn at random, of a file, or the batch of the Explore page.
import { Fold, TabPanel, Tabs, TextField, useDraft } from "../../../kit/components.js";
import { grouped } from "../../../kit/number_format.js";
import { group, h } from "../../../kit/preact_view.js";
import { RandomFields } from "../../../kit/random_batch_fields.js";
import { stored } from "../../../kit/storage.js";
import { say } from "../../../kit/translated_sentences.js";
import { FilePanel } from "./file.js";

/** @typedef {import("../state.js").LargePage} LargePage */
/** @typedef {import("./file.js").Properties} Properties */
/** @typedef {"random" | "file" | "explore"} Kind */

/** @type {Kind[]} */
const KINDS = ["random", "file", "explore"];
const SIZES = [10_000, 100_000, 1_000_000];
const RANDOM = ["labels", "grades", "dimension", "agreement", "mislabelled", "imbalance", "hard_negatives", "seed"];
/** @type {Record<Kind, import("../../../kit/types").Component<Properties & { wanted: string }>>} */
const PANELS = { random: RandomPanel, file: FilePanel, explore: ExplorePanel };

/** @param {Properties & { wanted: string }} properties */
export function DataFold({ page, description, wanted }) {
  const { source } = page.request;
  const called = source.name ?? say(`large.source.${source.kind}`);
  const tab = useDraft(/** @type {Kind} */ (source.kind)); // one may be looked into before its pairs are shown
  return h(
    Fold,
    {
      title: group(h("span", say("large.data")), " ", h("small", { "data-batch-text": "" }, called)),
      kind: "lp-fold",
    },
    h(Tabs, {
      id: "lp-large-source",
      label: say("large.data"),
      names: KINDS,
      chosen: tab.now,
      title: (kind) => say(`large.source.${kind}`),
      choose: (kind) => {
        tab.now = /** @type {Kind} */ (kind);
        const { file, link } = page.store.state.source;
        if (kind === "random" || (kind === "file" ? file : link)) page.change({ source: { kind } });
        else page.publish("state");
      },
    }),
    tab.now === source.kind ? null : h("p.lp-note", say(`large.still.${tab.now}`, { source: called })),
    h(TabPanel, { id: "lp-large-source", chosen: tab.now }, h(PANELS[tab.now], { page, description, wanted })),
  );
}

/** @param {Properties & { wanted: string }} properties */
function RandomPanel({ page, wanted }) {
  const { random } = page.store.state.source;
  /** @type {(name: string, value: number | string) => void} */
  const change = (name, value) => page.change({ source: { kind: "random", random: { [name]: value } } });
  const fields = { table: page.store.table, prefix: "source.random.", labelsId: "lp-large-labels", values: random };
  const hidden = [
    ...(random.labels === "graded" ? [] : ["grades"]),
    ...(wanted === "cosines" ? ["dimension"] : []), // no loss asks for the vectors
  ];
  return group(
    h(RandomFields, { ...fields, names: ["pairs"], hidden: [], looks: { pairs: { logarithmic: true } }, change }),
    h(
      "div.lp-sizes",
      SIZES.map((size) => h("button.lp-button", { key: size, onClick: () => change("pairs", size) }, grouped(size))),
    ),
    h(RandomFields, { ...fields, names: RANDOM, hidden, change }),
  );
}

/** @param {Properties} properties */
function ExplorePanel({ page }) {
  // The scenario that the Explore page was last at, until another is opened.
  const draft = useDraft(page.store.state.source.link || (stored("scene") ?? ""));
  const open = () => page.change({ source: { kind: "explore", link: draft.now.trim().replace(/^.*#/, "") } });
  return group(
    h("p.lp-note", say("large.explore_note")),
    h(TextField, {
      name: say("large.link"),
      id: "lp-large-link",
      value: draft.now,
      enter: open,
      change: (link) => {
        draft.now = link;
      },
    }),
    h("button.lp-button", { onClick: open }, say("large.open_link")),
  );
}
