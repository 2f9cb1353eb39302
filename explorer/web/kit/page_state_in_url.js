// The state of a page that stands in its address as a whole.
import { History } from "./browser_history.js";
import { PageEvents } from "./page_topics_notices_and_jobs.js";
import { exampleInLanguage } from "./replacement_example_for_language.js";
import * as link from "./state_link.js";
import { Store } from "./state_store.js";

/**
 * A page that has a new answer of the server after each change.
 * @template Server
 */
export class PageInUrl extends PageEvents {
  /**
   * @param {string[]} topics
   * @param {import("./state_store.js").Entry[]} table
   */
  constructor(topics, table) {
    super(["state", "problem", ...topics]);
    this.store = new Store(table);
    /** @type {import("./types").Asking<Server>} */
    this.server = /** @type {any} */ (null); // until the page is connected
    /** @type {History | null} */
    this.history = null;
  }

  /** @param {import("./types").Asking<Server>} server */
  async connect(server) {
    this.server = server;
    this.history = new History({ store: this.store, write: () => this.written(), open: (text) => this.open(text) });
    await this.history.revisit();
  }

  /** What opens without an address: the example in the reader's language, on a page that has one. */
  get opening() {
    const { example } = this.store.usual;
    const chosen = exampleInLanguage(example);
    return chosen === example ? {} : { example: chosen };
  }

  written() {
    return { text: link.written(this.store, Object.keys(this.opening)) };
  }

  /** @type {(text: string) => object} The state that an address has. */
  read(text) {
    return this.store.known(link.read(this.store.table, text));
  }

  /** @param {string} text */
  open(text) {
    this.store.reset({ ...this.read(text), ...(text ? {} : this.opening) });
    this.publish("state");
    this.ask();
    return true;
  }

  /** @param {Record<string, any>} change */
  set(change) {
    this.store.update(change);
    this.history?.remember();
    this.publish("state");
    this.ask();
  }

  /** @type {() => unknown} Ask the server for what the state has become. */
  ask() {
    throw new TypeError(this.constructor.name);
  }
}
