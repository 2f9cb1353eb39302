// How the rows of a file are read: its encoding, which column plays which role, whether the first row names them.
import { Checkbox, Select } from "./components.js";
import { group, h } from "./preact_view.js";
import { say } from "./translated_sentences.js";

const NO_SCORE = "none"; // in place of a column: for the score, all pairs are positives
const OPTIONAL = ["score", "teacher", "guide", "vectors"]; // what a file may do without; the last two have a role for each text

/**
 * `roles` are the columns in force by role, "" where one is yet to be chosen; with `none`, its title, where no column
 * plays it.
 * @param {{ columns: string[], roles: Record<string, string>, none?: string,
 *   change: (role: string, column: string) => void }} properties
 */
export function ColumnFields({ columns, roles, none, change }) {
  return group(
    Object.entries(roles).map(([role, chosen]) => {
      const [kind] = role.split("_");
      const options = columns.map((column) => [column, column]);
      if (none || !chosen) options.unshift(["", none ?? ""]);
      if (OPTIONAL.includes(kind)) options.push([NO_SCORE, say(`column.no_${kind}`)]);
      const take = (/** @type {string} */ column) => change(role, column);
      return h(Select, { key: role, role, name: say(`column.${role}`), value: chosen, options, change: take });
    }),
  );
}

/**
 * In which encoding a text is, each with how its first words would read; nothing where that is plain.
 * @param {{ encoding: string, encodings: [string, string][], change: (encoding: string) => void }} properties
 */
export function EncodingField({ encoding, encodings, change }) {
  if (!encodings.length) return null;
  const options = encodings.map(([name, words]) => [name, `${name} · ${words}`]);
  if (!encoding) options.unshift(["", say("ui.encoding_open")]);
  return h(Select, { role: "encoding", name: say("ui.encoding"), value: encoding, options, change });
}

/** @param {{ header: boolean, change: (header: boolean) => void }} properties */
export const HeaderField = ({ header, change }) => h(Checkbox, { name: say("ui.has_header"), checked: header, change });
