// The state of the Explore page: the scenario, the batch it names, the latest picture, and what is pointed at.
import { BatchPage } from "../../kit/batch_page_base.js";
import { History } from "../../kit/browser_history.js";
import { learn } from "../../kit/combined_loss_names_and_parts.js";
import { carry } from "../../kit/compare_link.js";
import { formulaOf } from "../../kit/formula.js";
import { corrected } from "../../kit/label_corrections.js";
import { pageData } from "../../kit/page_data.js";
import { wholeLink } from "../../kit/redacted_scenario_links.js";
import { exampleInLanguage } from "../../kit/replacement_example_for_language.js";
import { GONE, Requests } from "../../kit/request_scheduling.js";
import { SentRows } from "../../kit/rows_sent_to_server_once.js";
import { shareable } from "../../kit/secret_redaction.js";
import { problem } from "../../kit/server.js";
import { numbered } from "../../kit/state_link.js";
import { store as keep } from "../../kit/storage.js";
import { say } from "../../kit/translated_sentences.js";
import { SliderPreview } from "./slider_preview.js";

/** @typedef {import("../../wire").ExploreServer} ExploreServer */
/** @typedef {import("../../wire").Scenario} Scenario */
/** @typedef {import("../../kit/types").Answer<ExploreServer, "explore">} Explored */

/**
 * Part of a scenario: what is not named stays as it is.
 * @typedef {{ data?: Partial<Scenario["data"]> | { random: Record<string, number | string> },
 *   rules?: Partial<Scenario["rules"]>, loss?: string, convention?: string,
 *   parameters?: Scenario["parameters"], view?: Partial<Scenario["view"]> }} Change
 */

const HISTORY_DELAY_MS = 400;
const MODEL_ENTRIES = ["data.encoder", "data.cross_encoder", "data.guide", "data.teacher_model"];

/** @type {() => Scenario} The first scenario, on an example in the reader's language where there is one. */
function openingScenario() {
  const { data, ...rest } = pageData.defaults;
  return { ...rest, data: { ...data, example: exampleInLanguage(data.example) } };
}

/** @type {(name: string) => boolean} Whether other pairs may come with another value of an entry. */
const choosesPairs = (name) => name.startsWith("data.") && !MODEL_ENTRIES.includes(name);

/** @extends {BatchPage<ExploreServer>} */
export class ExplorePage extends BatchPage {
  constructor() {
    super(["scenario", "skipped", "batch", "picture", "problem"], pageData.scenario);
    this.store.update(openingScenario());
    /** @type {import("../../wire").ExploredBatch | null} */
    this.batch = null;
    /** @type {import("../../wire").Picture | null} */
    this.picture = null;
    /** @type {boolean | undefined} */
    this.limited = false; // whether there were more rows than fit
    /** @type {Requests<Explored>} */
    this.requests = new Requests({
      most: 2,
      between: true,
      ask: () => this.question(),
      take: (answer) => this.take(answer),
      changed: () => this.showBusy(this.requests),
    });
    this.sent = new SentRows();
    this.sliderPreview = new SliderPreview(this);
    /** @type {ReturnType<SliderPreview["cells"]>} */
    this.moving = null; // cells that are drawn until the picture of the slider's value is here
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.typing = undefined; // what is typed in the table has not been asked yet
    /** @type {Scenario["data"] | null} */
    this.askedFor = null;
    /** @type {number[]} */
    this.numbers = []; // what a person calls each pair
    /**
     * The file that was read last: its digest, and how it was read.
     * @type {{ name: string, file: string, reading: import("../../wire").Reading,
     *   columns?: Record<string, string>, header?: boolean, encoding?: string } | null}
     */
    this.lastFile = null;
  }

  /** @returns {import("../../wire").Scenario} */
  get scenario() {
    return this.store.state;
  }

  // What the tests and the benchmark wait for.
  get flying() {
    return this.requests.flying;
  }
  get waiting() {
    return this.requests.waiting;
  }
  get link() {
    return this.history?.text ?? "";
  }

  get spec() {
    return pageData.losses[this.scenario.loss];
  }
  // Formula and parameters of the loss in the chosen convention.
  get form() {
    return this.spec.conventions[this.scenario.convention] ?? this.spec.conventions[""];
  }

  // The formula at the parameters in force: some choices have one of their own.
  get formula() {
    return formulaOf(this.form, this.scenario.parameters, this.scenario.rules.twins);
  }

  /** @param {import("../../kit/types").Asking<ExploreServer>} server */
  async connect(server) {
    this.server = server;
    this.history = new History({
      store: this.store,
      debounce: HISTORY_DELAY_MS,
      write: () => this.written(),
      open: (text, kept, isCurrent) => this.open(text, kept, isCurrent),
    });
    await this.history.revisit();
    if (this.requests.newest) return;
    this.publish("scenario");
    this.ask();
  }

  /**
   * The scenario of an entry of the browser's history: in its link, or, where it is too large for one,
   * in what the browser keeps beside the address. That keeps hidden rows too.
   * @type {(link: string, kept: Scenario | null, isCurrent: () => boolean) => Promise<boolean>}
   */
  async open(link, kept, isCurrent) {
    const usual = this.requests.newest ? openingScenario() : null;
    const scenario = link ? await this.read(wholeLink(link)) : (kept ?? usual);
    if (!scenario || !isCurrent()) return false;
    if (link && kept) Object.assign(scenario.data, kept.data);
    await this.learn(scenario.loss);
    if (!isCurrent()) return false;
    this.show(scenario);
    return true;
  }

  async written() {
    const { shared, isWhole } = shareable(this.scenario);
    const { link = "" } = await this.server.link(shared);
    this.leavesOut = !isWhole;
    this.tooLong = link.length > pageData.limits.link;
    const text = this.tooLong ? "" : link;
    if (text) keep("scene", text);
    const { source, rows, teacher, guided, file, reading, corrections } = this.scenario.data;
    const own = { rows, teacher, guided, file, reading, corrections };
    const isHidden = source !== "table" && rows.length > 0;
    return { text, kept: text ? (isHidden || !isWhole ? { data: own } : null) : this.scenario };
  }

  /** Where the address does not hold the whole scenario, with its loss and the batch kept beside it. */
  comparedLink() {
    if (!this.tooLong && !this.leavesOut) return super.comparedLink();
    const { loss, convention, parameters } = this.scenario;
    const sides = numbered([{ loss, convention, parameters }]);
    return new URLSearchParams([...sides, ["scene", carry(this.scenario)]]).toString();
  }

  /**
   * The scenario in the text of a link or of a scenario file; what is wrong with it is shown.
   * @param {string} text
   */
  async read(text) {
    const opened = await this.server.open_link(text);
    this.check(opened);
    return opened.scenario;
  }

  /** @param {string} text */
  async openScenario(text) {
    const scenario = await this.read(text);
    if (scenario) await this.learn(scenario.loss);
    if (scenario) this.show(scenario);
  }

  /** @type {(loss: string) => Promise<void>} A sum of losses is requested from the server before it is shown. */
  async learn(loss) {
    await learn(this.server.loss, [loss]);
  }

  /** @param {Scenario} scenario */
  show(scenario) {
    this.warn(null);
    this.store.reset(scenario);
    this.publish("scenario");
    this.ask();
  }

  /**
   * Change part of the scenario: set({ view: { order: "score" } }). Controls that made the change
   * themselves need not hear of it.
   * @param {Change} change
   */
  set(change, { announce = true } = {}) {
    const { changed, affects } = this.store.update(this.#withItsCorrections(change));
    if (changed.some(choosesPairs) && !change.view?.marked) this.store.update({ view: { marked: [] } });
    this.warn(null);
    if (announce) this.publish("scenario");
    if (affects === "nothing") this.remember();
    else this.ask();
  }

  /** @type {(change: Change) => Change} What was corrected in one source says nothing of another. */
  #withItsCorrections(change) {
    const now = this.scenario.data;
    const next = /** @type {Partial<Scenario["data"]>} */ ({ ...change.data });
    const stays = /** @type {const} */ (["source", "example", "file"]).every(
      (key) => (next[key] ?? now[key]) === now[key],
    );
    if (stays || next.corrections || !now.corrections.length) return change;
    return { ...change, data: { ...next, corrections: [] } };
  }

  /**
   * Rows of one's own, whatever file they may have come from.
   * @param {import("../../kit/types").Row[]} rows
   */
  setRows(rows) {
    const { file, reading } = pageData.defaults.data;
    this.set({ data: { source: "table", rows, file, reading } });
  }

  // Rows of which none has a score are positives; one without the other is not reported here.
  get isUnscored() {
    const { source, rows } = this.scenario.data;
    const filled = rows.filter((cells) => cells.some((cell) => cell.trim()));
    return source === "table" && filled.length > 0 && filled.every(([, , score]) => !score.trim());
  }
  madeOf() {
    if (this.isUnscored) return say("ui.all_positives");
    return this.scenario.data.source === "table" && this.batch?.inference ? say("ui.inference") : "";
  }

  // Whether the rows of the scenario are a batch of the file that was read here last.
  get isBatchOfFile() {
    const { source, file, reading } = this.scenario.data;
    const { lastFile: last } = this;
    const alike = last?.name === file && last.reading.whole === reading.whole && last.reading.total === reading.total;
    return source === "table" && alike && reading.draw.size > 0;
  }

  // The entries of a request that name this file, and say how it is read.
  fileEntries() {
    const { file, columns, header, encoding } = (this.isBatchOfFile && this.lastFile) || {};
    return { file, columns, header, encoding };
  }

  /** @type {(name: string, value: import("../../wire").Setting) => void} */
  setParameter(name, value) {
    this.set({ parameters: { ...this.scenario.parameters, [name]: value } }, { announce: false });
    this.sliderPreview.fetch(name);
    this.moving = this.sliderPreview.cells();
    if (this.moving) this.publish("moving");
  }

  /**
   * Show other values of the parameters for a moment: neither the address nor the browser's history hears of them.
   * @param {import("../../wire").Scenario["parameters"]} parameters
   */
  preview(parameters) {
    this.store.update({ parameters });
    this.history?.forget();
    this.requests.ask();
  }

  /**
   * @param {string} loss
   * @param {import("../../wire").Scenario["parameters"]} parameters
   */
  choose(loss, convention = "", parameters = {}) {
    this.set({ loss, convention, parameters, view: { step: null, pinned: null, colour_range: null } });
  }

  /**
   * Whether an answer is no refusal; else the problem is shown.
   * @param {{ error?: import("../../wire").Problem }} answer
   */
  check({ error }) {
    if (error === GONE) this.take({ error });
    else if (error) this.warn(error);
    return !error;
  }

  ask() {
    if (!this.server) return;
    clearTimeout(this.retrying);
    this.remember();
    const { data } = this.scenario;
    if (this.progress && data !== this.askedFor) this.drop();
    this.askedFor = data;
    this.requests.ask();
  }

  // After an error the facts of the batch are shown again, and with them the rows left out.
  /** @returns {Promise<Explored>} */
  async question() {
    const { server, scenario } = this;
    const known = this.problem ? "" : (this.batch?.key ?? "");
    const answer = await this.sent.ask({ scenario, known }, (request) => this.work(server, "explore", request));
    return answer ?? { error: GONE };
  }

  // Wait no longer for what is under way.
  drop() {
    super.cancel();
    this.requests.drop();
  }

  cancel() {
    const asking = this.flying > 0;
    const cancelled = problem("cancelled", {}, "cancelled");
    this.drop();
    if (asking) this.fail(cancelled);
    else this.warn(cancelled);
  }

  /** @param {Explored} answer */
  take(answer) {
    if (answer.skipped) this.limited = answer.limited;
    if (!this.accepts(answer)) return;
    if (this.problem) this.fail(null);
    if (answer.batch) {
      this.batch = answer.batch;
      this.numbers = this.rowNumbers(answer.batch);
      this.publish("batch");
    }
    this.picture = answer.picture ?? null;
    this.moving = this.sliderPreview.cells();
    this.publish("picture");
    this.drawn += 1;
  }

  /**
   * What a person calls each pair: the number of its row, where rows in between were left out.
   * @param {import("../../wire").ExploredBatch} batch
   */
  rowNumbers({ labels, places }) {
    const { source, rows } = this.scenario.data;
    const all = (places ?? labels.map((_label, pair) => pair)).map((place) => place + 1);
    if (source !== "table") return all;
    const skipped = new Set(this.skipped.map(({ row }) => row));
    const used = rows
      .map((_cells, i) => i + 1)
      .filter((row) => !skipped.has(row) && rows[row - 1].some((cell) => cell.trim() !== ""));
    if (places) return places.map((place) => used[place] ?? place + 1);
    return used.length === all.length ? used : all;
  }

  /** @type {(first: string, second: string, label: string | null) => void} See `corrected`. */
  correct(...correction) {
    this.set({ data: { corrections: corrected(this.scenario.data.corrections, ...correction) } });
  }

  /** @param {number} pair */
  numberOf(pair) {
    return this.numbers[pair] ?? pair + 1;
  }

  /**
   * The place of the last step of this name before another step, −1 if there is none.
   * @param {string} name
   */
  stepNamed(name, before = Infinity) {
    return this.picture?.steps.slice(0, before).findLastIndex((step) => step.name === name) ?? -1;
  }

  /** @param {number} step */
  goTo(step) {
    this.set({ view: { step, colour_range: null } }, { announce: false });
  }
}

export default () => new ExplorePage();
