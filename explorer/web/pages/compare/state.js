// The state of the Compare page: a batch, the losses that are put on it, and what came of them.

import { BatchPage } from "../../kit/batch_page.js";
import { History } from "../../kit/history.js";
import * as link from "../../kit/link.js";
import { pageData } from "../../kit/page_data.js";
import { shareable } from "../../kit/redaction.js";
import { RETRY_MS, Requests } from "../../kit/request.js";
import { SentRows } from "../../kit/rows.js";
import { shareableLink, wholeLink } from "../../kit/scene_links.js";
import { aboutTeacher } from "../../kit/second_models.js";
import { GONE, problem } from "../../kit/server.js";
import { carried, formOf, KEPT, parametersIn, renamed, stepsAt } from "../../kit/sides.js";
import { Store } from "../../kit/store.js";
import { learn } from "../../kit/sums.js";

/** @typedef {import("../../wire").CompareServer} CompareServer */
/** @typedef {import("../../wire").Scenario} Scenario */
/** @typedef {import("../../kit/sides.js").Side} Side */
/**
 * @template {keyof CompareServer} Name
 * @typedef {import("../../kit/types").Answer<CompareServer, Name>} Answer
 */

const STILL_MS = 400;
const SETTLED_MS = 120; // after the last picture, the formula gets its numbers
const HELD = 24; // steps, as they were sent

export class ComparePage extends BatchPage {
  constructor() {
    super(["state", "skipped", "batch", "compared", "formula", "problem"]);
    this.store = new Store(pageData.compare.table);
    this.store.update({ data: pageData.defaults.data, rules: pageData.defaults.rules });
    /** @type {import("../../wire").ComparedBatch | null} */
    this.batch = null;
    /** @type {import("../../wire").SkippedRow[]} */
    this.skipped = [];
    /** @type {import("../../wire").Beside | null} */
    this.compared = null;
    /** @type {Side[]} */
    this.of = []; // the sides that it is about
    /** @type {import("../../wire").Differing | null} */
    this.differing = null;
    /** @type {import("../../wire").Problem | null} */
    this.notDiffering = null; // why there is no such formula
    /** @type {[number, number]} */
    this.between = [0, 1]; // the sides that it is about
    this.looking = true; // whether the matrices are in sight
    /** @type {import("../../kit/types").Asking<CompareServer> | null} */
    this.server = null;
    this.rows = new SentRows();
    /** @type {Map<string, import("../../wire").Looked>} */
    this.steps = new Map();
    /** @type {History | null} */
    this.history = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.retrying = undefined;
    /** @type {Requests<{ sides: Side[], answer: Answer<"compare"> }>} */
    this.requests = new Requests({
      most: 2,
      between: true,
      ask: () => this.question(),
      take: (told) => this.take(told),
      changed: () => this.tellBusy(this.requests),
    });
    /** @type {Requests<{ between: [number, number], answer: Answer<"formula"> }>} */
    this.formulas = new Requests({
      debounce: SETTLED_MS,
      ask: () => this.formulaQuestion(),
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
  get linking() {
    return this.history?.pending ?? false;
  }

  /** @returns {Side[]} */
  get sides() {
    return this.store.state.sides;
  }
  /** @returns {[number, number]} */
  get pair() {
    const { base, other } = this.store.state;
    const last = this.sides.length - 1;
    const first = Math.min(base, last);
    return [first, other === first || other > last ? (first ? 0 : 1) : other];
  }
  /**
   * What was found between two sides, whichever comes first; undefined where one of them does not stand.
   * @param {number} one
   * @param {number} other
   */
  twoOf(one, other) {
    const [low, high] = [Math.min(one, other), Math.max(one, other)];
    return this.compared?.two.find(({ first, second }) => first === low && second === high);
  }
  // The scene as Explore has it, under the first loss or another one.
  /**
   * @param {Side} side
   * @returns {Scenario}
   */
  sceneOf(side = this.sides[0]) {
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
    this.remedies.push(
      {
        fits: ({ about }) => this.problem !== null && about === "cancelled",
        key: "ui.go_on",
        act: () => this.ask(),
      },
      {
        fits: ({ about }) => about === "lists" || about === "teacher",
        key: "ui.example_of_lists",
        act: () => this.set({ data: { source: "example", example: "graded_lists" } }),
      },
      {
        fits: ({ about }) => about === "guide",
        key: "ui.without_guide",
        act: () => this.set({ data: this.store.state.data.guide ? { guide: "" } : { guided: [] } }),
      },
      {
        fits: ({ about }) => aboutTeacher(about) && this.store.state.data.teacher_model !== "",
        key: "ui.without_teacher",
        act: () => this.set({ data: { teacher_model: "" } }),
      },
    );
    this.history = new History({
      store: this.store,
      debounce: STILL_MS,
      write: () => this.written(),
      open: (text, kept, isCurrent) => this.open(text, kept, isCurrent),
    });
    await this.history.revisit();
    if (this.requests.newest) return;
    this.publish("state");
    this.ask();
  }

  // ---- The address ---------------------------------------------------------------------------

  async written() {
    const { data, rules } = this.store.state;
    const said = new URLSearchParams(link.written(this.store, ["sides"]));
    const { shared, isWhole } = shareable(this.sceneOf());
    const { link: scene = "" } = (await this.server?.link(shared)) ?? {};
    this.leavesOut = !isWhole;
    this.tooLong = scene.length > pageData.limits.link;
    if (scene) said.set("scene", this.tooLong ? KEPT : scene);
    return { text: said.toString(), kept: this.tooLong || !isWhole ? { data, rules } : null };
  }

  /**
   * @param {string} text
   * @param {{ data: Scenario["data"], rules: Scenario["rules"] } | null} kept
   * @param {() => boolean} isCurrent
   */
  async open(text, kept, isCurrent) {
    const said = new URLSearchParams(text);
    await learn(this.server?.loss, link.lossesIn(text));
    const patch = link.read(this.store.table, text, parametersIn(pageData.losses));
    /** @type {Side[]} */
    const sides = patch.sides.map((/** @type {Side} */ side) => renamed(pageData.losses, side));
    const scene = said.get("scene");
    /** @type {Scenario | import("../../kit/sides.js").Scene | null} */
    const came = kept ?? (scene === KEPT ? carried() : scene ? await this.opened(scene) : pageData.defaults);
    if (!isCurrent()) return false;
    const whole = scene && came && "loss" in came ? [/** @type {Scenario} */ (came)] : [];
    patch.sides = sides.length >= pageData.compare.least ? sides : this.beside([...sides, ...whole]);
    this.warn(scene && !came ? problem("scene_not_kept") : null);
    const { data, rules } = came ?? pageData.defaults;
    this.store.reset({ ...this.store.known(patch), data, rules });
    this.publish("state");
    this.ask();
    return true;
  }

  /**
   * As many losses as the page needs, these first: the loss of a scene and what the page opens with.
   * @param {Side[]} first
   */
  beside(first) {
    const all = [...first, ...this.store.usual.sides].map(({ loss, convention, parameters }) => ({
      loss,
      convention,
      parameters,
    }));
    const others = all.filter(({ loss }, i) => all.findIndex((one) => one.loss === loss) === i);
    return others.slice(0, pageData.compare.least);
  }

  /** @param {string} scene */
  async opened(scene) {
    const answer = await this.server?.open_link(wholeLink(scene));
    if (!answer || answer.error) {
      this.warn(answer?.error ?? GONE);
      return pageData.defaults;
    }
    return answer.scenario;
  }

  // ---- Changing ------------------------------------------------------------------------------

  /**
   * Change part of the state; controls that made the change themselves need not hear of it.
   * @param {object} change
   */
  set(change, { announce = true } = {}) {
    const { affects, changed } = this.store.update(change);
    if (!changed.length) return;
    // Other losses or another batch are another question.
    if (changed.some((name) => /^(sides|data|rules)/.test(name))) this.store.update({ question: "" });
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

  /**
   * @param {number} place
   * @param {string} name
   * @param {import("../../wire").Setting} value
   */
  setParameter(place, name, value) {
    const parameters = { ...this.sides[place].parameters, [name]: value };
    this.setSide(place, { parameters }, { announce: false });
  }

  /** @param {Side} side */
  add(side) {
    if (this.sides.length >= pageData.compare.most) return;
    this.set({ sides: [...this.sides, side] });
  }

  /** @param {number} place */
  remove(place) {
    if (this.sides.length <= pageData.compare.least) return;
    /** @type {(at: number) => number} */
    const moved = (at) => (at > place ? at - 1 : at === place ? 0 : at);
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
   * The side that the others are held against, and the one that is; the same twice changes them over.
   * @param {number} base
   * @param {number} other
   */
  hold(base, other) {
    const [first, second] = this.pair;
    if (base === other) this.set(base === first ? { base, other: second } : { base: second, other: first });
    else this.set({ base, other });
  }

  /** @param {string} question */
  begin(question) {
    const { example, rules, sides, state } = pageData.compare.questions[question];
    const data = { ...pageData.defaults.data, source: "example", example };
    this.store.reset({ data, rules: { ...pageData.defaults.rules, ...rules }, question, sides, ...state });
    this.warn(null);
    this.publish("state");
    this.ask();
  }

  // ---- Asking --------------------------------------------------------------------------------

  ask() {
    if (!this.server) return;
    clearTimeout(this.retrying);
    this.remember();
    this.requests.ask();
  }

  /** @param {Partial<Parameters<CompareServer["compare"]>[0]>} more */
  asked(more) {
    return { scenario: this.sceneOf(), sides: this.sides, ...more };
  }

  async question() {
    const { server, sides } = this;
    const known = this.problem ? "" : (this.batch?.key ?? "");
    const held = [...this.steps.keys()];
    const asked = this.asked({ at: this.store.state.at, look: this.looking, held, known });
    /** @type {Answer<"compare"> | null | undefined} */
    const answer = server && (await this.rows.asked(asked, (request) => this.work(server, "compare", request)));
    return { sides, answer: answer ?? { error: GONE } };
  }

  async formulaQuestion() {
    const { server } = this;
    const between = this.pair;
    const asked = this.asked({ base: between[0], other: between[1] });
    /** @type {Answer<"formula"> | null | undefined} */
    const answer = server && (await this.rows.asked(asked, (request) => server.formula(request)));
    return { between, answer: answer ?? { error: GONE } };
  }

  cancel() {
    const asking = this.requests.flying > 0;
    super.cancel();
    this.requests.drop();
    if (asking) this.fail(problem("cancelled", {}, "cancelled"));
  }

  /** @param {{ sides: Side[], answer: Answer<"compare"> }} told */
  take({ sides, answer }) {
    if (answer.skipped) {
      this.skipped = answer.skipped;
      this.publish("skipped");
    }
    if (answer.error) {
      this.fail(answer.error);
      if (answer.error === GONE) this.retrying = setTimeout(() => this.ask(), RETRY_MS);
      return;
    }
    if (answer.send_rows) return;
    if (this.problem) this.fail(null);
    if (answer.batch) {
      this.batch = answer.batch;
      this.publish("batch");
    }
    this.compared = answer;
    for (const side of answer.sides) this.holdStep(side);
    this.of = sides;
    this.publish("compared");
    this.drawn += 1;
    this.formulas.ask();
  }

  /**
   * A step that was drawn is kept, so that the server sends those alone that are others.
   * @param {import("../../wire").ComparedSide} side
   */
  holdStep(side) {
    const { name } = side;
    side.looked ??= this.steps.get(name) ?? null;
    if (!side.looked) return;
    this.steps.delete(name);
    this.steps.set(name, side.looked);
    const [oldest] = this.steps.keys();
    if (this.steps.size > HELD) this.steps.delete(oldest);
  }

  // The address follows the state.
  remember() {
    this.history?.remember();
  }

  /**
   * Look at these steps of these sides; a side that is not named stays where it is.
   * @param {[number, number | null | undefined][]} chosen
   */
  lookAt(chosen) {
    this.set({ at: stepsAt(this.store.state.at, this.sides.length, chosen) });
  }

  // ---- To other pages ------------------------------------------------------------------------

  /**
   * The address of one side on Explore, with the batch that is here.
   * @param {Side} side
   */
  async exploreLink(side) {
    const { link: text = "" } = (await this.server?.scene_link(this.sceneOf(side))) ?? {};
    return shareableLink(text);
  }
}

export default () => new ComparePage();
