// The choice of a loss: from a list in groups; and all fields of one loss, with its convention and its parameters.
import { Select } from "./components.js";
import { formOf } from "./loss_convention_lookup.js";
import { LossFinder } from "./loss_name_search.js";
import { pageData } from "./page_data.js";
import { Parameters } from "./parameter_fields.js";
import { group, h } from "./preact_view.js";
import { say, titleOf } from "./translated_sentences.js";

/** @typedef {import("./state_link.js").Side} Side */
/** @typedef {{ label: string, losses: string[][] }} Group losses by name and title */

/**
 * All losses in their groups, each by its title; `titled` may say more of one.
 * @param {Record<string, import("../wire").Loss>} losses
 * @param {(name: string, loss: import("../wire").Loss) => string} [titled]
 * @returns {Group[]}
 */
export function groupsOf(losses, titled = titleOf) {
  const all = Object.entries(losses);
  /** @param {string} group */
  const within = (group) =>
    all.filter(([, loss]) => loss.group === group).map(([name, loss]) => [name, titled(name, loss)]);
  return pageData.groups
    .map((group) => ({ label: say(`group.${group}`), losses: within(group) }))
    .filter(({ losses: members }) => members.length);
}

/**
 * A loss to choose, in groups; `first` is what stands before them, as no loss.
 * @param {{ id: string, label: string, value: string, groups: Group[], first?: string,
 *   change: (loss: string) => void }} properties
 */
export const LossSelect = ({ id, label, value, groups, first, change }) =>
  h(
    "select",
    { id, value, title: label, "aria-label": label, onChange: (event) => change(event.currentTarget.value) },
    first === undefined ? null : h("option", { key: "", value: "" }, first),
    groups.map((one) =>
      h(
        "optgroup",
        { key: one.label, label: one.label },
        one.losses.map(([loss, title]) => h("option", { key: loss, value: loss }, title)),
      ),
    ),
  );

/**
 * The convention of a loss; nothing where it has only its own.
 * @param {{ id: string, loss: string, convention: string, change: (convention: string) => void }} properties
 */
export function ConventionSelect({ id, loss, convention, change }) {
  const others = Object.keys(pageData.losses[loss]?.conventions ?? {}).filter(Boolean);
  if (!others.length) return null;
  const options = [["", say("ui.own_convention")], ...others.map((name) => [name, name])];
  return h(Select, { id, name: say("ui.convention"), value: convention, options, change });
}

/**
 * `id` begins the ids of the fields; `choose` is called with another loss or convention, `change` with a parameter.
 * @param {{ id: string, label: string, side: Side, choose: (side: Partial<Side>) => void,
 *   change: (name: string, value: import("../wire").Setting) => void }} properties
 */
export function LossFields({ id, label, side, choose, change }) {
  const form = formOf(pageData.losses, side);
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
    h(ConventionSelect, {
      id: `${id}-convention`,
      loss: side.loss,
      convention: side.convention,
      change: (convention) => choose({ convention, parameters: {} }),
    }),
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
