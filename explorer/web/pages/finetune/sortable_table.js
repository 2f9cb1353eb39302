// Tables of the page, which their reader sorts.

import { hosted } from "../../kit/preact_view.js";
import { sortableTable } from "../../kit/sortable_table.js";

/**
 * A table of these rows. `options` do not change; `look` are properties of the style sheet for the table's box, and `kind` is its class.
 * @template Row
 * @param {{ options: Parameters<typeof sortableTable<Row>>[1], rows: Row[], lit?: (row: Row) => boolean,
 *   look?: Record<string, string>, kind?: string, emit?: Parameters<typeof sortableTable<Row>>[2] }} properties
 */
export const table = ({ options, rows, lit, look = {}, kind = "div", emit }) =>
  hosted({
    kind,
    make: (root) => {
      for (const [name, value] of Object.entries(look)) root.style.setProperty(name, value);
      return sortableTable(root, options, emit);
    },
    update: ({ update }) => update({ data: rows, state: lit && { lit } }),
  });
