// The state of the sphere: one loss or two, where the points start and how they move, the films that the server
// made of them, and the frame in sight.
import { floats } from "../../kit/base64_arrays.js";
import { prefersReducedMotion } from "../../kit/dom.js";
import { readWithLosses } from "../../kit/loss_convention_lookup.js";
import { pageData } from "../../kit/page_data.js";
import { PageInUrl } from "../../kit/page_state_in_url.js";
import { wholeLink } from "../../kit/redacted_scenario_links.js";
import { Requests } from "../../kit/request_scheduling.js";
import * as link from "../../kit/state_link.js";
import { Store } from "../../kit/state_store.js";

/** @typedef {import("../../wire").SphereServer} SphereServer */
/** @typedef {import("../../kit/state_link.js").Side} Side */
/** @typedef {import("../../kit/types").Answer<SphereServer, "film">} Answer */
/** @typedef {{ points: Float32Array, curves: Record<string, Float32Array> }} Film */

const FRAMES_PER_SECOND = 25;
const STILL_FRAMES = 8; // in place of motion, where less of it is wanted
const STILL_FRAME_MS = 900;
const DEBOUNCE_MS = 60; // between two questions of a slider
export const MOVE_SIZE = 4; // numbers of a point that a hand moved: step, point, two angles

/** @extends {PageInUrl<SphereServer>} */
export class SpherePage extends PageInUrl {
  constructor() {
    super(["film", "frame"], pageData.sphere.table);
    /** @type {import("../../wire").Filmed | null} */
    this.filmed = null;
    /** @type {(Film | null)[]} */
    this.films = []; // of each loss; null where it has a problem
    /** @type {Side[]} */
    this.filmedSides = [];
    this.isPlaying = false;
    this.playsNext = false; // once the film is there that was asked for
    /** @type {number | null} */
    this.pointed = null; // a point
    this.drawn = 0; // films, so far
    /** @type {Requests<{ sides: Side[], answer: Answer }>} */
    this.requests = new Requests({
      debounce: DEBOUNCE_MS,
      between: true,
      ask: () => this.request(),
      take: ({ sides, answer }) => this.take(sides, answer),
      changed: () => this.setBusy(this.requests, this.requests.flying > 0),
    });
  }

  /** @returns {Side[]} */
  get sides() {
    return this.store.state.sides;
  }
  get last() {
    return (this.filmed?.frames ?? 1) - 1;
  }
  /** The frame in sight. */
  get at() {
    const { at } = this.store.state;
    return Number.isInteger(at) ? Math.max(0, Math.min(at, this.last)) : 0;
  }
  /** How the sphere is turned: around its axis, and towards the viewer, in degrees. */
  get turn() {
    const { turn } = this.store.state;
    const fits = turn.length === 2 && turn.every(Number.isFinite);
    return /** @type {[number, number]} */ (fits ? turn : this.store.usual.turn);
  }
  /** The film worth watching that is chosen; undefined where it is one of the reader's own. */
  get preset() {
    const mine = this.signature(this.store);
    return pageData.sphere.presets.find((one) => {
      const store = new Store(pageData.sphere.table);
      store.update({ sides: one.sides, start: one.start, steps: one.steps });
      return this.signature(store) === mine;
    });
  }
  /** @param {Store} store */
  signature(store) {
    const { moves, ...steps } = store.counted("steps");
    return JSON.stringify([store.get("sides"), store.counted("start"), steps, moves.length > 0]);
  }
  /** The points that a hand moved: step, point, azimuth and polar angle, one after the other. */
  get moves() {
    return /** @type {number[]} */ (this.store.state.steps.moves);
  }

  // ---- Opening and changing --------------------------------------------------------------------

  written() {
    const text = link.written(this.store);
    this.tooLong = text.length > pageData.limits.link;
    return { text };
  }

  /** @param {string} text */
  read(text) {
    const patch = readWithLosses(pageData.losses, this.store.table, text);
    return this.store.known(patch.sides.length ? patch : { ...patch, sides: this.store.usual.sides });
  }

  /** @param {string} text */
  open(text) {
    this.pause();
    return super.open(text);
  }

  ask() {
    this.requests.ask();
  }

  /**
   * Change part of the state. Other points or losses are another film, from its first frame.
   * @param {Record<string, any>} change
   */
  set(change) {
    const { changed } = this.store.update(change);
    if (!changed.length) return;
    this.pause();
    this.warn(null);
    if (!changed.includes("steps.moves")) this.store.update({ at: 0, steps: { moves: [] } });
    this.history?.remember();
    this.publish("state");
    this.requests.ask();
  }

  /** @param {import("../../wire").SpherePreset} preset */
  choose({ sides, start, steps }) {
    this.playsNext = true;
    const { changed } = this.store.update({ sides, start, steps });
    this.store.update({ at: 0 });
    this.history?.remember();
    this.publish("state");
    if (changed.length) this.requests.ask();
    else this.play();
  }

  /** @type {(place: number, change: Partial<Side>) => void} */
  setSide(place, change) {
    this.set({ sides: this.sides.map((side, i) => (i === place ? { ...side, ...change } : side)) });
  }

  /**
   * Put a point elsewhere in the frame in sight: the film goes on from there.
   * @param {number} point
   * @param {number} azimuth in tenths of a degree
   * @param {number} polar
   */
  movePoint(point, azimuth, polar) {
    const { at, moves } = this;
    const before = Array.from({ length: moves.length / MOVE_SIZE }, (_, i) =>
      moves.slice(MOVE_SIZE * i, MOVE_SIZE * (i + 1)),
    );
    const earlier = before.filter(([step, one]) => step < at || (step === at && one !== point));
    if (earlier.length >= pageData.sphere.moves) {
      this.warn({ key: "sphere.moves_full", values: { most: pageData.sphere.moves } });
      return;
    }
    this.set({ steps: { moves: [...earlier.flat(), at, point, azimuth, polar] } });
  }

  // ---- The film --------------------------------------------------------------------------------

  async request() {
    const { sides } = this;
    const start = this.store.counted("start");
    if (start.scene) start.scene = wholeLink(start.scene);
    const answer = await this.server.film({ sides, start, steps: this.store.counted("steps") });
    return { sides, answer };
  }

  /** @type {(sides: Side[], answer: Answer) => void} */
  take(sides, answer) {
    if (answer.error) {
      this.playsNext = false;
      this.fail(answer.error);
      return;
    }
    this.filmed = answer;
    this.filmedSides = sides;
    this.films = answer.films.map(({ points, curves }) =>
      points && curves
        ? {
            points: floats(points),
            curves: Object.fromEntries(Object.entries(curves).map(([name, one]) => [name, floats(one)])),
          }
        : null,
    );
    if (this.pointed !== null && this.pointed >= answer.names.length) this.pointed = null;
    this.drawn += 1;
    this.fail(answer.films.find(({ problem }) => problem)?.problem ?? null);
    this.publish("film");
    this.publish("frame");
    if (this.playsNext) this.play();
    this.playsNext = false;
  }

  /** @param {number} at */
  show(at) {
    this.pause();
    this.step(at);
    this.history?.remember();
  }

  /** @param {number} at */
  step(at) {
    this.store.update({ at: Math.max(0, Math.min(at, this.last)) });
    this.publish("frame");
  }

  /** @param {number | null} point */
  point(point) {
    if (this.pointed === point) return;
    this.pointed = point;
    this.publish("frame");
  }

  /** @param {[number, number]} turn */
  turnTo(turn) {
    this.store.update({ turn });
    this.publish("frame");
    this.history?.remember();
  }

  // ---- Playing ---------------------------------------------------------------------------------

  play() {
    if (!this.filmed) return;
    if (this.at === this.last) this.step(0);
    this.isPlaying = true;
    this.publish("frame");
    if (prefersReducedMotion()) this.playStills();
    else this.playFrom(this.at, performance.now());
  }

  /** @type {(first: number, began: number) => void} */
  playFrom(first, began) {
    requestAnimationFrame((now) => {
      if (!this.isPlaying) return;
      const next = first + Math.floor((Math.max(0, now - began) * FRAMES_PER_SECOND) / 1000);
      if (next !== this.at) this.step(next);
      if (this.at < this.last) this.playFrom(first, began);
      else this.pause();
    });
  }

  playStills() {
    setTimeout(() => {
      if (!this.isPlaying) return;
      this.step(this.at + Math.ceil(this.last / STILL_FRAMES));
      if (this.at < this.last) this.playStills();
      else this.pause();
    }, STILL_FRAME_MS);
  }

  pause() {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    this.history?.remember();
    this.publish("frame");
  }
}

export default () => new SpherePage();
