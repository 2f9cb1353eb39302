// The state of the Map page: where the sentences come from, how they are projected, what is marked, and what is in
// sight.
import { floats } from "../../kit/base64_arrays.js";
import { EXPLORE_BATCH } from "../../kit/example_choice.js";
import { pageData } from "../../kit/page_data.js";
import { PageInUrl } from "../../kit/page_state_in_url.js";
import { shareableLink, wholeLink } from "../../kit/redacted_scenario_links.js";
import { newestOf } from "../../kit/request_scheduling.js";
import { stored } from "../../kit/storage.js";

/** @typedef {import("../../wire").SentenceMapServer} SentenceMapServer */
/** @typedef {{ points: Float32Array, gradient: Float32Array }} Frame */
/** @typedef {import("../../wire").MapAnswer & { moments: Frame[] }} SentenceMap */

export const LARGE_BATCH = "large"; // in place of an example: the pairs that are open on Large
const SIGHT_DIGITS = 6; // of what is in sight
const MAX_MARKED = 100; // pairs: more would be no list to read, and no link to send
const RUN_PREFIX = "run:"; // before the name of a run, in place of an example

/** @extends {PageInUrl<SentenceMapServer>} */
export class MapPage extends PageInUrl {
  constructor() {
    super(["map"], pageData.sentence_map.table);
    /** @type {SentenceMap | null} */
    this.map = null;
    /** @type {import("../../wire").MapRun[]} */
    this.runs = [];
    this.newest = newestOf();
    this.key = ""; // of the newest request
    /** @type {{ gradient: Float32Array | null, pairs: number[] }} */
    this.order = { gradient: null, pairs: [] };
  }

  /** Where the sentences come from: an example, Explore, Large, or a run. @returns {string} */
  get batch() {
    const { run, large, scene, example } = this.store.state;
    if (run) return RUN_PREFIX + run;
    if (large) return LARGE_BATCH;
    return scene ? EXPLORE_BATCH : example;
  }
  /** The marked pairs, as far as the map has them. @returns {number[]} */
  get pairs() {
    const count = this.map?.first.length ?? 0;
    return [...new Set(/** @type {number[]} */ (this.store.state.pairs))].filter((one) => one >= 0 && one < count);
  }
  get hasMoments() {
    return (this.map?.moments.length ?? 0) > 1;
  }
  /** How far the map has gone from before the run to after it. @returns {number} */
  get moment() {
    return this.hasMoments ? this.store.state.moment : 0;
  }
  /** The sentences that hold what is searched for. */
  get hits() {
    const text = this.store.state.search.trim().toLowerCase();
    if (!text || !this.map) return [];
    return this.map.sentences.flatMap((one, place) => (one.toLowerCase().includes(text) ? [place] : []));
  }
  /**
   * Both coordinates of the middle of what is in sight, and how far it reaches across; null for all of the map.
   * @returns {[number, number, number] | null}
   */
  get sight() {
    const { sight } = this.store.state;
    return sight.length === 3 && sight.every(Number.isFinite) && sight[2] > 0 ? sight : null;
  }
  // What the tests wait for.
  get drawn() {
    return this.map !== null && !this.busy && this.key === this.requestKey();
  }

  /** Points and gradients at the moment in sight: points move in straight lines. */
  frame() {
    const [before, after = before] = this.map?.moments ?? [];
    const { moment, gradient } = this;
    const points = before.points.map((from, place) => from + moment * (after.points[place] - from));
    return { points, gradient };
  }

  /** The gradients of the pairs at the nearer end of the moment in sight. */
  get gradient() {
    const [before, after = before] = this.map?.moments ?? [];
    return (this.moment < 0.5 ? before : after).gradient;
  }

  /** The pairs, the largest gradient first. */
  heaviest() {
    const { gradient } = this;
    if (this.order.gradient !== gradient) {
      const pairs = Array.from(gradient.keys());
      pairs.sort((one, other) => Math.abs(gradient[other]) - Math.abs(gradient[one]));
      this.order = { gradient, pairs };
    }
    return this.order.pairs;
  }

  /** @param {import("../../kit/types").Asking<SentenceMapServer>} server */
  async connect(server) {
    this.remedies.push({ fits: ({ about }) => about === "cancelled", key: "ui.go_on", act: () => this.ask() });
    await super.connect(server);
    const answer = await server.runs({});
    if (answer.error) return;
    this.runs = answer.runs;
    this.publish("state");
  }

  /** Remember what is in sight, which is drawn already. @param {number[]} sight */
  see(sight) {
    this.store.update({ sight: sight.map((one) => Number(one.toPrecision(SIGHT_DIGITS))) });
    this.history?.remember();
  }

  request() {
    const { example, scene, run, large, method, seed } = this.store.state;
    return { example, scene: wholeLink(scene), run, large, method, seed };
  }

  requestKey() {
    return JSON.stringify(this.request());
  }

  /** Ask for the map, if it has become another one; what is still under way for the one before ends. */
  async ask() {
    const { server } = this;
    const key = this.requestKey();
    if (!server || key === this.key) return;
    this.key = key;
    this.cancel();
    this.setBusy(this.newest, true);
    const answer = await this.newest(() => this.work(server, "map", this.request()));
    this.setBusy(this.newest, false);
    if (answer === undefined) {
      this.key = ""; // the same may be asked again
      this.fail({ key: "problem.cancelled", about: "cancelled", values: {} });
    } else if (answer.error) {
      this.key = "";
      this.fail(answer.error);
    } else {
      const moments = answer.frames.map(({ points, gradient }) => ({
        points: floats(points),
        gradient: floats(gradient),
      }));
      this.map = { ...answer, moments };
      this.fail(null);
    }
    this.publish("map");
  }

  /** Show the sentences of an example, of a run, or of the batch that was left on Explore. @param {string} batch */
  async show(batch) {
    const none = { scene: "", run: "", large: "", pairs: [], search: "", moment: 0, sight: [] };
    if (batch === EXPLORE_BATCH) this.set({ ...none, scene: await shareableLink(wholeLink(stored("scene") ?? "")) });
    else if (batch.startsWith(RUN_PREFIX)) this.set({ ...none, run: batch.slice(RUN_PREFIX.length) });
    else this.set({ ...none, example: batch });
  }

  /** The pairs of these sentences, the largest gradient first. @param {number[]} sentences */
  pairsOf(sentences) {
    const { first = [], second = [] } = this.map ?? {};
    const chosen = new Set(sentences);
    return this.heaviest().filter((pair) => chosen.has(first[pair]) || chosen.has(second[pair]));
  }

  /**
   * Mark pairs, beside those that are marked already where it `adds`; more than MAX_MARKED stay unmarked.
   * @type {(pairs: number[], adds: boolean) => void}
   */
  mark(pairs, adds) {
    const all = [...new Set([...(adds ? this.pairs : []), ...pairs])];
    this.set({ pairs: all.slice(0, MAX_MARKED) });
    this.warn(
      all.length > MAX_MARKED
        ? { key: "sentence_map.marked_most", values: { most: MAX_MARKED, all: all.length } }
        : null,
    );
  }

  /** @param {number} pair */
  toggle(pair) {
    const { pairs } = this;
    if (pairs.includes(pair)) this.set({ pairs: pairs.filter((one) => one !== pair) });
    else this.mark([pair], true);
  }

  /** The address of the marked pairs on Explore; null for none, or after a refusal, of which it warns. */
  async onExplore() {
    const { example, scene } = this.store.state;
    const answer = await this.server.on_explore({ example, scene: wholeLink(scene), pairs: this.pairs });
    if (answer.error) {
      this.warn(answer.error);
      return null;
    }
    return `./${location.search}#${await shareableLink(answer.scene)}`;
  }
}

/** @param {string} run */
export const runBatch = (run) => RUN_PREFIX + run;

export default () => new MapPage();
