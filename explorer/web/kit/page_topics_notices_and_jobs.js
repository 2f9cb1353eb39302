// The topics that the parts of a page publish and follow, and the long work that it asks its server for.
import { pause } from "./server.js";
import { signal } from "./vendor/preact/signals-core.js";

// Jobs are followed and cancelled by name; nobody should guess another's.
const TAB = crypto.getRandomValues(new Uint32Array(4)).join("");
let jobs = 0;
const SILENCE_MS = 10_000; // a job that was not heard of for so long may be gone

/**
 * What the state of every page has: topics and their listeners, what went wrong, what is under way. `topics` are those
 * that a part which joins late must hear of.
 */
export class PageEvents {
  /** @param {string[]} topics */
  constructor(topics = ["state", "problem"]) {
    this.topics = topics;
    /** @type {Map<string, Set<(page: this) => void>>} */
    this.listeners = new Map();
    /** @type {Map<string, import("./vendor/preact/signals-core.js").Signal<number>>} */
    this.publications = new Map(); // of each topic, how often it was published
    /** @type {import("./types").Notice | null} */
    this.problem = null;
    /** @type {import("./types").Notice | null} */
    this.notice = null;
    /** @type {import("./types").Remedy[]} */
    this.remedies = [];
    /** @type {Map<string, { server: any, since: number, heard: number }>} */
    this.jobs = new Map();
    /** @type {import("../wire").Progress | null} */
    this.progress = null;
    /** @type {Set<object>} */
    this.busyWith = new Set(); // what is under way, of which several may be at a time
    this.tooLong = false; // whether the state is too much for an address
    this.leavesOut = false; // whether the address leaves out secrets that stand in texts
    this.following = false;
  }

  /** @type {(topic: string, listener: (page: this) => void) => void} */
  on(topic, listener) {
    const known = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, known.add(listener));
  }

  /**
   * Let an instrument listen, and tell it at once what was published before it came.
   * @param {() => void} build
   */
  join(build) {
    const before = new Map([...this.listeners].map(([topic, all]) => [topic, new Set(all)]));
    build();
    for (const topic of this.topics) {
      if (!this.publicationsOf(topic).value) continue;
      for (const listener of this.listeners.get(topic) ?? []) {
        if (!before.get(topic)?.has(listener)) listener(this);
      }
    }
  }

  /**
   * What stands after the "#" of an address that somebody else can open; null where that was
   * refused, and reported.
   * @returns {Promise<string | null>}
   */
  async readableLink() {
    return location.hash.slice(1);
  }

  /** Whether what its link says holds no text of the reader's, so that a server may read it. */
  isPublic() {
    return false;
  }

  /** What stands after the "#" of Compare's address, so that it begins with the batch that is here. */
  comparedLink() {
    return location.hash && `scene=${location.hash.slice(1)}`;
  }

  /** @param {string} topic */
  publicationsOf(topic) {
    const known = this.publications.get(topic) ?? signal(0);
    this.publications.set(topic, known);
    return known;
  }

  /**
   * Draw the component that calls this again whenever one of these topics is published.
   * @param {...string} topics
   */
  observe(...topics) {
    return topics.map((topic) => this.publicationsOf(topic).value);
  }

  /** @param {string} topic */
  publish(topic) {
    this.publicationsOf(topic).value += 1;
    for (const listener of this.listeners.get(topic) ?? []) listener(this);
  }

  /** @param {import("./types").Notice | null} error */
  fail(error) {
    this.problem = error;
    this.publish("problem");
  }

  /**
   * A notice does not make the picture stale, and goes with the next change.
   * @param {import("./types").Notice | null} notice
   */
  warn(notice) {
    if (this.notice === notice) return;
    this.notice = notice;
    this.publish("problem");
  }

  get busy() {
    return this.busyWith.size > 0;
  }

  /** @type {(work: object, isUnderWay: boolean) => void} The page is busy as long as any work is under way. */
  setBusy(work, isUnderWay) {
    const { busy } = this;
    if (isUnderWay) this.busyWith.add(work);
    else this.busyWith.delete(work);
    if (this.busy !== busy) this.publish("busy");
  }

  /**
   * A question that may take long. Meanwhile `progress` says how far it has come, and cancel()
   * ends it; `server` needs the functions of `JOBS` for that. Undefined is the answer to a
   * question that was cancelled.
   * @template Server
   * @template {keyof Server & string} Name
   * @param {Server} server
   * @param {Name} name
   * @param {object} request
   * @returns {Promise<import("./types").AnswerOf<Server[Name]>>}
   */
  async work(server, name, request) {
    jobs += 1;
    const job = `${TAB}.${jobs}`;
    const entry = { server, since: Date.now(), heard: 0 };
    this.jobs.set(job, entry);
    this.follow();
    const alive = () => Date.now() - entry.heard < SILENCE_MS;
    const answer = await /** @type {any} */ (server)[name]({ ...request, job }, { alive });
    const wanted = this.jobs.delete(job);
    if (!this.jobs.size) this.setProgress(null);
    return wanted ? answer : /** @type {any} */ (undefined);
  }

  async follow() {
    if (this.following) return;
    this.following = true;
    for (; this.jobs.size; await pause(250)) {
      for (const [job, entry] of [...this.jobs]) {
        if (Date.now() - entry.since < 300) continue;
        const answer = await entry.server.look(job);
        if (!answer?.job?.what || !this.jobs.has(job)) continue;
        entry.heard = Date.now();
        this.setProgress(answer.job);
        break;
      }
    }
    this.following = false;
  }

  /** @param {import("../wire").Progress | null} progress */
  setProgress(progress) {
    if (this.progress === progress) return;
    this.progress = progress;
    this.publish("progress");
  }

  // The server stops between two batches; what it finished before is kept there.
  cancel() {
    for (const [job, { server }] of this.jobs) server.cancel(job);
    this.jobs.clear();
    this.setProgress(null);
  }
}
