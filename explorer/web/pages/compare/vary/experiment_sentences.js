// Which sentence stands beside what was varied.
import { letterOf } from "../../../kit/compared_loss_labels.js";
import { percent, show } from "../../../kit/number_format.js";
import { say } from "../../../kit/translated_sentences.js";

/**
 * `falling`: which losses fall on the way, or that none does, where some have a way. `others`: those that are least
 * in between.
 * @param {(import("../../../wire").CollapseCurve | null)[]} ways
 */
export function fallingWords(ways) {
  const letters = ways.flatMap((way, place) => (way?.falls ? [letterOf(place)] : [])).join(", ");
  const others = ways.flatMap((way, place) => {
    if (!way || way.falls || way.lowest <= 0) return [];
    const [start, end, least] = [way.start, way.reached, way.least].map((value) => show(value));
    return [say("compare.vary.dips", { letter: letterOf(place), start, end, least, at: percent(way.lowest) })];
  });
  const isAny = letters || others.length || !ways.some(Boolean);
  const falling = letters ? [say("compare.vary.falls", { letters })] : [];
  return { falling: isAny ? falling : [say("compare.vary.none_falls")], others };
}

/**
 * Which losses another value says that something changed, and which keep theirs; null of one that has none.
 * @param {(boolean | null)[]} notices
 */
export function noticedWords(notices) {
  /** @param {boolean} yes */
  const letters = (yes) => notices.flatMap((one, place) => (one === yes ? [letterOf(place)] : [])).join(", ");
  const [noticing, not] = [letters(true), letters(false)];
  const sentences = [
    noticing ? say("compare.vary.noticing", { letters: noticing }) : "",
    not ? say("compare.vary.not_noticing", { letters: not }) : "",
  ];
  return sentences.filter(Boolean).join(" ");
}
