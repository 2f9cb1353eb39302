// The functions that a page calls on the server.
import { agreed } from "./reader_consent.js";
import { answerTo } from "./request_scheduling.js";
import { wordsFor } from "./translated_sentences.js";

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

/**
 * Each function promises its answer; see `answerTo`, whose options come second. The deadline is the
 * server's: the reader takes their time for a question.
 * @template {object} Server
 * @param {Server | undefined} server
 * @returns {import("./types").Asking<Server>}
 */
export const withDeadlineAndConsent = (server) =>
  new Proxy(/** @type {any} */ (server ?? {}), {
    get(functions, name) {
      const call = functions[name];
      return (/** @type {unknown} */ request, /** @type {object | undefined} */ options) =>
        agreed((sent) => answerTo(call(sent), options), request);
    },
  });
