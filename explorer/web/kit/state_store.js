// The state of a page, by the table that the server sent (explorer/web/pages/state_entry_type.py). `update(patch)` is
// the only way to change it.

const RANK = ["nothing", "redraw", "compute"];
/** @typedef {import("../wire").StateEntry} Entry */

/**
 * @param {unknown} value
 * @returns {value is Record<string, any>}
 */
const isPlain = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

export class Store {
  /**
   * A dot in the name of an entry leads inside: "data.random.pairs".
   * @param {Entry[]} table
   */
  constructor(table) {
    this.table = new Map(table.map((entry) => [entry.name, entry]));
    this.inside = new Set(
      table.flatMap(({ name }) => {
        const parts = name.split(".").slice(0, -1);
        return parts.map((_part, i) => parts.slice(0, i + 1).join("."));
      }),
    );
    /** @type {any} */
    this.usual = {};
    for (const { name, default: usual } of table) this.usual = placed(this.usual, name.split("."), usual);
    this.state = this.usual;
  }

  /**
   * The value of an entry, or the part of the state below a name.
   * Nothing in it is ever changed in place.
   * @param {string} name
   */
  get(name) {
    return name.split(".").reduce((part, key) => part[key], this.state);
  }

  /** @param {string} name */
  entry(name) {
    const entry = this.table.get(name);
    if (!entry) throw new RangeError(name);
    return entry;
  }

  /** @type {(name: string) => readonly string[]} The values that an entry can have. */
  choices(name) {
    return this.entry(name).choices ?? [];
  }

  /**
   * Change what the patch names: update({ data: { random: { pairs: 9 } } }). Entries are replaced as
   * a whole, and only what leads to them is copied. Answers which entries changed and the most that
   * any of them affects.
   * @param {object} patch
   */
  update(patch) {
    const changed = [];
    let most = 0;
    for (const [name, value] of this.listed(patch)) {
      if (Object.is(this.get(name), value)) continue;
      changed.push(name);
      most = Math.max(most, RANK.indexOf(this.table.get(name)?.affects ?? "compute"));
      this.state = placed(this.state, name.split("."), value);
    }
    return { changed, affects: RANK[most] };
  }

  // The state is this, with the defaults of what is left out.
  reset(patch = {}) {
    this.state = this.usual;
    return this.update(patch);
  }

  /**
   * The entries that a patch names, with their values; a name that is no entry's is an error.
   * @param {object} patch
   * @returns {[string, any][]}
   */
  listed(patch, prefix = "") {
    return Object.entries(patch).flatMap(([key, value]) => {
      const name = prefix + key;
      if (this.table.has(name)) return [[name, value]];
      if (!this.inside.has(name) || !isPlain(value)) throw new RangeError(name);
      return this.listed(value, `${name}.`);
    });
  }

  /**
   * Of something that came from elsewhere (another version, a file), what the state has a place for.
   * @param {object} patch
   * @returns {Record<string, any>}
   */
  known(patch, prefix = "") {
    return Object.fromEntries(
      Object.entries(patch).flatMap(([key, value]) => {
        const name = prefix + key;
        if (this.table.has(name)) return [[key, value]];
        return this.inside.has(name) && isPlain(value) ? [[key, this.known(value, `${name}.`)]] : [];
      }),
    );
  }

  /**
   * Whether an entry counts as things stand: where what it depends on does, and has that value.
   * @type {(entry: Entry) => boolean}
   */
  counts({ when }) {
    if (!when) return true;
    const [name, value] = when;
    const other = this.table.get(name);
    return this.get(name) === value && (!other || this.counts(other));
  }

  /**
   * The entries that count, below a name, as an object: what is sent to the server.
   * @param {string} prefix
   */
  counted(prefix) {
    /** @type {Record<string, any>} */
    let found = {};
    for (const entry of this.table.values()) {
      if (!entry.name.startsWith(`${prefix}.`) || !this.counts(entry)) continue;
      found = placed(found, entry.name.slice(prefix.length + 1).split("."), this.get(entry.name));
    }
    return found;
  }

  // What tells one step of the browser's history from another.
  place() {
    return JSON.stringify(
      [...this.table.values()]
        .filter((entry) => entry.history)
        .map((entry) => (this.counts(entry) ? this.get(entry.name) : null)),
    );
  }
}

/**
 * Whether a number is one that an entry accepts.
 * @type {(entry: Pick<Entry, "kind" | "low" | "high">, value: number) => boolean}
 */
export function fits({ kind, low, high }, value) {
  if (!Number.isFinite(value) || (kind === "whole" && !Number.isInteger(value))) return false;
  return value >= (low ?? -Infinity) && value <= (high ?? Infinity);
}

/**
 * A copy in which something stands at a place; what does not lead there is shared.
 * @type {(part: Record<string, any>, place: string[], value: any) => Record<string, any>}
 */
function placed(part, [key, ...rest], value) {
  return { ...part, [key]: rest.length ? placed(part?.[key] ?? {}, rest, value) : value };
}
