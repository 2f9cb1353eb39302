// The address follows the state once it has been still for a moment, and the browser's Back and
// Forward lead through what the state was.
import { written } from "./state_link.js";

const PREVIEWED = 2000; // letters of a scenario that the server draws a picture of

/**
 * This page with such a scenario behind it. Its <base> would lead a mere "#…" to the first page.
 * @param {string} link
 */
export const addressOf = (link) => location.pathname + location.search + (link && `#${link}`);

/**
 * Where a reader finds a page with such a scenario. On the hub the first page of a Space stands in a
 * frame of the hub's own page, which hands what follows the "#" on to it at load; any other page is
 * found where it is. Whoever is shown a private Space has a signature of theirs in the address, which
 * is nobody else's. What holds no text of the reader's (`isPublic`) stands in the query, from which sites
 * where it is shared show a title and a picture; a reader's own pairs stay after the "#", which no server is sent.
 * @param {string} link
 * @param {{ href: string, space?: string, isFirst: boolean, isFramed: boolean, isPublic?: boolean }} here
 */
export function readerAddress(link, { href, space = "", isFirst, isFramed, isPublic = false }) {
  const own = new URL(href);
  own.hash = "";
  own.searchParams.delete("__sign");
  if (isPublic && !(isFirst && isFramed) && link && link.length <= PREVIEWED) {
    own.searchParams.set("scene", link);
    return own.href;
  }
  const address = space && isFirst && isFramed ? `https://huggingface.co/spaces/${space}` : own.href;
  return link ? `${address}#${link}` : address;
}

/** Whether the page stands in another site's page, without its header. */
export const isEmbedded = () => new URLSearchParams(location.search).has("embed");

/**
 * What stands in the address, and what this browser keeps beside it.
 * @typedef {{ text: string, kept?: object | null }} Entry
 */

/**
 * The store's table says which entries make a step of their own: another value of theirs begins a
 * new entry of the history, anything else changes the one it is in.
 */
export class History {
  /**
   * `write()` is the text of the address for the state as it is, with what is kept beside it: by default the
   * entries of the table that an address has.
   * `open(text, kept, isCurrent)` takes both up again; it may answer false where it did not. `debounce`:
   * the address is written once the state has rested for so many milliseconds.
   * @param {{ store: import("./state_store.js").Store, write?: () => Entry | Promise<Entry>, debounce?: number,
   *   open: (text: string, kept: any, isCurrent: () => boolean) => unknown }} options
   */
  constructor({ store, write = () => ({ text: written(store) }), open, debounce = 300 }) {
    this.store = store;
    this.write = write;
    this.open = open;
    this.debounce = debounce;
    /** @type {string | null} */
    this.text = null; // what the address says
    /** @type {string | null} */
    this.at = null; // the step that it stands for
    this.turn = 0;
    /** @type {ReturnType<typeof setTimeout> | null} */
    this.timer = null;
    window.addEventListener("popstate", () => this.revisit());
  }

  get pending() {
    return this.timer !== null;
  }

  // The state has changed. Without a wait, before anything else can happen.
  remember(wait = this.debounce) {
    this.forget();
    if (!wait) {
      this.put(/** @type {Entry} */ (this.write()));
      return;
    }
    const { turn } = this;
    this.timer = setTimeout(async () => {
      const entry = await this.write();
      if (turn !== this.turn) return;
      this.timer = null;
      this.put(entry);
    }, wait);
  }

  // What was to be remembered is out of date.
  forget() {
    clearTimeout(this.timer ?? undefined);
    this.timer = null;
    this.turn += 1;
  }

  /** @param {Entry} entry */
  put({ text, kept = null }) {
    const before = this.at;
    this.settle(text);
    const how = before !== null && before !== this.at ? "pushState" : "replaceState";
    history[how]({ ...history.state, lossprism: kept }, "", addressOf(text));
  }

  /** The state is what the address says. */
  settle(text = this.text) {
    this.text = text;
    this.at = this.store.place();
  }

  // The entry of the history that the browser stands at.
  async revisit() {
    const text = location.hash.slice(1);
    if (text && text === this.text) return;
    this.forget();
    const { turn } = this;
    const taken = await this.open(text, history.state?.lossprism ?? null, () => turn === this.turn);
    if (taken !== false) this.settle(text);
  }
}
