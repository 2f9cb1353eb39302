// The fold in which losses are put together to one.
import { h, reword, worded } from "./dom.js";
import { HALVED, lengthsIn, mayBeSum, nameOfSum, plainPart, summandsOf, WHOLE } from "./loss_sums.js";
import { pageData } from "./page_data.js";
import { groupsOf, lossSelect } from "./sidebar.js";
import { labelled } from "./sidebar_fields.js";
import { say, titleOf } from "./words.js";

/** @typedef {import("../wire").Summand} Summand */

const MOST = 4; // as MOST_PARTS of losses/combined/names.py

/**
 * The fold in which a sum is put together; `choose` takes the name of what is wanted. Only losses that are
 * no sums are offered as parts.
 * @param {string} id
 * @param {(loss: string) => void} choose
 */
export function combiner(id, choose) {
  const parts = h("div.lp-combined");
  const plain = () => Object.fromEntries(Object.entries(pageData.losses).filter(([, { group }]) => isPart(group)));
  const added = lossSelect(`${id}-add`, (loss) => loss && choose(nameOfSum([...now, plainPart(loss)])));
  const full = worded("p.lp-note", "ui.combine.full", { hidden: true });
  const element = h("details.lp-fold", { id }, worded("summary", "ui.combine"), parts, added.element, full);
  added.element.dataset.title = "ui.combine.add";
  /** @type {Summand[]} */
  let now = [];

  /**
   * @param {Summand} summand
   * @param {number} place
   */
  function row(summand, place) {
    const { loss, prefixes, queued } = summand;
    /** @param {{ prefixes?: number[], queued?: boolean }} next a loss has prefixes or a queue */
    const become = (next) => {
      const changed = { ...plainPart(loss), ...next };
      choose(nameOfSum(now.map((one, k) => (k === place ? changed : one))));
    };
    const nested = h("input", {
      type: "checkbox",
      name: "prefixes",
      checked: prefixes.length > 0,
      onchange: () => become({ prefixes: nested.checked ? HALVED : [] }),
    });
    const kept = h("input", {
      type: "checkbox",
      name: "queue",
      checked: queued,
      onchange: () => become({ queued: kept.checked }),
    });
    const lengths = h("input", {
      type: "text",
      name: "lengths",
      inputMode: "numeric",
      spellcheck: false,
      value: prefixes.filter((length) => length > WHOLE).join(", "),
      "data-title": "ui.combine.lengths.about",
      placeholder: say("ui.combine.lengths.usual"),
      onchange: () => become({ prefixes: lengthsIn(lengths.value) }),
    });
    const without = h("button.lp-button.lp-quiet", {
      type: "button",
      name: "without",
      hidden: now.length < 2,
      "data-title": "ui.combine.without",
      onclick: () => choose(nameOfSum(now.filter((_one, k) => k !== place))),
    });
    without.textContent = "×";
    const box = labelled("ui.combine.lengths", lengths);
    box.hidden = !prefixes.length;
    const boxes = h("label.lp-check", {}, nested, worded("span", "ui.combine.prefixes"));
    boxes.hidden = !pageData.losses[loss]?.takes_prefixes;
    const queues = h("label.lp-check", {}, kept, worded("span", "ui.combine.queue"));
    queues.hidden = !pageData.losses[loss]?.takes_queue;
    const head = h("div.lp-row", {}, h("strong", {}, titleOf(loss)), without);
    return h("div.lp-part", {}, head, boxes, box, queues);
  }

  /** Where the keyboard is in the rows, which are built anew. */
  function focused() {
    const control = /** @type {HTMLInputElement | null} */ (document.activeElement);
    const place = [...parts.children].findIndex((one) => one.contains(control));
    return control && place >= 0 ? { place, name: control.name } : null;
  }

  /** @param {{ place: number, name: string }} held the same control, or what follows the rows */
  function focusAgain({ place, name }) {
    const again = parts.children[place]?.querySelector(`[name="${name}"]`);
    const there = again instanceof HTMLElement && again.checkVisibility() ? again : added.element;
    there.focus();
  }

  return {
    element,
    /**
     * The loss that is chosen.
     * @param {string} loss
     */
    set(loss) {
      const ours = isPart(pageData.losses[loss]?.group) || mayBeSum(loss);
      element.hidden = !ours;
      now = summandsOf(loss);
      const held = focused();
      parts.replaceChildren(...now.map(row));
      const taken = new Set(now.map((one) => one.loss));
      const others = Object.fromEntries(Object.entries(plain()).filter(([name]) => !taken.has(name)));
      added.fill(groupsOf(others), worded("option", "ui.combine.add", { value: "" }));
      added.set("");
      added.element.hidden = now.length >= MOST;
      full.hidden = now.length < MOST;
      reword(element);
      if (held) focusAgain(held);
    },
  };
}

/** @param {string | undefined} group */
const isPart = (group) => group !== undefined && group !== "own" && group !== "combined";
