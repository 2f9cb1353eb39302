// The encoder of the sentences, and the models that a loss may ask beside it.
import { Fold, TextField, useDraft } from "../../../kit/components.js";
import { encoderTitle, isOwnVectors } from "../../../kit/model_names_as_shown.js";
import { pageData } from "../../../kit/page_data.js";
import { h } from "../../../kit/preact_view.js";
import { agree } from "../../../kit/reader_consent.js";
import { say } from "../../../kit/translated_sentences.js";

/** @typedef {import("../state.js").ExplorePage} ExplorePage */

/** @param {ExplorePage} page */
export const isEmbedded = ({ scenario: { data } }) => data.encoder === pageData.limits.encoder && !data.cross_encoder;

/** @param {ExplorePage} page */
export const useEmbedded = (page) => page.set({ data: { encoder: pageData.limits.encoder, cross_encoder: "" } });

/**
 * Whose cosines they are: under the embedded encoder an example keeps the vectors that it brings.
 * @param {ExplorePage} page
 */
function encoderNow(page) {
  const { source, example, encoder } = page.scenario.data;
  const isElsewhere = source !== "table" && isOwnVectors(encoder); // they are of a file's texts alone
  const usual = isElsewhere ? pageData.limits.encoder : encoder;
  const keeps = source === "example" && (isElsewhere || isEmbedded(page));
  const brought = keeps ? pageData.explore.examples[example].encoder : "";
  return say("ui.encoder_now", { name: encoderTitle(brought || usual) });
}

/** @param {{ page: ExplorePage }} properties */
export function EncoderFold({ page }) {
  const { limits } = pageData;
  const { form, scenario } = page;
  const { encoder, cross_encoder, guide, teacher_model } = scenario.data;
  const draft = useDraft({ encoder, cross_encoder, guide, teacher_model });
  function take() {
    for (const name of Object.values(draft.now)) agree(name);
    const { encoder: chosen, ...others } = draft.now;
    const trimmed = Object.fromEntries(Object.entries(others).map(([role, name]) => [role, name.trim()]));
    page.set({ data: { encoder: chosen.trim() || limits.encoder, ...trimmed } });
  }
  /** @type {(role: keyof typeof draft.now, id: string, key: string, more?: object) => import("preact").VNode} */
  const field = (role, id, key, more) =>
    h(TextField, {
      name: say(key),
      id,
      value: draft.now[role],
      change: (name) => {
        draft.now[role] = name;
      },
      ...more,
    });
  const known = { list: "lp-known-models" };
  return h(
    Fold,
    { title: say("ui.encoder"), kind: "lp-fold" },
    field("encoder", "lp-encoder", "ui.encoder_name", { example: limits.encoder }),
    field("cross_encoder", "lp-cross", "ui.cross_encoder"),
    form.asks_guide || guide ? field("guide", "lp-guide", "ui.guide", known) : null,
    form.asks_teacher || teacher_model ? field("teacher_model", "lp-teacher", "ui.teacher", known) : null,
    h(
      "datalist",
      { id: "lp-known-models" },
      [limits.encoder, ...limits.plain_encoders].map((name) => h("option", { key: name, value: name })),
    ),
    h(
      "div.lp-row",
      h("button.lp-button", { onClick: take }, say("ui.use_encoder")),
      isEmbedded(page) ? null : h("button.lp-button", { onClick: () => useEmbedded(page) }, say("ui.embedded_encoder")),
    ),
    h("p.lp-note", cross_encoder ? say("ui.cross_now", { name: cross_encoder }) : encoderNow(page)),
  );
}
