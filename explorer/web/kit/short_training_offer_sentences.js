// Short trainings at several values of a parameter, in words.
import { show } from "./number_format.js";
import { parameterName, say } from "./translated_sentences.js";

/** @typedef {import("../wire").Offer} Offer */

/** @type {(offer: Offer) => string} The parameter with the values that are tried. */
export function valuesOf({ parameter, values }) {
  const name = parameterName(parameter);
  return `${name} ${values.map((value) => show(value, 3)).join(" · ")}`;
}

/**
 * What is queued, by the sentence `key`, and what of it does not fit into a queue that is shared.
 * @param {Offer} offer
 * @param {string} key
 * @param {Record<string, string>} more what else the sentence tells of
 */
export function aboutTrials({ values, left_out: left, room, seeds, steps, batch }, key, more = {}) {
  if (!values.length) return say("trials.full", { room: room ?? 0, least: 2 * seeds });
  const about = say(key, { ...more, count: values.length * seeds, values: values.length, seeds, steps, batch });
  return left ? `${about} ${say("trials.fewer", { room: room ?? 0, left, all: left + values.length })}` : about;
}
