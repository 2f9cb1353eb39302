// A state as the text of an address, entry by entry as the table says: loss=cosent&p.scale=20. What
// is as usual is left out; `always` names what is written all the same. An entry with the empty name
// is the whole text: names, with commas between them.

/** @type {(value: unknown, usual: unknown) => boolean} */
const isUsual = (value, usual) => JSON.stringify(value) === JSON.stringify(usual);

/**
 * @param {import("./store.js").Store} store
 * @param {string[]} always
 * @returns {string}
 */
export function written(store, always = []) {
  const said = new URLSearchParams();
  for (const entry of store.table.values()) {
    if (entry.link === undefined || !store.counts(entry)) continue;
    const value = store.get(entry.name);
    if (entry.link === "") return value.join(",");
    if (isUsual(value, entry.default) && !always.includes(entry.name)) continue;
    if (entry.kind === "parameters" || entry.kind === "map") {
      for (const [name, one] of Object.entries(value)) said.set(`${entry.link}.${name}`, one);
    } else said.set(entry.link, entry.kind === "list" ? value.join("-") : value);
  }
  return said.toString();
}

/**
 * What a text says, as a patch. `kinds(said)` are the kinds of a loss's parameters by their names.
 * @param {Map<string, import("../wire").StateEntry>} table
 * @param {string} text
 * @param {(said: URLSearchParams) => Record<string, string>} [kinds]
 */
export function read(table, text, kinds = () => ({})) {
  const said = new URLSearchParams(text);
  /** @type {Record<string, any>} */
  const found = {};
  /** @type {(name: string, value: unknown) => void} */
  const put = (name, value) => {
    const keys = name.split(".");
    const last = keys.pop() ?? "";
    keys.reduce((part, key) => (part[key] ??= {}), found)[last] = value;
  };
  for (const { name, kind, link } of table.values()) {
    if (link === undefined) continue;
    if (link === "") {
      put(name, text.split(",").filter(Boolean).map(decodeURIComponent));
      continue;
    }
    if (kind === "parameters" || kind === "map") {
      const below = [...said]
        .filter(([key]) => key.startsWith(`${link}.`))
        .map(([key, value]) => [key.slice(link.length + 1), value]);
      const known = kind === "parameters" ? kinds(said) : {};
      put(
        name,
        Object.fromEntries(below.map(([key, value]) => [key, kind === "map" ? value : ofKind(known[key], value)])),
      );
    } else if (said.has(link)) put(name, ofKind(kind, said.get(link) ?? ""));
  }
  return found;
}

/**
 * @param {string} kind
 * @param {string} text
 */
function ofKind(kind, text) {
  if (kind === "choice" || kind === "text") return text;
  if (kind === "switch") return text === "true";
  // A hyphen stands between numbers; after none it is the sign of one.
  return kind === "list" ? text.split(/(?<=\d)-/).map(Number) : Number(text);
}
