// Names of models as they are shown: the encoder, and the guide and teacher that a loss asks.
import { show } from "./number_format.js";
import { say } from "./translated_sentences.js";

const NAMED = /#[0-9a-f]{32}$/; // vectors that a file has of its own texts bear its name

/** @param {string} encoder */
export const isOwnVectors = (encoder) => NAMED.test(encoder);

/**
 * The name of an encoder as it is shown: of a file's own vectors that of the file.
 * @param {string} encoder
 */
export const encoderTitle = (encoder) => encoder.replace(NAMED, "");

/** @typedef {Pick<import("../wire").Data, "source" | "guide" | "teacher_model" | "random">} Chosen */

/**
 * The guide that a batch has; `guided` says whether it has any.
 * @type {(data: Chosen, guided: boolean | undefined) => string}
 */
export function guideWords({ source, guide, random }, guided) {
  if (!guided) return say("ui.guide_own");
  if (source === "random") return say("ui.guide_drawn", { agreement: show(random.guide) });
  return guide ? say("ui.guide_now", { name: guide }) : say("ui.guide_given");
}

/**
 * The teacher that a batch has; `taught` says whether it has any.
 * @type {(data: Chosen, taught: boolean | undefined) => string}
 */
export function teacherWords({ source, teacher_model }, taught) {
  if (!taught) return say("ui.teacher_none");
  if (source === "random") return say("ui.teacher_drawn");
  return teacher_model ? say("ui.teacher_now", { name: teacher_model }) : say("ui.teacher_given");
}

/**
 * Whether another teacher would put it right.
 * @param {string | undefined} about
 */
export const aboutTeacher = (about) => about === "teacher" || about === "teacher_vectors";
