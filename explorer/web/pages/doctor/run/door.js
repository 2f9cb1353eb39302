// The third door: the log of a run, what is known beside it, and what was found.
import { Requests } from "../../../kit/request.js";
import { GONE } from "../../../kit/server.js";
import { language } from "../../../kit/words.js";

/** @typedef {import("../../../wire").DoctorServer} DoctorServer */
/** @typedef {import("../../../kit/types").Answer<DoctorServer, "examine_run">} Answer */

const TYPING_MS = 250;

export class RunDoor {
  /** @param {import("../state.js").DoctorPage} channel */
  constructor(channel) {
    this.channel = channel;
    /** @type {import("../../../wire").ExaminedRunLog | null} */
    this.found = null;
    /** @type {Requests<Answer>} */
    this.requests = new Requests({
      most: 1,
      delay: TYPING_MS,
      ask: async () => (await channel.server?.examine_run(this.question)) ?? { error: GONE },
      take: (answer) => this.take(answer),
      changed: () => channel.setBusy(this.requests.flying > 0),
    });
  }

  get state() {
    return this.channel.store.state.run;
  }

  get question() {
    const { kind, example, file, name, ...known } = this.state;
    const source = kind === "example" ? { kind, example } : { kind, file, name };
    return { source, ...known, language: language() };
  }

  /** @param {Record<string, string>} change */
  set(change) {
    this.channel.store.update({ run: change });
    this.channel.history?.remember();
    this.channel.warn(null);
    this.ask();
  }

  /**
   * Another log is read as it says itself.
   * @param {Record<string, string>} source
   */
  begin(source) {
    const { kind, example, file, name, ...known } = this.state;
    const unknown = Object.fromEntries(Object.keys(known).map((one) => [one, ""]));
    this.set({ ...unknown, ...source });
    this.channel.publish("state");
  }

  ask() {
    if (this.state.kind === "example" || this.state.file) this.requests.ask();
    else this.forget();
  }

  forget() {
    this.requests.drop();
    this.found = null;
    this.channel.fail(null);
    this.publish();
  }

  /** @param {Answer} answer */
  take(answer) {
    this.channel.fail(answer.error ?? null);
    if (!answer.error) this.found = answer;
    this.publish();
  }

  publish() {
    this.channel.drawn += 1;
    this.channel.publish("examined_run");
  }
}
