// Which losses fall on the way to collapse, in a sentence.
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
