// What the reader agreed to: fetching a model or dataset, reading a folder, running a file.
import { askConfirmation } from "./confirmation_dialog.js";
import { store, stored } from "./storage.js";

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
 * The same for a dataset of the hub, with or without its subset (`consent_name` of sources/hub_datasets.py).
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
    const agreed = await askConfirmation(error.key, error.values, "ui.allow");
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
export async function agreed(call, request) {
  for (;;) {
    const isObject = typeof request === "object" && request !== null && !Array.isArray(request);
    const sent = Object.fromEntries(leave);
    const answer = await call(isObject && leave.size ? { .../** @type {object} */ (request), leave: sent } : request);
    const error = answer?.error;
    if (error?.about !== "leave" || !isObject) return answer;
    if (!(await agreesTo(error, sent[error.values.name] ?? 0))) return answer;
  }
}
