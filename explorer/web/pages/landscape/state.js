// The state of the Landscape page: two losses, the lever that moves them, and the batch whose comparisons are dots.
// The whole range of the lever is asked for at once, so that what follows the hand waits for no answer.
import { nearest } from "../../kit/axis_range.js";
import { EXPLORE_BATCH } from "../../kit/example_choice.js";
import { cutsIn, landscapesIn } from "../../kit/landscape.js";
import { formOf, readWithLosses } from "../../kit/loss_convention_lookup.js";
import { pageData } from "../../kit/page_data.js";
import { PageInUrl } from "../../kit/page_state_in_url.js";
import { shareableLink, wholeLink } from "../../kit/redacted_scenario_links.js";
import { newestOf } from "../../kit/request_scheduling.js";
import { stored } from "../../kit/storage.js";

/** @typedef {import("../../kit/state_link.js").Side} Side */
/** @typedef {import("../../wire").Landscapes} Landscapes */
/** @typedef {import("../../wire").Cuts} Cuts */

/** @extends {PageInUrl<import("../../wire").LandscapeServer>} */
export class LandscapePage extends PageInUrl {
  constructor() {
    super(["found"], pageData.landscape.table);
    /** @type {{ answer: Landscapes, landscapes: ReturnType<typeof landscapesIn> } | null} */
    this.found = null;
    /** @type {{ answer: Cuts, cuts: ReturnType<typeof cutsIn> } | null} */
    this.cut = null;
    this.newest = { landscapes: newestOf(), cuts: newestOf() };
    this.keys = { landscapes: "", cuts: "" }; // of the newest requests
    /** @type {Record<"landscapes" | "cuts", import("../../wire").Problem | null>} */
    this.problems = { landscapes: null, cuts: null };
  }

  /** @returns {Side[]} */
  get sides() {
    return this.store.state.sides;
  }
  /** What a lever may move: the parameters that move the landscape of either loss. */
  get levers() {
    return [...new Set(this.sides.flatMap(({ loss }) => pageData.landscape.levers[loss] ?? []))];
  }
  get lever() {
    const { lever } = this.store.state;
    return this.levers.includes(lever) ? lever : (this.levers[0] ?? "");
  }
  get stops() {
    return this.found?.answer.stops ?? [];
  }
  /** The value of the lever, of the first loss that has it; null where none has one. */
  get value() {
    const has = this.sides.find(({ loss }) => pageData.landscape.levers[loss]?.includes(this.lever));
    return has ? parameterOf(has, this.lever) : null;
  }
  /** The stop at which the lever stands. */
  get at() {
    return nearest(this.stops, this.value ?? 0);
  }
  /** The stop of a loss, whose value may be another until the lever is moved. @param {number} place */
  stopOf(place) {
    const side = this.sides[place];
    const has = pageData.landscape.levers[side.loss]?.includes(this.lever);
    return has ? nearest(this.stops, parameterOf(side, this.lever)) : 0;
  }
  /** Where the pairs come from: an example, or Explore. @returns {string} */
  get batch() {
    return this.store.state.scene ? EXPLORE_BATCH : this.store.state.example;
  }
  // What the tests wait for.
  get drawn() {
    return this.found !== null && this.cut !== null && this.keys.landscapes === this.landscapesKey();
  }

  /** @param {string} text */
  read(text) {
    const { sides, ...rest } = this.store.known(readWithLosses(pageData.losses, this.store.table, text));
    const usual = /** @type {Side[]} */ (this.store.entry("sides").default);
    return { ...rest, sides: usual.map((one, place) => sides[place] ?? one) };
  }

  /** The losses without the value of the lever, which the answer has at all its stops. */
  get unmoved() {
    return this.sides.map(({ parameters, ...side }) => {
      const { [this.lever]: _value, ...others } = parameters;
      return { ...side, parameters: others };
    });
  }

  landscapesKey() {
    const { example, scene } = this.store.state;
    return JSON.stringify([this.unmoved, this.lever, example, scene]);
  }

  cutsKey() {
    return JSON.stringify([this.unmoved, this.lever, this.store.state.negative]);
  }

  /** Ask for what has become another. */
  ask() {
    const { example, scene, negative } = this.store.state;
    const { sides, lever, server } = this;
    if (!server) return;
    const [landscapes, cuts] = [this.landscapesKey(), this.cutsKey()];
    if (landscapes !== this.keys.landscapes) {
      this.keys.landscapes = landscapes;
      const request = { sides, lever, example, scene: wholeLink(scene) };
      this.hear(
        "landscapes",
        () => server.landscapes(request),
        (answer) => {
          this.found = { answer, landscapes: landscapesIn(answer) };
        },
      );
    }
    if (cuts !== this.keys.cuts) {
      this.keys.cuts = cuts;
      this.hear(
        "cuts",
        () => server.cuts({ sides, lever, negative }),
        (answer) => {
          this.cut = { answer, cuts: cutsIn(answer) };
        },
      );
    }
  }

  /**
   * @template Answer
   * @param {"landscapes" | "cuts"} name
   * @param {() => Promise<Answer | { error: import("../../wire").Problem } | null>} question
   * @param {(answer: Exclude<Answer, { error: any }>) => void} take
   */
  async hear(name, question, take) {
    const answer = /** @type {any} */ (await this.newest[name](question));
    this.problems[name] = answer.error ?? null;
    this.fail(this.problems.landscapes ?? this.problems.cuts);
    if (answer.error)
      this.keys[name] = ""; // the same may be requested again
    else take(answer);
    this.publish("found");
  }

  /** Move the lever of each loss that has it to a stop. @param {number} at */
  move(at) {
    const value = this.stops[at];
    const sides = this.sides.map((side) =>
      pageData.landscape.levers[side.loss]?.includes(this.lever)
        ? { ...side, parameters: { ...side.parameters, [this.lever]: value } }
        : side,
    );
    this.set({ sides });
  }

  /** @type {(place: number, loss: string) => void} Take another loss. */
  choose(place, loss) {
    const side = { loss, convention: "", parameters: {} };
    this.set({ sides: this.sides.map((one, at) => (at === place ? side : one)) });
  }

  /** Show the comparisons of an example, or of the batch that was left on Explore. @param {string} batch */
  async show(batch) {
    const scene = batch === EXPLORE_BATCH ? await shareableLink(wholeLink(stored("scene") ?? "")) : "";
    this.set(batch === EXPLORE_BATCH ? { scene } : { scene, example: batch });
  }
}

/** @type {(side: Side, name: string) => number} The value of a parameter of a loss. */
function parameterOf(side, name) {
  const parameter = formOf(pageData.losses, side)?.parameters.find((one) => one.name === name);
  return Number(side.parameters[name] ?? parameter?.default);
}

export default () => new LandscapePage();
