// Fields of the sidebar that stand for an entry of the page's state, and lines that say what is wrong.
import { Field } from "../../kit/components.js";
import { h } from "../../kit/preact_view.js";
import { fits } from "../../kit/state_store.js";
import { say } from "../../kit/translated_sentences.js";
import { useState } from "../../kit/vendor/preact/hooks.js";

/** @typedef {import("./state.js").FinetunePage} Page */
/** @typedef {import("./state.js").PlanChange} PlanChange */

/** @param {{ problem: import("../../kit/types").Notice | null | undefined }} properties */
export const ProblemLine = ({ problem }) =>
  problem ? h("p.lp-wrong", { role: "alert" }, say(problem.key, problem.values)) : null;

/**
 * A sentence below a control; nothing where there is none.
 * @param {{ text: string, id?: string, role?: "status" }} properties
 */
export const Note = ({ text, ...more }) => (text ? h("p.lp-note", more, text) : null);

/** @param {{ name: string, id?: string, disabled?: boolean, kind?: string, act: () => void }} properties */
export const Button = ({ name, id, disabled, kind = "lp-button", act }) =>
  h("button", { class: kind, id, disabled, onClick: act }, name);

/**
 * A box for a number of the page's state; one that does not fit is marked, and not taken.
 * @param {{ page: Page, name: string, take?: (value: number) => void }} properties
 */
export function NumberBox({ page, name, take = (value) => page.setPlan({ [name]: value }) }) {
  const { store } = page;
  const entry = store.table.get(`plan.${name}`) ?? store.entry(`beside.${name}`);
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const value = store.get(entry.name);
  const { low, high, kind } = entry;
  /** @param {string} text */
  const isGood = (text) => text.trim() !== "" && fits(entry, Number(text));
  const isWrong = typed !== null && !isGood(typed);
  return h(
    "div",
    h(
      Field,
      { name: say(`finetune.${name}`) },
      h("input", {
        type: "number",
        id: `lp-finetune-${name}`,
        class: isWrong ? "lp-bad" : undefined,
        min: low ?? undefined,
        max: high ?? undefined,
        step: kind === "whole" ? 1 : "any",
        value: typed ?? String(value),
        onInput: ({ currentTarget: { value: text } }) => {
          setTyped(text);
          if (isGood(text)) take(Number(text));
        },
        onBlur: () => setTyped(null),
      }),
    ),
    h(ProblemLine, { problem: isWrong ? { key: "ui.accepted_else", values: { low, high, value } } : null }),
  );
}

/**
 * A box for text: stored with every key, checked when it is left. `put` makes a change of the plan of it.
 * @param {{ page: Page, id: string, name: string, value: string, example?: string,
 *   put: (text: string) => PlanChange }} properties
 */
export const TextBox = ({ page, id, name, value, example, put }) =>
  h(
    Field,
    { name },
    h("input", {
      type: "text",
      id: `lp-finetune-${id}`,
      spellcheck: false,
      placeholder: example,
      value,
      onInput: (event) => page.note(put(event.currentTarget.value)),
      onChange: (event) => page.setPlan(put(event.currentTarget.value)),
    }),
  );
