// The fields of one loss: which it is, by list or by name, in whose convention, and its parameters.

import { formOf } from "./compared_losses.js";
import { LossSelect, Select } from "./components.js";
import { pageData } from "./page_data.js";
import { group, h } from "./preact_view.js";
import { LossFinder, Parameters } from "./scenario_fields.js";
import { groupsOf } from "./sidebar_components.js";
import { say } from "./words.js";

/** @typedef {import("./state_link.js").Side} Side */

/**
 * `id` begins the ids of the fields; `choose` is called with another loss or convention, `change` with a parameter.
 * @param {{ id: string, label: string, side: Side, choose: (side: Partial<Side>) => void,
 *   change: (name: string, value: import("../wire").Setting) => void }} properties
 */
export function LossFields({ id, label, side, choose, change }) {
  const form = formOf(pageData.losses, side);
  const conventions = Object.keys(pageData.losses[side.loss]?.conventions ?? {}).filter(Boolean);
  return group(
    h(LossSelect, {
      id,
      label,
      value: side.loss,
      groups: groupsOf(pageData.losses),
      change: (loss) => choose({ loss, convention: "", parameters: {} }),
    }),
    h(LossFinder, {
      id: `${id}-name`,
      choose: (loss, convention) => choose({ loss, convention, parameters: {} }),
    }),
    conventions.length
      ? h(Select, {
          id: `${id}-convention`,
          name: say("ui.convention"),
          value: side.convention,
          options: [["", say("ui.own_convention")], ...conventions.map((name) => [name, name])],
          change: (convention) => choose({ convention, parameters: {} }),
        })
      : null,
    form
      ? h(Parameters, {
          of: `${side.loss}|${side.convention}`,
          parameters: form.parameters,
          values: side.parameters,
          change,
        })
      : null,
  );
}
