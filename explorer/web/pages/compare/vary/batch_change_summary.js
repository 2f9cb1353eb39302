// Which losses notice a change of the batch, in a sentence.
import { letterOf } from "../../../kit/compared_loss_labels.js";
import { say } from "../../../kit/translated_sentences.js";

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
