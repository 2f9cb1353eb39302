// Links of scenarios that lead from one page to another: the address is without secrets, and this tab keeps the whole scenario.
import { shareableData } from "./secret_redaction.js";
import { packed, unpacked } from "./state_link.js";
import { store, stored } from "./storage.js";

const LINK = /^(\d+)\.([\w-]+)(\.[^.]*)?$/; // version, packed scenario, and a loss in place of its own
const FORMAT = "deflate";
const MOST_BYTES = 2 ** 24; // of a scenario, unpacked
const WHOLE = "whole_scenes";
const MOST_KEPT = 100;

/** @returns {[string, string][]} */
const kept = () => JSON.parse(stored(WHOLE, "sessionStorage") ?? "[]");

/** @type {(link: string) => Promise<string>} The link as an address may have it. */
export async function shareableLink(link) {
  const [, version, whole, loss = ""] = LINK.exec(link) ?? [];
  const text = whole && (await unpacked(whole, MOST_BYTES, FORMAT));
  if (!text) return link;
  const scenario = JSON.parse(text);
  const data = shareableData(scenario.data ?? {});
  if (JSON.stringify(data) === JSON.stringify(scenario.data ?? {})) return link;
  const shared = await packed(JSON.stringify({ ...scenario, data }), FORMAT);
  const others = kept().filter(([one]) => one !== shared);
  store(WHOLE, JSON.stringify([...others, [shared, whole]].slice(-MOST_KEPT)), "sessionStorage");
  return `${version}.${shared}${loss}`;
}

/**
 * The link of the whole scenario where this tab keeps it; otherwise the link as it is.
 * @param {string} link
 */
export function wholeLink(link) {
  const [, version, shared, loss = ""] = LINK.exec(link) ?? [];
  const whole = kept().find(([one]) => one === shared)?.[1];
  return whole ? `${version}.${whole}${loss}` : link;
}

/**
 * An answer of the server with the links in it, under `scene` and `scenes`, as addresses may have them.
 * @template Answer
 * @param {Answer} answer
 * @returns {Promise<Answer>}
 */
async function withShareableLinks(answer) {
  if (Array.isArray(answer)) return /** @type {any} */ (Promise.all(answer.map(withShareableLinks)));
  if (answer === null || typeof answer !== "object") return answer;
  const entries = Object.entries(answer).map(async ([name, one]) => {
    if (name === "scene" && typeof one === "string") return [name, await shareableLink(one)];
    if (name === "scenes") return [name, await Promise.all(one.map(shareableLink))];
    return [name, await withShareableLinks(one)];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/**
 * A server in whose answers links are as addresses may have them.
 * @template {object} Server
 * @param {Server} server
 * @returns {Server}
 */
export const withScenarioLinks = (server) =>
  new Proxy(server, {
    get:
      (functions, name) =>
      async (/** @type {unknown[]} */ ...given) =>
        withShareableLinks(await /** @type {any} */ (functions)[name](...given)),
  });
