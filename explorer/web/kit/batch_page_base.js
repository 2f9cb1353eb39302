// The state of a page that shows one batch: a pair pointed at in one picture is marked in all, and a
// slow request is shown as busy.
import { PageEvents } from "./page_topics_notices_and_jobs.js";
import { GONE, RETRY_MS } from "./request_scheduling.js";
import { Store } from "./state_store.js";

const LATE_MS = 250;

/** @template Server */
export class BatchPage extends PageEvents {
  /**
   * @param {string[]} topics
   * @param {import("./state_store.js").Entry[]} table
   */
  constructor(topics, table) {
    super(topics);
    this.store = new Store(table);
    /** @type {import("./types").Asking<Server>} */
    this.server = /** @type {any} */ (null); // until the page is connected
    /** @type {import("./browser_history.js").History | null} */
    this.history = null;
    /** @type {import("../wire").SkippedRow[]} */
    this.skipped = [];
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.retrying = undefined;
    /** @type {import("./types").Pointed} */
    this.pointed = { pairs: [], cell: null, part: null };
    this.drawn = 0; // pictures, so far
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.late = undefined;
    this.lastTaken = 0; // of the newest answer, its turn
  }

  // What the tests and the benchmark wait for.
  get linking() {
    return this.history?.pending ?? false;
  }

  /** @type {() => unknown} Ask the server for what the state has become. */
  ask() {
    throw new TypeError(this.constructor.name);
  }

  isPublic() {
    return this.store.state.data.source !== "table";
  }

  // The address follows the state.
  remember() {
    this.history?.remember();
  }

  /**
   * Show the rows that an answer leaves out, and what is wrong with it; return whether it has a result.
   * @template {{ skipped?: import("../wire").SkippedRow[], error?: import("../wire").Problem | null }} Answer
   * @param {Answer} answer
   * @returns {answer is Exclude<Answer, { error: import("../wire").Problem }>}
   */
  accepts(answer) {
    const { skipped, error } = answer;
    if (skipped) {
      this.skipped = skipped;
      this.publish("skipped");
    }
    if (error) this.fail(error);
    if (error === GONE) this.retrying = setTimeout(() => this.ask(), RETRY_MS);
    return !error;
  }

  /**
   * Point at pairs and, from a matrix, at a cell of it; from a formula, at the part of it that
   * came from a step or a parameter `of` and its row, column or cell `at`. Empty: at nothing.
   * @type {(pairs?: number[], cell?: [number, number] | null, part?: import("./types").PointedPart | null) => void}
   */
  point(pairs = [], cell = null, part = null) {
    /** @type {import("./types").Pointed} */
    const next = { pairs, cell, part };
    if (JSON.stringify(next) === JSON.stringify(this.pointed)) return;
    this.pointed = next;
    this.publish("pointed");
  }

  /**
   * Show work that takes a moment as under way until there is an answer.
   * @param {{ flying: number, taken: number }} requests
   */
  showBusy(requests) {
    if (!requests.flying || requests.taken !== this.lastTaken) {
      clearTimeout(this.late);
      this.late = undefined;
      this.lastTaken = requests.taken;
      this.setBusy(requests, false);
    }
    if (requests.flying && !this.late) {
      this.late = setTimeout(() => {
        this.late = undefined;
        this.setBusy(requests, requests.flying > 0);
      }, LATE_MS);
    }
  }
}
