// A table that its reader sorts, by a click or Enter on a column's name, and walks with the arrow
// keys. It knows nothing of what it lists.
import { h, setText, walkable, worded } from "./dom.js";
import { say } from "./words.js";

/**
 * `cell` makes the text of a row, or its lines, and `by` what it is sorted by; a `spare` column is
 * hidden while no row has a number for it. With a `box` it is a column of boxes to tick ("tick"); with
 * `acts` controls stand under its words, made once for each line and told by an "lp-row" event that they
 * stand for another row.
 * @template Row
 * @typedef {{ key: string, by: (row: Row) => number | string, cell?: (row: Row) => string | string[],
 *   wide?: boolean, spare?: boolean, acts?: (row: () => Row) => HTMLElement, box?: { label: (row: Row) => string,
 *   checked: (row: Row) => boolean } }} Column
 */

/**
 * The row that the pointer or the focus comes to, that it has left it, the one that is clicked or entered
 * where rows are to be picked, the one whose box is ticked or not.
 * @template Row
 * @typedef {["reach", Row] | ["leave"] | ["pick", Row] | ["tick", Row]} Told
 */

/**
 * `sorted` is null for the order the rows come in; `picks`: whether rows are to be picked.
 * @template Row
 * @param {HTMLElement} root
 * @param {{ columns: Column<Row>[], key?: string, most?: number,
 *   sorted?: { column: number, down: boolean } | null, picks?: boolean }} options
 * @param {(...told: Told<Row>) => void} [emit]
 */
export function sortableTable(root, { columns, key, sorted = null, most = 8, picks = false }, emit = () => undefined) {
  /** @type {Row[]} */
  let rows = [];
  /** @type {(row: Row) => boolean} */
  let lit = () => false;
  let order = sorted;
  let whole = false;

  const marks = columns.map(() => h("span.lp-arrow", { "aria-hidden": "true" }));
  const heads = columns.map((column, place) =>
    h(
      "th",
      { scope: "col", className: column.wide ? "lp-wide" : "" },
      h("button.lp-sort", { type: "button", onclick: () => sort(place) }, worded("span", column.key), marks[place]),
    ),
  );
  const body = h("tbody");
  const table = h("table.lp-sortable", { "aria-label": key && say(key) }, h("thead", {}, h("tr", {}, heads)), body);
  const more = h("button.lp-button.lp-more-rows", {
    type: "button",
    hidden: true,
    onclick: () => {
      whole = !whole;
      draw();
    },
  });
  /** @type {{ line: HTMLTableRowElement, cells: HTMLElement[], row: Row }[]} */
  const lines = [];

  /** @param {Column<Row>} column */
  const numeric = (column) => rows.length > 0 && typeof column.by(rows[0]) === "number";

  /**
   * Numbers come largest first, words from A to Z; the second time it is the other way round.
   * @param {number} column
   */
  function sort(column) {
    const down = order?.column === column ? !order.down : numeric(columns[column]);
    order = { column, down };
    draw();
  }

  function arranged() {
    if (!order) return rows;
    const { by } = columns[order.column];
    const sign = order.down ? -1 : 1;
    const keys = new Map(rows.map((row) => [row, by(row)]));
    const [known, unknown] = [
      rows.filter((row) => !Number.isNaN(keys.get(row))),
      rows.filter((row) => Number.isNaN(keys.get(row))),
    ];
    /** @type {(a: any, b: any) => number} */
    const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : Number(a > b) - Number(a < b));
    known.sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
    return [...known, ...unknown];
  }

  /**
   * Lines are made once and kept: while a slider moves only their words change.
   * @param {number} place
   * @param {Row} row that is shown there
   */
  function lineAt(place, row) {
    if (place === lines.length) {
      const cells = columns.map(({ wide }) => h(wide ? "td.lp-wide" : "td"));
      const line = h(picks ? "tr.lp-pickable" : "tr", { tabIndex: -1 }, cells);
      const entry = { line, cells, row };
      columns.forEach(({ box, acts }, i) => {
        if (box) cells[i].append(h("input", { type: "checkbox", onchange: () => emit("tick", entry.row) }));
        if (acts)
          cells[i].append(
            h("div"),
            acts(() => entry.row),
          );
      });
      if (picks)
        line.addEventListener("click", (event) => {
          if (!(event.target instanceof HTMLInputElement)) emit("pick", entry.row);
        });
      for (const event of ["mouseenter", "focus"]) line.addEventListener(event, () => emit("reach", entry.row));
      for (const event of ["mouseleave", "blur"]) line.addEventListener(event, () => emit("leave"));
      lines.push(entry);
      body.append(line);
    }
    return Object.assign(lines[place], { row });
  }

  walkable(body);
  if (picks) {
    body.addEventListener("keydown", (event) => {
      const entry = lines.find(({ line }) => line === event.target);
      if (event.key === "Enter" && entry) emit("pick", entry.row);
    });
  }

  /**
   * @param {HTMLElement} cell
   * @param {string | string[]} text
   */
  function put(cell, text) {
    const said = Array.isArray(text) ? text.join("\n") : text;
    if (cell.dataset.said === said) return;
    cell.dataset.said = said;
    if (Array.isArray(text)) {
      cell.title = said;
      cell.replaceChildren(
        h(
          "div.lp-two",
          {},
          text.map((part) => h("span", {}, part)),
        ),
      );
    } else cell.textContent = text;
  }

  function draw() {
    const all = arranged();
    const shown = whole ? all : all.slice(0, most);
    shown.forEach((row, place) => {
      const { cells } = lineAt(place, row);
      columns.forEach(({ cell, box, acts }, i) => {
        if (box) Object.assign(cells[i].firstChild ?? {}, { checked: box.checked(row), ariaLabel: box.label(row) });
        else if (acts) {
          put(/** @type {HTMLElement} */ (cells[i].firstChild), cell?.(row) ?? "");
          cells[i].lastChild?.dispatchEvent(new Event("lp-row"));
        } else put(cells[i], cell?.(row) ?? "");
      });
    });
    lines.forEach(({ line }, place) => {
      line.hidden = place >= shown.length;
    });
    if (!lines.some(({ line }) => line.tabIndex === 0 && !line.hidden) && lines.length) lines[0].line.tabIndex = 0;
    columns.forEach(({ spare, by }, place) => {
      if (!spare) return;
      const hidden = rows.every((row) => Number.isNaN(by(row)));
      for (const cell of [heads[place], ...lines.map(({ cells }) => cells[place])]) cell.hidden = hidden;
    });
    heads.forEach((head, place) => {
      const sort = order?.column === place ? (order.down ? "descending" : "ascending") : "none";
      head.setAttribute("aria-sort", sort);
      setText(marks[place], { descending: "▼", ascending: "▲", none: "" }[sort]);
    });
    more.hidden = rows.length <= most;
    setText(more, whole ? say("ui.fewer_rows") : say("ui.all_rows", { count: rows.length }));
    light();
  }

  function light() {
    for (const { line, row } of lines) line.classList.toggle("lp-lit", !line.hidden && lit(row));
  }

  root.classList.add("lp-scroll");
  root.append(table, more);

  /**
   * `data` are the rows in the order they come in; their words are made anew, as after a change of
   * language. `lit`: which rows show what is pointed at elsewhere.
   * @param {{ data?: Row[], state?: { lit: (row: Row) => boolean } }} next
   */
  function update({ data, state }) {
    if (state) lit = state.lit;
    if (data) {
      rows = data;
      if (key) table.setAttribute("aria-label", say(key));
      draw();
    } else light();
  }

  return { update };
}
