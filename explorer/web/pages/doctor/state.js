// The state of the Doctor page: which door is open; a number with what is known beside it, and what it may
// be; a data set or a run, and what is the matter with it.
import { Bus } from "../../kit/bus.js";
import { History } from "../../kit/history.js";
import * as link from "../../kit/link.js";
import { pageData } from "../../kit/page_data.js";
import { Requests } from "../../kit/request.js";
import { GONE } from "../../kit/server.js";
import { Store } from "../../kit/store.js";
import { language } from "../../kit/words.js";
import { RunDoor } from "./run/door.js";
import { DataDoor } from "./set/door.js";

/** @typedef {import("../../wire").DoctorServer} DoctorServer */
/** @typedef {import("../../kit/types").Answer<DoctorServer, "explain">} Answer */

const TYPING_MS = 250;

export class DoctorPage extends Bus {
  constructor() {
    super(["state", "found", "examined", "examined_run", "problem"]);
    this.store = new Store(pageData.doctor.table);
    /** @type {import("../../wire").Explained | null} */
    this.found = null;
    this.drawn = 0;
    /** @type {import("../../kit/types").Asking<DoctorServer> | null} */
    this.server = null;
    /** @type {import("../../kit/problem.js").Remedy[]} */
    this.remedies = [];
    /** @type {History | null} */
    this.history = null;
    /** @type {Requests<Answer>} */
    this.requests = new Requests({
      most: 1,
      debounce: TYPING_MS,
      ask: async () => (await this.server?.explain({ ...this.shown, language: language() })) ?? { error: GONE },
      take: (answer) => this.take(answer),
      changed: () => this.setBusy(this.requests.flying > 0),
    });
    this.data = new DataDoor(this);
    this.run = new RunDoor(this);
    this.remedies.push({
      fits: ({ about }) => this.problem !== null && about === "cancelled",
      key: "ui.go_on",
      act: () => this.ask(),
    });
  }

  /** @returns {"number" | "data" | "run"} */
  get door() {
    return this.store.state.door;
  }
  // Until something is typed, the first example stands solved on the right.
  get isExample() {
    const { counts, settings } = pageData.doctor;
    return ["value", "loss", ...counts, ...settings].every((name) => !this.store.state[name].trim());
  }
  /** What the number shown is and what is known beside it. */
  get shown() {
    return this.isExample ? { ...this.store.state, ...pageData.doctor.examples[0] } : this.store.state;
  }
  // What the tests wait for.
  get flying() {
    const { data, run } = this;
    return (
      this.requests.flying + data.requests.flying + data.encoding.flying + run.requests.flying + run.listing.flying
    );
  }
  get waiting() {
    return this.requests.waiting || this.data.requests.waiting || this.run.requests.waiting;
  }

  /** @param {import("../../kit/types").Asking<DoctorServer>} server */
  connect(server) {
    this.server = server;
    this.history = new History({
      store: this.store,
      write: () => (this.door === "run" ? this.run : this.data).written(link.written(this.store)),
      open: (text, kept, isCurrent) => this.open(text, kept, isCurrent),
    });
    this.history.revisit();
  }

  /**
   * @param {string} text
   * @param {{ pasted?: string } | null} kept
   * @param {() => boolean} isCurrent
   */
  async open(text, kept, isCurrent) {
    const pasted = await this.data.pastedIn(text, kept);
    if (!isCurrent()) return false;
    this.store.reset(link.read(this.store.table, text));
    this.store.update(this.door === "run" ? { run: { pasted } } : { data: { pasted } });
    this.warn(null);
    this.publish("state");
    this.ask();
    return true;
  }

  // A table that is too long for an address does not travel with it.
  async readableScene() {
    const isShort = this.door !== "data" || !this.data.tooLong;
    if (isShort) return super.readableScene();
    this.warn({ key: "doctor.table_too_long", values: {} });
    return null;
  }

  /** @param {string} door */
  enter(door) {
    this.data.stop();
    this.requests.drop();
    this.run.requests.drop();
    this.run.listing.drop();
    this.store.update({ door });
    this.history?.remember();
    this.warn(null);
    this.publish("state");
    this.ask();
  }

  /**
   * What was pasted goes where it is read: numbers, the log of a run, or a table of pairs.
   * @param {string} text
   */
  async paste(text) {
    const answer = (await this.server?.read_pasted({ text })) ?? { error: GONE };
    if (answer.error) {
      this.fail(answer.error);
      return;
    }
    const door = /** @type {const} */ ({ numbers: "number", run: "run", table: "data" })[answer.kind];
    if (door !== this.door) this.enter(door);
    if (door === "number") this.begin({ value: answer.value });
    else if (door === "run") this.run.begin({ kind: "typed", pasted: text });
    else this.data.begin({ kind: "typed", pasted: text });
  }

  /**
   * What is typed: a number, or what is known beside it.
   * @param {Record<string, string>} change
   */
  set(change) {
    this.store.update(change);
    this.history?.remember();
    this.ask();
  }

  /**
   * A number of which this is known, and nothing else.
   * @param {Record<string, string>} known
   */
  begin(known) {
    const { data, run } = this.store.state;
    this.store.reset({ ...known, data, run });
    this.history?.remember();
    this.publish("state");
    this.ask();
  }

  cancel() {
    super.cancel();
    if (this.door === "data") this.data.cancel();
    if (this.door === "run") this.run.cancel();
  }

  ask() {
    if (this.door === "data") this.data.ask();
    else if (this.door === "run") this.run.ask();
    else if (this.shown.value.trim()) this.requests.ask();
    else this.take(null);
  }

  /** @param {Answer | null} answer null where nothing was asked */
  take(answer) {
    this.fail(answer?.error ?? null);
    if (!answer) this.found = null;
    else if (!answer.error) this.found = answer;
    this.drawn += 1;
    this.publish("found");
  }
}

export default () => new DoctorPage();
