// The table of pairs: type, paste from a spreadsheet, delete; every row of the batch to read.
import { floats } from "../../kit/base64_arrays.js";
import { find, h, prefersReducedMotion, setText, worded } from "../../kit/dom.js";
import { show } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { cellsOfText } from "../../kit/spreadsheet_clipboard_parser.js";
import { say } from "../../kit/translated_sentences.js";
import { marksOf, pairsOfRows } from "./duplicate_error_and_teacher_tags.js";
import { cellsOf, inputsOf, pairRow, showFault, showMarks, showPictures } from "./pair_table_row.js";

/** @typedef {import("../../kit/types").Row} Row */
/** @typedef {import("./state.js").ExplorePage} ExplorePage */

const MAX_PASTED_ROWS = 20000; // more is for a file
const TYPING_PAUSE_MS = 350;

class PairTable {
  /** @param {ExplorePage} page */
  constructor(page) {
    this.page = page;
    this.body = h("tbody");
    this.count = h("span.lp-note");
    this.hint = worded("p.lp-note", "ui.paste_hint");
    /** @type {(key: string, act: () => void, more?: object) => HTMLButtonElement} */
    const button = (key, act, more) => worded("button.lp-button", key, { onclick: act, ...more });
    this.add = button("ui.add_row", () => inputsOf(this.addRow())[0].focus(), { id: "lp-add-row" });
    this.clear = button("ui.clear_table", () => this.replace([]));
    this.undo = button("ui.undo", () => this.replace(this.cleared), { hidden: true });
    this.element = this.#element();
    /** @type {Row[]} */
    this.cleared = []; // what was in the table before it was cleared
    /** @type {Row[]} */
    this.beyond = []; // rows that are not laid out, but sent
    this.labelled = ""; // the key of the batch whose pairs stand beside the rows
    this.isPressed = false;
  }

  #element() {
    const heads = ["column.first", "column.second", "column.score", "ui.similarity"].map((key) => worded("th", key));
    return h(
      "details.lp-table",
      h("summary", worded("span", "ui.pairs"), " ", this.count),
      this.hint,
      h("div.lp-scroll", h("table", h("thead", h("tr", h("th", "#"), heads, h("td"))), this.body)),
      h("div.lp-row", this.add, this.clear, this.undo),
    );
  }

  // ---- Rows --------------------------------------------------------------------------------

  // Names of given vectors or scores mean nothing to an encoder, so they are only shown.
  get isEditable() {
    const { scenario, batch } = this.page;
    return scenario.data.source === "table" || batch?.editable !== false;
  }
  get lines() {
    return /** @type {HTMLElement[]} */ (Array.from(this.body.children));
  }
  get rows() {
    return [...this.lines.map(cellsOf), ...this.beyond];
  }

  addRow() {
    const line = this.#line(["", "", ""]);
    this.body.append(line);
    this.#number();
    return line;
  }

  /** @param {Row} cells */
  #line(cells) {
    return pairRow(cells, {
      isEditable: this.isEditable,
      point: (pairs) => this.page.point(pairs),
      remove: (line) => {
        line.remove();
        this.#number();
        this.commit();
      },
    });
  }

  #number() {
    this.lines.forEach((line, i) => {
      line.children[0].textContent = String(i + 1);
    });
  }

  /** @param {Row[]} all */
  fill(all) {
    const most = 4 * pageData.limits.pairs;
    /** @type {Row[]} */
    const shown = all.length ? all.slice(0, most) : [["", "", ""]];
    this.body.replaceChildren(...shown.map((cells) => this.#line(cells)));
    this.beyond = all.slice(most);
    this.#number();
  }

  /** @param {Row[]} all */
  replace(all) {
    this.cleared = this.rows;
    this.fill(all);
    this.undo.hidden = all.length > 0;
    this.commit();
  }

  // ---- What is typed -----------------------------------------------------------------------

  /**
   * Send typed rows once the typing pauses, or at once when the table is left; what does not fit yet stays and
   * is named. A press that leaves it is over first: what the answer moves on the page must not move from under it.
   */
  listen() {
    const { body, page } = this;
    body.addEventListener("input", () => {
      clearTimeout(page.typing);
      page.typing = setTimeout(() => this.commit(), TYPING_PAUSE_MS);
    });
    body.addEventListener("paste", (event) => this.paste(event));
    body.addEventListener("focusout", ({ relatedTarget }) => {
      if (!page.typing || body.contains(/** @type {Node | null} */ (relatedTarget))) return;
      if (this.isPressed) clearTimeout(page.typing);
      else this.commit();
    });
    const press = () => {
      this.isPressed = true;
    };
    const release = () => {
      this.isPressed = false;
      if (page.typing && !body.contains(document.activeElement)) this.commit();
    };
    addEventListener("pointerdown", press, true);
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, release, true);
  }

  commit() {
    clearTimeout(this.page.typing);
    this.page.typing = undefined;
    this.page.setRows(this.rows);
  }

  /**
   * A block from a spreadsheet fills cells to the right and downwards from where it lands.
   * @param {ClipboardEvent} event
   */
  paste(event) {
    const block = cellsOfText(event.clipboardData?.getData("text/plain") ?? "");
    const row = this.lines.findIndex((line) => line.contains(/** @type {Node} */ (event.target)));
    if (row < 0 || (block.length === 1 && block[0].length === 1)) return;
    event.preventDefault();
    const column = inputsOf(this.lines[row]).indexOf(/** @type {HTMLInputElement} */ (event.target));
    const width = Math.max(...block.map((cells) => cells.length));
    const all = this.rows;
    for (const [i, cells] of block.slice(0, MAX_PASTED_ROWS).entries()) {
      all[row + i] ??= ["", "", ""];
      const into = all[row + i];
      for (let k = 0; k < width && column + k < into.length; k += 1) into[column + k] = cells[k] ?? "";
      if (column === 0 && width === 2) into[2] = ""; // the score was that of other sentences
    }
    this.fill(all);
    inputsOf(this.lines[row])[column].focus();
    this.commit();
    if (block.length > MAX_PASTED_ROWS)
      this.page.warn({ key: "ui.paste_cut", values: { count: block.length, most: MAX_PASTED_ROWS } });
  }

  // ---- The batch beside the rows -----------------------------------------------------------

  /** Show the pairs of the batch, unless they are there or the reader is typing. */
  take() {
    const { batch, scenario } = this.page;
    if (!batch) return;
    this.tellCount();
    if (!this.element.open) return;
    const { data } = scenario;
    /** @type {Row[]} */
    const rows =
      data.source === "table"
        ? data.rows
        : batch.labels.map((label, i) => [batch.first[i], batch.second[i], String(label)]);
    if (String(this.rows) === String(rows) || this.body.contains(document.activeElement)) return;
    this.fill(rows);
    this.add.hidden = this.clear.hidden = !this.isEditable;
    this.hint.dataset.say = this.isEditable ? "ui.paste_hint" : "ui.only_names";
    this.hint.textContent = say(this.hint.dataset.say);
    this.label();
  }

  tellCount() {
    setText(this.count, say("ui.count_pairs", { count: this.page.batch?.labels.length ?? 0 }));
  }

  /**
   * Show at each row which pair it became: skipped and empty rows are none, nor are those that were left out. Of a
   * source that is no table the rows are the pairs themselves, and go by their numbers there.
   */
  label() {
    const { batch, picture, scenario, skipped } = this.page;
    const isTable = scenario.data.source === "table";
    const faults = new Map((isTable ? skipped : []).map((fault) => [fault.row, fault]));
    const scores = picture ? floats(picture.pairs.score) : [];
    const marks = batch ? marksOf(batch, (pair) => this.page.numberOf(pair)) : new Map();
    const { lines } = this;
    const used = lines.map((line, i) => !faults.has(i + 1) && cellsOf(line).some((cell) => cell.trim() !== ""));
    const pairs = pairsOfRows(used, isTable ? (batch?.places ?? null) : null);
    lines.forEach((line, i) => {
      const pair = pairs[i];
      line.pair = pair;
      showFault(line, faults.get(i + 1));
      showPictures(line, batch);
      showMarks(line, pair === undefined ? [] : (marks.get(pair) ?? []));
      find(line, ".lp-similarity").textContent = pair === undefined ? "" : show(scores[pair], 3);
      if (!isTable && pair !== undefined) line.children[0].textContent = String(this.page.numberOf(pair));
    });
    this.light();
  }

  light() {
    const { pointed, scenario } = this.page;
    for (const line of this.lines) {
      /** @param {number[]} pairs */
      const isOne = (pairs) => line.pair !== undefined && pairs.includes(line.pair);
      line.classList.toggle("lp-lit", isOne(pointed.pairs));
      line.classList.toggle("lp-marked", isOne(scenario.view.marked));
    }
  }

  edit() {
    this.element.open = true;
    if (this.page.scenario.data.source !== "table" && this.page.batch) this.take();
    if (!this.body.children.length) this.addRow();
    this.element.scrollIntoView({ behavior: prefersReducedMotion() ? "auto" : "smooth", block: "nearest" });
  }
}

/** @type {(root: HTMLElement, page: ExplorePage) => void} */
export default function pairs(root, page) {
  const table = new PairTable(page);
  root.append(table.element);
  table.listen();
  /** @param {() => void} act where the table is open and there is a batch */
  const whenOpen = (act) => () => {
    if (table.element.open && page.batch) act();
  };
  table.element.addEventListener(
    "toggle",
    whenOpen(() => {
      table.take();
      table.label();
    }),
  );
  page.on("edit", () => table.edit());
  page.on("batch", () => table.take());
  page.on(
    "picture",
    whenOpen(() => {
      if (page.batch?.key === table.labelled) table.light();
      else table.label();
      table.labelled = page.batch?.key ?? "";
    }),
  );
  page.on("skipped", () => {
    if (table.element.open) table.label();
  });
  page.on("pointed", () => {
    if (table.element.open) table.light();
  });
  page.on("language", () => {
    if (page.batch) table.tellCount();
    whenOpen(() => table.label())();
  });
}
