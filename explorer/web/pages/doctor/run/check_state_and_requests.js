// The check of a run: its log, what is known beside it, and what was found.
import { pageData } from "../../../kit/page_data.js";
import { Requests, whileWorking } from "../../../kit/request_scheduling.js";
import { problem } from "../../../kit/server.js";
import { language } from "../../../kit/translated_sentences.js";

/** @typedef {import("../../../wire").DoctorServer} DoctorServer */
/** @typedef {import("../../../kit/types").Answer<DoctorServer, "examine_run">} Answer */

const TYPING_MS = 250;
const FOLLOW_MS = 3000; // a folder is looked into again: its training may be running
const PASTED_KEPT = 2 ** 19; // letters of pasted lines that the browser's history keeps

export class RunCheck {
  /** @param {import("../state.js").DoctorPage} page */
  constructor(page) {
    this.page = page;
    /** @type {import("../../../wire").ExaminedRunLog | null} */
    this.examined = null;
    /** @type {Requests<Answer>} */
    this.requests = new Requests({
      debounce: TYPING_MS,
      ask: () => page.server.examine_run(this.question),
      take: (answer) => this.take(answer),
      changed: () => page.setBusy(this.requests, this.requests.flying > 0),
    });
    /** @type {import("../../../wire").ListedBatch[] | null} */
    this.batches = null; // those that a training kept
    this.unfinished = 0; // files of further ones that are being written
    /** @type {Requests<import("../../../kit/types").Answer<DoctorServer, "kept">>} */
    this.listing = new Requests({
      ask: () => page.server.kept({ folder: this.state.folder, language: language() }),
      take: (answer) => this.takeBatches(answer),
      again: whileWorking,
      progress: ({ working }) => page.showProgress(working),
      changed: () => page.setBusy(this.listing, this.listing.flying > 0 && this.batches === null),
    });
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.following = undefined; // until the folder is looked into again
  }

  get state() {
    return this.page.store.state.run;
  }

  get question() {
    const { kind, example, file, name, step, folder, curve, held_out, loss } = this.state;
    const source =
      kind === "example"
        ? { kind, example }
        : kind === "kept"
          ? { kind: "folder", folder }
          : kind === "typed"
            ? { kind, text: this.state.pasted }
            : { kind, file, name, step, text: this.state.pasted };
    const known = Object.fromEntries(
      [...pageData.doctor.counts, ...pageData.doctor.settings].map((one) => [one, this.state[one]]),
    );
    return { source, curve, held_out, loss, ...known, beside: this.beside, language: language() };
  }

  // Another run, with what is known of it.
  get beside() {
    const { other, other_file: file, other_name: name } = this.state;
    if (other === "none" || (other === "file" && !file)) return null;
    const source = other === "file" ? { kind: other, file, name } : { kind: "example", example: other };
    return { source, ...Object.fromEntries(pageData.doctor.of_other.map((one) => [one, this.state[`other_${one}`]])) };
  }

  /** @param {Record<string, string>} change */
  set(change) {
    this.page.store.update({ run: change });
    this.page.history?.remember();
    this.page.warn(null);
    this.ask();
  }

  /** @type {(source: Record<string, string>) => void} Another log is read as it says itself. */
  begin(source) {
    const { counts, settings } = pageData.doctor;
    const unknown = Object.fromEntries(
      ["curve", "held_out", "step", "pasted", "loss", ...counts, ...settings].map((one) => [one, ""]),
    );
    this.requests.drop();
    this.stopFollowing();
    this.batches = null;
    this.set({ ...unknown, ...source });
    this.page.publish("state");
  }

  ask() {
    const { kind, file, folder, pasted } = this.state;
    if (kind === "kept" && folder) this.listing.ask();
    else if (kind === "example" || (kind === "file" && file) || (kind === "typed" && pasted)) this.requests.ask();
    else this.forget();
  }

  stopFollowing() {
    clearTimeout(this.following);
    this.listing.drop();
  }

  /** The folder of a training that is running gets more batches. */
  follow() {
    clearTimeout(this.following);
    this.following = setTimeout(() => {
      if (document.hidden) this.follow();
      else if (this.state.kind === "kept" && this.batches) this.listing.ask();
    }, FOLLOW_MS);
  }

  cancel() {
    this.stopFollowing();
    this.page.setProgress(null);
    this.page.fail(problem("large_cancelled", {}, "cancelled"));
  }

  forget() {
    this.requests.drop();
    this.stopFollowing();
    this.examined = this.batches = null;
    this.page.setProgress(null);
    this.page.fail(null);
    this.publish();
  }

  /** @param {Answer} answer */
  take(answer) {
    this.page.fail(answer.error ?? null);
    // Of what cannot be read nothing is shown, and nothing of what was read before.
    [this.examined, this.batches] = [answer.error ? null : answer, null];
    if (answer.shared) this.page.history?.remember();
    this.publish();
  }

  /**
   * With the numbers of a pasted or uploaded log, which the server has thinned out for an address.
   * @param {string} text
   */
  async written(text) {
    const { kind, pasted } = this.state;
    this.page.leavesOut = false; // a log travels as its numbers
    if (!["typed", "file"].includes(kind) || !this.examined?.shared) return { text };
    const kept = kind === "typed" && pasted.length <= PASTED_KEPT ? { pasted } : null;
    return { text: `${text}&t=${this.examined.shared}`, kept };
  }

  /** @param {import("../../../kit/types").Answer<DoctorServer, "kept">} answer */
  takeBatches(answer) {
    this.page.setProgress(null);
    if (answer.error?.about === "log") return this.requests.ask(); // then it may have a log
    this.page.fail(answer.error ?? null);
    if (answer.batches) this.follow();
    const isSame = JSON.stringify(this.batches) === JSON.stringify(answer.batches);
    if (isSame && this.unfinished === answer.unfinished) return;
    [this.examined, this.batches, this.unfinished] = [null, answer.batches ?? null, answer.unfinished ?? 0];
    this.publish();
  }

  publish() {
    this.page.drawn += 1;
    this.page.publish("examined_run");
  }
}
