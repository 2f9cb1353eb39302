// What the sidebars of the pages are made of: tabs, the choice of a file, a random batch, the parameters of a
// loss. Each part shows what it is given and emits what was chosen.

import { parameterValue } from "./convention_formula.js";
import { h, reword, worded } from "./dom.js";
import { onFile } from "./files.js";
import { pageData } from "./page_data.js";
import { labelled, numberField, parameterField } from "./slider_and_number_fields.js";
import { language, say, titleOf } from "./words.js";

const FILES = ".csv,.tsv,.txt,.jsonl,.json,.parquet,.pq,.arrow,.feather,.ipc,.npz,.npy,.safetensors";

/** @typedef {import("../wire").StateEntry} Entry */
/** @typedef {{ label: string, losses: string[][] }} Group losses by name and title */

/**
 * Tabs for these names; `called(name)` is the key of what one is called, `tabId` begins their ids, and `label` is the
 * key of what they all choose.
 * @template {string} Name
 * @param {{ called: (name: Name) => string, names: Name[], tabId: string, label: string }} options
 * @param {(name: Name) => void} choose
 */
export function tabbed({ called, names, tabId, label }, choose) {
  const tabs = names.map((name) =>
    worded("button.lp-tab", called(name), { role: "tab", id: `${tabId}-${name}`, onclick: () => choose(name) }),
  );
  return {
    element: h("div.lp-tabs", { role: "tablist", "aria-label": say(label) }, tabs),
    /** @param {string} chosen */
    set(chosen) {
      for (const [i, name] of names.entries()) tabs[i].setAttribute("aria-selected", String(name === chosen));
    },
  };
}

/**
 * A button that a file is dropped on, or that opens the chooser.
 * @param {{ id: string, title?: string, kinds?: string }} options
 * @param {(file: File) => void} take
 */
export function filePicker({ id, title = "ui.drop_file", kinds = "ui.file_kinds" }, take) {
  const chooser = h("input", { type: "file", id, accept: FILES, hidden: true });
  const drop = h("button.lp-drop", { onclick: () => chooser.click() }, worded("b", title), worded("span", kinds));
  onFile(chooser, drop, take);
  return [chooser, drop];
}

/**
 * The settings of a random batch, by the entries of a page's state below `prefix`; `looks` says what
 * more there is to know of a slider. change(name, value).
 * @param {Map<string, Entry>} table
 * @param {string} prefix
 * @param {{ labelsId: string, looks?: Record<string, { logarithmic?: boolean }> }} options
 * @param {(name: string, value: number | string) => void} change
 */
export function randomFields(table, prefix, { labelsId, looks = {} }, change) {
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
 * All losses in their groups, each by its title; `titled` may say more of one.
 * @param {Record<string, import("../wire").Loss>} losses
 * @param {(name: string, loss: import("../wire").Loss) => string} [titled]
 * @returns {Group[]}
 */
export function groupsOf(losses, titled = titleOf) {
  const all = Object.entries(losses);
  /** @param {string} group */
  const within = (group) =>
    all.filter(([, loss]) => loss.group === group).map(([name, loss]) => [name, titled(name, loss)]);
  return pageData.groups
    .map((group) => ({ label: say(`group.${group}`), losses: within(group) }))
    .filter(({ losses: members }) => members.length);
}

/**
 * The controls of a loss's parameters.
 * @param {(name: string, value: import("../wire").Setting) => void} change
 */
export function parameterList(change) {
  const element = h("div.lp-parameters");
  let built = "";
  /** @type {[import("../wire").Parameter, import("./slider_and_number_fields.js").Field][]} */
  let fields = [];
  return {
    element,
    /**
     * `key` names the loss and its convention. Answers whether the controls are new ones.
     * @param {string} key
     * @param {import("../wire").Parameter[]} parameters
     * @param {Record<string, import("../wire").Setting>} values
     */
    set(key, parameters, values) {
      const isNew = `${key}|${language()}` !== built;
      if (isNew) {
        built = `${key}|${language()}`;
        fields = parameters.map((parameter) => [
          parameter,
          parameterField(parameter, parameter.default, (v) => change(parameter.name, v)),
        ]);
        element.replaceChildren(...fields.map(([, field]) => field.element));
        reword(element);
      }
      for (const [parameter, field] of fields) field.set(parameterValue(parameter, values));
      return isNew;
    },
    /** @type {(name: string | undefined) => void} A parameter that is pointed at in a formula is lit. */
    light(name) {
      for (const [parameter, field] of fields) field.element.classList.toggle("lp-lit", parameter.name === name);
    },
  };
}
