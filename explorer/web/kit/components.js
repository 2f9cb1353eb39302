// Components that pages share: fields, folds, tabs, tables, and what went wrong.
import { h } from "./preact_view.js";
import { say } from "./translated_sentences.js";
import { useLayoutEffect, useRef } from "./vendor/preact/hooks.js";

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
 * A box for a number; one that does not fit is marked and not taken. With `isOptional` it may be empty.
 * @param {{ id: string, name: string, value: string, low?: number, high?: number, step: number | "any",
 *   isOptional?: boolean, change: (value: string) => void }} properties
 */
export function NumberBox({ id, name, value, low, high, step, isOptional = false, change }) {
  const draft = useDraft(value);
  return h(
    Field,
    { name },
    h("input", {
      type: "number",
      id,
      min: low,
      max: high,
      step,
      value: draft.now,
      onInput: ({ currentTarget: box }) => {
        draft.now = box.value;
        const isGood = box.validity.valid && (isOptional || box.value !== "");
        box.classList.toggle("lp-bad", !isGood);
        if (isGood) change(box.value);
      },
    }),
  );
}

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
 * @param {{ page: Pick<import("./page_topics_notices_and_jobs.js").PageEvents, "problem" | "notice" | "observe" | "remedies">, isShown: () => boolean }} properties
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
