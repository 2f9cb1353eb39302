// An experiment on the losses of the page: it is asked for while it is shown, and again when its losses or its
// options are others. The newest answer counts.
import { h } from "../../../kit/preact_view.js";
import { GONE, Requests } from "../../../kit/request_scheduling.js";
import { problem } from "../../../kit/server.js";
import { say } from "../../../kit/translated_sentences.js";
import { useEffect, useRef, useState } from "../../../kit/vendor/preact/hooks.js";

/** @typedef {import("../../../kit/state_link.js").Side} Side */
/** @typedef {import("../state.js").ComparePage} ComparePage */
/** @typedef {"sweep" | "mechanics" | "precision" | "what_if" | "collapse" | "landscape"} Name */
/**
 * The newest answer, null before there is one, with the losses that it is about; `message` says what is
 * missing or under way, `isWaiting` whether a newer answer is to come.
 * @template Answer
 * @typedef {{ answer: Answer | null, sides: Side[], message: string, isWaiting: boolean }} Experiment
 */

const DEBOUNCE_MS = 300;

class ExperimentRequests {
  /**
   * @param {ComparePage} page
   * @param {Name} name
   * @param {() => void} changed
   */
  constructor(page, name, changed) {
    this.page = page;
    this.name = name;
    this.options = {};
    this.key = ""; // of the newest request
    this.comparison = ""; // the batch and the losses of the answer
    /** @type {{ answer: any, sides: Side[] }} */
    this.found = { answer: null, sides: [] };
    /** @type {{ key: string, values: object } | null} */
    this.problem = null;
    /** @type {Requests<{ answer: any, sides: Side[] }>} */
    this.requests = new Requests({ ask: () => this.send(), take: (found) => this.take(found), changed });
  }

  async send() {
    const { sides } = this.page;
    return { sides, answer: await this.page.askServer(this.name, this.options) };
  }

  /** @param {{ answer: any, sides: Side[] }} found */
  take({ answer, sides }) {
    const isCancelled = answer === undefined;
    this.problem = isCancelled ? problem("cancelled") : (answer.error ?? null);
    if (isCancelled || answer.error === GONE || answer.send_rows) this.key = ""; // the same may be asked again
    if (this.problem || answer.send_rows) return;
    this.found = { answer, sides };
    this.comparison = this.compared();
    this.requests.debounce = DEBOUNCE_MS;
  }

  compared() {
    const { batch, sides } = this.page;
    return JSON.stringify([batch?.key, sides.map(({ loss, convention }) => [loss, convention])]);
  }

  /** @type {(options: object, key: string) => void} Ask unless the newest request was about the same. */
  ask(options, key) {
    if (key === this.key || this.page.problem) return;
    this.key = key;
    this.options = options;
    this.requests.ask();
  }

  /**
   * @param {string} key of what is to be shown
   * @returns {Experiment<any>}
   */
  stateFor(key) {
    const { found, problem, requests } = this;
    const isWaiting = requests.flying > 0 || requests.due || (!problem && key !== this.key);
    const isFound = found.answer !== null && this.comparison === this.compared();
    const message = problem ? say(problem.key, problem.values) : isFound ? "" : say("ui.working");
    return { ...found, answer: isFound && !problem ? found.answer : null, message, isWaiting };
  }
}

/**
 * Ask for an experiment with these options. `dependsOn`: what the answer depends on beside them and the batch, by
 * default all of the losses.
 * @template Answer
 * @param {ComparePage} page
 * @param {Name} name
 * @param {object} options
 * @param {unknown} [dependsOn]
 * @returns {Experiment<Answer>}
 */
export function useExperiment(page, name, options, dependsOn = page.sides) {
  page.observe("state", "compared", "problem");
  const [, redraw] = useState(0);
  const requests = useRef(/** @type {ExperimentRequests | null} */ (null));
  requests.current ??= new ExperimentRequests(page, name, () => redraw((count) => count + 1));
  const key = JSON.stringify([page.batch?.key, dependsOn, options]);
  useEffect(() => requests.current?.ask(options, key), [key, page.problem]);
  useEffect(() => () => requests.current?.requests.drop(), []);
  return requests.current.stateFor(key);
}

/**
 * The result of an experiment, or what there is to say in its place.
 * @param {{ experiment: Experiment<any>, children?: import("../../../kit/types").Children }} properties
 */
export const Result = ({ experiment: { answer, message, isWaiting }, children }) =>
  h(
    "div",
    { class: isWaiting ? "lp-waiting" : "" },
    h("p.lp-note", { role: "status", hidden: !message }, message),
    answer ? children : null,
  );
