// Fields of a scenario that pages share: finding a loss, its parameters, texts that stand twice, how labels are read.
import { Select, useLatest } from "./components.js";
import { labelFields } from "./label_fields.js";
import { lossFinder } from "./loss_finder.js";
import { h, hosted } from "./preact_view.js";
import { parameterList, randomFields } from "./sidebar_components.js";
import { language, say } from "./words.js";

const RANDOM = [
  ...["pairs", "candidates", "dimension", "labels"],
  ...["grades", "agreement", "mislabelled", "imbalance", "hard_negatives", "guide", "seed"],
];

/**
 * A box that takes any name of a loss; `offered`: whether the page has the one that it names.
 * @param {{ id: string, choose: (loss: string, convention: string) => void, offered?: (loss: string) => boolean }}
 *   properties
 */
export function LossFinder({ id, choose, offered }) {
  const choosing = useLatest(choose);
  return hosted({
    make: (root) => {
      const finder = lossFinder(id, choosing, offered);
      root.append(finder.element);
      return { finder, listedIn: language() };
    },
    // The answer stays until another name is entered.
    update: (made) => {
      if (made.listedIn === language()) return;
      made.listedIn = language();
      made.finder.list();
    },
  });
}

/**
 * The controls of a loss's parameters. `of` names the loss and its convention, `lit` the parameter pointed at.
 * @param {{ of: string, parameters: import("../wire").Parameter[], values: Record<string, import("../wire").Setting>,
 *   lit?: string, change: (name: string, value: import("../wire").Setting) => void }} properties
 */
export function Parameters({ of, parameters, values, lit, change }) {
  const changing = useLatest(change);
  return hosted({
    make: (root) => {
      const list = parameterList(changing);
      root.append(list.element);
      return list;
    },
    update: (list) => {
      list.set(`${of}|${JSON.stringify(parameters)}`, parameters, values); // one's own loss may get others
      list.light(lit);
    },
  });
}

/**
 * What becomes of a text that stands in a batch twice; `names` are the choices that there are.
 * @param {{ id: string, value: string, names?: string[], change: (value: string) => void }} properties
 */
export const SameTexts = ({ id, value, names = ["keep", "leave_out"], change }) =>
  h(
    "div.lp-twins",
    h(Select, {
      id,
      name: say("ui.twins"),
      value,
      options: names.map((name) => [name, say(`ui.twins.${name}`)]),
      change,
    }),
    h("p.lp-note", say(`ui.twins.${value}.about`)),
  );

/**
 * The ends of the labels' scale, and from where on a pair is positive: as chosen, and as `inForce`.
 * @param {{ id: string, chosen: import("./label_fields.js").Chosen,
 *   inForce: import("./label_fields.js").InForce | undefined,
 *   change: (rules: Partial<import("./label_fields.js").Chosen>) => void }} properties
 */
export function LabelRules({ id, chosen, inForce, change }) {
  const changing = useLatest(change);
  return hosted({
    make: (root) => {
      const fields = labelFields(id, changing);
      root.append(fields.element);
      return fields;
    },
    update: (fields) => {
      fields.set(chosen);
      if (inForce) fields.tell(inForce);
    },
  });
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
