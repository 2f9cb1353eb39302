// Components that pages share: fields, folds, tabs, tables, and what went wrong.
import { figureButtons } from "./figure_export_options.js";
import { saved } from "./files.js";
import { fileArrival } from "./large_file_upload.js";
import { h, hosted } from "./preact_view.js";
import { filePicker } from "./sidebar_components.js";
import { numberField } from "./slider_and_number_fields.js";
import { useLayoutEffect, useRef } from "./vendor/preact/hooks.js";
import { say } from "./words.js";

/** @typedef {import("./types").Children} Children */

/**
 * A control below its name, or beside it where it is `inline`.
 * @param {{ name: string, inline?: boolean, children?: Children }} properties
 */
export const Field = ({ name, inline, children }) =>
  h("label", { class: inline ? "lp-inline" : "lp-field" }, h("span", name), children);

/**
 * What is being typed or chosen, until it is taken; another value from outside takes its place.
 * @template Value
 * @param {Value} value
 */
export function useDraft(value) {
  const key = JSON.stringify(value);
  const draft = useRef({ key, now: value });
  if (draft.current.key !== key) draft.current = { key, now: value };
  return draft.current;
}

/**
 * Return a function that calls this one as it was at the latest drawing: for an instrument that is made once.
 * @template {unknown[]} Given
 * @template Result
 * @param {(...given: Given) => Result} act
 */
export function useLatest(act) {
  const latest = useRef(act);
  latest.current = act;
  return (/** @type {Given} */ ...given) => latest.current(...given);
}

/**
 * A field of one line. `example` stands in it while it is empty.
 * @param {{ name: string, id: string, value: string, example?: string, list?: string, decimal?: boolean,
 *   enter?: () => void, change?: (value: string) => void }} properties
 */
export const TextField = ({ name, id, value, example, list, decimal, enter, change }) =>
  h(
    Field,
    { name },
    h("input", {
      type: "text",
      id,
      value,
      list,
      placeholder: example,
      inputMode: decimal ? "decimal" : undefined,
      spellcheck: false,
      autocomplete: "off",
      onInput: (event) => change?.(event.currentTarget.value),
      onKeyDown: (event) => event.key === "Enter" && enter?.(),
    }),
  );

/**
 * A list to choose one from, by value and title; a form's name of it is its `role`.
 * @param {{ id?: string, role?: string, value: string, options: string[][], name?: string, inline?: boolean, label?: string,
 *   change: (value: string) => void }} properties
 */
export const Select = ({ id, role, value, options, name, inline, label, change }) => {
  const select = h(
    "select",
    { id, name: role, value, "aria-label": label, onChange: (event) => change(event.currentTarget.value) },
    options.map(([one, title]) => h("option", { key: one, value: one }, title)),
  );
  return name === undefined ? select : h(Field, { name, inline }, select);
};

/** @param {{ title: string, children?: Children }} properties */
export const Section = ({ title, children }) => h("section", h("h2", title), children);

/**
 * Children that a click on the title shows; `kind` is a class of its looks, `root` a reference to the element.
 * @param {{ title: Children, open?: boolean, hidden?: boolean, kind?: string, id?: string,
 *   root?: import("preact").Ref<HTMLDetailsElement>, children?: Children }} properties
 */
export const Fold = ({ title, open = false, hidden = false, kind = "lp-more", id, root, children }) =>
  h("details", { class: kind, id, open, hidden, ref: root }, h("summary", title), children);

/**
 * What there is to know and to see beside a verdict, behind ⓘ; nothing where there is nothing.
 * @param {{ notes: string[], children?: Children }} properties
 */
export const Notes = ({ notes, children = [] }) =>
  notes.length || [children].flat().length
    ? h(
        Fold,
        { title: `ⓘ ${say("ui.details")}`, kind: "lp-notes" },
        h(
          "ul.lp-remarks",
          notes.map((one) => h("li", one)),
        ),
        children,
      )
    : null;

/**
 * A row of tabs: one stop of the tab key, walked by arrow keys (page_startup.js).
 * @template {string} Name
 * @param {{ id: string, label: string, names: Name[], chosen: Name, title: (name: Name) => string,
 *   choose: (name: Name) => void }} properties `chosen` may be none of the names
 */
export const Tabs = ({ id, label, names, chosen, title, choose }) =>
  h(
    "div.lp-tabs",
    { role: "tablist", "aria-label": label },
    names.map((name) =>
      h(
        "button.lp-tab",
        {
          key: name,
          role: "tab",
          id: `${id}-${name}`,
          tabIndex: name === (names.includes(chosen) ? chosen : names[0]) ? 0 : -1,
          "aria-selected": name === chosen ? "true" : "false",
          "aria-controls": name === chosen ? `${id}-panel` : undefined,
          onClick: () => choose(name),
        },
        title(name),
      ),
    ),
  );

/**
 * What the chosen one of some tabs shows.
 * @param {{ id: string, chosen: string, children?: Children }} properties
 */
export const TabPanel = ({ id, chosen, children }) =>
  h(
    "div.lp-panel",
    { key: chosen, role: "tabpanel", id: `${id}-panel`, "aria-labelledby": `${id}-${chosen}` },
    children,
  );

/**
 * @typedef {object} Column
 * @property {string} title
 * @property {boolean} [text] whether it holds sentences
 */

/**
 * A table of which the first cell of a row names it. Where the page is narrow each row is a stack, and each
 * cell says its column; what is shown as a block is no table to a screen reader unless its role is named.
 * @param {{ label: string, columns: Column[], rows: string[][] }} properties
 */
export const StackedTable = ({ label, columns, rows }) =>
  h(
    "div.lp-scroll",
    { role: "region", tabIndex: 0, "aria-label": label },
    h(
      "table.lp-stacked",
      { role: "table" },
      h(
        "thead",
        { role: "rowgroup" },
        h(
          "tr",
          { role: "row" },
          columns.map(({ title }) => h("th", { scope: "col", role: "columnheader" }, title)),
        ),
      ),
      h(
        "tbody",
        { role: "rowgroup" },
        rows.map(([first, ...cells]) =>
          h(
            "tr",
            { role: "row" },
            h("th", { scope: "row", role: "rowheader", "data-head": columns[0].title }, first),
            cells.map((cell, i) => {
              const { title, text } = columns[i + 1];
              return h(
                "td",
                { ...(text ? { class: "lp-text", "data-batch-text": "" } : {}), role: "cell", "data-head": title },
                cell,
              );
            }),
          ),
        ),
      ),
    ),
  );

/**
 * Text to paste elsewhere, with a button that copies it.
 * @param {{ text: string }} properties
 */
export const Paste = ({ text }) =>
  h(
    "div.lp-row.lp-paste",
    h("code", text),
    h("button.lp-button", { onClick: () => navigator.clipboard.writeText(text) }, say("ui.copy")),
  );

/**
 * What went wrong, with a button for each remedy. `isShown()`: whether there is a result, which a refused change
 * leaves a true one.
 * @param {{ page: Pick<import("./page_events_and_jobs.js").Bus, "problem" | "notice" | "observe" | "remedies">, isShown: () => boolean }} properties
 */
export function ProblemBox({ page, isShown }) {
  page.observe("problem");
  const { problem, notice } = page;
  const message = problem ?? notice;
  useLayoutEffect(() => {
    document.body.classList.toggle("lp-stale", Boolean(problem));
  });
  const remedies = message ? page.remedies.filter(({ fits }) => fits(message)) : [];
  return h(
    "div.lp-problem",
    { role: "alert", hidden: !message },
    message && say(message.key, message.values),
    message && !problem && "about" in message && isShown() ? h("p", say("ui.still_shown")) : null,
    remedies.map(({ key, act }) => h("button.lp-button", { onClick: act }, say(key))),
  );
}

/**
 * The slider of a number of a page's state, with a box for the exact value.
 * `title` is the key of its name.
 * @param {{ entry: Parameters<typeof numberField>[0], value: number, title: string }
 *   & Parameters<typeof numberField>[1]} properties
 */
export function Slider({ entry, value, title, change, ...options }) {
  const changing = useLatest(change);
  return hosted({
    make: (root) => {
      const field = numberField(entry, { key: title, ...options, change: changing });
      root.append(field.element);
      return field;
    },
    update: ({ set }) => set(value),
  });
}

/**
 * A large file on its way to the server (large_file_upload.js), with a line below it.
 * @param {{ page: Parameters<typeof fileArrival>[0], note: string } & Omit<Parameters<typeof fileArrival>[1], "note">} properties
 */
export const FileArrival = ({ page, note, ...options }) =>
  hosted({
    make: (root) => {
      const line = document.createElement("p");
      line.className = "lp-note";
      root.append(...fileArrival(page, { ...options, note: line }), line);
      return line;
    },
    update: (line) => {
      line.textContent = note;
    },
  });

/**
 * A loss to choose, in groups; `first` is what stands before them, as no loss.
 * @param {{ id: string, label: string, value: string, groups: import("./sidebar_components.js").Group[], first?: string,
 *   change: (loss: string) => void }} properties
 */
export const LossSelect = ({ id, label, value, groups, first, change }) =>
  h(
    "select",
    { id, value, title: label, "aria-label": label, onChange: (event) => change(event.currentTarget.value) },
    first === undefined ? null : h("option", { key: "", value: "" }, first),
    groups.map((one) =>
      h(
        "optgroup",
        { key: one.label, label: one.label },
        one.losses.map(([loss, title]) => h("option", { key: loss, value: loss }, title)),
      ),
    ),
  );

/**
 * A checkbox with its name.
 * @param {{ name: string, checked: boolean, id?: string, disabled?: boolean, title?: string,
 *   change: (checked: boolean) => void }} properties
 */
export const Checkbox = ({ name, checked, id, disabled, title, change }) =>
  h(
    "label.lp-check",
    { title },
    h("input", { type: "checkbox", id, checked, disabled, onChange: (event) => change(event.currentTarget.checked) }),
    h("span", name),
  );

/** @typedef {Pick<import("../wire").SkippedRow, "row" | "key" | "values">} LeftOut */

const MOST_ROWS = 20; // of those left out that are listed

/**
 * The rows that were left out: how many, and why of the first ones.
 * @param {{ count: number, reasons: LeftOut[] }} properties
 */
export function SkippedRows({ count, reasons }) {
  const listed = reasons.slice(0, MOST_ROWS);
  return h(
    "ul.lp-skipped",
    { hidden: count === 0 },
    h("li", h("b", say("ui.skipped", { count }))),
    listed.map(({ row, key, values }) => h("li", say("ui.row_skipped", { row, reason: say(key, values) }))),
    count > listed.length ? h("li", say("ui.more_skipped", { count: count - listed.length })) : null,
  );
}

/**
 * A button that a file is dropped on, or that opens the chooser.
 * @param {{ id: string, title?: string, take: (file: File) => void }} properties
 */
export const FilePicker = ({ id, title, take }) =>
  hosted({ make: (root) => root.append(...filePicker({ id, title }, take)) });

/** @typedef {Parameters<typeof figureButtons>[1]} SaveFigure called with the look of the file, and the ratio of a PNG */

/**
 * A button for each format of a figure; `button` is the kind of each, `kind` that of the line they stand in.
 * @param {{ button: string, kind: string, save: SaveFigure }} properties
 */
export function FigureButtons({ button, kind, save }) {
  const saving = useLatest(save);
  return hosted({ kind, make: (root) => root.append(...figureButtons(button, saving)) });
}

/** @typedef {Parameters<SaveFigure>[0]} Look the look of a file */
/** @typedef {import("./types").Answer<import("../wire").LearnServer, "chart"> | undefined} FigureFile */

/**
 * A fold that saves the figure above it in a format of choice: `ask` returns the server's answer, undefined where there
 * is nothing to save.
 * @param {{ page: Pick<import("./page_events_and_jobs.js").Bus, "warn">, ask: (look: Look) => Promise<FigureFile> | undefined }} properties
 */
export const FigureFold = ({ page, ask }) =>
  h(
    Fold,
    { title: say("ui.save_figure") },
    h(FigureButtons, {
      button: "button.lp-crumb",
      kind: "div.lp-downloads",
      save: async (look, ratio) => {
        const answer = await ask(look);
        if (answer?.error) page.warn(answer.error);
        else if (answer) await saved(answer, ratio);
      },
    }),
  );
