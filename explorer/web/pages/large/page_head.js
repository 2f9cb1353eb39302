// The head of the Large batch page: the loss with its formula, its value, and one sentence.

import { formulaOf, tex } from "../../kit/formula.js";
import { grouped } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { group, h, hosted, show } from "../../kit/preact_view.js";
import { entitle } from "../../kit/title.js";
import { say, titleOf } from "../../kit/translated_sentences.js";
import { useLayoutEffect } from "../../kit/vendor/preact/hooks.js";
import { FigureBox, lossOf, remarksOf } from "./metrics.js";

/** @typedef {import("./state.js").LargePage} LargePage */

/** @param {{ page: LargePage }} properties */
function LossAndFormula({ page }) {
  page.observe("state", "answer");
  const { loss, parameters, twins } = page.request;
  const spec = pageData.losses[loss];
  const count = page.answer?.figures.pairs;
  useLayoutEffect(() => {
    if (spec)
      entitle([titleOf(loss), count ? say("large.pairs", { count: grouped(count) }) : ""].filter(Boolean).join(", "));
  });
  if (!spec) return null;
  const formula = formulaOf(spec.conventions[""], parameters, twins);
  return h(
    "div.lp-head",
    h("div", h("h1", titleOf(loss)), h("p.lp-about", say(`loss.${loss}.about`))),
    hosted({ kind: "div.lp-headline", make: (root) => root, update: (root) => tex(root, formula, true) }),
  );
}

/** @param {{ page: LargePage }} properties */
function ValueAndRemark({ page }) {
  page.observe("answer", "learning", "details", "judging", "judged");
  return h(
    "div.lp-glance",
    page.answer ? h(FigureBox, { kind: "lp-loss", ...lossOf(page, page.answer) }) : null,
    h("p.lp-verdict", remarksOf(page)[0]),
  );
}

/** @param {{ page: LargePage }} properties */
const PageHead = ({ page }) => group(h(LossAndFormula, { page }), h(ValueAndRemark, { page }));

/**
 * @param {HTMLElement} root
 * @param {LargePage} page
 */
export default (root, page) => show(root, PageHead, { page });
