// The lever under the map: the parameter that a newcomer moves first.

import { leverOf } from "../../kit/convention_formula.js";
import { h as element } from "../../kit/dom.js";
import { pageData } from "../../kit/page_data.js";
import { h, show } from "../../kit/preact_view.js";
import { Parameters } from "../../kit/scenario_fields.js";

/** @typedef {import("./state.js").LargePage} LargePage */

/** @param {{ channel: LargePage }} properties */
function Lever({ channel }) {
  channel.observe("state");
  const { loss, parameters: values } = channel.asked;
  const lever = leverOf(pageData.large.losses[loss]?.parameters ?? []);
  if (!lever) return null;
  return h(Parameters, {
    of: loss,
    parameters: [lever],
    values,
    change: (name, value) => channel.change({ parameters: { ...values, [name]: value } }),
  });
}

/** @param {LargePage} channel */
export function lever(channel) {
  const root = element("div.lp-lever");
  show(root, Lever, { channel });
  return root;
}
