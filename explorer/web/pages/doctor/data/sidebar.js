// The sidebar of the check of a dataset: how its rows are read, the loss and the batch size that it is checked for.
import { Fold, NumberBox, Section, TextField, useDraft } from "../../../kit/components.js";
import { groupsOf, LossSelect } from "../../../kit/loss_choice.js";
import { registered } from "../../../kit/loss_name_search.js";
import { pageData } from "../../../kit/page_data.js";
import { group, h } from "../../../kit/preact_view.js";
import { agree } from "../../../kit/reader_consent.js";
import { Slider } from "../../../kit/slider.js";
import { say } from "../../../kit/translated_sentences.js";
import { Columns } from "./columns.js";
import { draftSlider, fileOf } from "./source.js";

/** @typedef {{ page: import("../state.js").DoctorPage }} Page */

const LARGEST_SLID = 4096; // batch that the slider reaches

/** @param {Page} properties */
export function DataControls({ page }) {
  page.observe("examined");
  const { kind } = page.data.state;
  const file = fileOf(page);
  return group(
    file && kind !== "example" ? h(Columns, { file, check: page.data }) : null,
    h(Purpose, { page }),
    h(EncoderFields, { page }),
  );
}

/**
 * What the dataset is checked for: a loss in batches of a size.
 * @param {Page} properties
 */
function Purpose({ page }) {
  const { batch, margin } = page.data.state;
  const loss = registered(page.data.state.loss);
  const ours = Object.fromEntries(Object.entries(pageData.losses).filter(([, { group: one }]) => one !== "own"));
  const hasMargin = pageData.doctor.with_margin.includes(loss);
  return h(
    Section,
    { title: say("doctor.examined_for") },
    h(LossSelect, {
      id: "lp-doctor-for",
      label: say("ui.loss"),
      value: loss,
      groups: groupsOf(ours),
      change: (name) => page.data.set({ loss: name }),
    }),
    h(Slider, {
      entry: page.store.entry("data.batch"),
      value: batch,
      title: "doctor.batch_size",
      name: "batch",
      high: LARGEST_SLID,
      logarithmic: true,
      change: (value) => page.data.set({ batch: value }),
    }),
    hasMargin
      ? h(NumberBox, {
          id: "lp-doctor-margin",
          name: say("doctor.for_margin"),
          value: margin === null ? "" : String(margin),
          step: "any",
          isOptional: true,
          change: (value) => page.data.set({ margin: value === "" ? null : Number(value) }),
        })
      : null,
  );
}

/** @param {Page} properties */
function EncoderFields({ page }) {
  const { encoder, most, tokens } = page.data.state;
  const longest = page.store.entry("data.tokens").high ?? 0;
  const draft = useDraft({ encoder, most });
  function encode() {
    agree(draft.now.encoder);
    page.data.set({ ...draft.now, encoder: draft.now.encoder.trim() || pageData.doctor.encoder });
  }
  return h(
    Fold,
    { title: say("doctor.encoder"), kind: "lp-fold", open: Boolean(encoder) },
    h(TextField, {
      name: say("ui.encoder"),
      id: "lp-doctor-encoder",
      value: draft.now.encoder,
      example: pageData.doctor.encoder,
      change: (value) => {
        draft.now.encoder = value;
      },
    }),
    draftSlider(page, draft, "most", "doctor.encoded_pairs"),
    h(
      "div.lp-row.lp-wrap",
      h("button.lp-button", { id: "lp-doctor-encode", onClick: encode }, say("doctor.encode")),
      encoder ? h("button.lp-button", { onClick: () => page.data.set({ encoder: "" }) }, say("doctor.without")) : null,
    ),
    h("p.lp-note", say("doctor.encoder_note")),
    h(NumberBox, {
      id: "lp-doctor-tokens",
      name: say("doctor.tokens"),
      value: String(tokens),
      low: 0,
      high: longest,
      step: 1,
      change: (value) => page.data.set({ tokens: Number(value) }),
    }),
  );
}
