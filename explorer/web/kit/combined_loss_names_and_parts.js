// Losses made of losses: their names, and what the server knows of them.
import { pageData } from "./page_data.js";
import { has, say } from "./translated_sentences.js";

/** @typedef {import("../wire").Summand} Summand */
/** @typedef {import("../wire").Setting} Setting */
/** @typedef {(name: string) => Promise<import("../wire").NamedLoss | { error?: import("../wire").Problem }>} AskLoss */

export const WHOLE = 1; // what is at most this is a share of the dimensions
export const HALVED = [1, 0.5, 0.25];
const LONGEST = 65_536; // as LONGEST_PREFIX of losses/combined/combined_loss_names.py

/** @type {(summands: Summand[]) => string} The name of a sum, as losses/combined/combined_loss_names.py reads it. */
export const nameOfSum = (summands) => summands.map(nameOfSummand).join("+");

/** @param {Summand} summand */
function nameOfSummand({ loss, prefixes, queued }) {
  if (queued) return `queue(${loss})`;
  if (!prefixes.length) return loss;
  const lengths = prefixes.filter((length) => length > WHOLE);
  return `matryoshka(${[loss, ...lengths].join(",")})`;
}

/** @type {(loss: string) => Summand} A loss as a part of a sum, without prefixes or a queue. */
export const plainPart = (loss) => ({ loss, prefixes: [], queued: false });

/** @type {(loss: string) => Summand[]} What a loss is the sum of: of one that is none, itself. */
export function summandsOf(loss) {
  const { summands = [] } = pageData.losses[loss] ?? {};
  return summands.length ? summands : [plainPart(loss)];
}

/**
 * What a loss does, in a sentence; one that is no sum does with a queue what it does without.
 * @param {string} loss
 */
export function aboutOf(loss) {
  const { summands = [], about = "" } = pageData.losses[loss] ?? {};
  const [one, ...others] = summands;
  if (one && (others.length || !one.queued)) return say("loss.sum.about"); // on prefixes, too
  const key = `loss.${one ? one.loss : loss}.about`;
  return has(key) ? say(key) : about;
}

/** @type {(name: string) => boolean} Whether a name may be that of a sum, which a page requests before it knows it. */
export const mayBeSum = (name) => /[+(]/.test(name);

/**
 * The name without the blanks around it and beside its signs, as losses/combined/combined_loss_names.py has it.
 * @param {string} name
 */
export const withoutBlanks = (name) => name.replace(/\s*([+(),])\s*/g, "$1").trim();

/** @type {Set<string>} */
const none = new Set(); // what the server knows no loss by

/**
 * Request the sums among these losses from the server, where the page does not know them yet. A name that
 * is none's is asked for once.
 * @type {(ask: AskLoss, names: string[]) => Promise<void>}
 */
export async function learn(ask, names) {
  const sums = [...new Set(names)].filter(mayBeSum);
  for (const name of sums.filter((one) => !Object.hasOwn(pageData.losses, one) && !none.has(one))) {
    const answer = await ask(name);
    if ("loss" in answer) pageData.losses[name] = answer.loss;
    else if (answer.error?.about === "loss") none.add(name);
  }
}

/**
 * What was chosen for one loss, as it is called in another made of it, or made from it.
 * @type {(from: string, chosen: Record<string, Setting>, to: string) => { [k: string]: Setting; }}
 */
export function carriedOver(from, chosen, to) {
  const known = new Set(pageData.losses[to]?.conventions[""].parameters.map(({ name }) => name));
  const single = mayBeSum(from) ? "" : `_of_${from}`;
  const whole = mayBeSum(to) ? "" : `_of_${to}`;
  const renamed = Object.entries(chosen).map(([name, value]) => {
    const long = single && !name.endsWith(single) ? name + single : name;
    return /** @type {const} */ ([whole && long.endsWith(whole) ? long.slice(0, -whole.length) : long, value]);
  });
  return Object.fromEntries(renamed.filter(([name]) => known.has(name)));
}

/**
 * Lengths of prefixes as they were typed: each once, even, as losses/combined/combined_loss_names.py takes them; none of
 * these, and the loss is on the whole, half and quarter.
 * @param {string} text
 */
export function lengthsIn(text) {
  const typed = (text.match(/\d+/g) ?? []).map(Number).filter((length) => length >= 2 && length <= LONGEST);
  const even = [...new Set(typed.map((length) => length - (length % 2)))].slice(0, 6);
  return even.length ? even : HALVED;
}
