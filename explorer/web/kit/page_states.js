// The states of the pages by name: what the instruments of one name share.
import { onTheme } from "./theme.js";
import { onLanguage } from "./words.js";

/** @type {Map<string, any>} */
const states = new Map();

/**
 * The state of this name; the first who asks for it makes it.
 * @param {string} name
 * @param {(() => object) | null} make
 */
export function pageState(name = "main", make = null) {
  if (make && !states.has(name)) states.set(name, make());
  return states.get(name);
}

/** @param {string} topic */
const publish = (topic) => () => {
  for (const one of states.values()) one.publish(topic);
};
onLanguage(publish("language"));
onTheme(publish("theme"));
