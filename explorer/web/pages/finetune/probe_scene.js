// What is looked at of the probe batch of a run: which recorded step, under which view.
import { given } from "../../kit/given.js";
import { Requests } from "../../kit/request.js";
import { GONE } from "../../kit/server.js";
import { Store } from "../../kit/store.js";

const RETRY_MS = 2000;

export class ProbeScene {
  // `ask` puts a request to the server; `told()` hears of every change.
  constructor(ask, told) {
    this.ask = ask;
    this.told = told;
    this.store = new Store(given.scenario);
    this.run = null;
    this.step = null;
    this.batch = null;
    this.picture = null;
    this.problem = null;
    this.drawn = 0;
    this.pointed = { pairs: [], cell: null, part: null };
    this.requests = new Requests({
      most: 2,
      between: true,
      ask: () => this.question(),
      take: (answer) => this.take(answer),
    });
  }

  // What the server is asked for: the loss of the run, and what is looked at.
  get scenario() {
    return this.store.state;
  }

  // Formulas of the landmarks, by their names.
  get landmarks() {
    const { loss, convention } = this.scenario;
    return given.losses[loss]?.conventions[convention] ?? {};
  }

  // Look at a recorded step of a run with this plan.
  look(run, step, { loss, convention, parameters }) {
    if (run !== this.run) {
      this.batch = null;
      this.store.reset({ ...given.defaults, loss, convention, parameters });
    }
    Object.assign(this, { run, step });
    this.requests.ask();
  }

  choose(view) {
    const { affects } = this.store.update({ view });
    if (affects === "nothing") this.told();
    else this.requests.ask();
  }

  point(pairs = [], cell = null, part = null) {
    this.pointed = { pairs, cell, part };
    this.told();
  }

  question() {
    clearTimeout(this.retrying);
    const { run, step, scenario } = this;
    return this.ask({ run, step, scenario, known: this.problem ? "" : (this.batch?.key ?? "") });
  }

  take(answer) {
    this.problem = answer ? (answer.error ?? null) : GONE;
    if (!answer) this.retrying = setTimeout(() => this.requests.ask(), RETRY_MS);
    if (!this.problem) {
      this.batch = answer.batch ?? this.batch;
      this.picture = answer.picture;
      this.drawn += 1;
    }
    this.told();
  }
}
