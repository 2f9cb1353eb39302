// How the runs that are shown compare, once they have ended: on their held-out pairs, or on a file of the reader's.
import { fileContent, tooLarge } from "../../kit/file_upload.js";
import { pageData } from "../../kit/page_data.js";
import { PageEvents } from "../../kit/page_topics_notices_and_jobs.js";
import { newestOf, Requests } from "../../kit/request_scheduling.js";
import { say } from "../../kit/translated_sentences.js";
import { meanAndSpread } from "./held_out_metric_list_and_format.js";

/** @typedef {import("../../wire").Compared} Compared */
/** @typedef {import("./plan_data_files_state.js").ReadFile} ReadFile */
/** @typedef {{ file: string, name: string, columns: Record<string, string>, encoding: string }} OnFile */

/** @type {("spearman" | "accuracy_at_1")[]} what groups are judged by, the first that two of them have */
const LEADING_METRICS = ["spearman", "accuracy_at_1"];

export class Comparison {
  /** @param {import("./state.js").FinetunePage} page */
  constructor(page) {
    this.page = page;
    this.jobs = new PageEvents(); // of its own: a change of the plan ends those of the page
    /** @type {Compared | null} */
    this.answer = null;
    /** @type {ReadFile | null} */
    this.file = null; // that was handed in
    /** @type {OnFile | null} */
    this.chosen = null; // the file that runs are measured on; null for the held-out pairs
    /** @type {import("../../kit/types").Notice | null} */
    this.problem = null;
    this.newest = newestOf();
    this.requested = JSON.stringify([[], null]);
    /** @type {string[]} */
    this.names = []; // of the runs that are compared
    this.isLeft = false; // whether other runs were asked about meanwhile
    /** @type {Requests<import("./state.js").Answer<"compare"> | null>} */
    this.requests = new Requests({
      ask: async () => (this.names.length ? this.measured() : null),
      take: (found) => {
        if (!found && this.chosen) return; // cancelled, or other pairs were chosen meanwhile
        this.answer = found?.groups ? found : null;
        this.publish();
      },
    });
  }

  publish() {
    this.page.publish("compared");
  }

  /** Compare the shown runs that have ended, where these or the pairs are others than before. */
  ask() {
    const ended = this.page.shown.filter((name) => this.page.trace(name)?.about?.summary);
    const key = JSON.stringify([ended, this.chosen]);
    if (key === this.requested) return;
    [this.requested, this.names] = [key, ended];
    this.isLeft = true;
    this.jobs.cancel();
    this.requests.ask();
  }

  async measured() {
    const { page, chosen, names: runs } = this;
    const { server } = page;
    if (!chosen) return page.answered(server.compare({ runs }));
    this.isLeft = false;
    const answer = await this.jobs.work(server, "compare", { runs, on: chosen });
    if (this.isLeft || chosen !== this.chosen) return null;
    if (answer && !answer.error) return answer;
    this.choose(null);
    this.complain(answer ? answer.error : null); // cancelled: there is nothing to say
    return null;
  }

  // ---- A file of pairs that no run has seen -------------------------------------------------

  /** @param {import("../../kit/types").Notice | null | undefined} problem */
  complain(problem) {
    this.problem = problem ?? null;
    this.publish();
  }

  /** @type {(next: OnFile | null) => void} Measure on these pairs; null for the held-out ones. */
  choose(next) {
    if (JSON.stringify(next) === JSON.stringify(this.chosen)) return; // the same columns, chosen again
    this.jobs.cancel();
    this.chosen = next;
    this.complain(null);
    this.ask();
  }

  // The file stays at hand after one has gone back, or what went wrong can be put right.
  measure() {
    if (!this.file || this.file.problem) return;
    const { file, name, chosen: columns } = this.file;
    this.choose({ file, name, columns, encoding: encodingOf(this.file) });
  }

  /** @param {File} file */
  async handIn(file) {
    const refusal = tooLarge(file, pageData.limits.bytes);
    if (refusal) this.complain(refusal);
    else this.read(async () => this.page.server.hand_in(await fileContent(file)));
  }

  /** @param {() => Promise<import("./plan_data_files_state.js").FileAnswer>} ask */
  async read(ask) {
    const answer = await this.newest(ask);
    if (answer.error) return this.complain(answer.error);
    this.file = answer;
    this.complain(answer.problem);
    if (!answer.problem) this.measure();
  }

  /** @param {{ columns?: Record<string, string>, encoding: string }} how */
  reread(how) {
    if (!this.file) return;
    const { file, name } = this.file;
    this.read(() => this.page.server.describe({ file, name, ...how }));
  }

  /** @type {(role: string, column: string) => void} */
  assign(role, column) {
    if (!this.file) return;
    this.file = { ...this.file, chosen: { ...this.file.chosen, [role]: column } }; // before the answer comes
    const columns = Object.fromEntries(Object.entries(this.file.chosen).filter(([, one]) => one));
    this.reread({ columns, encoding: encodingOf(this.file) });
  }

  // ---- What came out ------------------------------------------------------------------------

  /** @type {(label: string) => string} The server's label of a group → what the page calls it. */
  titleOf(label) {
    const name = this.answer?.groups.find((group) => group.label === label)?.runs[0] ?? "";
    return this.page.groups().find(({ names }) => names.includes(name))?.name ?? label;
  }

  /** What the sentences about figures name. */
  get terms() {
    const { level = "", least_seeds: least = 0, pairs = "" } = this.answer ?? {};
    return { level, least, pairs };
  }

  /** How the plans came out beside each other, best first, and what of it is more than chance. */
  verdict() {
    const { answer, page } = this;
    if (!answer) return [];
    const labels = new Map(page.groups().flatMap(({ names, label }) => names.map((name) => [name, label])));
    const judged = LEADING_METRICS.map((leading) =>
      answer.groups
        .filter(({ runs: [name], figures }) => figures[leading] && labels.has(name))
        .sort((a, b) => b.figures[leading].mean - a.figures[leading].mean),
    );
    const place = Math.max(
      judged.findIndex(({ length }) => length >= 2),
      0,
    );
    const sentences = answer.verdict.map(({ key, values }) =>
      say(`remark.${key}`, {
        ...values,
        best: this.titleOf(String(values.best)),
        other: this.titleOf(String(values.other)),
      }),
    );
    if (judged[place].length < 2) return sentences;
    const leading = LEADING_METRICS[place];
    const list = judged[place].map((group, at) =>
      say(at ? "finetune.verdict_next" : "finetune.verdict_best", {
        name: labels.get(group.runs[0]),
        figure: say(`finetune.${leading}`),
        value: meanAndSpread(leading, group.figures[leading]),
        pairs: answer.pairs,
      }),
    );
    return [list.join("") + say("finetune.verdict_end"), ...sentences];
  }
}

/** @param {{ encoding: string, encodings: [string, string][] }} file */
const encodingOf = ({ encoding, encodings }) => (encodings.length ? encoding : "");
