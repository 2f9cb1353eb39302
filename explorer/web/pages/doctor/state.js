// The state of the Doctor page: a number with what is known beside it, and what it may be.
import { Bus } from "../../kit/bus.js";
import { given } from "../../kit/given.js";
import { History } from "../../kit/history.js";
import * as link from "../../kit/link.js";
import { Requests } from "../../kit/request.js";
import { GONE } from "../../kit/server.js";
import { Store } from "../../kit/store.js";
import { language } from "../../kit/words.js";

/** @typedef {import("../../wire").DoctorServer} DoctorServer */
/** @typedef {import("../../kit/types").Answer<DoctorServer, "explain">} Answer */

const TYPING_MS = 250;

export class DoctorPage extends Bus {
  constructor() {
    super(["state", "found", "problem"]);
    this.store = new Store(given.doctor.table);
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
      delay: TYPING_MS,
      ask: async () => (await this.server?.explain({ ...this.store.state, language: language() })) ?? { error: GONE },
      take: (answer) => this.take(answer),
      changed: () => this.setBusy(this.requests.flying > 0),
    });
  }

  // What the tests wait for.
  get flying() {
    return this.requests.flying;
  }
  get waiting() {
    return this.requests.waiting;
  }

  /** @param {import("../../kit/types").Asking<DoctorServer>} server */
  connect(server) {
    this.server = server;
    this.history = new History({
      store: this.store,
      write: () => ({ text: link.written(this.store) }),
      open: (text) => {
        this.store.reset(link.read(this.store.table, text));
        this.publish("state");
        this.ask();
      },
    });
    this.history.revisit();
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
    this.store.reset(known);
    this.history?.remember();
    this.publish("state");
    this.ask();
  }

  ask() {
    if (this.store.state.value.trim()) this.requests.ask();
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
