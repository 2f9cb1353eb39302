// A loss of one's own: its file is watched while it is chosen, and edited where the page may.
import { h, reword, worded } from "../../kit/dom.js";
import { pageData } from "../../kit/page_data.js";
import { language, say } from "../../kit/words.js";

const LOOK_MS = 2000;
const INDENT = "    ";

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").Scene} channel
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export default function own(root, channel, server) {
  const { own: mine, editable } = pageData.explore;
  const block = /** @type {HTMLElement} */ (root.closest(".lp-instrument") ?? root);
  block.style.display = "none";
  if (!mine.length) return;
  /** @type {Map<string, import("../../wire").OwnFile>} */
  const files = new Map();
  const note = h("p.lp-note", { role: "status", hidden: true });
  const editor = editable ? ownEditor(server, () => look()) : null;
  root.append(note, ...(editor ? [editor.element] : []));
  let looking = false;
  const chosen = () => (mine.includes(channel.scenario.loss) ? channel.scenario.loss : "");

  async function look() {
    const name = chosen();
    if (!name || looking) return;
    looking = true;
    const answer = await server.own(name);
    looking = false;
    if (!answer || answer.error || name !== chosen()) return;
    const before = files.get(name);
    files.set(name, answer.own);
    const { line } = answer.problem?.values ?? {};
    editor?.show(name, answer.own, Number(line ?? 0));
    if (before?.digest === answer.own.digest) return;
    // The page may have been told of the loss before its file changed.
    const isOther = JSON.stringify(pageData.losses[name]) !== JSON.stringify(answer.own.loss);
    pageData.losses[name] = answer.own.loss;
    if (before) tell(answer.own);
    if (isOther) channel.publish("scenario");
    if (before) channel.ask();
  }

  /** @param {import("../../wire").OwnFile} file */
  function tell({ file, read_at: at }) {
    const time = new Date(1000 * at).toLocaleTimeString(language(), { hour: "2-digit", minute: "2-digit" });
    note.textContent = say("ui.own_read", { file, time });
    note.hidden = false;
    told = { file, read_at: at };
  }
  /** @type {any} */
  let told = null;

  channel.on("scenario", () => {
    block.style.display = chosen() ? "" : "none";
    if (!files.has(chosen())) look();
  });
  channel.on("language", () => {
    if (told) tell(told);
    reword(root);
    editor?.name();
  });
  setInterval(() => {
    if (document.visibilityState === "visible") look();
  }, LOOK_MS);
}

/**
 * The file as text with numbered lines. `saved` hears that it was written.
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 * @param {() => void} saved
 */
function ownEditor(server, saved) {
  const text = h("textarea", { rows: 18, spellcheck: false, wrap: "off", autocapitalize: "off" });
  const numbers = h("pre", { "aria-hidden": "true" });
  const state = h("span.lp-note", { role: "status" });
  const summary = h("summary");
  const save = worded("button.lp-button.lp-main", "ui.own_save", { type: "button", onclick: write });
  const again = worded("button.lp-button", "ui.own_reload", { type: "button", onclick: () => read(true) });
  const element = h(
    "details.lp-table.lp-own",
    { ontoggle: () => element.open && !digest && read() },
    summary,
    h("div.lp-own-text", {}, numbers, text),
    h("div.lp-row.lp-wrap", {}, save, again, state, worded("span.lp-note", "ui.own_keys")),
  );
  let [loss, file, digest, onDisk, kept, wrong] = ["", "", "", "", "", 0];

  function name() {
    summary.textContent = say("ui.own_edit", { file });
    text.setAttribute("aria-label", say("ui.own_text"));
  }

  /** @param {string} key */
  function tell(key, values = {}, isProblem = false) {
    state.textContent = key ? say(key, values) : "";
    state.classList.toggle("lp-fault", isProblem);
  }

  function number() {
    const count = text.value.split("\n").length;
    numbers.replaceChildren(
      ...Array.from({ length: count }, (_, i) => h(i + 1 === wrong ? "b.lp-wrong" : "span", {}, `${i + 1}\n`)),
    );
    numbers.scrollTop = text.scrollTop;
  }

  /**
   * So that it can be undone, where the browser knows how.
   * @param {string} next
   */
  function replaceTyped(next) {
    text.focus();
    text.select();
    document.execCommand("insertText", false, next);
  }

  async function read(typed = false) {
    const answer = await server.own_text(loss);
    if (!answer) return;
    if (answer.error) {
      tell(answer.error.key, answer.error.values, true);
      return;
    }
    ({ digest } = answer);
    kept = answer.text;
    if (text.value !== kept) {
      if (typed) replaceTyped(kept);
      if (text.value !== kept) text.value = kept;
    }
    tell("");
    number();
  }

  async function write() {
    const typed = text.value;
    const answer = await server.own_write({ name: loss, text: typed, digest });
    if (!answer || answer.error) {
      const error = answer?.error ?? { key: "ui.server_gone", values: {} };
      tell(error.key, error.values, true);
      return;
    }
    ({ digest } = answer);
    onDisk = digest;
    kept = typed;
    tell(text.value === kept ? "ui.own_saved" : "ui.own_unsaved");
    saved();
  }

  let leaves = false; // Escape, then Tab: on to the next control
  text.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "s" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      write();
    } else if (event.key === "Tab" && !leaves && !event.shiftKey) {
      event.preventDefault();
      if (!document.execCommand("insertText", false, INDENT))
        text.setRangeText(INDENT, text.selectionStart, text.selectionEnd, "end");
    }
    leaves = event.key === "Escape";
  });
  text.addEventListener("input", () => {
    tell(text.value === kept ? "" : "ui.own_unsaved");
    number();
  });
  text.addEventListener("scroll", () => {
    numbers.scrollTop = text.scrollTop;
  });

  return {
    element,
    name,
    /**
     * What was read of the file, and at which line it went wrong (0: nowhere).
     * @param {string} next
     * @param {import("../../wire").OwnFile} about
     * @param {number} line
     */
    show(next, about, line) {
      [loss, file, wrong] = [next, about.file, line];
      name();
      const isOther = onDisk !== "" && onDisk !== about.digest;
      onDisk = about.digest;
      if (digest && isOther && text.value === kept) read();
      else number();
    },
  };
}
