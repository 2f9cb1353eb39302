// The state of the Learn page: a step of a lesson, where its lever stands and what was predicted. Which lesson it
// is, the path of the address says; a lecture's list of lessons stands behind the "#", from lesson to lesson.
import { pageData } from "../../kit/page_data.js";
import { PageInUrl } from "../../kit/page_state_in_url.js";
import { shareableLink, wholeLink } from "../../kit/redacted_scenario_links.js";
import { newestOf } from "../../kit/request_scheduling.js";
import { store, stored } from "../../kit/storage.js";

/** @typedef {import("../../wire").LearnServer} LearnServer */

const LEARNED_KEY = "learned";

/** @extends {PageInUrl<LearnServer>} */
export class LearnPage extends PageInUrl {
  constructor() {
    super(["measured"], pageData.learn.table);
    const last = location.pathname.split("/").pop();
    this.lesson = pageData.learn.lessons.find(({ name }) => name === last) ?? null;
    /** @type {{ number: number, measured: import("../../wire").MeasuredStep } | null} */
    this.answer = null; // the newest of the server, on the step of this number
    /** @type {import("../../wire").Card[]} */
    this.cards = [];
    this.scene = ""; // of Explore: the loss of this step on the batch that the reader left there
    this.newest = { measured: newestOf(), mine: newestOf() };
  }

  /** The lessons of this lecture by name, in its order; all of them where the link lists none. */
  get lecture() {
    const known = pageData.learn.lessons.map(({ name }) => name);
    /** @type {string[]} */
    const listed = this.store.state.list.split(",").filter((/** @type {string} */ name) => known.includes(name));
    return listed.length ? listed : known;
  }
  get isLecture() {
    return this.store.state.list !== "";
  }
  get number() {
    return Math.min(this.store.state.step, this.lesson?.steps.length ?? 1);
  }
  get step() {
    return this.lesson?.steps[this.number - 1] ?? null;
  }
  /** What the server measured of this step, null before it answered. */
  get measured() {
    return this.answer?.number === this.number ? this.answer.measured : null;
  }
  get at() {
    return Math.min(this.store.state.at, (this.step?.stops ?? 1) - 1);
  }
  get stop() {
    return this.measured?.stops[this.at] ?? null;
  }
  /** What was predicted, null before. */
  get guess() {
    const { guess } = this.store.state;
    return guess === "" || Number.isNaN(Number(guess)) ? null : Number(guess);
  }
  /** Whether the lever may be moved: after a prediction, or by whoever teaches. */
  get isUnlocked() {
    return this.guess !== null || this.isLecture;
  }
  get isRight() {
    const { step, measured, guess } = this;
    if (!step || !measured || guess === null) return false;
    return step.answers.length
      ? guess === measured.right
      : Math.abs(guess - Number(measured.answer.value)) <= step.near;
  }
  // What the tests wait for.
  get drawn() {
    return this.lesson ? Boolean(this.measured) : this.cards.length > 0;
  }

  async ask() {
    const { lesson, number, server } = this;
    if (!server || this.cards.length) return;
    if (!lesson) {
      const answer = await server.cards({});
      if (answer.error) return this.fail(answer.error);
      this.cards = answer.cards;
      return this.publish("measured");
    }
    if (!this.measured) {
      const request = { lesson: lesson.name, step: number };
      const answer = await this.newest.measured(() => server.measured(request));
      this.fail(answer.error ?? null);
      if (answer.error) return;
      this.answer = { number, measured: answer };
      this.publish("measured");
    }
    await this.askForMyBatch();
  }

  /** Ask for the link of the loss at this stop on the batch that the reader left on Explore. */
  async askForMyBatch() {
    const { lesson, number, at, server } = this;
    if (!server || !lesson) return;
    const scene = wholeLink(stored("scene") ?? "");
    const answer = await this.newest.mine(() => server.on_my_batch({ lesson: lesson.name, step: number, at, scene }));
    this.scene = answer.error ? "" : await shareableLink(answer.scene);
    this.publish("measured");
  }

  /** @param {number} guess */
  predict(guess) {
    this.set({ guess: String(guess) });
  }

  /** @param {number} at */
  move(at) {
    const isThere = at === this.step?.goal;
    this.set({ at, shown: this.store.state.shown || isThere });
    if (isThere && this.lesson && this.number === this.lesson.steps.length) rememberLearned(this.lesson.name);
  }

  /** The address of a step of a lesson, with the list of this lecture; "" is the page of all of them. */
  addressOf(lesson = "", step = 1) {
    const { list } = this.store.state;
    const path = new URL(lesson ? `learn/${lesson}` : "learn", document.baseURI).pathname;
    const state = [...(step > 1 ? [`step=${step}`] : []), ...(list ? [`list=${list}`] : [])].join("&");
    return path + location.search + (state && `#${state}`);
  }

  /**
   * The step that is so many after this one, null after the last: where it stands.
   * @type {(way: 1 | -1) => { step: number, lesson?: string } | null}
   */
  beside(way) {
    if (!this.lesson) return { lesson: this.lecture[0], step: 1 };
    const step = this.number + way;
    if (step >= 1 && step <= this.lesson.steps.length) return { step };
    const lesson = this.lecture[this.lecture.indexOf(this.lesson.name) + way];
    const steps = pageData.learn.lessons.find(({ name }) => name === lesson)?.steps.length;
    return steps ? { lesson, step: way === 1 ? 1 : steps } : null;
  }

  /** @param {{ step: number, lesson?: string } | null} to */
  go(to) {
    if (!to) return;
    if (to.lesson) location.assign(this.addressOf(to.lesson, to.step));
    else this.set({ step: to.step, at: 0, guess: "", shown: false });
  }
}

/** @returns {string[]} */
export const learnedLessons = () => JSON.parse(stored(LEARNED_KEY) ?? "[]");

/** @param {string} lesson */
const rememberLearned = (lesson) => store(LEARNED_KEY, JSON.stringify([...new Set([...learnedLessons(), lesson])]));

export default () => new LearnPage();
