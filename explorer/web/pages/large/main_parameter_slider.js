// The lever under the map: the parameter that a newcomer moves first.
import { h as element } from "../../kit/dom.js";
import { leverOf } from "../../kit/main_parameter.js";
import { pageData } from "../../kit/page_data.js";
import { Parameters } from "../../kit/parameter_fields.js";
import { h, show } from "../../kit/preact_view.js";

/** @typedef {import("./state.js").LargePage} LargePage */

/** @param {{ page: LargePage }} properties */
function Lever({ page }) {
  page.observe("state");
  const { loss, parameters: values } = page.request;
  const lever = leverOf(pageData.large.losses[loss]?.parameters ?? []);
  if (!lever) return null;
  return h(Parameters, {
    of: loss,
    parameters: [lever],
    values,
    change: (name, value) => page.change({ parameters: { ...values, [name]: value } }),
  });
}

/** @param {LargePage} page */
export function lever(page) {
  const root = element("div.lp-lever");
  show(root, Lever, { page });
  return root;
}
