// The check of a dataset: its rows, the loss and the batch size that it is examined for, and what was found.
import { download } from "../../../kit/file_downloads.js";
import { fileContent } from "../../../kit/file_upload.js";
import { pageData } from "../../../kit/page_data.js";
import { Requests, whileWorking } from "../../../kit/request_scheduling.js";
import { withoutSecrets } from "../../../kit/secret_redaction.js";
import { problem } from "../../../kit/server.js";
import { packed, unpacked } from "../../../kit/state_link.js";
import { language } from "../../../kit/translated_sentences.js";

/** @typedef {import("../../../wire").DoctorServer} DoctorServer */
/**
 * @template {keyof DoctorServer} Name
 * @typedef {import("../../../kit/types").Answer<DoctorServer, Name>} Answer
 */
/** @typedef {Record<string, any>} Source a set to begin with, or a file by its content */
/** @typedef {{ source: Source | null, answer: Answer<"examine"> }} Reply */
/** @typedef {import("../../../wire").ExaminedData} Examined */
/** @typedef {{ error?: import("../../../wire").Problem | null, working?: import("../../../wire").Progress,
 *   file?: string, name?: string }} ServerFile a file that the server has, or how far it is on the way there */

const PASTED = "pasted.txt"; // what a pasted table is called on the server
const PASTED_BYTES = 2 ** 22; // of a table in an address, unpacked
const PASTED_KEPT = 2 ** 19; // letters of a pasted table that the browser's history keeps
const NO_PAIRS = problem("classes_no_pairs", {}, "");
const CANCELLED = problem("large_cancelled", {}, "cancelled");

export class DataCheck {
  /** @param {import("../state.js").DoctorPage} page */
  constructor(page) {
    this.page = page;
    /** @type {Examined | null} */
    this.examined = null;
    /** @type {Source | null} */
    this.source = null; // of the rows that were examined
    /** @type {Answer<"examine"> | null} */
    this.read = null; // how the file was read, or what there is to choose from
    /** @type {{ text: string, file: string } | null} */
    this.uploaded = null; // the pasted table that the server has
    /** @type {{ wanted: string, file: string, name: string } | null} */
    this.fetched = null; // the rows of the hub that the server has
    /** @type {import("../../../wire").ExaminedClasses | null} */
    this.classes = null; // what was found in a table of classes
    /** @type {import("../../../wire").DoctoredSimilarities | null} */
    this.similarities = null; // what was found in similarities without texts
    /** @type {Requests<Reply>} */
    this.requests = new Requests({
      ask: () => this.question(),
      take: (reply) => this.take(reply),
      again: ({ answer }) => whileWorking(answer),
      progress: ({ answer }) => page.showProgress(answer.working),
      changed: () => page.setBusy(this.requests, this.requests.flying > 0),
    });
    /** @type {Requests<Answer<"take">>} */
    this.taking = new Requests({
      ask: () => page.server[this.takeFunction](this.takeRequest),
      take: (answer) => this.handOut(answer),
      again: whileWorking,
      progress: ({ working }) => page.showProgress(working),
    });
    /** @type {import("../../../wire").EncodedData | null} */
    this.encoded = null; // the encoder's findings
    /** @type {Requests<Answer<"encode">>} */
    this.encoding = new Requests({
      ask: () => this.askEncoder(),
      take: (answer) => this.takeEncoded(answer),
      again: whileWorking,
      progress: ({ working }) => page.showProgress(working),
      changed: () => page.setBusy(this.encoding, this.encoding.flying > 0),
    });
    /** @type {object} */
    this.takeRequest = {}; // the file to be taken away
    /** @type {"take" | "mine"} */
    this.takeFunction = "take";
    const [negatives, margin] = pageData.doctor.mining.usual;
    this.mining = { negatives, margin };
    this.tooLong = false; // whether the pasted table is too much for an address
  }

  get state() {
    return this.page.store.state.data;
  }

  /** @type {(change: Record<string, any>) => void} */
  set(change) {
    this.page.store.update({ data: change });
    this.page.history?.remember();
    this.page.warn(null);
    this.page.publish("state");
    this.ask();
  }

  /** @type {(source: Record<string, any>) => void} Another dataset is read as it says itself. */
  begin(source) {
    this.stop();
    this.clear();
    this.set({ columns: {}, header: null, encoding: "", ...source });
  }

  // Whether there is anything to examine.
  get isThere() {
    const { kind, file, hub, pasted } = this.state;
    if (kind === "hub") return Boolean(hub);
    return kind === "example" || Boolean(kind === "file" ? file : pasted.trim());
  }

  ask() {
    if (this.isThere) this.requests.ask();
    else this.forget();
  }

  forget() {
    this.requests.drop();
    this.clear();
    this.page.setProgress(null);
    this.page.fail(null);
    this.publish();
  }

  clear() {
    this.examined = this.read = this.source = this.encoded = this.classes = this.similarities = null;
  }

  publish() {
    this.page.drawn += 1;
    this.page.publish("examined");
  }

  // ---- Questions -----------------------------------------------------------------------------

  /** @returns {Promise<Reply>} */
  async question() {
    const { kind, example, columns, header, encoding, loss, batch, tokens, margin } = this.state;
    /** @type {Source} */
    let source = { kind, example };
    if (kind !== "example") {
      const file = await this.serverFile();
      if (file.error) return { source: null, answer: { error: file.error } };
      if (file.working) return { source: null, answer: { working: file.working } };
      source = { kind, file: file.file, name: file.name, columns, header, encoding };
    }
    const request = { source, loss, batch, tokens, margin, language: language() };
    const answer = await this.page.server.examine(request);
    const again = kind === "typed" ? this.uploaded : kind === "hub" ? this.fetched : null;
    if (answer.error?.about === "gone" && again) {
      this.uploaded = this.fetched = null; // it has left meanwhile, and goes there again
      return this.question();
    }
    return { source, answer };
  }

  /** @returns {Promise<ServerFile>} */
  async serverFile() {
    const { kind, file, name } = this.state;
    if (kind === "file") return { file, name };
    return kind === "hub" ? this.fetchRows() : this.handIn();
  }

  get hubRows() {
    const { hub, split, rows } = this.state;
    return { hub, split, rows };
  }

  // Rows of the hub come to the server, and are a file there from then on.
  /** @returns {Promise<ServerFile>} */
  async fetchRows() {
    const wanted = JSON.stringify(this.hubRows);
    if (this.fetched?.wanted === wanted) return this.fetched;
    const answer = await this.page.server.fetch(this.hubRows);
    if (answer.file) this.fetched = { wanted, file: answer.file, name: answer.name };
    return answer;
  }

  // A pasted table goes to the server as a file, and by its content from then on.
  /** @returns {Promise<ServerFile>} */
  async handIn() {
    /** @type {string} */
    const text = this.state.pasted;
    if (this.uploaded?.text === text) return { file: this.uploaded.file, name: PASTED };
    const answer = await this.page.server.hand_in(await fileContent(new File([text], PASTED)));
    if (answer.error) return { error: answer.error };
    const { file = "" } = answer;
    this.uploaded = { text, file };
    return { file, name: PASTED };
  }

  /** @param {Reply} reply */
  take({ source, answer }) {
    this.page.setProgress(null);
    const { encoded } = this;
    this.clear();
    this.page.fail(answer.error ?? (answer.undecided ? answer.problem : null));
    if (!answer.error && !answer.moments) [this.source, this.read] = [source, answer];
    if (answer.moments) this.similarities = answer;
    else if (answer.largest) {
      this.classes = answer;
      if (this.state.encoder) this.page.warn(NO_PAIRS);
    } else if (answer.findings) {
      this.examined = answer;
      if (this.state.encoder || answer.file?.own_vectors) {
        this.encoded = encoded; // until the encoder's new findings are here
        this.encoding.ask();
      }
    } else if (answer.undecided) this.page.publish("open_controls"); // where the columns are chosen
    this.publish();
  }

  // What was found already is asked about with the encoder that is chosen.
  async askEncoder() {
    const { loss, batch, encoder, most } = this.state;
    const request = { source: this.source, loss, batch, encoder, most, language: language() };
    return this.page.server.encode(request);
  }

  /** @param {Answer<"encode">} answer */
  takeEncoded(answer) {
    this.page.setProgress(null);
    if (answer.error) this.page.fail(answer.error);
    else if (answer.bands) this.encoded = answer;
    this.publish();
  }

  // Reading a large file, and encoding, are no longer waited for.
  stop() {
    const { kind, file, name, columns, header, encoding, encoder, most } = this.state;
    const underWay = [this.requests, this.encoding, this.taking].some(({ flying, due }) => flying || due);
    for (const one of [this.requests, this.encoding, this.taking]) one.drop();
    this.page.setProgress(null);
    if (!underWay) return;
    const source = this.source ?? { kind, file, name, columns, header, encoding };
    const fetched = kind === "hub" && !this.fetched ? this.hubRows : {};
    if (source.kind !== "example" || encoder) {
      this.page.server.stop({ source, encoder, most, ...this.mining, ...fetched });
    }
  }

  cancel() {
    this.stop();
    this.page.fail(CANCELLED);
  }

  // ---- Taking away ---------------------------------------------------------------------------

  /** @param {"kept" | "left_out"} what */
  takeAway(what) {
    this.takeFunction = "take";
    this.takeRequest = { source: this.source, what, loss: this.state.loss };
    this.taking.ask();
  }

  // Hard negatives, by the encoder that is chosen.
  mine() {
    const { encoder, most } = this.state;
    this.takeFunction = "mine";
    this.takeRequest = { source: this.source, encoder, most, ...this.mining };
    this.taking.ask();
  }

  /** @param {Answer<"take">} answer */
  handOut(answer) {
    this.page.setProgress(null);
    if (answer.error) this.page.warn(answer.error);
    else if (answer.path) download(answer);
  }

  // ---- The address ---------------------------------------------------------------------------

  /**
   * With the pasted table, where it is small, without secrets.
   * @param {string} text
   */
  async written(text) {
    const { kind, pasted } = this.state;
    this.tooLong = this.page.leavesOut = false;
    if (this.page.check !== "data" || kind !== "typed" || !pasted) return { text };
    const shared = withoutSecrets(pasted);
    const short = await packed(shared);
    this.tooLong = short.length > pageData.limits.link;
    this.page.leavesOut = shared !== pasted;
    const isWhole = !this.tooLong && shared === pasted;
    const kept = !isWhole && pasted.length <= PASTED_KEPT ? { pasted } : null;
    return { text: this.tooLong ? text : `${text}&t=${short}`, kept };
  }

  /**
   * The pasted table that an address or the browser's history holds.
   * @type {(text: string, kept: { pasted?: string } | null) => Promise<string>}
   */
  async pastedIn(text, kept) {
    const short = new URLSearchParams(text).get("t");
    if (kept?.pasted || short === null) return kept?.pasted ?? "";
    return (await unpacked(short, PASTED_BYTES)) ?? "";
  }
}
