// Asking the server: debounced, with a timeout, cancelled and retried, and the last question wins. Every
// request has a deadline, can be given up, and a late answer never takes the place of a newer one.

const DEADLINE_MS = 300_000;
const POLL_MS = 200;
export const RETRY_MS = 2000; // after which a server that was gone is asked again

/**
 * The problem to show when no answer comes.
 * @type {import("../wire").Problem}
 */
export const GONE = { key: "ui.server_gone", about: "again", values: {} };

/**
 * The answer to one request, or GONE as its problem: where it failed, where the connection is gone, or where
 * none came in time. `alive()` says whether there is still a sign of life, which puts the deadline off.
 * @template Answer
 * @param {Promise<Answer>} promise
 * @param {{ deadline?: number, alive?: () => boolean }} [options]
 * @returns {Promise<Answer | { error: import("../wire").Problem }>}
 */
export async function answerTo(promise, { deadline = DEADLINE_MS, alive = () => false } = {}) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {Promise<{ error: import("../wire").Problem }>} */
  const late = new Promise((done) => {
    const check = () => {
      if (alive()) timer = setTimeout(check, deadline);
      else done({ error: GONE });
    };
    timer = setTimeout(check, deadline);
  });
  try {
    return await Promise.race([promise, late]);
  } catch {
    return { error: GONE };
  } finally {
    clearTimeout(timer);
  }
}

/** @type {(answer: { working?: unknown }) => number | null} For `again`: while the server is at work on the answer. */
export const whileWorking = ({ working }) => (working ? POLL_MS : null);

/**
 * A question that is asked again whenever what it is about has changed: the newest question always
 * reaches the server, and an answer is taken only while nothing newer has been.
 * @template Answer
 */
export class Requests {
  /**
   * `ask()` puts the question as things stand and promises the answer; `take(answer)` uses it. At
   * most `most` are under way at a time; the question after those waits, and takes the answers
   * before it only with `between`. `debounce`: so many milliseconds without another question go first.
   * Where `again(answer)` is a number, the answer only says how far the work is: `progress(answer)`
   * hears of it, and the same is asked again after so many milliseconds. `changed()` hears of starts
   * and ends.
   * @param {{ ask: () => Promise<Answer>, take: (answer: Answer) => void, most?: number,
   *   between?: boolean, debounce?: number, again?: (answer: Answer) => number | null,
   *   progress?: (answer: Answer) => void, changed?: () => void }} options
   */
  constructor({
    ask,
    take,
    most = 1,
    between = false,
    debounce = 0,
    again = () => null,
    progress = () => {},
    changed = () => {},
  }) {
    this.question = ask;
    this.take = take;
    this.most = most;
    this.between = between;
    this.debounce = debounce;
    this.again = again;
    this.progress = progress;
    this.changed = changed;
    this.turn = 0; // of the newest question
    this.taken = 0; // of the newest answer that was taken
    /** @type {Set<number>} */
    this.awaited = new Set();
    this.waiting = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  get flying() {
    return this.awaited.size;
  }
  get newest() {
    return this.turn;
  }
  // Whether a question is to go once nothing else has been asked for a while.
  get due() {
    return this.timer !== undefined;
  }

  ask() {
    clearTimeout(this.timer);
    if (this.debounce) this.timer = setTimeout(() => this.send(), this.debounce);
    else this.send();
  }

  async send() {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.flying >= this.most) {
      this.waiting = true;
      return;
    }
    this.waiting = false;
    this.turn += 1;
    const { turn } = this;
    this.awaited.add(turn);
    this.changed();
    const answer = await this.question();
    if (!this.awaited.delete(turn)) return; // it was given up
    if (!this.waiting || this.between) this.hear(turn, answer);
    this.changed();
    if (this.waiting) this.send();
  }

  /** @type {(turn: number, answer: Answer) => void} */
  hear(turn, answer) {
    if (turn <= this.taken) return;
    const wait = this.again(answer);
    if (wait === null) {
      this.taken = turn;
      this.take(answer);
    } else if (turn === this.turn) {
      this.progress(answer);
      this.timer = setTimeout(() => this.send(), wait);
    }
  }

  // Nobody waits any longer for what is under way.
  drop() {
    clearTimeout(this.timer);
    this.awaited.clear();
    this.turn += 1;
    this.taken = this.turn;
    this.waiting = false;
    this.changed();
  }
}

/**
 * Questions that differ, of which the newest alone counts: `ask(question)` promises its answer, and what
 * was asked before is given up. The promise of a question that was given up is never kept: what follows
 * its `await` is not done.
 * @returns {<Answer>(question: () => Promise<Answer>) => Promise<Answer>}
 */
export function newestOf() {
  /** @type {() => Promise<any>} */
  let question;
  /** @type {(answer: any) => void} */
  let hear;
  const requests = new Requests({ ask: () => question(), take: (answer) => hear(answer) });
  return (next) =>
    new Promise((done) => {
      requests.drop();
      [question, hear] = [next, done];
      requests.ask();
    });
}
