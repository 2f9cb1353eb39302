// The fields of a random batch: how many pairs, which labels, how well the encoder agrees with them.
import { useLatest } from "./components.js";
import { h, labelled, worded } from "./dom.js";
import { hosted } from "./preact_view.js";
import { numberField } from "./slider.js";

const RANDOM = [
  ...["pairs", "candidates", "dimension", "labels"],
  ...["grades", "agreement", "mislabelled", "imbalance", "hard_negatives", "guide", "seed"],
];

/**
 * The settings of a random batch, by the entries of a page's state below `prefix`; `looks` says what
 * more there is to know of a slider. change(name, value).
 * @param {Map<string, import("../wire").StateEntry>} table
 * @param {string} prefix
 * @param {{ labelsId: string, looks?: Record<string, { logarithmic?: boolean }> }} options
 * @param {(name: string, value: number | string) => void} change
 */
function randomFields(table, prefix, { labelsId, looks = {} }, change) {
  /** @type {Record<string, ReturnType<typeof numberField>>} */
  const numbers = {};
  const labels = h("select", { id: labelsId, onchange: () => change("labels", labels.value) });
  for (const entry of table.values()) {
    const name = entry.name.startsWith(prefix) && entry.name.slice(prefix.length);
    if (!name) continue;
    if (entry.kind === "choice") {
      const kinds = entry.choices ?? [];
      labels.replaceChildren(...kinds.map((kind) => worded("option", `random.labels.${kind}`, { value: kind })));
      continue;
    }
    const high = name === "seed" ? 999 : entry.high; // what a hand can choose
    const more = { key: `random.${name}`, name: `random-${name}`, high, ...looks[name] };
    numbers[name] = numberField(entry, { ...more, change: (v) => change(name, v) });
    for (const input of numbers[name].element.querySelectorAll("input")) input.dataset.title = `random.${name}`;
  }
  return {
    /** @param {string} name */
    element: (name) => numbers[name].element,
    labels: labelled("random.labels", labels),
    /** @param {import("../wire").RandomBatch} values */
    set({ labels: kind, ...values }) {
      const known = new Map(Object.entries(values));
      for (const [name, number] of Object.entries(numbers)) number.set(Number(known.get(name)));
      labels.value = kind;
    },
  };
}

/**
 * The settings of a random batch, by the entries of a page's state below `prefix`, in this order; `hidden` are those
 * that say nothing now. `looks`: what more there is to know of a slider.
 * @param {{ table: Map<string, import("../wire").StateEntry>, prefix: string, labelsId: string,
 *   values: import("../wire").RandomBatch, names?: string[], hidden: string[],
 *   looks?: Parameters<typeof randomFields>[2]["looks"],
 *   change: (name: string, value: number | string) => void }} properties
 */
export function RandomFields({ table, prefix, labelsId, values, names = RANDOM, hidden, looks, change }) {
  const changing = useLatest(change);
  return hosted({
    make: (root) => {
      const fields = randomFields(table, prefix, { labelsId, looks }, changing);
      root.append(...names.map((name) => (name === "labels" ? fields.labels : fields.element(name))));
      return fields;
    },
    update: (fields) => {
      fields.set(values);
      for (const name of names) if (name !== "labels") fields.element(name).hidden = hidden.includes(name);
    },
  });
}
