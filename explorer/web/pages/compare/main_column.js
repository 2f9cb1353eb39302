// The page: questions as cards, the answer, the picture that answers, and everything else folded below it.
import { nameOf } from "../../kit/compared_loss_labels.js";
import { ProblemBox, TabPanel, Tabs } from "../../kit/components.js";
import { pageData } from "../../kit/page_data.js";
import { group, h, show } from "../../kit/preact_view.js";
import { entitle } from "../../kit/title.js";
import { say } from "../../kit/translated_sentences.js";
import { useLayoutEffect } from "../../kit/vendor/preact/hooks.js";
import { batchName } from "./downloads.js";
import { Experiments } from "./experiment_tabs.js";
import { FoldingSection } from "./folding_section.js";
import { Formulas } from "./formula_comparison.js";
import { Agreement } from "./gradient_agreement.js";
import { Gradients } from "./gradients.js";
import { Matrices } from "./matrices.js";
import { Numbers } from "./metrics_table.js";
import { Parity } from "./parity.js";
import { exampleOf } from "./question_states.js";

/** @typedef {{ page: import("./state.js").ComparePage }} Page */

/** @type {Record<string, import("../../kit/types").Component<Page>>} */
const SECTIONS = {
  gradients: Gradients,
  agreement: Agreement,
  matrices: Matrices,
  numbers: Numbers,
  formula: Formulas,
  vary: Experiments,
  parity: Parity,
};

/** @param {Page} properties */
function Main({ page }) {
  page.observe("state", "compared", "unfolded");
  const { picture } = page.store.state;
  useLayoutEffect(() => entitle(page.sides.map(nameOf).join(say("ui.versus"))));
  const folded = page.store.choices("picture").filter((name) => name !== picture);
  return group(
    h(ProblemBox, { page, isShown: () => page.compared !== null }),
    h("h1", say("compare.title")),
    h(Questions, { page }),
    h(Answer, { page }, h(Picture, { key: picture, page, name: picture })),
    h(FoldingSection, {
      page,
      name: "others",
      title: say("compare.others", { count: folded.length }),
      content: () => folded.map((name) => h(Section, { key: name, page, name })),
    }),
  );
}

/** @param {Page & { name: string }} properties */
const Section = ({ page, name }) =>
  h(FoldingSection, {
    page,
    name,
    id: `compare-${name}`,
    title: say(`compare.${name}`),
    content: () => h(SECTIONS[name], { page }),
  });

/** @param {Page} properties */
function Questions({ page }) {
  const names = Object.keys(pageData.compare.questions);
  const { question } = page;
  useLayoutEffect(() => {
    const centred = /** @type {const} */ ({ block: "nearest", inline: "center" });
    document.getElementById(`lp-questions-${question}`)?.scrollIntoView(centred);
  }, [question]);
  return h(
    "div.lp-questions",
    h(Tabs, {
      id: "lp-questions",
      label: say("compare.questions"),
      names,
      chosen: question,
      title: (name) => say(`compare.question.${name}`),
      choose: (name) => page.openQuestion(name),
    }),
  );
}

/**
 * The answer above its picture, and the batch that it is about; of losses that the reader chose, how many there are.
 * @param {Page & { children?: import("../../kit/types").Children }} properties
 */
function Answer({ page, children }) {
  const { question, batch, compared } = page;
  if (!question) {
    const counts = { count: batch?.labels.length ?? 0, sides: page.comparedSides.length };
    return h("div.lp-panel", h("p.lp-about", batch ? say("compare.about", counts) : ""), children);
  }
  const answer = page.answered === question ? compared?.answer : null;
  return h(
    TabPanel,
    { id: "lp-questions", chosen: question },
    h("p.lp-answer", { role: "status" }, answer ? say(answer.key, answer.values) : ""),
    h("p.lp-note.lp-answered-batch", answer ? batchName(page) : "", h(AskAboutExample, { page })),
    children,
  );
}

/**
 * The way from the reader's own batch to the example of the question.
 * @param {Page} properties
 */
function AskAboutExample({ page }) {
  const { question } = page;
  if (page.store.state.data.source === "example") return null;
  const example = say(`example.${exampleOf(question)}.title`);
  return h(
    "button.lp-button",
    { onClick: () => page.openQuestion(question, true) },
    say("compare.ask_of_example", { example }),
  );
}

/** @param {import("./state.js").ComparePage} page */
const experimentName = ({ store }) => say(`compare.vary.${store.state.vary}`);

/** @param {Page & { name: string }} properties */
const Picture = ({ page, name }) =>
  h(
    "section.lp-answering",
    { id: `compare-${name}` },
    h("h2", name === "vary" ? say("compare.experiment", { name: experimentName(page) }) : say(`compare.${name}`)),
    h(SECTIONS[name], { page }),
  );

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ComparePage} page
 */
export default (root, page) => show(root, Main, { page });
