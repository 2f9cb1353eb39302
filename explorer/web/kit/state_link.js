// A state as the text of an address, entry by entry as the table says: loss=cosent&p.scale=20. What
// is as usual is left out; `always` names what is written all the same. An entry with the empty name
// is the whole text: names, with commas between them. Losses stand there by their numbers, each with its
// convention and its parameters: 1=cosent&2=info_nce&2@=MoCo&2.temperature=0.1. Of a list numbers stand with
// hyphens between them, and a parameter that is off as "off". A long text is packed.
import { withoutBlanks } from "./combined_loss_names_and_parts.js";
import { withoutSecrets } from "./secret_redaction.js";

/** @typedef {import("../wire").StateEntry} Entry */
/** @typedef {import("../wire").Setting} Setting */
/** @typedef {{ loss: string, convention: string, parameters: Record<string, Setting> }} Side */
/**
 * The parameters of a loss in a convention, by their names; null where there is no such loss.
 * @typedef {Pick<import("../wire").Parameter, "kind" | "former_off">} Known
 * @typedef {(of: { loss: string, convention: string }) => Record<string, Known> | null} Parameters
 */

const OFF = "off"; // a parameter that is null
const TYPED = new Set(["value", "name", "logname", "besidename"]); // texts and file names, which may hold secrets

/** @type {(value: unknown, usual: unknown) => boolean} */
const isUsual = (value, usual) => JSON.stringify(value) === JSON.stringify(usual);

/** @type {(store: import("./state_store.js").Store, always?: string[]) => string} */
export function written(store, always = []) {
  const query = new URLSearchParams();
  for (const entry of store.table.values()) {
    if (entry.link === undefined || !store.counts(entry)) continue;
    const value = store.get(entry.name);
    if (entry.link === "") return value.join(",");
    if (isUsual(value, entry.default) && !always.includes(entry.name)) continue;
    if (entry.kind === "parameters" || entry.kind === "map") {
      for (const [name, one] of Object.entries(value)) query.set(`${entry.link}.${name}`, textOf(one));
    } else if (entry.kind === "losses") for (const [name, one] of numbered(value)) query.set(name, one);
    else if (TYPED.has(entry.link)) query.set(entry.link, withoutSecrets(textOf(value)));
    else query.set(entry.link, textOf(value));
  }
  return query.toString();
}

/** @type {(sides: Side[]) => [string, string][]} The entries of an address for these losses, in their order. */
export function numbered(sides) {
  return sides.flatMap(({ loss, convention, parameters }, place) => {
    const at = String(place + 1);
    /** @type {[string, string][]} */
    const chosen = Object.entries(parameters).map(([name, value]) => [`${at}.${name}`, textOf(value)]);
    /** @type {[string, string][]} */
    const own = [[at, loss]];
    if (convention) own.push([`${at}@`, convention]);
    return [...own, ...chosen];
  });
}

/**
 * What a text says, as a patch. A loss that stands by its number has no parameters but those of `known`.
 * @param {Map<string, Entry>} table
 * @param {string} text
 * @param {Parameters} [known]
 */
export function read(table, text, known = () => null) {
  const query = new URLSearchParams(text);
  /** @type {Record<string, any>} */
  const found = {};
  /** @type {(name: string, value: unknown) => void} */
  const put = (name, value) => {
    const keys = name.split(".");
    const last = keys.pop() ?? "";
    keys.reduce((part, key) => (part[key] ??= {}), found)[last] = value;
  };
  for (const { name, kind, link, high } of table.values()) {
    if (link === undefined) continue;
    if (link === "") put(name, text.split(",").filter(Boolean).map(decodeURIComponent));
    else if (kind === "losses") put(name, sidesIn(query, high ?? Infinity, known));
    else if (kind === "map") put(name, Object.fromEntries(below(query, link)));
    else if (kind === "parameters") {
      const of = { loss: found.loss ?? table.get("loss")?.default ?? "", convention: found.convention ?? "" };
      put(name, settings(below(query, link), known(of)));
    } else if (query.has(link)) put(name, ofKind(kind, query.get(link) ?? ""));
  }
  return found;
}

/** @type {(text: string) => string[]} The losses that an address names. */
export const lossesIn = (text) =>
  [...new URLSearchParams(text)].filter(([key]) => /^\d+$/.test(key)).map(([, loss]) => withoutBlanks(loss));

/**
 * Those that stand by the numbers from 1 on, none after a gap.
 * @type {(query: URLSearchParams, most: number, parametersOf: Parameters) => Side[]}
 */
function sidesIn(query, most, parametersOf) {
  /** @type {Side[]} */
  const found = [];
  for (let at = 1; at <= most && query.has(String(at)); at += 1) {
    const of = { loss: withoutBlanks(query.get(String(at)) ?? ""), convention: query.get(`${at}@`) ?? "" };
    const known = parametersOf(of);
    const chosen = below(query, String(at)).filter(([name]) => !known || name in known);
    found.push({ ...of, parameters: settings(chosen, known) });
  }
  return found;
}

/**
 * What an address says below a name: of "p.scale" the scale, with its text.
 * @type {(query: URLSearchParams, link: string) => [string, string][]}
 */
const below = (query, link) =>
  [...query].filter(([key]) => key.startsWith(`${link}.`)).map(([key, value]) => [key.slice(link.length + 1), value]);

/** @type {(chosen: [string, string][], known: Record<string, Known> | null) => Record<string, Setting>} */
const settings = (chosen, known) =>
  Object.fromEntries(chosen.map(([name, text]) => [name, settingOf(known?.[name], text)]));

/** @type {(parameter: Known | undefined, text: string) => Setting} */
function settingOf(parameter, text) {
  const value = ofKind(parameter?.kind, text);
  return parameter?.kind === "number" && (text === OFF || value === parameter.former_off) ? null : value;
}

/** @param {any} value */
const textOf = (value) => (Array.isArray(value) ? value.join("-") : String(value ?? OFF));

/** @type {(kind: string | undefined, text: string) => string | number | boolean | number[]} */
function ofKind(kind, text) {
  if (kind === "choice" || kind === "text") return text;
  if (kind === "switch") return text === "true";
  // A hyphen stands between numbers; after none it is the sign of one. Compare once wrote "_" there.
  return kind === "list" ? text.split(/_|(?<=\d)-/).map(Number) : Number(text);
}

// ---- A text of many lines ------------------------------------------------------------------------

/**
 * A text as short as it goes into an address: deflated, in base64 of the letters that an address takes.
 * @type {(text: string, format?: CompressionFormat) => Promise<string>}
 */
export async function packed(text, format = "deflate-raw") {
  const bytes = await through(new Blob([text]).stream(), new CompressionStream(format));
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * The text again, of at most so many bytes; null where it is damaged, or larger.
 * @type {(letters: string, most: number, format?: CompressionFormat) => Promise<string | null>}
 */
export async function unpacked(letters, most, format = "deflate-raw") {
  try {
    const plain = atob(letters.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
    const whole = await through(new Blob([bytes]).stream(), new DecompressionStream(format), most);
    return new TextDecoder("utf-8", { fatal: true }).decode(whole);
  } catch {
    return null;
  }
}

/**
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream
 * @param {CompressionStream | DecompressionStream} way
 * @param {number} most
 */
async function through(stream, way, most = Infinity) {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const parts = [];
  let size = 0;
  const reader = stream.pipeThrough(way).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new RangeError(String(most));
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
