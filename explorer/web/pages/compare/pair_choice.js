// Which two of the losses are compared with each other.
import { Select } from "../../kit/components.js";
import { labelOf } from "../../kit/loss_legend.js";
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/words.js";

/** @param {{ channel: import("./state.js").ComparePage, id: string }} properties */
export function PairChoice({ channel, id }) {
  const { sides } = channel;
  const [base, other] = channel.pair;
  const options = sides.map((_side, place) => [String(place), labelOf(sides, place)]);
  return h(
    "div.lp-pair-choice",
    null,
    h(Select, {
      id: `${id}-first`,
      label: say("compare.first_of_two"),
      value: String(base),
      options,
      change: (place) => channel.choosePair(Number(place), other),
    }),
    h(Select, {
      id: `${id}-second`,
      label: say("compare.second_of_two"),
      value: String(other),
      options,
      change: (place) => channel.choosePair(base, Number(place)),
    }),
  );
}
