// The table of pairs: type, paste from a spreadsheet, delete; every row of the batch to read.
import { floats } from "../../kit/arrays.js";
import { find, h, isStill, reword, worded } from "../../kit/dom.js";
import { show } from "../../kit/numbers.js";
import { pageData } from "../../kit/page_data.js";
import { say } from "../../kit/words.js";
import { marksOf, pairsOfRows } from "./marks.js";

/** @typedef {import("../../kit/types").Row} Row */

const CELLS = "textarea, input";
const MOST_PASTED = 20000; // more is for a file

/** @param {HTMLElement} line */
function inputsOf(line) {
  /** @type {NodeListOf<HTMLTextAreaElement | HTMLInputElement>} */
  const found = line.querySelectorAll(CELLS);
  return Array.from(found);
}

/**
 * @param {HTMLElement} line
 * @returns {Row}
 */
function cellsOf(line) {
  const [first = "", second = "", score = ""] = inputsOf(line).map((input) => input.value);
  return [first, second, score];
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").Scene} channel
 */
export default function pairs(root, channel) {
  const { limits } = pageData;
  const body = h("tbody");
  const count = h("span.lp-note");
  const add = worded("button.lp-button", "ui.add_row", {
    type: "button",
    id: "lp-add-row",
    onclick: () => {
      inputsOf(addRow())[0].focus();
    },
  });
  const clear = worded("button.lp-button", "ui.clear_table", { type: "button", onclick: () => replace([]) });
  // What was in the table before it was cleared.
  /** @type {Row[]} */
  let cleared = [];
  const undo = worded("button.lp-button", "ui.undo", { type: "button", hidden: true, onclick: () => replace(cleared) });
  const hint = worded("p.lp-note", "ui.paste_hint");
  const box = h(
    "details.lp-table",
    {},
    h("summary", {}, worded("span", "ui.pairs"), " ", count),
    hint,
    h(
      "div.lp-scroll",
      {},
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", {}, "#"),
            worded("th", "column.first"),
            worded("th", "column.second"),
            worded("th", "column.score"),
            worded("th", "ui.similarity"),
            h("th"),
          ),
        ),
        body,
      ),
    ),
    h("div.lp-row", {}, add, clear, undo),
  );
  root.append(box);

  // ---- Rows --------------------------------------------------------------------------------

  function addRow() {
    const line = lineOf();
    body.append(line);
    number();
    return line;
  }

  /** @param {Row} cells */
  function lineOf(cells = ["", "", ""]) {
    const inputs = [
      h("textarea", { rows: 1, value: cells[0], "data-title": "column.first" }),
      h("textarea", { rows: 1, value: cells[1], "data-title": "column.second" }),
      h("input", { type: "text", inputMode: "decimal", value: cells[2], "data-title": "column.score" }),
    ];
    const remove = h("button.lp-square", { type: "button", "data-title": "ui.delete_row" }, "×");
    const line = h(
      "tr",
      {},
      h("td.lp-index"),
      inputs.map((input) => h("td", {}, input)),
      h("td.lp-similarity"),
      h("td", {}, remove),
    );
    remove.hidden = !editable();
    for (const input of inputs) input.readOnly = !editable();
    remove.addEventListener("click", () => {
      line.remove();
      number();
      commit();
    });
    line.addEventListener("mouseenter", () => channel.point(line.pair === undefined ? [] : [line.pair]));
    line.addEventListener("mouseleave", () => channel.point());
    reword(line);
    return line;
  }

  // Names of given vectors or scores mean nothing to an encoder, so they are only shown.
  const editable = () => channel.scenario.data.source === "table" || channel.batch?.editable !== false;

  // Rows beyond SHOWN are not laid out, but kept.
  const SHOWN = 4 * limits.pairs;
  /** @type {Row[]} */
  let beyond = [];
  /** @param {Row[]} all */
  function fill(all) {
    const shown = all.length ? all.slice(0, SHOWN) : [undefined];
    body.replaceChildren(...shown.map((cells) => lineOf(cells)));
    beyond = all.slice(SHOWN);
    number();
  }

  /** @param {Row[]} all */
  function replace(all) {
    cleared = rows();
    fill(all);
    undo.hidden = all.length > 0;
    commit();
  }

  const linesOf = () => /** @type {HTMLElement[]} */ (Array.from(body.children));
  const rows = () => [...linesOf().map(cellsOf), ...beyond];

  function number() {
    linesOf().forEach((line, i) => {
      line.children[0].textContent = String(i + 1);
    });
  }

  // Typed rows are sent once the typing pauses, or at once when the table is left; what does not
  // fit yet stays and is named.
  body.addEventListener("input", () => {
    clearTimeout(channel.typing);
    channel.typing = setTimeout(commit, 350);
  });
  // A press that leaves it is over first: what the answer moves on the page must not move from under it.
  let pressed = false;
  addEventListener("pointerdown", () => (pressed = true), true);
  for (const end of ["pointerup", "pointercancel"])
    addEventListener(
      end,
      () => {
        pressed = false;
        if (channel.typing && !body.contains(document.activeElement)) commit();
      },
      true,
    );
  body.addEventListener("focusout", ({ relatedTarget }) => {
    if (!channel.typing || body.contains(/** @type {Node | null} */ (relatedTarget))) return;
    if (pressed) clearTimeout(channel.typing);
    else commit();
  });
  function commit() {
    clearTimeout(channel.typing);
    channel.typing = undefined;
    channel.setRows(rows());
  }

  // A block pasted from a spreadsheet fills cells to the right and downwards from where it lands.
  body.addEventListener("paste", (event) => {
    const block = spreadsheet(event.clipboardData?.getData("text/plain") ?? "");
    const row = linesOf().findIndex((line) => line.contains(/** @type {Node} */ (event.target)));
    if (row < 0 || (block.length === 1 && block[0].length === 1)) return;
    event.preventDefault();
    const column = inputsOf(linesOf()[row]).indexOf(/** @type {HTMLInputElement} */ (event.target));
    const width = Math.max(...block.map((cells) => cells.length));
    const all = rows();
    for (const [i, cells] of block.slice(0, MOST_PASTED).entries()) {
      all[row + i] ??= ["", "", ""];
      const into = all[row + i];
      for (let k = 0; k < width && column + k < into.length; k += 1) into[column + k] = cells[k] ?? "";
      if (column === 0 && width === 2) into[2] = ""; // what was there was said of other sentences
    }
    fill(all);
    inputsOf(linesOf()[row])[column].focus();
    commit();
    if (block.length > MOST_PASTED)
      channel.warn({ key: "ui.paste_cut", values: { count: block.length, most: MOST_PASTED } });
  });

  /**
   * Tab-separated lines; a cell that holds a tab, a line end or a quote is quoted, as
   * spreadsheets do. A quote inside an unquoted cell is a quote.
   * @param {string} text
   */
  function spreadsheet(text) {
    const lines = [[""]];
    let quoted = false;
    const clean = text.replace(/\r\n?/g, "\n").replace(/\n$/, "");
    for (let i = 0; i < clean.length; i += 1) {
      const letter = clean[i];
      const line = lines[lines.length - 1];
      if (quoted) {
        if (letter === '"' && clean[i + 1] === '"') {
          line[line.length - 1] += '"';
          i += 1;
        } else if (letter === '"') quoted = false;
        else line[line.length - 1] += letter;
      } else if (letter === '"' && line.at(-1) === "" && closes(clean, i)) quoted = true;
      else if (letter === "\t") line.push("");
      else if (letter === "\n") lines.push([""]);
      else line[line.length - 1] += letter;
    }
    return lines;
  }
  /** @type {(text: string, at: number) => boolean} */
  const closes = (text, at) => /^"(?:[^"]|"")*"(?:[\t\n]|$)/.test(text.slice(at));

  // ---- Together ----------------------------------------------------------------------------

  function take() {
    const { batch, scenario } = channel;
    if (!batch) return;
    count.textContent = say("ui.count_pairs", { count: batch.labels.length });
    if (!box.open) return;
    const { data } = scenario;
    /** @type {Row[]} */
    const typed =
      data.source === "table"
        ? data.rows
        : batch.labels.map((label, i) => [batch.first[i], batch.second[i], String(label)]);
    if (String(rows()) === String(typed) || body.contains(document.activeElement)) return;
    fill(typed);
    add.hidden = clear.hidden = !editable();
    hint.dataset.say = editable() ? "ui.paste_hint" : "ui.only_names";
    hint.textContent = say(hint.dataset.say);
    label();
  }

  // Which row became which pair: skipped and empty rows are none, nor are those that were left out. Of a
  // source that is no table the rows are the pairs themselves, and go by their numbers there.
  function label() {
    const { batch, picture, scenario } = channel;
    const isTable = scenario.data.source === "table";
    const skipped = new Map((isTable ? channel.skipped : []).map((skip) => [skip.row, skip]));
    const scores = picture ? floats(picture.pairs.score) : [];
    const marks = batch ? marksOf(batch, (pair) => channel.numberOf(pair)) : new Map();
    const lines = linesOf();
    const used = lines.map((line, i) => !skipped.has(i + 1) && cellsOf(line).some((cell) => cell.trim() !== ""));
    const pairs = pairsOfRows(used, isTable ? (batch?.places ?? null) : null);
    lines.forEach((line, i) => {
      const pair = pairs[i];
      line.pair = pair;
      blame(line, skipped.get(i + 1));
      tag(line, pair === undefined ? [] : (marks.get(pair) ?? []));
      find(line, ".lp-similarity").textContent = pair === undefined ? "" : show(scores[pair], 3);
      if (!isTable && pair !== undefined) line.children[0].textContent = String(channel.numberOf(pair));
    });
  }

  // What is marked at a pair stands below the cell that it is about.
  /**
   * @param {HTMLElement} line
   * @param {import("./marks.js").Mark[]} marks
   */
  function tag(line, marks) {
    for (const old of line.querySelectorAll(".lp-tag")) old.remove();
    const inputs = inputsOf(line);
    for (const { cell, key, about, values } of marks)
      inputs[cell].after(h("span.lp-tag", { title: say(about, values) }, say(key, values)));
  }

  // The cell that cannot be read is marked and told why, below it; a fault that names no column
  // is the whole row's.
  const COLUMNS = ["sentence1", "sentence2", "score"];
  /**
   * @param {HTMLElement} line
   * @param {import("../../wire").SkippedRow | undefined} skip
   */
  function blame(line, skip) {
    line.classList.toggle("lp-bad-row", Boolean(skip));
    for (const reason of line.querySelectorAll(".lp-wrong")) reason.remove();
    const inputs = inputsOf(line);
    const named = COLUMNS.indexOf(String(skip?.values.column));
    const wrong = !skip ? [] : named < 0 ? inputs : [inputs[named]];
    for (const input of inputs) {
      input.classList.toggle("lp-bad", wrong.includes(input));
      input.toggleAttribute("aria-invalid", wrong.includes(input));
    }
    if (skip) wrong.at(-1)?.after(h("div.lp-wrong", {}, say(skip.key, skip.values)));
  }

  function mark() {
    for (const line of linesOf()) {
      line.classList.toggle("lp-lit", line.pair !== undefined && channel.pointed.pairs.includes(line.pair));
    }
  }

  channel.on("edit", () => {
    box.open = true;
    if (channel.scenario.data.source !== "table" && channel.batch) take();
    if (!body.children.length) addRow();
    box.scrollIntoView({ behavior: isStill() ? "auto" : "smooth", block: "nearest" });
  });
  box.addEventListener("toggle", () => {
    if (box.open && channel.batch) {
      take();
      label();
    }
  });
  channel.on("batch", take);
  channel.on("picture", () => {
    if (box.open && channel.batch && channel.batch.key !== labelled) {
      labelled = channel.batch.key;
      label();
    }
  });
  channel.on("skipped", () => {
    if (box.open) label();
  });
  channel.on("pointed", () => {
    if (box.open) mark();
  });
  channel.on("language", () => {
    if (!channel.batch) return;
    count.textContent = say("ui.count_pairs", { count: channel.batch.labels.length });
    if (box.open) label();
  });
  let labelled = "";
}
