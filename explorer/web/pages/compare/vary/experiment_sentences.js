// Which sentence stands beside what was varied.

import { letterOf } from "../../../kit/loss_legend.js";
import { percent, show } from "../../../kit/number_format.js";
import { say } from "../../../kit/words.js";

/**
 * Those losses that fall on the way, then those that are least in between; that none does, where some have a way.
 * @param {(import("../../../wire").Collapsing | null)[]} ways
 */
export function fallingWords(ways) {
  const sentences = ways.flatMap((way, place) => {
    if (!way || !(way.falls || way.lowest > 0)) return [];
    const values = {
      letter: letterOf(place),
      start: show(way.start),
      end: show(way.reached),
      least: show(way.least),
      at: percent(way.lowest),
    };
    return [{ falls: way.falls, text: say(`compare.vary.${way.falls ? "falls" : "dips"}`, values) }];
  });
  if (!sentences.length && ways.some(Boolean)) return [{ falls: false, text: say("compare.vary.none_falls") }];
  return sentences.sort((one, other) => Number(other.falls) - Number(one.falls));
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
