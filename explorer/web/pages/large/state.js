// The state of the Large batch page: what is looked at, the way there, and what the server is still
// at work on. The server keeps nothing that this description could not bring back.
import { History } from "../../kit/browser_history.js";
import { corrected } from "../../kit/label_corrections.js";
import { registered } from "../../kit/loss_name_search.js";
import { pageData } from "../../kit/page_data.js";
import { PageEvents } from "../../kit/page_topics_notices_and_jobs.js";
import { Requests, whileWorking } from "../../kit/request_scheduling.js";
import { problem } from "../../kit/server.js";
import * as link from "../../kit/state_link.js";
import { Store } from "../../kit/state_store.js";
import { DownloadRequests } from "./download_requests.js";

/** @typedef {import("../../wire").LargeServer} LargeServer */
/**
 * @template {keyof LargeServer} Name
 * @typedef {import("../../kit/types").Answer<LargeServer, Name>} Answer
 */
/** @typedef {import("../../wire").Progress} Progress */
/** @typedef {import("./block_map_captions.js").Part} Part */

/**
 * Where the pairs come from; of each kind its own settings count.
 * @typedef {{ kind: string, random?: import("../../wire").RandomBatch, file?: string, name?: string,
 *   columns?: Record<string, string>, header?: boolean | null, encoding?: string, encoder?: string, link?: string,
 *   corrections?: import("../../kit/label_corrections.js").Correction[] }} Source
 */
/** @typedef {import("../../kit/label_scale_and_duplicate_text_fields.js").Chosen} Rules */
/**
 * @typedef {{ source: Source, loss: string, parameters: Record<string, import("../../wire").Setting>,
 *   rules: Rules, twins: string }} LargeRequest
 */
/** @typedef {Omit<Source, "kind" | "random"> & { kind?: string, random?: object }} SourceChange */
/** @typedef {{ request: LargeRequest, window: Part | null, answer: Answer<"blocks"> }} Reply */

const SLOW_MS = 300;
const CANCELLED = problem("large_cancelled", {}, "cancelled");
/** @type {(one: unknown, other: unknown) => boolean} */
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

export class LargePage extends PageEvents {
  constructor() {
    super(["state", "answer", "details", "judged", "cell", "problem"]);
    this.store = new Store(pageData.large.table);
    /** @type {(Part | null)[]} */
    this.past = []; // the windows that led here, and those that Back left
    /** @type {(Part | null)[]} */
    this.future = [];
    /** @type {import("../../kit/types").Asking<LargeServer>} */
    this.server = /** @type {any} */ (null); // until the page is connected
    /** @type {import("../../wire").DrawnBlocks | null} */
    this.answer = null; // the latest picture
    /** @type {LargeRequest | null} */
    this.answered = null; // the request of the latest picture
    /** @type {import("../../wire").Details | null} */
    this.details = null; // the figures and tables that come after it
    /** @type {Progress | null} */
    this.working = null; // how far the server is
    /** @type {{ request: LargeRequest, what: string } | null} */
    this.running = null; // the work of the server, as it last said
    /** @type {import("../../wire").Judgement | null} */
    this.judged = null; // the judgement of all pairs together, after everything else
    this.isStale = false; // whether details are of what was asked before
    this.isLearning = false; // whether it takes a while to get others
    this.isJudging = false;
    /** @type {import("./block_card.js").Facet} */
    this.facet = "total"; // of the map, as it is coloured
    this.drawn = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.late = undefined;
    /** @type {History | null} */
    this.history = null;
    /** @type {Requests<Reply>} */
    this.requests = new Requests({
      most: 2,
      ask: () => this.question(),
      take: (reply) => this.receive(reply),
      again: ({ answer }) => (answer.error?.about === CANCELLED.about ? 0 : whileWorking(answer)),
      progress: ({ request, answer }) => this.takeProgress(request, answer),
    });
    /** @type {Requests<Answer<"details">>} */
    this.detailed = new Requests({
      most: 2,
      ask: () => this.server.details(this.answered),
      take: (answer) => this.takeDetails(answer),
      again: whileWorking,
    });
    /** @type {Requests<Answer<"judge">>} */
    this.judging = new Requests({
      ask: () => this.server.judge(this.answered),
      take: (answer) => this.takeJudged(answer),
      again: whileWorking,
    });
    this.downloads = new DownloadRequests(this);
  }

  /** @param {import("../../kit/types").Asking<LargeServer>} server */
  connect(server) {
    this.server = server;
    this.history = new History({
      store: this.store,
      write: () => ({ text: link.written(this.store, ["loss"]), kept: this.kept }),
      open: (text, kept) => this.open(text, kept),
    });
    this.history.revisit();
  }

  /**
   * What is asked of the server: the source, the loss, its parameters, and what becomes of texts that
   * stand there twice.
   * @returns {LargeRequest}
   */
  get request() {
    const { loss, parameters, rules, source, twins } = this.store.state;
    return { source: { kind: source.kind, ...this.store.counted("source") }, loss, parameters, rules, twins };
  }

  /**
   * [top, bottom, left, right] of the part in view, or null for all.
   * @returns {Part | null}
   */
  get window() {
    return this.store.state.window;
  }
  /**
   * [row, column] of the matrix: the one that stays marked.
   * @returns {[number, number] | null}
   */
  get cell() {
    return this.store.state.cell;
  }

  /**
   * @param {string} text
   * @param {{ past?: (Part | null)[], future?: (Part | null)[],
   *   corrections?: import("../../kit/label_corrections.js").Correction[] } | null} kept
   */
  open(text, kept) {
    if (text) {
      this.store.reset(link.read(this.store.table, text, parametersOf));
      const { past = [], future = [], corrections = [] } = kept ?? {};
      this.store.update({ loss: registered(this.store.state.loss), source: { corrections } });
      Object.assign(this, { past: [...past], future: [...future] });
    }
    this.warn(null);
    this.publish("state");
    this.publish("cell");
    this.ask();
  }

  // What stands beside the address in the browser's history.
  get kept() {
    return { past: this.past, future: this.future, corrections: this.corrections };
  }

  /** @returns {import("../../kit/label_corrections.js").Correction[]} */
  get corrections() {
    return this.store.state.source.corrections;
  }

  // ---- Changes -----------------------------------------------------------------------------

  /**
   * Another source, or a loss on other rows and columns, is looked at from the beginning.
   * @param {{ source?: SourceChange, loss?: string, parameters?: LargeRequest["parameters"],
   *   rules?: Partial<Rules>, twins?: string }} part
   */
  change(part) {
    const before = placesOf(this.request);
    const { file } = this.store.state.source;
    this.store.update(part);
    // What was corrected in one file says nothing of another.
    if (this.store.state.source.file !== file) this.store.update({ source: { corrections: [] } });
    if (placesOf(this.request) !== before) {
      this.store.update({ window: null, cell: null });
      Object.assign(this, { past: [], future: [] });
    }
    this.warn(null);
    this.publish("state");
    this.ask();
  }

  /** @type {(first: string, second: string, label: string | null) => void} See `corrected`. */
  correct(...correction) {
    this.change({ source: { corrections: corrected(this.corrections, ...correction) } });
  }

  // An earlier problem is no problem of what is under way.
  clearProblem() {
    this.warn(null);
    if (this.problem) this.fail(null);
  }

  /** @type {(cell: [number, number]) => void} The cell that stays marked, until another one is. */
  mark(cell) {
    this.store.update({ cell });
    this.publish("cell");
    this.history?.remember();
  }

  /**
   * However fast they follow, each step is one of the browser's Back; of turns of the wheel, which
   * are `passing`, it is where they end.
   * @param {Part | null} window
   */
  go(window, passing = false) {
    this.store.update({ window });
    this.publish("state");
    this.ask();
    if (!passing) this.history?.remember(0);
  }

  /** @type {(window: Part | null, passing?: boolean) => void} */
  zoom(window, passing) {
    if (String(window) === String(this.window)) return;
    this.past = [...this.past, this.window];
    this.future = [];
    this.go(window, passing);
  }

  back() {
    if (!this.past.length) return;
    this.future = [...this.future, this.window];
    this.go(this.takeLast("past"));
  }

  /** @param {number} place */
  backTo(place) {
    if (place >= this.past.length) return; // a way that led through other data
    const [target, ...later] = this.past.slice(place);
    this.past = this.past.slice(0, place);
    this.future = [...this.future, this.window, ...later.reverse()];
    this.go(target);
  }

  forward() {
    if (!this.future.length) return;
    this.past = [...this.past, this.window];
    this.go(this.takeLast("future"));
  }

  /** @type {(list: "past" | "future") => Part | null} */
  takeLast(list) {
    const last = this[list].at(-1) ?? null;
    this[list] = this[list].slice(0, -1);
    return last;
  }

  // ---- Questions ---------------------------------------------------------------------------

  ask() {
    this.history?.remember();
    this.requests.ask();
  }

  /** @returns {Promise<Reply>} */
  async question() {
    const { request, window } = this;
    const turn = this.requests.newest;
    this.dropOther(request);
    const late = setTimeout(() => {
      if (turn === this.requests.newest && !this.working) this.show({ what: "start", done: 0, total: 0, values: {} });
    }, SLOW_MS);
    /** @type {Answer<"blocks">} */
    const answer = await this.server.blocks({ ...request, window });
    clearTimeout(late);
    return { request, window, answer };
  }

  /**
   * Work that is no longer asked for would only take the processor from what is. Another loss on
   * the same data still waits for these to be read and encoded.
   * @param {LargeRequest} request
   */
  dropOther(request) {
    if (!this.running) return;
    const { what, request: before } = this.running;
    if (what === "terms" ? same(before, request) : same(before.source, request.source)) return;
    this.server.stop(before);
    this.running = null;
  }

  /**
   * Where somebody else who waited for the same stopped it, it is asked for again and goes on.
   * @type {(request: LargeRequest, answer: { working?: Progress }) => void}
   */
  takeProgress(request, { working }) {
    if (!working) return;
    this.running = { request, what: working.what };
    this.show(working);
  }

  /** @param {Progress | null} working */
  show(working) {
    this.working = working;
    this.publish("working");
  }

  async stop() {
    if (this.downloads.stop()) return;
    this.requests.drop(); // no further question about it
    this.show(null);
    await this.server.stop(this.request);
    this.fail(CANCELLED);
  }

  /** @param {Reply} reply */
  receive({ request, window, answer }) {
    this.running = null;
    if (answer.error) this.fail(answer.error);
    else if (answer.rows) this.draw(request, window, answer);
    this.show(null);
  }

  /** @type {(request: LargeRequest, window: Part | null, answer: import("../../wire").DrawnBlocks) => void} */
  draw(request, window, answer) {
    if (this.problem) this.fail(null);
    const other = !same(request, this.answered);
    this.answered = request;
    this.answer = answer;
    if (other) this.isStale = true;
    // A window of very many pairs begins and ends with a block.
    if (this.window && String(window) === String(this.window)) this.widen(answer.window);
    this.publish("answer");
    this.drawn += 1;
    if (other) this.askDetails();
  }

  /** @param {Part} window */
  widen(window) {
    const isWritten = this.history?.at === this.store.place();
    this.store.update({ window });
    if (!isWritten) return;
    this.history?.settle();
    this.history?.remember();
  }

  // Figures and tables come after the map. Where that takes a while, those still there are another
  // loss's, and a line says that theirs are being computed.
  askDetails() {
    clearTimeout(this.late);
    this.late = setTimeout(() => {
      this.isLearning = true;
      this.publish("learning");
    }, 250);
    this.detailed.ask();
  }

  /** @param {Answer<"details">} answer */
  takeDetails(answer) {
    clearTimeout(this.late);
    if (answer.error) this.fail(answer.error);
    if (!answer.histogram) return;
    this.details = answer;
    this.isLearning = this.isStale = false;
    this.isJudging = true;
    this.publish("details");
    this.publish("judging");
    this.judging.ask();
  }

  /** @param {Answer<"judge">} answer */
  takeJudged(answer) {
    if (answer.error && answer.error.about !== CANCELLED.about) this.fail(answer.error);
    if (!answer.suspects) return;
    this.judged = answer;
    this.isJudging = false;
    this.publish("judged");
  }
}

/** @param {string} loss */
const wantedBy = (loss) => pageData.large.losses[loss]?.wanted;
/** @type {(request: LargeRequest) => string} What decides which rows and columns there are. */
function placesOf({ source, loss, rules }) {
  const wanted = wantedBy(loss);
  return JSON.stringify([source, ...(wanted === "vectors" ? [loss, rules] : [wanted])]);
}

/**
 * The parameters of the loss that an address names.
 * @type {import("../../kit/state_link.js").Parameters}
 */
function parametersOf({ loss }) {
  const { parameters = [] } = pageData.large.losses[registered(loss)] ?? {};
  return Object.fromEntries(parameters.map((one) => [one.name, one]));
}

export default () => new LargePage();
