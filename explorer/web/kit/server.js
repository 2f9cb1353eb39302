// The functions that an instrument calls on the server.
import { answerTo } from "./request.js";
import { say } from "./words.js";

/**
 * What is said when no answer comes.
 * @type {import("../wire").Problem}
 */
export const GONE = { key: "ui.server_gone", about: "again", values: {} };

/**
 * What is found wrong before the server is asked, as the server would say it (runtime/problem.py).
 * @param {string} key
 * @param {import("../wire").Problem["values"]} values
 * @param {import("../wire").Problem["about"]} about
 * @returns {import("../wire").Problem}
 */
export const problem = (key, values = {}, about = "") => ({ key: `problem.${key}`, about, values });

/** @param {number} ms */
export const pause = (ms) =>
  new Promise((done) => {
    setTimeout(done, ms);
  });

/**
 * What the reader agreed to on this page, by name: how many MiB of a model may be fetched, or 1 for a Python
 * file that may be run. What was refused is not asked again.
 * @type {Map<string, number>}
 */
const leave = new Map();
/** @type {Set<string>} */
const refused = new Set();
const TYPED_MIB = 2048;

/**
 * Agree to fetch a model whose name the reader typed.
 * @param {string} name
 */
export function agree(name) {
  if (name.trim()) leave.set(name.trim(), Math.max(leave.get(name.trim()) ?? 0, TYPED_MIB));
}

/**
 * The answer to a request. Where the server needs leave first, since a link or a folder may be somebody else's,
 * the reader is asked, and with their leave the same is requested again.
 * @param {(asked: unknown) => Promise<any>} call
 * @param {unknown} asked
 */
async function agreed(call, asked) {
  for (;;) {
    const isObject = typeof asked === "object" && asked !== null && !Array.isArray(asked);
    const sent = Object.fromEntries(leave);
    const answer = await call(isObject && leave.size ? { .../** @type {object} */ (asked), leave: sent } : asked);
    const error = answer?.error;
    if (error?.about !== "leave" || !isObject) return answer;
    const { name, mib } = /** @type {{ name: string, mib?: number }} */ (error.values);
    const question = `${name} ${mib ?? ""}`;
    if (refused.has(question)) return answer;
    if ((leave.get(name) ?? 0) > (sent[name] ?? 0)) continue; // agreed to meanwhile
    if (!window.confirm(say(error.key, error.values))) {
      refused.add(question);
      return answer;
    }
    leave.set(name, mib ?? 0.01);
  }
}

/**
 * Each function promises its answer, or null; see `answerTo`, whose options come second.
 * @template {object} Server
 * @param {Server | undefined} server
 * @returns {import("./types").Asking<Server>}
 */
export const calm = (server) =>
  new Proxy(/** @type {any} */ (server ?? {}), {
    get(functions, name) {
      const call = functions[name];
      return (/** @type {unknown} */ asked, /** @type {object | undefined} */ options) =>
        answerTo(agreed(call, asked), options);
    },
  });
