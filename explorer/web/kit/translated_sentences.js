// Every word on the page: one catalogue, that of the language in use. Another is fetched when it is
// first switched to, and kept from then on. Words of other pages, and of problems, come with the first of them that is said.
import { onRelease } from "./listener_cleanup.js";
import { grouped } from "./number_format.js";
import { pageData } from "./page_data.js";
import { store } from "./storage.js";
import { signal } from "./vendor/preact/signals-core.js";

/** @type {Record<string, string>} */
const NO_WORDS = {};
// A signal, so that a component that says something is drawn again in another language.
const spoken = signal({ language: "en", catalogue: NO_WORDS });
/** @type {Map<string, { sentences: Record<string, string>, parts: number }>} */
const known = new Map();
let switches = 0;
/** @type {Set<string>} */
const others = new Set(); // parts of the catalogue that are not here: each is a topic
/** @type {Map<string, Promise<void>>} */
const arriving = new Map();
const parts = ["shared"];
/** @type {Set<() => void>} */
const listeners = new Set();

export const language = () => spoken.value.language;
/** @param {() => void} listener */
export function onLanguage(listener) {
  listeners.add(listener);
  onRelease(() => listeners.delete(listener));
}

/** @param {string} key */
export function has(key) {
  wordsFor(key);
  return Object.hasOwn(spoken.value.catalogue, key);
}

/**
 * Sentences of some parts of a catalogue; undefined where the server has other files than this page by now.
 * @param {string} code of the language
 * @param {string[]} names
 * @returns {Promise<Record<string, string> | undefined>}
 */
async function fetched(code, names) {
  const answers = await Promise.all(
    names.map((name) => fetch(new URL(`../words/${code}/${name}.json`, import.meta.url))),
  );
  if (answers.some((answer) => !answer.ok)) return undefined;
  return Object.assign({}, ...(await Promise.all(answers.map((answer) => answer.json()))));
}

/**
 * Speak the language that initial_language.js has chosen, with the words that the page in this folder needs.
 * @param {string} folder
 */
export async function startLanguage(folder) {
  for (const name of document.body.dataset.words?.split(" ") ?? []) others.add(name);
  if (others.delete(folder)) parts.push(folder);
  const code = document.documentElement.lang;
  const sentences = await fetched(code, parts);
  if (!sentences) throw new Error(`404: words/${code}`);
  use(code, sentences);
}

/**
 * Fetch the words of a key's topic, where they are not here, then say all anew.
 * @param {string} key
 */
export function wordsFor(key) {
  const [topic] = String(key).split(".", 1);
  if (others.delete(topic))
    arriving.set(
      topic,
      complete(topic).finally(() => arriving.delete(topic)),
    );
  return arriving.get(topic);
}

/** @param {string} topic */
async function complete(topic) {
  parts.push(topic);
  const before = switches;
  let sentences;
  try {
    sentences = await fetched(language(), [topic]);
  } catch {
    parts.splice(parts.indexOf(topic), 1);
    others.add(topic); // the next sentence asks again
  }
  if (!sentences || before !== switches) return; // a switch meanwhile has fetched them, too
  use(language(), { ...spoken.value.catalogue, ...sentences });
  for (const listener of listeners) listener();
}

const POINTS = "(hover: hover) and (pointer: fine)";
/**
 * What a finger does has other words than what a pointer does: they stand under `key`.touch.
 * @param {string} key
 */
const keyForPointer = (key) => (has(`${key}.touch`) && !matchMedia(POINTS).matches ? `${key}.touch` : key);

/**
 * The sentence `key` with `values` put into its {placeholders}; {count:row|rows} is the first word
 * where the value is 1, else the second.
 * @type {(key: string, values?: Record<string, any>) => string}
 */
export function say(key, values = {}) {
  const chosen = keyForPointer(key);
  const sentence = (has(chosen) ? spoken.value.catalogue[chosen] : String(key)).replace(
    /\{(\w+):([^|}]*)\|([^}]*)\}/g,
    (_all, name, one, many) => (String(values[name]) === "1" ? one : many),
  );
  return sentence.replace(/\{(\w+)\}/g, (all, name) =>
    Object.hasOwn(values, name) ? spelled(name, values[name]) : all,
  );
}

/** @type {(text: string) => string[]} The sentences of a text, by the rules of its language. */
export function sentences(text) {
  const parts = new Intl.Segmenter(language(), { granularity: "sentence" }).segment(text);
  return Array.from(parts, ({ segment }) => segment.trim()).filter(Boolean);
}

/**
 * As `spelled` of explorer/locale: counts are grouped, and a value may have words of its own.
 * @type {(name: string, value: any) => string}
 */
function spelled(name, value) {
  if (Array.isArray(value)) return value.map((one) => spelled(name, one)).join(say("ui.between"));
  if (value?.key) return has(value.key) ? say(value.key, value.values) : value.otherwise;
  return pageData.counts?.includes(name) && Number.isInteger(value) ? grouped(value) : String(value);
}

/**
 * What a loss is called; one of the user's own has no other name than its own, a sum of losses those of
 * its parts, and one that this server does not know, but a run of before does, that by which it is known.
 * @param {string} loss
 */
export function titleOf(loss) {
  const { title, word } = pageData.losses[loss] ?? { title: loss, word: null };
  if (word) return wordOf(word);
  return has(`loss.${loss}.title`) ? say(`loss.${loss}.title`) : title;
}

/** @type {(word: import("../wire").Word) => string} A value with words of its own. */
export const wordOf = (word) => spelled("", word);

/**
 * "S1 eq. 52" as a reader knows it: with the source's name, `nameOf` its short one.
 * @type {(reference: string, nameOf: (short: string) => string) => string}
 */
export const citation = (reference, nameOf) =>
  reference.replace(/^S\d/, nameOf).replace(/ eq\. (.+)$/, (_all, number) => say("cite.equation", { number }));

/**
 * What a parameter is called; of one of a part of a sum, "scale_of_angle", that and whose.
 * @type {(name: string) => string}
 */
export function parameterName(name) {
  const [, plain, label] = /^(.+?)_of_(.+)$/.exec(name) ?? [];
  if (!label) return has(`parameter.${name}`) ? say(`parameter.${name}`) : name;
  const [, loss, prefix] = /^(.+)_(whole|half|quarter|\d+)$/.exec(label) ?? [label, label];
  const title = titleOf(loss);
  const key = /^\d/.test(prefix ?? "") ? "loss.on_first" : `loss.on_${prefix}`;
  const part = prefix ? say(key, { loss: title, dimensions: Number(prefix) }) : title;
  return say("parameter.of", { name: parameterName(plain), loss: part });
}

/** @returns {Record<string, string>} the languages' own names by code, English first */
export const languages = () => JSON.parse(document.body.dataset.languages ?? "{}");

/** @type {(next: string, sentences: Record<string, string>) => void} Speak with this catalogue from now on. */
export function use(next, sentences) {
  known.set(next, { sentences, parts: parts.length });
  spoken.value = { language: next, catalogue: sentences };
}

/**
 * Switch to another language: at once where its catalogue was here before. Of several switches the
 * last one counts. False where the catalogue cannot be had.
 * @param {string} next
 */
export async function speak(next) {
  const turn = ++switches;
  store("language", next); // kept also where the page is left before the catalogue has come
  const before = known.get(next);
  let sentences = before?.parts === parts.length ? before.sentences : undefined;
  if (!sentences) {
    try {
      sentences = await fetched(next, parts);
    } catch {
      return false;
    }
    // The server was started anew, with other files than this page: it has to begin anew as well.
    if (!sentences) {
      location.reload();
      return true;
    }
    if (turn !== switches) return true;
  }
  use(next, sentences);
  document.documentElement.lang = next;
  for (const listener of listeners) listener();
  return true;
}
