// The state of the Doctor page: which check is open; a number with what is known beside it, and what it may
// be; a dataset or a run, and what is the matter with it.
import { History } from "../../kit/browser_history.js";
import { pageData } from "../../kit/page_data.js";
import { PageEvents } from "../../kit/page_topics_notices_and_jobs.js";
import { withScenarioLinks } from "../../kit/redacted_scenario_links.js";
import { Requests } from "../../kit/request_scheduling.js";
import * as link from "../../kit/state_link.js";
import { Store } from "../../kit/state_store.js";
import { language } from "../../kit/translated_sentences.js";
import { DataCheck } from "./data/check_state_and_requests.js";
import { RunCheck } from "./run/check_state_and_requests.js";

/** @typedef {import("../../wire").DoctorServer} DoctorServer */
/** @typedef {import("../../kit/types").Answer<DoctorServer, "explain">} Answer */

const TYPING_MS = 250;
const PASTE_MS = 400;
const NUMBERS = /^[\d\s.,eE+−-]*$/;

export class DoctorPage extends PageEvents {
  constructor() {
    super(["state", "explained", "examined", "examined_run", "problem"]);
    this.store = new Store(pageData.doctor.table);
    /** @type {import("../../wire").NumberExplained | null} */
    this.explanation = null;
    /** @type {Record<string, string> | null} */
    this.explained = null; // what `explanation` is about: the number, and what was known beside it
    this.drawn = 0;
    /** @type {import("../../kit/types").Asking<DoctorServer>} */
    this.server = /** @type {any} */ (null); // until the page is connected
    /** @type {History | null} */
    this.history = null;
    /** @type {Requests<Answer>} */
    this.requests = new Requests({
      debounce: TYPING_MS,
      ask: () => this.explain(),
      take: (answer) => this.take(answer),
      changed: () => this.setBusy(this.requests, this.requests.flying > 0),
    });
    this.request = this.shown;
    this.pasted = ""; // what is read where there is no number
    /** @type {Requests<import("../../kit/types").Answer<DoctorServer, "read_pasted">>} */
    this.pasting = new Requests({
      debounce: PASTE_MS,
      ask: () => this.server.read_pasted({ text: this.pasted }),
      take: (answer) => this.takePasted(answer),
      changed: () => this.setBusy(this.pasting, this.pasting.flying > 0),
    });
    this.data = new DataCheck(this);
    this.run = new RunCheck(this);
    this.remedies.push({
      fits: ({ about }) => this.problem !== null && about === "cancelled",
      key: "ui.go_on",
      act: () => this.ask(),
    });
  }

  /** @returns {"number" | "data" | "run"} */
  get check() {
    return this.store.state.check;
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
  /** Whether there is a report, which a refused change leaves a true one. */
  get isShown() {
    const { data, run } = this;
    if (this.check === "number") return this.explanation !== null;
    return this.check === "run"
      ? Boolean(run.examined || run.batches)
      : Boolean(data.examined || data.classes || data.similarities);
  }
  // What the tests wait for.
  get flying() {
    const { data, run } = this;
    const all = [this.requests, this.pasting, data.requests, data.encoding, run.requests, run.listing];
    return all.reduce((sum, { flying }) => sum + flying, 0);
  }
  get waiting() {
    return this.requests.waiting || this.data.requests.waiting || this.run.requests.waiting;
  }

  /** @param {import("../../kit/types").Asking<DoctorServer>} server */
  connect(server) {
    this.server = withScenarioLinks(server);
    this.history = new History({
      store: this.store,
      write: () => (this.check === "run" ? this.run : this.data).written(link.written(this.store)),
      open: (text, kept, isCurrent) => this.open(text, kept, isCurrent),
    });
    this.history.revisit();
  }

  /** @type {(text: string, kept: { pasted?: string } | null, isCurrent: () => boolean) => Promise<boolean>} */
  async open(text, kept, isCurrent) {
    const pasted = await this.data.pastedIn(text, kept);
    if (!isCurrent()) return false;
    this.store.reset(link.read(this.store.table, text));
    this.store.update(this.check === "run" ? { run: { pasted } } : { data: { pasted } });
    this.warn(null);
    this.publish("state");
    this.ask();
    return true;
  }

  // A number is nobody's secret; a log line or a table may be.
  isPublic() {
    return this.check === "number" && Number.isFinite(Number(this.store.state.value));
  }

  // A table that is too long for an address does not travel with it.
  async readableLink() {
    const isShort = this.check !== "data" || !this.data.tooLong;
    if (isShort) return super.readableLink();
    this.warn({ key: "doctor.table_too_long", values: {} });
    return null;
  }

  /** @param {string} check */
  enter(check) {
    this.data.stop();
    this.requests.drop();
    this.run.requests.drop();
    this.run.listing.drop();
    this.store.update({ check });
    this.history?.remember();
    this.warn(null);
    this.publish("state");
    this.ask();
  }

  /**
   * What was typed or pasted in place of the number: a number, or something that goes where it is read.
   * @param {string} text
   */
  takeTyped(text) {
    this.pasting.drop();
    const isNumber = NUMBERS.test(text) && !text.trim().includes("\n");
    if (isNumber) return this.set({ value: text });
    this.pasted = text;
    this.pasting.ask();
  }

  /** @param {import("../../kit/types").Answer<DoctorServer, "read_pasted">} answer what kind of text was pasted */
  takePasted(answer) {
    if (answer.error) return this.fail(answer.error);
    if (answer.kind === "numbers") {
      this.set({ value: answer.value, ...answer.known });
      return this.publish("state");
    }
    this.enter(answer.kind === "run" ? "run" : "data");
    (answer.kind === "run" ? this.run : this.data).begin({ kind: "typed", pasted: this.pasted });
  }

  /** @type {(change: Record<string, string>) => void} What is typed: a number, or what is known beside it. */
  set(change) {
    this.store.update(change);
    this.history?.remember();
    this.ask();
  }

  /** @type {(known: Record<string, string>) => void} A number of which this is known, and nothing else. */
  begin(known) {
    const { data, run } = this.store.state;
    this.store.reset({ ...known, data, run });
    this.history?.remember();
    this.publish("state");
    this.ask();
  }

  /** @param {import("../../wire").Progress | undefined} working how far the server is */
  showProgress(working) {
    this.setProgress(working ? { ...working, values: {} } : null);
  }

  cancel() {
    super.cancel();
    if (this.check === "data") this.data.cancel();
    if (this.check === "run") this.run.cancel();
  }

  ask() {
    if (this.check === "data") this.data.ask();
    else if (this.check === "run") this.run.ask();
    else if (this.shown.value.trim()) this.requests.ask();
    else this.take(null);
  }

  /** @returns {Promise<Answer>} */
  async explain() {
    this.request = this.shown;
    return this.server.explain({ ...this.request, language: language() });
  }

  /** @param {Answer | null} answer null where nothing was asked */
  take(answer) {
    this.fail(answer?.error ?? null);
    if (!answer) this.explanation = this.explained = null;
    else if (!answer.error) [this.explanation, this.explained] = [answer, this.request];
    this.drawn += 1;
    this.publish("explained");
  }
}

export default () => new DoctorPage();
