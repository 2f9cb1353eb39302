// Lines that say what is wrong, each where it can be put right; they follow the language.
import { h } from "../../kit/dom.js";
import { labelled } from "../../kit/fields.js";
import { fits } from "../../kit/store.js";
import { say } from "../../kit/words.js";

/** @typedef {import("../../kit/types").Notice} Notice */
/** @typedef {ReturnType<typeof complaints>} Complaints */

export function complaints() {
  /** @type {Map<HTMLElement, Notice | null | undefined>} */
  const told = new Map();

  /**
   * @param {HTMLElement} line
   * @param {Notice | null | undefined} problem
   */
  function complain(line, problem) {
    told.set(line, problem);
    line.hidden = !problem;
    line.textContent = problem ? say(problem.key, problem.values) : "";
  }

  return {
    line: () => h("p.lp-wrong", { role: "alert", hidden: true }),
    complain,
    reword() {
      for (const [line, problem] of told) complain(line, problem);
    },
  };
}

/**
 * Boxes for numbers of the page's state. What does not fit is named and not taken.
 * @param {import("./state.js").FinetunePage} channel
 * @param {Complaints} complaints
 */
export function numberBoxes(channel, { line, complain }) {
  /** @type {Map<HTMLInputElement, () => number>} */
  const boxes = new Map();

  /**
   * A box for the entry `plan.<name>` or `beside.<name>`; `take` gets what was typed.
   * @param {string} name
   * @param {(value: number) => void} take
   */
  function box(name, take) {
    const entry = channel.store.table.get(`plan.${name}`) ?? channel.store.table.get(`beside.${name}`);
    if (!entry) throw new RangeError(name);
    const now = () => channel.store.get(entry.name);
    const { low, high, kind } = entry;
    const step = kind === "whole" ? 1 : "any";
    const input = h("input", { type: "number", id: `lp-finetune-${name}`, min: low, max: high, step });
    const told = line();
    input.addEventListener("input", () => {
      const value = Number(input.value);
      const good = input.value.trim() !== "" && fits(entry, value);
      input.classList.toggle("lp-bad", !good);
      complain(told, good ? null : { key: "ui.accepted_else", values: { low, high, value: now() } });
      if (good) take(value);
    });
    input.addEventListener("blur", () => {
      input.value = String(now());
      input.classList.remove("lp-bad");
      complain(told, null);
    });
    boxes.set(input, now);
    return h("div", {}, labelled(`finetune.${name}`, input), told);
  }

  return {
    box,
    // What is being typed stays as it is typed.
    fill() {
      for (const [input, now] of boxes) if (document.activeElement !== input) input.value = String(now());
    },
  };
}
