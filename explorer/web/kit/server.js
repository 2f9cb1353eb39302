// The functions that an instrument calls on the server.
import { answerTo } from "./request.js";

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
        answerTo((async () => call(asked))(), options);
    },
  });
