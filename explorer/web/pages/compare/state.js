// The state of the Compare page: a batch, the losses that are compared on it, and the results.
import { BatchPage } from "../../kit/batch_page_base.js";
import { History } from "../../kit/browser_history.js";
import { learn } from "../../kit/combined_loss_names_and_parts.js";
import { carried, KEPT } from "../../kit/compare_link.js";
import { formOf, readWithLosses } from "../../kit/loss_convention_lookup.js";
import { pageData } from "../../kit/page_data.js";
import { shareableLink, wholeLink } from "../../kit/redacted_scenario_links.js";
import { GONE, Requests } from "../../kit/request_scheduling.js";
import { SentRows } from "../../kit/rows_sent_to_server_once.js";
import { remediesOf } from "../../kit/scenario_remedies.js";
import { shareable } from "../../kit/secret_redaction.js";
import { problem } from "../../kit/server.js";
import * as link from "../../kit/state_link.js";
import { language } from "../../kit/translated_sentences.js";
import { pictureOfOldLink, showsQuestion, stateOnBatch, stateOnExample } from "./question_states.js";

/** @typedef {import("../../wire").CompareServer} CompareServer */
/** @typedef {import("../../wire").Scenario} Scenario */
/** @typedef {import("../../kit/state_link.js").Side} Side */
/**
 * @template {keyof CompareServer} Name
 * @typedef {import("../../kit/types").Answer<CompareServer, Name>} Answer
 */

const HISTORY_DELAY_MS = 400;
const FORMULA_DELAY_MS = 120; // after the last picture, before the formula gets its numbers
const CACHED_STEPS = 24;

/**
 * Where the step of either side that a formula part belongs to is chosen for these places; `at` is as
 * long as there are sides, −1 for the terms.
 * @param {number[]} at
 * @param {number} count of the sides
 * @param {[number, number | null | undefined][]} chosen
 */
export function stepsAt(at, count, chosen) {
  const next = Array.from({ length: count }, (_, place) => at[place] ?? -1);
  for (const [place, step] of chosen) if (step !== null && step !== undefined) next[place] = step;
  return next;
}

/** @extends {BatchPage<CompareServer>} */
export class ComparePage extends BatchPage {
  constructor() {
    super(["state", "skipped", "batch", "compared", "formula", "problem"], pageData.compare.table);
    this.store.update({ data: pageData.defaults.data, rules: pageData.defaults.rules });
    /** @type {import("../../wire").ComparedBatch | null} */
    this.batch = null;
    /** @type {import("../../wire").LossComparison | null} */
    this.compared = null;
    /** @type {Side[]} */
    this.comparedSides = []; // that the results are about
    /** @type {import("../../wire").FormulaDifference | null} */
    this.differing = null;
    /** @type {import("../../wire").Problem | null} */
    this.notDiffering = null; // why there is no such formula
    /** @type {[number, number]} */
    this.between = [0, 1]; // the places of the sides that the formula is about
    this.unfolded = new Set(); // the sections that the reader opened
    this.rows = new SentRows();
    /** @type {Map<string, import("../../wire").Looked>} */
    this.steps = new Map();
    this.answered = ""; // the question that the results answer
    /** @type {Requests<{ sides: Side[], question: string, answer: Answer<"compare"> }>} */
    this.requests = new Requests({
      most: 2,
      between: true,
      ask: () => this.askCompare(),
      take: (result) => this.take(result),
      changed: () => this.showBusy(this.requests),
    });
    /** @type {Requests<{ between: [number, number], answer: Answer<"formula"> }>} */
    this.formulas = new Requests({
      debounce: FORMULA_DELAY_MS,
      ask: () => this.askFormula(),
      take: ({ between, answer }) => {
        if (answer.send_rows) return;
        this.differing = answer.error ? null : answer;
        this.notDiffering = answer.error ?? null;
        this.between = between;
        this.publish("formula");
      },
    });
  }

  // What the tests and the benchmark wait for.
  get flying() {
    return this.requests.flying + this.formulas.flying;
  }
  get waiting() {
    return this.requests.waiting || this.formulas.waiting || this.formulas.due;
  }

  /** @returns {Side[]} */
  get sides() {
    return this.store.state.sides;
  }
  /** How few losses are compared. */
  get least() {
    return Number(this.store.entry("sides").low);
  }
  get most() {
    return Number(this.store.entry("sides").high);
  }
  /** The question that is shown; "" for losses or an experiment that the reader chose. */
  get question() {
    const { state } = this.store;
    return showsQuestion(state.question, state) ? state.question : "";
  }
  /** @returns {[number, number]} */
  get pair() {
    const { base, other } = this.store.state;
    const last = this.sides.length - 1;
    const first = Math.min(base, last);
    return [first, other === first || other > last ? (first ? 0 : 1) : other];
  }
  /**
   * Return the comparison of two sides in either order; undefined where one of them has a problem.
   * @param {number} one
   * @param {number} other
   */
  twoOf(one, other) {
    const [low, high] = [Math.min(one, other), Math.max(one, other)];
    return this.compared?.two.find(({ first, second }) => first === low && second === high);
  }
  /**
   * Return the scenario of Explore with the batch of this page and one of its losses.
   * @type {(side?: Side) => Scenario}
   */
  scenarioOf(side = this.sides[0]) {
    const { data, rules, order, facet } = this.store.state;
    return { ...pageData.defaults, ...side, data, rules, view: { ...pageData.defaults.view, order, facet } };
  }
  /** @param {Pick<Side, "loss" | "convention">} side */
  formOf(side) {
    return formOf(pageData.losses, side);
  }
  /** @param {number} pair */
  numberOf(pair) {
    return this.batch?.numbers[pair] ?? pair + 1;
  }

  /** @param {import("../../kit/types").Asking<CompareServer>} server */
  async connect(server) {
    this.server = server;
    this.remedies.push(...remediesOf(this));
    this.history = new History({
      store: this.store,
      debounce: HISTORY_DELAY_MS,
      write: () => this.written(),
      open: (text, saved, isCurrent) => this.open(text, saved, isCurrent),
    });
    await this.history.revisit();
    if (this.requests.newest) return;
    this.publish("state");
    this.ask();
  }

  // ---- The address ---------------------------------------------------------------------------

  async written() {
    const { data, rules } = this.store.state;
    const entries = new URLSearchParams(link.written(this.store, ["sides"]));
    const { shared, isWhole } = shareable(this.scenarioOf());
    const { link: text = "" } = await this.server.link(shared);
    this.leavesOut = !isWhole;
    this.tooLong = text.length > pageData.limits.link;
    if (text) entries.set("scene", this.tooLong ? KEPT : text);
    return { text: entries.toString(), kept: this.tooLong || !isWhole ? { data, rules } : null };
  }

  /**
   * @param {string} text
   * @param {{ data: Scenario["data"], rules: Scenario["rules"] } | null} saved
   * @param {() => boolean} isCurrent
   */
  async open(text, saved, isCurrent) {
    if (!text && !saved) {
      this.openQuestion(pageData.compare.opening[language()]);
      return true;
    }
    const entries = new URLSearchParams(text);
    await learn(this.server.loss, link.lossesIn(text));
    const patch = readWithLosses(pageData.losses, this.store.table, text);
    const linked = entries.get("scene");
    /** @type {Scenario | import("../../kit/compare_link.js").BatchScenario | null} */
    const found = saved ?? (linked === KEPT ? carried() : linked ? await this.readLink(linked) : pageData.defaults);
    if (!isCurrent()) return false;
    const whole = linked && found && "loss" in found ? [/** @type {Scenario} */ (found)] : [];
    if (patch.sides.length < this.least) patch.sides = this.filledUp([...patch.sides, ...whole]);
    patch.picture ??= pictureOfOldLink(entries);
    this.warn(linked && !found ? problem("scene_not_kept") : null);
    const { data, rules } = found ?? pageData.defaults;
    this.show({ ...this.store.known(patch), data, rules });
    return true;
  }

  /** @type {(state: object) => void} Show another comparison; everything but its picture is folded. */
  show(state) {
    this.store.reset(state);
    this.unfolded.clear();
    this.publish("state");
    this.ask();
  }

  /**
   * Return as many losses as the page needs, beginning with these.
   * @param {Side[]} first
   */
  filledUp(first) {
    const all = [...first, ...this.store.usual.sides].map(({ loss, convention, parameters }) => ({
      loss,
      convention,
      parameters,
    }));
    const others = all.filter(({ loss }, i) => all.findIndex((one) => one.loss === loss) === i);
    return others.slice(0, this.least);
  }

  /** @param {string} text */
  async readLink(text) {
    const answer = await this.server.open_link(wholeLink(text));
    if (answer.error) {
      this.warn(answer.error);
      return pageData.defaults;
    }
    return answer.scenario;
  }

  // ---- Changing ------------------------------------------------------------------------------

  /**
   * Change part of the state. `announce`: whether the page is drawn again at once.
   * @param {object} change
   */
  set(change, { announce = true } = {}) {
    const { affects, changed } = this.store.update(change);
    if (!changed.length) return;
    // Any batch can answer a question, but not other losses.
    if (changed.some((name) => name.startsWith("sides"))) this.store.update({ question: "" });
    this.warn(null);
    if (announce) this.publish("state");
    if (affects === "compute") this.ask();
    else this.remember();
  }

  /**
   * @param {number} place
   * @param {Partial<Side>} change
   */
  setSide(place, change, { announce = true } = {}) {
    const sides = this.sides.map((side, i) => (i === place ? { ...side, ...change } : side));
    const isOther = "loss" in change || "convention" in change;
    this.set(
      { sides, ...(isOther && { at: stepsAt(this.store.state.at, sides.length, [[place, -1]]) }) },
      { announce },
    );
  }

  /** @type {(place: number, name: string, value: import("../../wire").Setting) => void} */
  setParameter(place, name, value) {
    const parameters = { ...this.sides[place].parameters, [name]: value };
    this.setSide(place, { parameters }, { announce: false });
  }

  /** @param {Side} side */
  add(side) {
    if (this.sides.length >= this.most) return;
    this.set({ sides: [...this.sides, side] });
  }

  /** @param {number} place */
  remove(place) {
    if (this.sides.length <= this.least) return;
    /** @type {(at: number) => number} */
    const moved = (at) => (at > place ? at - 1 : at === place ? 0 : at);
    for (const name of [...this.unfolded]) if (name.startsWith("side-")) this.unfolded.delete(name);
    const { base, other, at } = this.store.state;
    const sides = this.sides.filter((_, i) => i !== place);
    const [first, second] = [moved(base), moved(other)];
    this.set({
      sides,
      base: first,
      other: second === first ? (first ? 0 : 1) : second,
      at: at.filter((/** @type {number} */ _step, /** @type {number} */ i) => i !== place),
    });
  }

  /**
   * Compare `other` with `base`; the same side twice exchanges the two.
   * @type {(base: number, other: number) => void}
   */
  choosePair(base, other) {
    const [first, second] = this.pair;
    this.set(base === other ? { base: second, other: first } : { base, other });
  }

  /**
   * Ask a question of the reader's own pairs or random batch, or of its example in the reader's language.
   * @param {string} question
   */
  openQuestion(question, isOfExample = this.store.state.data.source === "example") {
    this.warn(null);
    this.show(isOfExample ? stateOnExample(question) : stateOnBatch(question, this.store.state));
  }

  // ---- Sections ------------------------------------------------------------------------------

  /**
   * Whether a section is open: the picture of the question, and what the reader unfolded.
   * @param {string} section
   */
  isOpen(section) {
    return section === this.store.state.picture || this.unfolded.has(section);
  }

  /** The section that answers the question; null for losses that the reader chose. */
  get answering() {
    return this.question ? this.store.state.picture : null;
  }

  /**
   * Whether the options of a section are in sight: a question has chosen those of its picture.
   * @param {string} section
   */
  showsOptions(section) {
    return section !== this.answering || this.unfolded.has("options");
  }

  /** @type {(section: string, open: boolean) => void} */
  unfold(section, open) {
    if (this.unfolded.has(section) === open) return;
    if (open) this.unfolded.add(section);
    else this.unfolded.delete(section);
    this.publish("unfolded");
    if (open && section === "matrices") this.ask(); // a folded matrix is not sent
  }

  // ---- Asking --------------------------------------------------------------------------------

  ask() {
    if (!this.server) return;
    clearTimeout(this.retrying);
    this.remember();
    this.requests.ask();
  }

  /**
   * Ask the server about the losses of the page on its batch.
   * @param {keyof CompareServer} name
   * @param {object} options
   * @returns {Promise<any>} the answer, undefined where it was cancelled
   */
  async askServer(name, options) {
    const request = { scenario: this.scenarioOf(), sides: this.sides, ...options };
    return this.rows.ask(request, (named) => this.work(this.server, name, named));
  }

  async askCompare() {
    const { sides } = this;
    const known = this.problem ? "" : (this.batch?.key ?? "");
    const { at, question } = this.store.state;
    const options = { at, look: this.isOpen("matrices"), held: [...this.steps.keys()], known, question };
    return { sides, question, answer: await this.askServer("compare", options) };
  }

  async askFormula() {
    const between = this.pair;
    const answer = await this.askServer("formula", { base: between[0], other: between[1] });
    return { between, answer: answer ?? { error: GONE } };
  }

  cancel() {
    const asking = this.requests.flying > 0;
    super.cancel();
    this.requests.drop();
    if (asking) this.fail(problem("cancelled", {}, "cancelled"));
  }

  /** @param {{ sides: Side[], question: string, answer: Answer<"compare"> }} result */
  take({ sides, question, answer }) {
    if (!this.accepts(answer) || answer.send_rows) return;
    if (this.problem) this.fail(null);
    if (answer.batch) {
      this.batch = answer.batch;
      this.publish("batch");
    }
    this.compared = answer;
    for (const side of answer.sides) this.cacheStep(side);
    this.comparedSides = sides;
    this.answered = question;
    this.publish("compared");
    this.drawn += 1;
    this.formulas.ask();
  }

  /**
   * Keep a step that was drawn: the server sends only the others.
   * @param {import("../../wire").ComparedSide} side
   */
  cacheStep(side) {
    const { name } = side;
    side.looked ??= this.steps.get(name) ?? null;
    if (!side.looked) return;
    this.steps.delete(name);
    this.steps.set(name, side.looked);
    const [oldest] = this.steps.keys();
    if (this.steps.size > CACHED_STEPS) this.steps.delete(oldest);
  }

  /**
   * Show these steps of these sides; the other sides keep theirs.
   * @param {[number, number | null | undefined][]} chosen
   */
  lookAt(chosen) {
    this.set({ at: stepsAt(this.store.state.at, this.sides.length, chosen) });
  }

  // ---- To other pages ------------------------------------------------------------------------

  /** @type {(side: Side) => Promise<string>} The address of one side on Explore, with the batch that is here. */
  async exploreLink(side) {
    const { link: text = "" } = await this.server.scene_link(this.scenarioOf(side));
    return shareableLink(text);
  }
}

export default () => new ComparePage();
