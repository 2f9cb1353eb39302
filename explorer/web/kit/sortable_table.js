// A table that its reader sorts, by a click or Enter on a column's name, and walks with the arrow
// keys. It knows nothing of what it lists.

import { batchText } from "./batch_text_with_picture.js";
import { h, setText, walkable, worded } from "./dom.js";
import { hosted } from "./preact_view.js";
import { say } from "./translated_sentences.js";

/** @typedef {string | import("./batch_text_with_picture.js").BatchText} Line of a cell */

/**
 * `cell` makes the text of a row, or its lines, and `by` what it is sorted by; a `spare` column is
 * hidden while no row has a number for it. With a `box` it is a column of boxes to tick ("tick"); with
 * `acts` controls stand under its words, made once for each line and notified by an "lp-row" event that they
 * stand for another row.
 * @template Row
 * @typedef {{ key: string, by: (row: Row) => number | string, cell?: (row: Row) => string | Line[],
 *   wide?: boolean, spare?: boolean, acts?: (row: () => Row) => HTMLElement, box?: { label: (row: Row) => string,
 *   checked: (row: Row) => boolean } }} Column
 */

/**
 * The row that the pointer or the focus comes to, that it has left it, the one that is clicked or entered
 * where rows are to be picked, the one whose box is ticked or not.
 * @template Row
 * @typedef {["reach", Row] | ["leave"] | ["pick", Row] | ["tick", Row]} Emitted
 */

/**
 * `sorted` is null for the order the rows come in; `picks`: whether rows are to be picked.
 * @template Row
 * @typedef {{ columns: Column<Row>[], key?: string, most?: number,
 *   sorted?: { column: number, down: boolean } | null, picks?: boolean }} Options
 */

/**
 * `data` are the rows in the order they come in; their words are made anew, as after a change of
 * language. `lit`: which rows show what is pointed at elsewhere.
 * @template Row
 * @typedef {{ data?: Row[], state?: { lit: (row: Row) => boolean } }} Update
 */

/**
 * @template Row
 * @param {HTMLElement} root
 * @param {Options<Row>} options
 * @param {(...event: Emitted<Row>) => void} [emit]
 */
export function sortableTable(root, options, emit = () => undefined) {
  /** @type {SortableTable<Row>} */
  const table = new SortableTable(options, emit);
  root.classList.add("lp-scroll");
  root.append(table.element, table.more);
  return { update: (/** @type {Update<Row>} */ next) => table.update(next) };
}

/**
 * The same as a component. `options` do not change; `look` are properties of the style sheet for the table's box, and
 * `kind` is its class.
 * @template Row
 * @param {{ options: Options<Row>, rows: Row[], lit?: (row: Row) => boolean,
 *   look?: Record<string, string>, kind?: string, emit?: (...event: Emitted<Row>) => void }} properties
 */
export const hostedTable = ({ options, rows, lit, look = {}, kind = "div", emit }) =>
  hosted({
    kind,
    make: (root) => {
      for (const [name, value] of Object.entries(look)) root.style.setProperty(name, value);
      return sortableTable(root, options, emit);
    },
    update: ({ update }) => update({ data: rows, state: lit && { lit } }),
  });

/** @template Row */
class SortableTable {
  /**
   * @param {Options<Row>} options
   * @param {(...event: Emitted<Row>) => void} emit
   */
  constructor({ columns, key, sorted = null, most = 8, picks = false }, emit) {
    this.columns = columns;
    this.key = key;
    this.most = most;
    this.picks = picks;
    this.emit = emit;
    this.order = sorted;
    this.isWhole = false;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {(row: Row) => boolean} */
    this.lit = () => false;
    /** @type {{ line: HTMLTableRowElement, cells: HTMLElement[], row: Row }[]} */
    this.lines = [];
    this.marks = columns.map(() => h("span.lp-arrow", { "aria-hidden": "true" }));
    this.heads = columns.map((column, place) => {
      const sort = () => this.#sort(place);
      const button = h("button.lp-sort", { onclick: sort }, worded("span", column.key), this.marks[place]);
      return h("th", { scope: "col", className: column.wide ? "lp-wide" : "" }, button);
    });
    this.body = h("tbody");
    this.more = h("button.lp-button.lp-more-rows", { hidden: true, onclick: () => this.#unfold() });
    const head = h("thead", h("tr", this.heads));
    this.element = h("table.lp-sortable", { "aria-label": key && say(key) }, head, this.body);
    walkable(this.body);
    if (picks) this.body.addEventListener("keydown", (event) => this.#pick(event));
  }

  /** @param {Update<Row>} next */
  update({ data, state }) {
    if (state) this.lit = state.lit;
    if (data) {
      this.rows = data;
      if (this.key) this.element.setAttribute("aria-label", say(this.key));
      this.#draw();
    } else this.#light();
  }

  #unfold() {
    this.isWhole = !this.isWhole;
    this.#draw();
  }

  /** @param {KeyboardEvent} event */
  #pick(event) {
    const entry = this.lines.find(({ line }) => line === event.target);
    if (event.key === "Enter" && entry) this.emit("pick", entry.row);
  }

  /**
   * Numbers come largest first, words from A to Z; the second time it is the other way round.
   * @param {number} column
   */
  #sort(column) {
    const { rows, order } = this;
    const isNumeric = rows.length > 0 && typeof this.columns[column].by(rows[0]) === "number";
    this.order = { column, down: order?.column === column ? !order.down : isNumeric };
    this.#draw();
  }

  #arranged() {
    const { order, rows } = this;
    if (!order) return rows;
    const { by } = this.columns[order.column];
    const sign = order.down ? -1 : 1;
    const keys = new Map(rows.map((row) => [row, by(row)]));
    const known = rows.filter((row) => !Number.isNaN(keys.get(row)));
    const unknown = rows.filter((row) => Number.isNaN(keys.get(row)));
    /** @type {(a: any, b: any) => number} */
    const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : Number(a > b) - Number(a < b));
    known.sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
    return [...known, ...unknown];
  }

  /**
   * Lines are made once and stay: while a slider moves only their words change.
   * @param {number} place
   * @param {Row} row that is shown there
   */
  #lineAt(place, row) {
    if (place === this.lines.length) this.#addLine(row);
    return Object.assign(this.lines[place], { row });
  }

  /** @param {Row} row */
  #addLine(row) {
    const { columns, emit } = this;
    const cells = columns.map(({ wide }) => h(wide ? "td.lp-wide" : "td"));
    const line = h(this.picks ? "tr.lp-pickable" : "tr", { tabIndex: -1 }, cells);
    const entry = { line, cells, row };
    columns.forEach(({ box, acts }, i) => {
      if (box) cells[i].append(h("input", { type: "checkbox", onchange: () => emit("tick", entry.row) }));
      if (acts)
        cells[i].append(
          h("div"),
          acts(() => entry.row),
        );
    });
    if (this.picks)
      line.addEventListener("click", (event) => {
        if (!(event.target instanceof HTMLInputElement)) emit("pick", entry.row);
      });
    for (const event of ["mouseenter", "focus"]) line.addEventListener(event, () => emit("reach", entry.row));
    for (const event of ["mouseleave", "blur"]) line.addEventListener(event, () => emit("leave"));
    this.lines.push(entry);
    this.body.append(line);
  }

  #draw() {
    const { lines, rows, more, most, isWhole } = this;
    const all = this.#arranged();
    const shown = isWhole ? all : all.slice(0, most);
    shown.forEach((row, place) => {
      this.#fill(this.#lineAt(place, row).cells, row);
    });
    lines.forEach(({ line }, place) => {
      line.hidden = place >= shown.length;
    });
    if (!lines.some(({ line }) => line.tabIndex === 0 && !line.hidden) && lines.length) lines[0].line.tabIndex = 0;
    this.#hideSpare();
    this.heads.forEach((head, place) => {
      const sort = this.order?.column === place ? (this.order.down ? "descending" : "ascending") : "none";
      head.setAttribute("aria-sort", sort);
      setText(this.marks[place], { descending: "▼", ascending: "▲", none: "" }[sort]);
    });
    more.hidden = rows.length <= most;
    setText(more, isWhole ? say("ui.fewer_rows") : say("ui.all_rows", { count: rows.length }));
    this.#light();
  }

  /** @type {(cells: HTMLElement[], row: Row) => void} */
  #fill(cells, row) {
    this.columns.forEach(({ cell, box, acts }, i) => {
      if (box) Object.assign(cells[i].firstChild ?? {}, { checked: box.checked(row), ariaLabel: box.label(row) });
      else if (acts) {
        put(/** @type {HTMLElement} */ (cells[i].firstChild), cell?.(row) ?? "");
        cells[i].lastChild?.dispatchEvent(new Event("lp-row"));
      } else put(cells[i], cell?.(row) ?? "");
    });
  }

  #hideSpare() {
    this.columns.forEach(({ spare, by }, place) => {
      if (!spare) return;
      const hidden = this.rows.every((row) => Number.isNaN(by(row)));
      for (const cell of [this.heads[place], ...this.lines.map(({ cells }) => cells[place])]) cell.hidden = hidden;
    });
  }

  #light() {
    for (const { line, row } of this.lines) line.classList.toggle("lp-lit", !line.hidden && this.lit(row));
  }
}

/**
 * Write the text of a cell, or its lines, where it is another.
 * @type {(cell: HTMLElement, content: string | Line[]) => void}
 */
function put(cell, content) {
  const lines = [content].flat().map((line) => (typeof line === "string" ? { text: line } : line));
  const shown = lines.map(({ before = "", text }) => before + text).join("\n");
  if (cell.dataset.shown === shown) return;
  cell.dataset.shown = shown;
  if (!Array.isArray(content)) {
    cell.textContent = shown;
    return;
  }
  cell.title = shown;
  const words = lines.map((line) => h("span", batchText(h, line)));
  cell.replaceChildren(h("div.lp-two", words));
}
