// The number that is checked; in the sidebar the loss that gave it, and what is known of the batch.
import { Field, Fold, TextField, useDraft } from "../../../kit/components.js";
import { pageData } from "../../../kit/page_data.js";
import { group, h } from "../../../kit/preact_view.js";
import { language, say, titleOf } from "../../../kit/translated_sentences.js";

export const LOSSES = "lp-doctor-losses"; // id of the list of names of losses
// What stands in an empty field, as an example.
/** @type {Record<string, string>} */
const EXAMPLES = {
  batch: "64",
  negatives: "3",
  classes: "10",
  processes: "8",
  dimension: "384",
  temperature: "0.05",
  scale: "20",
  margin: "0.5",
};

/** @param {string} name */
export const exampleOf = (name) => say("doctor.for_example", { value: EXAMPLES[name] });

/** The names that a field of a loss offers. */
export const LossNames = () =>
  h("datalist", { id: LOSSES, key: language() }, [
    Object.keys(pageData.losses).map((name) => h("option", { value: name, label: titleOf(name) })),
    pageData.names.map(([name, loss]) => h("option", { value: name, label: titleOf(loss) })),
  ]);

/** @typedef {{ page: import("../state.js").DoctorPage }} Page */

/** @param {Page} properties */
export function NumberControls({ page }) {
  const { counts, settings } = pageData.doctor;
  const { state } = page.store;
  /** @param {string} name */
  const known = (name) =>
    h(TextField, {
      name: say(`doctor.field.${name}`),
      id: `lp-doctor-${name}`,
      value: state[name],
      example: exampleOf(name),
      decimal: true,
      change: (value) => page.set({ [name]: value }),
    });
  const [batch, ...others] = counts;
  const more = [...others, ...settings];
  return group(
    h(TextField, {
      name: say("doctor.loss"),
      id: "lp-doctor-loss",
      value: state.loss,
      example: say("doctor.for_example", { value: "MultipleNegativesRankingLoss" }),
      list: LOSSES,
      change: (value) => page.set({ loss: value }),
    }),
    known(batch),
    h(
      Fold,
      { title: say("doctor.more_known", { count: more.length }), open: more.some((name) => state[name].trim()) },
      h("div.lp-doctor-counts", more.map(known)),
    ),
  );
}

/**
 * The number; lines of a log and tables that are pasted into it go where they are read.
 * @param {Page} properties
 */
export function NumberField({ page }) {
  const draft = useDraft(page.store.state.value);
  return h(
    Field,
    { name: say("doctor.value") },
    h("textarea.lp-doctor-value", {
      id: "lp-doctor-value",
      rows: 1,
      value: draft.now,
      placeholder: "5.545",
      spellcheck: false,
      // A line break would push the number out of sight.
      onKeyDown: (event) => event.key === "Enter" && event.preventDefault(),
      onInput: (event) => {
        draft.now = event.currentTarget.value;
        page.takeTyped(draft.now);
      },
    }),
    h("small.lp-note", say("doctor.value_note")),
  );
}
