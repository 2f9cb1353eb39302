// What is looked at of the probe batch of a run: which recorded step, under which view.
import { pageData } from "../../kit/page_data.js";
import { GONE, RETRY_MS, Requests } from "../../kit/request_scheduling.js";
import { Store } from "../../kit/state_store.js";

/** @typedef {import("../../kit/types").Answer<import("../../wire").FinetuneServer, "probe">} Answer */

export class ProbeView {
  /**
   * `ask` puts a request to the server; `changed()` hears of every change.
   * @param {(request: object) => Promise<Answer>} ask
   * @param {() => void} changed
   */
  constructor(ask, changed) {
    this.ask = ask;
    this.changed = changed;
    this.store = new Store(pageData.scenario);
    /** @type {string | null} */
    this.run = null;
    /** @type {number | null} */
    this.step = null;
    /** @type {import("../../wire").ProbeBatch | null} */
    this.batch = null;
    /** @type {import("../../wire").Picture | null} */
    this.picture = null;
    /** @type {import("../../wire").Problem | null} */
    this.problem = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.retrying = undefined;
    this.drawn = 0;
    /** @type {import("../../kit/types").Pointed} */
    this.pointed = { pairs: [], cell: null, part: null };
    /** @type {Requests<Answer>} */
    this.requests = new Requests({
      most: 2,
      between: true,
      ask: () => this.question(),
      take: (answer) => this.take(answer),
    });
  }

  /**
   * What the server is asked for: the loss of the run, and what is looked at.
   * @returns {import("../../wire").Scenario}
   */
  get scenario() {
    return this.store.state;
  }

  /**
   * Formulas of the reference values, by their names.
   * @returns {{ collapse?: string, floor?: string }}
   */
  get referenceFormulas() {
    const { loss, convention } = this.scenario;
    return pageData.losses[loss]?.conventions[convention] ?? {};
  }

  /**
   * Look at a recorded step of a run with this plan.
   * @type {(run: string, step: number, plan: import("../../wire").RecordedPlan) => void}
   */
  look(run, step, { loss, convention, parameters }) {
    if (run !== this.run) {
      this.batch = null;
      this.store.reset({ ...pageData.defaults, loss, convention, parameters });
    }
    Object.assign(this, { run, step });
    this.requests.ask();
  }

  /** @param {Partial<import("../../wire").View>} view */
  choose(view) {
    const { affects } = this.store.update({ view });
    if (affects === "nothing") this.changed();
    else this.requests.ask();
  }

  /**
   * @param {number[]} pairs
   * @param {[number, number] | null} cell
   * @param {import("../../kit/types").PointedPart | null} part
   */
  point(pairs = [], cell = null, part = null) {
    this.pointed = { pairs, cell, part };
    this.changed();
  }

  question() {
    clearTimeout(this.retrying);
    const { run, step, scenario } = this;
    return this.ask({ run, step, scenario, known: this.problem ? "" : (this.batch?.key ?? "") });
  }

  /** @param {Answer} answer */
  take(answer) {
    this.problem = answer.error ?? null;
    if (answer.error === GONE) this.retrying = setTimeout(() => this.requests.ask(), RETRY_MS);
    if (answer.picture) {
      this.batch = answer.batch ?? this.batch;
      this.picture = answer.picture;
      this.drawn += 1;
    }
    this.changed();
  }
}
