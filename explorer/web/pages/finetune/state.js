// The state of the Fine-tune page: the plan that is being made, the runs there are, those that are
// shown, and their logs so far.
import { History } from "../../kit/browser_history.js";
import { carriedOver, learn } from "../../kit/combined_loss_names_and_parts.js";
import { pageData } from "../../kit/page_data.js";
import { PageEvents } from "../../kit/page_topics_notices_and_jobs.js";
import { exampleInLanguage } from "../../kit/replacement_example_for_language.js";
import { Requests } from "../../kit/request_scheduling.js";
import * as link from "../../kit/state_link.js";
import { Store } from "../../kit/state_store.js";
import { store as keep, stored } from "../../kit/storage.js";
import { Comparison } from "./comparison_of_runs_on_held_out_or_own_pairs.js";
import { lossIn, planIn } from "./incoming_link.js";
import { PlanFiles } from "./plan_data_files_state.js";
import { ProbeView } from "./probe_view_state.js";
import { absorb, emptyTrace } from "./run_log_data.js";
import { groupsOf } from "./seed_groups.js";

/** @typedef {import("../../wire").FinetuneServer} FinetuneServer */
/** @typedef {import("../../wire").RunStatus} RunStatus */
/** @typedef {import("../../wire").RecordedPlan} Plan */
/**
 * @template {keyof FinetuneServer} Name
 * @typedef {import("../../kit/types").Answer<FinetuneServer, Name>} Answer
 */

/**
 * The data of the plan in the controls, with what the page alone has a name for.
 * @typedef {Omit<Plan["data"], "columns"> & { columns: Record<string, string> | never[], practice: string,
 *   link: string }} PageData
 */
/** @typedef {Omit<Plan, "data"> & { data: PageData }} PagePlan */
/** @typedef {Partial<Omit<PagePlan, "data">> & { data?: Partial<PageData> }} PlanChange */
/** @typedef {{ loss: string, convention: string, parameters: Plan["parameters"] }} Form a loss as it is chosen */

/**
 * Beside the plan: the losses to train before and after its own, the seeds of each, and what was chosen
 * where the plan now says something else.
 * @typedef {{ before: Form[], after: Form[], seeds: number, model: string, ready: string }} Beside
 */

/**
 * A figure that can be taken away; `step` is the one it is drawn for, where it is one moment's.
 * @typedef {{ key: string, name: string, element: HTMLElement, title?: () => string, step?: () => number,
 *   chart?: (caption: Caption) => object, file?: (caption: Caption, look: Look) =>
 *   Promise<import("../../kit/types").Answer<import("../../wire").FinetuneServer, "figure">> }} Figure
 */
/** @typedef {ReturnType<typeof import("../../kit/figure_export_options.js").figureLook>} Look
 */
/** @typedef {{ losses: string[], origin: string }} Caption */

/** @typedef {{ began: number, list: boolean, answer: Answer<"watch"> | undefined }} ReadLogs */
/** @typedef {import("../../wire").Remarked} Remarks */

const LIVE = new Set(["queued", "loading", "training", "paused", "saving"]);
const LIVE_MS = 200,
  LIST_MS = 1500,
  SETTLED_MS = 250;
const MAX_SHOWN_RUNS = 24;
const MAX_REMEMBERED_RUNS = 200;

// The runs that this browser began or looked at.
const rememberedRuns = () => (stored("runs") ?? "").split(",").filter(Boolean);
/** @param {string[]} names */
const rememberRuns = (names) =>
  keep("runs", [...new Set([...names, ...rememberedRuns()])].slice(0, MAX_REMEMBERED_RUNS).join(","));

/** @type {Remarks} */
const NO_REMARKS = { remarks: [] };

export class FinetunePage extends PageEvents {
  constructor() {
    super(["plan", "checked", "runs", "shown", "run", "at", "probe", "problem"]);
    this.store = new Store(pageData.finetune.table);
    const practice = exampleInLanguage(this.plan.data.practice);
    this.store.update({ plan: { data: { practice } }, beside: { ready: practice } });
    this.store.update(this.draft());
    /** @type {import("../../kit/types").Asking<FinetuneServer>} */
    this.server = /** @type {any} */ (null); // until the page is connected
    /** @type {RunStatus[]} */
    this.runs = [];
    /** @type {string[]} */
    this.order = []; // the shown runs as they came, so that each keeps its colour whichever is first
    /** @type {Answer<"check"> | null} */
    this.checked = null; // what the server finds in the plan
    /** @type {Map<string, import("./run_log_data.js").Trace>} */
    this.traces = new Map();
    this.probe = new ProbeView(
      (request) => this.server.probe(request),
      () => this.publish("probe"),
    );
    /** @type {Map<string, Figure & { update: import("../../kit/line_chart.js").LineChart["update"] }>} */
    this.charts = new Map(); // what can be taken away as figures: charts, and drawings of one moment
    /** @type {Map<string, Figure>} */
    this.drawings = new Map();
    this.files = new PlanFiles(this);
    this.comparison = new Comparison(this); // of the runs that are shown
    this.isStarting = false;
    this.remarks = NO_REMARKS; // of the run that is looked at
    this.remarked = ""; // the run and how far it was when it was asked about
    /** @type {Requests<{ id: string, answer: Answer<"remark"> | null }>} */
    this.remarking = new Requests({ ask: () => this.askRemarks(), take: (found) => this.takeRemarks(found) });
    /** @type {History | null} */
    this.history = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {Requests<Answer<"check">>} */
    this.checks = new Requests({
      debounce: SETTLED_MS,
      ask: () => this.server.check({ plan: this.plan }),
      take: (answer) => {
        this.checked = answer;
        this.publish("checked");
      },
    });
    /** @type {Requests<ReadLogs>} */
    this.logs = new Requests({ between: true, ask: () => this.readLogs(), take: (read) => this.takeRead(read) });
    this.listed = 0;
    this.arrived = false;
  }

  /** @param {import("../../kit/types").Asking<FinetuneServer>} server */
  async connect(server) {
    this.server = server;
    for (const topic of ["run", "shown"]) {
      this.on(topic, () => this.remark());
      this.on(topic, () => this.comparison.ask());
    }
    const { before, after } = this.beside;
    await this.learn([this.plan, ...before, ...after]);
    this.history = new History({ store: this.store, open: (text) => this.open(text) });
    this.publish("plan");
    this.check();
    this.publish("shown");
    this.history.revisit();
    this.tick();
  }

  /**
   * Names of runs, or a loss with the data that another page brings for it, which becomes the plan.
   * @param {string} text
   */
  async open(text) {
    await this.learn([{ loss: lossIn(text) }]);
    const data = planIn(text);
    if (!data) {
      this.show(link.read(this.store.table, text).shown.slice(0, MAX_SHOWN_RUNS));
      return true;
    }
    await this.takeOver(data);
    this.history?.remember();
    return false;
  }

  /** @returns {PagePlan} */
  get plan() {
    return this.store.state.plan;
  }
  /** @returns {Beside} */
  get beside() {
    return this.store.state.beside;
  }
  /**
   * Names of runs: the first is looked at, the others are laid over it.
   * @returns {string[]}
   */
  get shown() {
    return this.store.state.shown;
  }
  /**
   * The recorded step that is looked at; null follows the run.
   * @returns {number | null}
   */
  get at() {
    return this.store.state.at;
  }

  /**
   * The answer, or null once the page shows what went wrong.
   * @template {{ error?: import("../../wire").Problem }} Found
   * @param {Promise<Found> | undefined} answering
   */
  async answered(answering) {
    const answer = await answering;
    if (answer?.error) this.warn(answer.error);
    return answer && !answer.error ? answer : null;
  }

  // ---- The plan ----------------------------------------------------------------------------

  // What was chosen last is still there after a reload, and on coming back from another page.
  draft() {
    let last = null;
    try {
      last = JSON.parse(stored("finetune") ?? "null");
    } catch {
      /* not one of ours */
    }
    return this.store.known({ plan: last?.plan ?? {}, beside: last?.beside ?? {} });
  }

  check() {
    this.checks.ask();
  }

  /**
   * Every change of what is chosen is stored, with the example and the model that were chosen last.
   * @param {{ plan?: PlanChange, beside?: Partial<Beside> }} patch
   */
  choose(patch) {
    this.store.update(patch);
    const { data, encoder } = this.plan;
    if (data.source === "practice") this.store.update({ beside: { ready: data.practice } });
    if (data.source === "example") this.store.update({ beside: { ready: data.example } });
    const { embedded, scratch } = pageData.finetune;
    if (![embedded, scratch].includes(encoder)) this.store.update({ beside: { model: encoder } });
    keep("finetune", JSON.stringify({ plan: this.plan, beside: this.beside }));
  }

  /** @type {(plan: PlanChange) => void} What is being typed is kept, and looked into once it is whole. */
  note(plan) {
    this.choose({ plan });
  }

  /** @param {Partial<Beside>} beside */
  setBeside(beside) {
    this.choose({ beside });
    this.publish("beside");
  }

  // The losses to be trained: the one in the controls is the plan's, some stand before it and some after.
  chosenForms() {
    const { loss, convention, parameters } = this.plan;
    return [...this.beside.before, { loss, convention, parameters }, ...this.beside.after];
  }

  distinctForms() {
    return [...new Map(this.chosenForms().map((form) => [JSON.stringify(form), form])).values()];
  }

  /**
   * Choose these losses, of which the one at a place (the last) comes into the controls.
   * @param {Form[]} all
   */
  putForms(all, at = all.length - 1) {
    this.choose({ beside: { before: all.slice(0, at), after: all.slice(at + 1) } });
    this.setPlan(all[at]);
  }

  /** @type {(problem: { about?: string }) => string} Where a problem of the plan can be put right. */
  placeOf({ about = "" }) {
    const place = about === "scores" ? "loss" : about;
    return ["encoder", "guide", "teacher", "loss"].includes(place) ? place : "data";
  }

  /**
   * What the server found wrong at a place of the plan.
   * @param {string} place
   */
  problemAt(place) {
    const error = this.checked?.error;
    return error && this.placeOf(error) === place ? error : null;
  }

  /** @param {PlanChange} plan */
  setPlan(plan) {
    this.note(plan);
    this.warn(null);
    this.publish("plan");
    this.check();
  }

  /**
   * The sums among these losses are requested from the server before they are shown.
   * @param {{ loss?: string }[]} forms
   */
  async learn(forms) {
    await learn(
      this.server.loss,
      forms.map(({ loss = "" }) => loss),
    );
  }

  /**
   * A loss that was made of the one of the plan, or of which that was made, with what was chosen for either.
   * @param {string} loss
   */
  async combine(loss) {
    await this.learn([{ loss }]);
    const { loss: before, parameters } = this.plan;
    this.setPlan({ loss, convention: "", parameters: carriedOver(before, parameters, loss) });
  }

  /**
   * The settings of a run, to be tried with a change. Its data too, where the page can name them.
   * @param {Plan} plan
   */
  reuse({ data, ...plan }) {
    const source = pageData.finetune.practice.includes(data.name)
      ? { source: "practice", practice: data.name }
      : ["example", "hub"].includes(data.source)
        ? { source: data.source, example: data.example, hub: data.hub, split: data.split }
        : {};
    const { held_out_share: share, augment } = data;
    return this.takeOver({ ...plan, data: { ...source, held_out_share: share, augment } });
  }

  /**
   * A whole plan from elsewhere on the page comes into the controls, and is seen to.
   * @param {PlanChange} plan
   */
  async takeOver(plan) {
    await this.learn([plan]);
    this.setPlan(this.store.known({ plan }).plan);
    this.publish("taken");
  }

  // ---- The logs ----------------------------------------------------------------------------

  // The log of a shown run so far: the first one's if none is named.
  trace(name = this.shown[0]) {
    return this.traces.get(name);
  }

  /** @param {Pick<RunStatus, "state">} run */
  isLive({ state }) {
    return LIVE.has(state);
  }

  tick() {
    clearTimeout(this.timer);
    this.logs.ask();
  }

  /** @returns {Promise<ReadLogs>} */
  async readLogs() {
    const began = Date.now();
    const list = began - this.listed > LIST_MS;
    // A run that waits for its turn has nothing new to tell each time.
    const wanted = this.shown.filter((name) => {
      const trace = this.traces.get(name);
      return !trace?.done && (list || trace?.about?.state !== "queued");
    });
    if (!wanted.length && !list) return { began, list, answer: undefined };
    const offsets = Object.fromEntries(wanted.map((name) => [name, this.traces.get(name)?.offset ?? 0]));
    const answer = await this.server.watch({ offsets, list });
    const statuses = [...Object.values(answer.runs ?? {}), ...(answer.listed ?? [])];
    await this.learn(statuses.map(({ plan }) => plan ?? {}));
    return { began, list, answer };
  }

  /** @param {ReadLogs} read */
  takeRead({ began, list, answer }) {
    if (answer?.runs) this.takeLogs(answer, list);
    else if (answer?.error) this.fail(answer.error);
    const live = !this.problem && this.shown.some((name) => !this.traces.get(name)?.done);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tick(), Math.max(0, (live ? LIVE_MS : LIST_MS) - (Date.now() - began)));
  }

  /** @type {(answer: import("../../wire").Watched, list: boolean) => void} */
  takeLogs(answer, list) {
    if (this.problem) this.fail(null);
    for (const [name, status] of Object.entries(answer.runs)) {
      if (status.error) {
        this.warn(status.error);
        this.show(this.shown.filter((other) => other !== name));
        continue;
      }
      if (!this.shown.includes(name)) continue;
      const trace = this.traces.get(name) ?? emptyTrace();
      this.traces.set(name, trace);
      for (const record of status.records) absorb(trace, record);
      trace.offset = status.offset;
      trace.about = status;
      trace.done = !LIVE.has(status.state);
    }
    if (Object.keys(answer.runs).length) this.publish("run");
    if (list && answer.listed) this.takeList(answer.listed);
  }

  /** @param {RunStatus[]} runs */
  takeList(runs) {
    this.listed = Date.now();
    const before = JSON.stringify(this.runs);
    this.runs = runs;
    for (const { id, state } of runs) {
      const trace = this.traces.get(id);
      if (trace?.done && LIVE.has(state)) trace.done = false;
    }
    if (JSON.stringify(runs) !== before) this.publish("runs");
    if (!this.arrived) this.showLiveRun();
    this.arrived = true;
  }

  // Whoever comes without an address while a run of theirs is under way finds it.
  showLiveRun() {
    const mine = this.runs.find(({ id, state }) => LIVE.has(state) && rememberedRuns().includes(id));
    if (mine && !this.shown.length) this.show([mine.id]);
  }

  // ---- What is shown -----------------------------------------------------------------------

  /** @param {string[]} names */
  show(names) {
    if (String(names) === String(this.shown)) return;
    if (names[0] !== this.shown[0]) this.look(null);
    rememberRuns(names);
    this.store.update({ shown: names });
    this.order = [
      ...this.order.filter((name) => names.includes(name)),
      ...names.filter((name) => !this.order.includes(name)),
    ];
    for (const name of this.traces.keys()) if (!names.includes(name)) this.traces.delete(name);
    this.history?.remember(0);
    this.publish("shown");
    this.tick();
  }

  /** @type {(name: string) => void} Look at this run; the others stay laid over it. */
  first(name) {
    this.show([name, ...this.shown.filter((other) => other !== name)]);
  }

  /** @param {string} name */
  toggle(name) {
    const others = this.shown.filter((other) => other !== name);
    this.show(others.length < this.shown.length ? others : [...this.shown, name].slice(-MAX_SHOWN_RUNS));
  }

  /** @param {number | null} at */
  look(at) {
    const { changed } = this.store.update({ at });
    if (changed.length) this.publish("at");
  }

  /**
   * Let a figure be taken away.
   * @template {Figure} One
   * @param {Map<string, One>} figures
   * @param {One} one
   */
  addFigure(figures, one) {
    figures.set(one.name, one);
    this.publish("figures");
  }

  // ---- Runs that begin and end ---------------------------------------------------------------

  /** @param {Promise<Answer<"start">>} starting */
  async queue(starting) {
    const answer = await this.answered(starting);
    if (!answer?.started) return;
    this.warn(null);
    this.listed = 0;
    rememberRuns(answer.started);
    this.show(answer.started.slice(0, MAX_SHOWN_RUNS));
  }

  /** @param {PagePlan} plan */
  repeat(plan) {
    return this.queue(this.server.repeat({ plan }));
  }

  /** @type {(plan: PagePlan, parameter: string) => Promise<void>} Short runs at several values of a parameter. */
  tryValues(plan, parameter) {
    return this.queue(this.server.trials({ plan, parameter }));
  }

  // Of a page that strangers share, others may read the runs whose link was copied, and no more.
  async readableLink() {
    if (!pageData.hosted || !this.shown.length) return super.readableLink();
    const answer = await this.answered(this.server.share({ runs: this.shown }));
    for (const name of this.shown) this.askAgain(name); // that it is shared now
    return answer?.runs?.join(",") ?? null;
  }

  /** @param {PagePlan[]} plans */
  async start(plans) {
    this.setStarting(true);
    this.publish("close_controls");
    await this.queue(this.server.start({ plans }));
    this.setStarting(false);
  }

  /** @param {boolean} isStarting */
  setStarting(isStarting) {
    this.isStarting = isStarting;
    this.publish("starting");
  }

  // Every loss that is chosen, under each of its seeds.
  startChosen() {
    const { plan, beside } = this;
    const seeds = Array.from({ length: beside.seeds }, (_, place) => plan.seed + place);
    this.cancel();
    return this.start(this.distinctForms().flatMap((form) => seeds.map((seed) => ({ ...plan, ...form, seed }))));
  }

  // A run that takes seconds, for a reader who has chosen nothing yet.
  async startQuick() {
    const { quick, practice } = pageData.finetune;
    const { data, ...first } = this.store.usual.plan;
    const { held_out_share, augment } = data;
    const pairs = { source: "practice", practice: exampleInLanguage(practice[0]) };
    await this.takeOver({
      ...first,
      ...quick,
      data: { ...data, ...this.plan.data, held_out_share, augment, ...pairs },
    });
    return this.start([structuredClone(this.plan)]);
  }

  /** @type {(what: string, name: string) => Promise<void>} */
  async steer(what, name) {
    const answer = await this.answered(this.server.steer({ run: name, what }));
    if (!answer) return;
    this.warn(null);
    this.listed = 0;
    if (what === "delete") this.show(this.shown.filter((other) => other !== name));
    this.askAgain(name);
  }

  // How a run is doing, though it may have ended.
  /** @param {string} name */
  askAgain(name) {
    const trace = this.traces.get(name);
    if (trace) trace.done = false;
    this.tick();
  }

  /** The shown runs in groups that differ in their seed alone. */
  groups() {
    return groupsOf(
      this.order.flatMap((name) => {
        const about = this.traces.get(name)?.about;
        return about ? [{ id: name, plan: about.plan }] : [];
      }),
    );
  }

  // ---- What the server says of the run that is looked at ------------------------------------

  // It is asked anew at each evaluation and at the end.
  remark() {
    const trace = this.trace();
    const id = trace?.about?.id;
    const key = `${id}:${trace?.evaluations.length}:${Boolean(trace?.about?.summary)}`;
    if (!id || key === this.remarked) return;
    if (!this.remarked.startsWith(`${id}:`)) this.remarks = NO_REMARKS;
    this.remarked = key;
    this.remarking.ask();
  }

  async askRemarks() {
    const [id] = this.shown;
    return { id, answer: id ? await this.server.remark({ run: id }) : null };
  }

  /** @param {{ id: string, answer: Answer<"remark"> | null }} found */
  takeRemarks({ id, answer }) {
    if (id !== this.shown[0]) return;
    this.remarks = answer?.remarks ? answer : NO_REMARKS;
    this.publish("remarks");
  }
}

export default () => new FinetunePage();
