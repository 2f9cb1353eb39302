// The encoder that is trained: which one at first, and in the further settings of which kind, with which prompts
// and which of its weights.
import { Select, TabPanel, Tabs } from "../../../kit/components.js";
import { pageData } from "../../../kit/page_data.js";
import { group, h } from "../../../kit/preact_view.js";
import { agree } from "../../../kit/reader_consent.js";
import { say } from "../../../kit/translated_sentences.js";
import { Button, Note, NumberBox, ProblemLine, TextBox } from "../form_components.js";

/** @typedef {{ page: import("../state.js").FinetunePage }} Page */

const CHOICES = /** @type {const} */ (["embedded", "scratch", "other"]);

/** @type {(text: string) => string} The name of a model as the reader typed it, who thereby agrees to fetch it. */
export function agreedName(text) {
  agree(text);
  return text.trim();
}

/**
 * @param {import("../state.js").FinetunePage} page
 * @returns {typeof CHOICES[number]}
 */
function choiceOf({ plan: { encoder } }) {
  const { embedded, scratch } = pageData.finetune;
  return encoder === embedded ? "embedded" : encoder === scratch ? "scratch" : "other";
}

/**
 * Another encoder; the learning rate that suits vectors from scratch would wreck a transformer.
 * @type {(page: import("../state.js").FinetunePage, choice: string) => void}
 */
function choose(page, choice) {
  const { embedded, scratch } = pageData.finetune;
  const encoder = new Map([
    ["embedded", embedded],
    ["scratch", scratch],
  ]).get(choice);
  const isOfSameKind = (encoder === scratch) === (page.plan.encoder === scratch);
  page.setPlan({ encoder: encoder ?? page.beside.model, ...(isOfSameKind ? {} : { learning_rate: 0 }) });
}

/** @param {Page} properties */
export function EncoderFields({ page }) {
  const choice = choiceOf(page);
  const { plan } = page;
  return group(
    h(Select, {
      id: "lp-finetune-encoder",
      label: say("finetune.encoder"),
      value: choice,
      options: CHOICES.map((name) => [name, say(`finetune.encoder.${name}`)]),
      change: (name) => choose(page, name),
    }),
    choice === "other"
      ? h(TextBox, {
          page,
          id: "encoder-name",
          name: say("ui.encoder_name"),
          value: plan.encoder,
          put: (text) => ({ encoder: agreedName(text) }),
        })
      : null,
    h(Note, { text: say(`finetune.encoder.${choice}.about`) }),
    h(ProblemLine, { problem: page.problemAt("encoder") }),
  );
}

/** @param {Page} properties */
export function EncoderSettings({ page }) {
  const { plan } = page;
  const sizes = choiceOf(page) === "scratch" ? ["vocabulary", "dimension"] : ["layers", "lora"];
  return group(
    h(Tabs, {
      id: "lp-finetune-kind",
      label: say("finetune.kind"),
      names: ["bi", "cross"],
      chosen: plan.kind,
      title: (name) => say(`finetune.kind.${name}`),
      choose: (kind) => page.setPlan({ kind: /** @type {"bi" | "cross"} */ (kind) }),
    }),
    h(
      TabPanel,
      { id: "lp-finetune-kind", chosen: plan.kind },
      plan.kind === "bi" ? h(Prompts, { page }) : null,
      h(
        "div.lp-pair-of-fields",
        sizes.map((name) => h(NumberBox, { key: name, page, name })),
      ),
    ),
  );
}

const PROMPTS = /** @type {const} */ (["query_prompt", "document_prompt"]);

/**
 * What stands before the texts of each side, beside what the encoder's own configuration has.
 * @param {Page} properties
 */
function Prompts({ page }) {
  const { plan, checked } = page;
  const own = checked?.encoder_prompts ?? {};
  const [query, document] = [own.query ?? "", own.document ?? own.passage ?? ""];
  const isUsed = plan.query_prompt === query && plan.document_prompt === document;
  const named = Object.entries(own).map(([name, text]) => `${name} “${text}”`);
  return group(
    PROMPTS.map((name) =>
      h(TextBox, {
        key: name,
        page,
        id: name,
        name: say(`finetune.${name}`),
        value: plan[name],
        example: say("finetune.no_prompt"),
        put: (text) => ({ [name]: text }),
      }),
    ),
    named.length
      ? h(Note, {
          text: say(isUsed ? "finetune.prompts_used" : "finetune.prompts_unused", {
            prompts: named.join(say("ui.between")),
          }),
        })
      : null,
    named.length && !isUsed
      ? h(Button, {
          id: "lp-finetune-own-prompts",
          name: say("finetune.use_prompts"),
          act: () => page.setPlan({ query_prompt: query, document_prompt: document }),
        })
      : null,
  );
}
