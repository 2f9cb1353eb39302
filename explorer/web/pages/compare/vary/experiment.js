// A question about the losses on the page, put to the server while its panel is in sight, and again when
// what it is about is another: the newest answer stands.
import { h, worded } from "../../../kit/dom.js";
import { Requests } from "../../../kit/request.js";
import { GONE } from "../../../kit/server.js";
import { say } from "../../../kit/words.js";
import { chip, nameOf } from "../legend.js";

/** @typedef {import("../../../wire").CompareServer} CompareServer */
/** @typedef {import("../../../kit/sides.js").Side} Side */
/** @typedef {import("../state.js").ComparePage} ComparePage */
/** @typedef {"sweep" | "mechanics" | "precision" | "what_if" | "collapse"} Name */

/**
 * An instrument of the section, as `vary.js` has it: `look` says whether it is in sight, `update` that what
 * the page shows or says is another.
 * @typedef {{ element: HTMLElement, look: (inSight: boolean) => void, update: () => void, reword: () => void }} Tool
 */

const STILL_MS = 300;

/**
 * `asked()` is what the question has besides batch and losses; `about()` is what the answer depends on, all
 * of the losses if left out; `take(answer, sides)` shows it.
 * @template {Name} Which
 * @param {ComparePage} channel
 * @param {import("../../../kit/types").Asking<CompareServer>} server
 * @param {{ name: Which, box: HTMLElement, asked?: () => object, about?: () => unknown,
 *   take: (answer: any, sides: Side[]) => void }} options
 */
export function experiment(channel, server, { name, box, asked = () => ({}), about = () => channel.sides, take }) {
  const note = h("p.lp-note", { role: "status", hidden: true });
  let inSight = false;
  let put = ""; // what was asked about last
  let isFound = false; // whether there is anything to show
  let of = ""; // the batch and the losses that it is of
  box.hidden = true;
  const key = () => JSON.stringify([channel.batch?.key, about(), asked()]);
  /** @type {Requests<{ sides: Side[], answer: any }>} */
  const requests = new Requests({
    ask: async () => {
      put = key();
      const { sides } = channel;
      const request = channel.asked(asked());
      return { sides, answer: await channel.rows.asked(request, (more) => channel.work(server, name, more)) };
    },
    take: (told) => {
      const { sides } = told;
      /** @type {any} */ // each tool knows what it is answered
      const { answer } = told;
      if (answer === undefined || answer?.send_rows) {
        put = "";
        tell("");
      } else if (!answer || answer.error) {
        const { key: said, values } = answer?.error ?? GONE;
        if (!answer) put = "";
        tell(say(said, values));
      } else {
        requests.debounce = STILL_MS;
        isFound = true;
        of = base();
        tell("");
        take(answer, sides);
      }
    },
    changed: () => box.classList.toggle("lp-waiting", requests.flying > 0 || requests.waiting),
  });

  /** @param {string} said */
  function tell(said) {
    note.hidden = !said;
    note.textContent = said;
    box.hidden = Boolean(said) || !isFound;
  }

  // What was found of other losses, or of another batch, is not shown.
  const base = () =>
    JSON.stringify([channel.batch?.key, channel.sides.map(({ loss, convention }) => [loss, convention])]);

  function ask() {
    if (isFound && of !== base()) {
      isFound = false;
      put = ""; // what was found is gone, and is asked for again where it is wanted again
      tell(say("ui.working"));
    }
    if (!inSight || !channel.batch || channel.problem || put === key()) return;
    put = key();
    if (!isFound) tell(say("ui.working"));
    box.classList.add("lp-waiting");
    requests.ask();
  }

  return {
    note,
    ask,
    /** @param {boolean} now */
    look(now) {
      inSight = now;
      ask();
    },
  };
}

/**
 * A table of a tool under these heads, words by their keys; `body` takes its lines.
 * @param {string[]} heads
 */
export function varyTable(heads) {
  const headings = heads.map((key) => worded("th", key, { scope: "col" }));
  const body = h("tbody");
  const table = h("table.lp-vary-table", {}, h("thead", {}, h("tr", {}, headings)), body);
  return { table, headings, body };
}

/**
 * A loss at the head of its line, and in place of its numbers why there are none.
 * @param {Side[]} sides
 * @param {number} place
 */
export const headOf = (sides, place) =>
  h("th.lp-vary-side", { scope: "row" }, chip(place), " ", h("span", {}, sides[place] ? nameOf(sides[place]) : ""));

/**
 * @param {import("../../../wire").Problem} problem
 * @param {number} columns
 */
export const refusedCell = ({ key, values }, columns) =>
  h("td", { colSpan: columns }, h("span.lp-wrong", {}, say(key, values)));
