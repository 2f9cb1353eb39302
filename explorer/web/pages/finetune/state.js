// The state of the Fine-tune page: the plan that is being made, the runs there are, those that are
// shown, and what their logs have told so far.
import { Bus } from "../../kit/bus.js";
import { History } from "../../kit/history.js";
import * as link from "../../kit/link.js";
import { pageData } from "../../kit/page_data.js";
import { Requests } from "../../kit/request.js";
import { wholeLink } from "../../kit/scene_links.js";
import { GONE } from "../../kit/server.js";
import { store as keep, stored } from "../../kit/storage.js";
import { Store } from "../../kit/store.js";
import { carriedOver, learn, withoutBlanks } from "../../kit/sums.js";
import { say } from "../../kit/words.js";
import { apart } from "./naming.js";
import { ProbeScene } from "./probe_scene.js";
import { absorb, emptyTrace } from "./traces.js";

/** @typedef {import("../../wire").FinetuneServer} FinetuneServer */
/** @typedef {import("../../wire").RunStatus} RunStatus */
/** @typedef {import("../../wire").TrainingPlan} Plan */
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
 *   Promise<import("../../kit/types").Answer<import("../../wire").FinetuneServer, "figure"> | null> | undefined }} Figure
 */
/** @typedef {ReturnType<typeof import("../../kit/figure_choices.js").figureLook>} Look
 */
/** @typedef {{ losses: string[], origin: string }} Caption */

/**
 * Runs that differ in nothing but their seed: `name` tells them apart from the others, `label` says also
 * of how many seeds they are, or of which.
 * @typedef {{ plan: Plan, names: string[], colour: string, name: string, label: string }} RunGroup
 */

/** @typedef {{ began: number, list: boolean, answer: Answer<"watch"> | null | undefined }} ToldLogs */

const LIVE = new Set(["queued", "loading", "training", "paused", "saving"]);
const LIVE_MS = 200,
  LIST_MS = 1500,
  SETTLED_MS = 250;
const MOST_SHOWN = 24;
const MOST_KNOWN = 200;
const COLOURS = ["accent", "up", "floor", "collapse", "down", "faint"];

// The runs that this browser began or looked at.
const known = () => (stored("runs") ?? "").split(",").filter(Boolean);
/** @param {string[]} names */
const know = (names) => keep("runs", [...new Set([...names, ...known()])].slice(0, MOST_KNOWN).join(","));

/**
 * A loss and a data set in an address, as another page writes them: an example by its name, a file that the
 * server has, or the link of a scene.
 * @param {string} text
 * @returns {PlanChange | null}
 */
function broughtIn(text) {
  const said = new URLSearchParams(text);
  const loss = lossIn(text);
  if (!loss || !Object.hasOwn(pageData.losses, loss)) return null;
  const of = { loss, convention: "", parameters: {} };
  const [example, file, scene] = ["example", "file", "link"].map((name) => said.get(name));
  if (example) {
    const isPractice = pageData.finetune.practice.includes(example);
    return { ...of, data: isPractice ? { source: "practice", practice: example } : { source: "example", example } };
  }
  if (file) {
    const columns = Object.fromEntries(
      [...said].filter(([key]) => key.startsWith("c.")).map(([key, column]) => [key.slice(2), column]),
    );
    const known = { file, name: said.get("name") ?? "", encoding: said.get("encoding") ?? "" };
    return { ...of, data: { source: "file", ...known, columns, alternatives: [] } };
  }
  return scene ? { ...of, data: { source: "link", link: wholeLink(scene) } } : null;
}

/** @param {string} text */
const lossIn = (text) => withoutBlanks(new URLSearchParams(text).get("loss") ?? "");

export class FinetunePage extends Bus {
  constructor() {
    super(["plan", "checked", "runs", "shown", "run", "at", "probe", "problem"]);
    this.store = new Store(pageData.finetune.table);
    this.store.update(this.draft());
    /** @type {import("../../kit/types").Asking<FinetuneServer> | null} */
    this.server = null;
    /** @type {RunStatus[]} */
    this.runs = [];
    /** @type {string[]} */
    this.order = []; // the shown runs as they came, so that each keeps its colour whichever is first
    /** @type {Answer<"check"> | null} */
    this.checked = null; // what the server finds in the plan
    /** @type {Map<string, import("./traces.js").Trace>} */
    this.traces = new Map();
    this.probe = new ProbeScene(
      async (request) => (await this.server?.probe(request)) ?? null,
      () => this.publish("probe"),
    );
    /** @type {Figure[]} */
    this.charts = []; // what can be taken away as figures: charts, and drawings of one moment
    /** @type {Figure[]} */
    this.stills = [];
    /** @type {Map<string, import("../../wire").Gain>} */
    /** @type {string[] | null} */
    this.verdict = null; // how the shown runs came out, in sentences
    /** @type {History | null} */
    this.history = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {Requests<Answer<"check">>} */
    this.checks = new Requests({
      debounce: SETTLED_MS,
      ask: async () => (await this.server?.check({ plan: this.plan })) ?? { error: GONE },
      take: (answer) => {
        this.checked = answer;
        this.publish("checked");
      },
    });
    /** @type {Requests<ToldLogs>} */
    this.logs = new Requests({ between: true, ask: () => this.readLogs(), take: (told) => this.hearLogs(told) });
    this.listed = 0;
    this.arrived = false;
  }

  /** @param {import("../../kit/types").Asking<FinetuneServer>} server */
  async connect(server) {
    this.server = server;
    const { before, after } = this.beside;
    await this.learn([this.plan, ...before, ...after]);
    this.history = new History({
      store: this.store,
      write: () => ({ text: link.written(this.store) }),
      open: (text) => this.open(text),
    });
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
    const data = broughtIn(text);
    if (!data) {
      this.show(link.read(this.store.table, text).shown.slice(0, MOST_SHOWN));
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
   * The answer, or null once the page has said what went wrong.
   * @template {{ error?: import("../../wire").Problem }} Found
   * @param {Promise<Found | null> | undefined} answering
   */
  async heard(answering) {
    const answer = await answering;
    if (answer && !answer.error) return answer;
    this.warn(answer?.error ?? GONE);
    return null;
  }

  // ---- The plan ----------------------------------------------------------------------------

  // What was chosen last is still there after a reload, and on coming back from another page.
  draft() {
    let kept = null;
    try {
      kept = JSON.parse(stored("finetune") ?? "null");
    } catch {
      /* not one of ours */
    }
    return this.store.known({ plan: kept?.plan ?? {}, beside: kept?.beside ?? {} });
  }

  check() {
    this.checks.ask();
  }

  /**
   * Every change of what is chosen is kept.
   * @param {{ plan?: PlanChange, beside?: Partial<Beside> }} patch
   */
  choose(patch) {
    this.store.update(patch);
    keep("finetune", JSON.stringify({ plan: this.plan, beside: this.beside }));
  }

  /**
   * What is being typed is kept, and looked into once it is whole.
   * @param {PlanChange} plan
   */
  note(plan) {
    this.choose({ plan });
  }

  /** @param {Partial<Beside>} beside */
  setBeside(beside) {
    this.choose({ beside });
  }

  /** @param {PlanChange} plan */
  setPlan(plan) {
    this.note(plan);
    this.warn(null);
    this.publish("plan");
    this.check();
  }

  /**
   * The sums among these losses are told by the server before they are shown.
   * @param {{ loss?: string }[]} forms
   */
  async learn(forms) {
    await learn(
      this.server?.loss,
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

  // What the log of a shown run has told so far: the first one's if none is named.
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

  /** @returns {Promise<ToldLogs>} */
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
    const answer = await this.server?.watch({ offsets, list });
    const told = [...Object.values(answer?.runs ?? {}), ...(answer?.listed ?? [])];
    await this.learn(told.map(({ plan }) => plan ?? {}));
    return { began, list, answer };
  }

  /** @param {ToldLogs} told */
  hearLogs({ began, list, answer }) {
    if (answer?.runs) this.takeLogs(answer, list);
    else if (answer !== undefined) this.fail(answer?.error ?? GONE);
    const live = !this.problem && this.shown.some((name) => !this.traces.get(name)?.done);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tick(), Math.max(0, (live ? LIVE_MS : LIST_MS) - (Date.now() - began)));
  }

  /**
   * @param {import("../../wire").Watched} answer
   * @param {boolean} list
   */
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
    if (!this.arrived) this.welcomeBack();
    this.arrived = true;
  }

  // Whoever comes without an address while a run of theirs is under way finds it.
  welcomeBack() {
    const mine = this.runs.find(({ id, state }) => LIVE.has(state) && known().includes(id));
    if (mine && !this.shown.length) this.show([mine.id]);
  }

  // ---- What is shown -----------------------------------------------------------------------

  /** @param {string[]} names */
  show(names) {
    if (String(names) === String(this.shown)) return;
    if (names[0] !== this.shown[0]) this.look(null);
    know(names);
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

  /**
   * Look at this run; the others stay laid over it.
   * @param {string} name
   */
  first(name) {
    this.show([name, ...this.shown.filter((other) => other !== name)]);
  }

  /** @param {string} name */
  toggle(name) {
    const others = this.shown.filter((other) => other !== name);
    this.show(others.length < this.shown.length ? others : [...this.shown, name].slice(-MOST_SHOWN));
  }

  /** @param {number | null} at */
  look(at) {
    const { changed } = this.store.update({ at });
    if (changed.length) this.publish("at");
  }

  // ---- Runs that begin and end ---------------------------------------------------------------

  /** @param {Promise<Answer<"start"> | null> | undefined} starting */
  async queue(starting) {
    const answer = await this.heard(starting);
    if (!answer?.started) return;
    this.warn(null);
    this.listed = 0;
    know(answer.started);
    this.show(answer.started.slice(0, MOST_SHOWN));
  }

  /** @param {PagePlan} plan */
  repeat(plan) {
    return this.queue(this.server?.repeat({ plan }));
  }

  /**
   * Short runs at several values of a parameter.
   * @param {PagePlan} plan
   * @param {string} parameter
   */
  tryValues(plan, parameter) {
    return this.queue(this.server?.trials({ plan, parameter }));
  }

  // Of a page that strangers share, others may read the runs whose link was copied, and no more.
  async readableScene() {
    if (!pageData.hosted || !this.shown.length) return super.readableScene();
    const answer = await this.heard(this.server?.share({ runs: this.shown }));
    for (const name of this.shown) this.askAgain(name); // that it is shared now
    return answer?.runs?.join(",") ?? null;
  }

  /** @param {PagePlan[]} plans */
  start(plans) {
    return this.queue(this.server?.start({ plans }));
  }

  /**
   * @param {string} what
   * @param {string} name
   */
  async steer(what, name) {
    const answer = await this.heard(this.server?.steer({ run: name, what }));
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

  /**
   * The shown runs, a colour for each group.
   * @returns {RunGroup[]}
   */
  groups() {
    /** @type {Map<string, { plan: Plan, names: string[], colour: string }>} */
    const found = new Map();
    for (const name of this.order) {
      const plan = this.traces.get(name)?.about?.plan;
      if (!plan) continue;
      const key = JSON.stringify({ ...plan, seed: 0 });
      const group = found.get(key) ?? { plan, names: [], colour: COLOURS[found.size % COLOURS.length] };
      group.names.push(name);
      found.set(key, group);
    }
    const all = [...found.values()];
    const seeds = new Set(all.map(({ plan }) => plan.seed));
    const called = apart(all.map(({ plan }) => plan));
    return all.map((group, place) => {
      const { plan, names } = group;
      const seed =
        names.length > 1
          ? say("finetune.mean_of", { count: names.length })
          : seeds.size > 1
            ? say("finetune.seed_is", { seed: plan.seed })
            : "";
      const name = called[place];
      return { ...group, name, label: [name, seed].filter(Boolean).join(" · ") };
    });
  }
}

export default () => new FinetunePage();
