// Which two of the losses are compared with each other.
import { labelOf } from "../../kit/compared_loss_labels.js";
import { Select } from "../../kit/components.js";
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";

/** @param {{ page: import("./state.js").ComparePage, id: string }} properties */
export function LossPairChoice({ page, id }) {
  const { sides } = page;
  const [base, other] = page.pair;
  const options = sides.map((_side, place) => [String(place), labelOf(sides, place)]);
  return h(
    "div.lp-pair-choice",
    h(Select, {
      id: `${id}-first`,
      label: say("compare.first_of_two"),
      value: String(base),
      options,
      change: (place) => page.choosePair(Number(place), other),
    }),
    h(Select, {
      id: `${id}-second`,
      label: say("compare.second_of_two"),
      value: String(other),
      options,
      change: (place) => page.choosePair(base, Number(place)),
    }),
  );
}
