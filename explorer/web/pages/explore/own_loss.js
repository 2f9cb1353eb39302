// A loss of one's own: its file is watched while it is chosen, and edited where the page may.
import { h, worded } from "../../kit/dom.js";
import { pageData } from "../../kit/page_data.js";
import { language, say } from "../../kit/translated_sentences.js";

const POLL_MS = 2000;
const INDENT = "    ";

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ExplorePage} page
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export default function own(root, page, server) {
  const { own: ownLosses, editable } = pageData.explore;
  const block = /** @type {HTMLElement} */ (root.closest(".lp-instrument") ?? root);
  if (!ownLosses.length) return;
  /** @type {Map<string, import("../../wire").LoadedOwnFile>} */
  const files = new Map();
  const note = h("p.lp-note", { role: "status", hidden: true });
  const editor = editable ? new OwnLossEditor(server, () => poll()) : null;
  root.append(note, ...(editor ? [editor.element] : []));
  let isPolling = false;
  const chosen = () => (ownLosses.includes(page.scenario.loss) ? page.scenario.loss : "");

  async function poll() {
    const name = chosen();
    if (!name || isPolling) return;
    isPolling = true;
    const answer = await server.own(name);
    isPolling = false;
    if (answer.error || name !== chosen()) return;
    const before = files.get(name);
    files.set(name, answer.own);
    const { line } = answer.problem?.values ?? {};
    editor?.show(name, answer.own, Number(line ?? 0));
    if (before?.digest === answer.own.digest) return;
    // The page may know the loss from before its file changed.
    const isOther = JSON.stringify(pageData.losses[name]) !== JSON.stringify(answer.own.loss);
    pageData.losses[name] = answer.own.loss;
    if (before) reportReading(answer.own);
    if (isOther) page.publish("scenario");
    if (before) page.ask();
  }

  /** @param {import("../../wire").LoadedOwnFile} file */
  function reportReading({ file, read_at: at }) {
    const time = new Date(1000 * at).toLocaleTimeString(language(), { hour: "2-digit", minute: "2-digit" });
    note.textContent = say("ui.own_read", { file, time });
    note.hidden = false;
    lastReading = { file, read_at: at };
  }
  /** @type {any} */
  let lastReading = null;

  page.on("scenario", () => {
    block.style.display = chosen() ? "" : "none";
    if (!files.has(chosen())) poll();
  });
  page.on("language", () => {
    if (lastReading) reportReading(lastReading);
    editor?.name();
  });
  setInterval(() => {
    if (document.visibilityState === "visible") poll();
  }, POLL_MS);
}

/** The file as text with numbered lines. */
class OwnLossEditor {
  /**
   * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
   * @param {() => void} saved is called once the file was written
   */
  constructor(server, saved) {
    this.server = server;
    this.saved = saved;
    this.text = h("textarea", { rows: 18, spellcheck: false, wrap: "off", autocapitalize: "off" });
    this.numbers = h("pre", { "aria-hidden": "true" });
    this.state = h("span.lp-note", { role: "status" });
    this.summary = h("summary");
    this.element = this.#element();
    this.loss = "";
    this.file = "";
    this.digest = ""; // of the text that is edited
    this.onDisk = ""; // the digest of the file as it was heard of last
    this.original = ""; // the text before it was edited
    this.faultyLine = 0;
    this.leaves = false; // Escape, then Tab: on to the next control
    this.text.addEventListener("keydown", (event) => this.#key(event));
    this.text.addEventListener("input", () => {
      this.#showState(this.text.value === this.original ? "" : "ui.own_unsaved");
      this.#number();
    });
    this.text.addEventListener("scroll", () => {
      this.numbers.scrollTop = this.text.scrollTop;
    });
  }

  #element() {
    const save = worded("button.lp-button.lp-main", "ui.own_save", { onclick: () => this.write() });
    const again = worded("button.lp-button", "ui.own_reload", { onclick: () => this.read(true) });
    return h(
      "details.lp-table.lp-own",
      { ontoggle: () => this.element.open && !this.digest && this.read() },
      this.summary,
      h("div.lp-own-text", this.numbers, this.text),
      h("div.lp-row.lp-wrap", save, again, this.state, worded("span.lp-note", "ui.own_keys")),
    );
  }

  name() {
    this.summary.textContent = say("ui.own_edit", { file: this.file });
    this.text.setAttribute("aria-label", say("ui.own_text"));
  }

  /** @param {string} key */
  #showState(key, values = {}, isProblem = false) {
    this.state.textContent = key ? say(key, values) : "";
    this.state.classList.toggle("lp-fault", isProblem);
  }

  #number() {
    const count = this.text.value.split("\n").length;
    this.numbers.replaceChildren(
      ...Array.from({ length: count }, (_, i) => h(i + 1 === this.faultyLine ? "b.lp-wrong" : "span", `${i + 1}\n`)),
    );
    this.numbers.scrollTop = this.text.scrollTop;
  }

  /** Read the file; where `undoable`, as if its text had been typed. */
  async read(undoable = false) {
    const answer = await this.server.own_text(this.loss);
    if (answer.error) {
      this.#showState(answer.error.key, answer.error.values, true);
      return;
    }
    const { text } = this;
    [this.digest, this.original] = [answer.digest, answer.text];
    if (text.value !== answer.text && undoable) {
      text.focus();
      text.select();
      document.execCommand("insertText", false, answer.text); // where the browser knows how
    }
    if (text.value !== answer.text) text.value = answer.text;
    this.#showState("");
    this.#number();
  }

  async write() {
    const { value: text } = this.text;
    const answer = await this.server.own_write({ name: this.loss, text, digest: this.digest });
    if (answer.error) {
      this.#showState(answer.error.key, answer.error.values, true);
      return;
    }
    this.digest = this.onDisk = answer.digest;
    this.original = text;
    this.#showState(this.text.value === text ? "ui.own_saved" : "ui.own_unsaved");
    this.saved();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { text } = this;
    event.stopPropagation();
    if (event.key === "s" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.write();
    } else if (event.key === "Tab" && !this.leaves && !event.shiftKey) {
      event.preventDefault();
      if (!document.execCommand("insertText", false, INDENT))
        text.setRangeText(INDENT, text.selectionStart, text.selectionEnd, "end");
    }
    this.leaves = event.key === "Escape";
  }

  /**
   * Show what was read of the file, and at which line it went wrong (0: nowhere).
   * @type {(loss: string, about: import("../../wire").LoadedOwnFile, line: number) => void}
   */
  show(loss, { file, digest }, line) {
    [this.loss, this.file, this.faultyLine] = [loss, file, line];
    this.name();
    const isOther = this.onDisk !== "" && this.onDisk !== digest;
    this.onDisk = digest;
    if (this.digest && isOther && this.text.value === this.original) this.read();
    else this.#number();
  }
}
