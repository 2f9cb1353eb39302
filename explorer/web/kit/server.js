// The functions that an instrument calls on the server.
import { confirmed } from "./confirmation.js";
import { answerTo } from "./request_scheduling.js";
import { store, stored } from "./storage.js";
import { wordsFor } from "./words.js";

/**
 * What is found wrong before the server is asked, as the server would say it (runtime/problem.py).
 * @param {string} key
 * @param {import("../wire").Problem["values"]} values
 * @param {import("../wire").Problem["about"]} about
 * @returns {import("../wire").Problem}
 */
export const problem = (key, values = {}, about = "") => ({ key: `problem.${key}`, about, values });

/**
 * The functions that a page may call on the server, by name; each is sent one value and promises the answer.
 * @param {string} folder of the page
 * @param {string[]} names
 */
export function functionsOf(folder, names) {
  /** @param {string} name */
  const named = (name) => async (/** @type {unknown} */ request) => {
    const answer = await fetch(new URL(`../../../requests/${folder}/${name}`, import.meta.url), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(request ?? null),
    });
    const found = await answer.json();
    // What is refused before it is read has a status of its own, and a sentence as any other answer.
    if (!answer.ok && !found.error) throw new Error(`${answer.status} from ${answer.url}`);
    if (found?.error) await wordsFor(found.error.key);
    return found;
  };
  return Object.fromEntries(names.map((name) => [name, named(name)]));
}

/** @param {number} ms */
export const pause = (ms) =>
  new Promise((done) => {
    setTimeout(done, ms);
  });

const LEAVE = "leave";
/**
 * What the reader agreed to in this tab, by name: how many MiB of a model or dataset may be fetched; any number
 * for a folder that may be read or a Python file that may be run. What was refused is not asked again on this page.
 * @type {Map<string, number>}
 */
const leave = new Map(JSON.parse(stored(LEAVE, "sessionStorage") ?? "[]"));
/** @type {Set<string>} */
const refused = new Set();
const TYPED_MIB = 2048;
/** @type {Promise<unknown>} */
let questions = Promise.resolve(); // one stands on the page at a time

/** @type {(name: string) => void} Agree to fetch a model, or to read a folder, whose name the reader typed. */
export function agree(name) {
  if (name.trim()) allow(name.trim(), Math.max(leave.get(name.trim()) ?? 0, TYPED_MIB));
}

/** @type {(name: string, mib: number) => void} */
function allow(name, mib) {
  leave.set(name, mib);
  store(LEAVE, JSON.stringify([...leave]), "sessionStorage");
}

/**
 * The same for a dataset of the hub, with or without its subset (`leave_name` of sources/hub_datasets.py).
 * @param {string} hub
 */
export const agreeToSet = (hub) => agree(`datasets/${hub.split(":")[0].trim()}`);

/**
 * Whether the reader agrees to what a request needs. Requests that need the same ask once.
 * @param {import("../wire").Problem} error
 * @param {number} sent what was agreed to as the request was sent
 */
function agreesTo(error, sent) {
  const { name, mib } = /** @type {{ name: string, mib?: number }} */ (error.values);
  const question = `${name} ${mib ?? ""}`;
  const decide = async () => {
    if (refused.has(question)) return false;
    if ((leave.get(name) ?? 0) > sent) return true; // agreed to meanwhile
    const agreed = await confirmed(error.key, error.values, "ui.allow");
    if (agreed) allow(name, mib ?? 0.01);
    else refused.add(question);
    return agreed;
  };
  const answer = questions.then(decide);
  questions = answer;
  return answer;
}

/**
 * The answer to a request. Where the server needs leave first, since a link or a folder may be somebody else's,
 * the reader is asked, and with their leave the same is requested again.
 * @param {(request: unknown) => Promise<any>} call
 * @param {unknown} request
 */
async function agreed(call, request) {
  for (;;) {
    const isObject = typeof request === "object" && request !== null && !Array.isArray(request);
    const sent = Object.fromEntries(leave);
    const answer = await call(isObject && leave.size ? { .../** @type {object} */ (request), leave: sent } : request);
    const error = answer?.error;
    if (error?.about !== "leave" || !isObject) return answer;
    if (!(await agreesTo(error, sent[error.values.name] ?? 0))) return answer;
  }
}

/**
 * Each function promises its answer; see `answerTo`, whose options come second. The deadline is the
 * server's: the reader takes their time for a question.
 * @template {object} Server
 * @param {Server | undefined} server
 * @returns {import("./types").Asking<Server>}
 */
export const calm = (server) =>
  new Proxy(/** @type {any} */ (server ?? {}), {
    get(functions, name) {
      const call = functions[name];
      return (/** @type {unknown} */ request, /** @type {object | undefined} */ options) =>
        agreed((sent) => answerTo(call(sent), options), request);
    },
  });
