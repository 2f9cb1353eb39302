// The table of an experiment: a line for each loss, with its numbers or with why there are none.
import { Named } from "../../../kit/compared_loss_labels.js";
import { h } from "../../../kit/preact_view.js";
import { say } from "../../../kit/translated_sentences.js";
import { Table } from "../scrolling_table.js";

/** @typedef {import("../../../kit/state_link.js").Side} Side */

/**
 * A table with a line for each loss. `label` is its name, `heads` those of its columns beside the loss; `cells(place)`
 * are those of a line.
 * @param {{ label: string, heads: string[], sides: Side[],
 *   cells: (place: number) => import("../../../kit/types").Children }} properties
 */
export const LossTable = ({ label, heads, sides, cells }) =>
  h(
    Table,
    { label, kind: "lp-vary-table", heads: [say("ui.loss"), ...heads] },
    sides.map((_side, place) => h("tr", { key: place }, h(SideHead, { sides, place }), cells(place))),
  );

/** @param {{ sides: Side[], place: number, rows?: number }} properties */
export const SideHead = ({ sides, place, rows = 1 }) =>
  h("th.lp-vary-side", { scope: "row", rowSpan: rows }, h(Named, { sides, place }));

/**
 * In place of the numbers of a loss, why there are none.
 * @param {{ problem: import("../../../wire").Problem | null, columns: number }} properties
 */
export const RefusedCell = ({ problem, columns }) =>
  h("td", { colSpan: columns }, problem ? h("span.lp-wrong", say(problem.key, problem.values)) : "");
