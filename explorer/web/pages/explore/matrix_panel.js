// The matrix of the chosen step, and what is marked in it.

import { pictureView } from "../../kit/derivation_step_matrix.js";
import { find, h, setText, worded } from "../../kit/dom.js";
import { percent, read } from "../../kit/number_format.js";
import { focusParameter } from "../../kit/parameter_fields.js";
import { say } from "../../kit/translated_sentences.js";

const MARK_SIGN = "•";
const MAX_LISTED_PAIRS = 12; // marked pairs

// Heading and lever stay on the screen with the cells.
const around = (/** @type {boolean} */ isPresenting) => (isPresenting ? 392 : 400);

/** @type {(root: HTMLElement, page: import("./state.js").ExplorePage) => void} */
export default function matrix(root, page) {
  const beside = find(document.body, "#main-cell .lp"); // the card stands beside the picture, not below it
  const tools = h("div.lp-walk"); // the derivation walks here, beside the picture
  const view = pictureView(root, { orderId: "lp-order", beside, around, tools }, (...event) => {
    if (event[0] === "point") page.point(event[1], event[2], event[3]);
    else if (event[0] === "view") choose(event[1]);
    else focusParameter(event[1]);
  });

  const marks = markedPairs(page);
  root.append(marks.element);

  /** @param {Partial<import("../../wire").View>} change */
  function choose(change) {
    page.set({ view: change }, { announce: false });
    view.update({ state: now() });
  }

  const now = () => ({ view: page.scenario.view, pointed: page.pointed, drawn: page.drawn });

  function draw() {
    const { picture, batch, form, moving } = page;
    if (!picture) return;
    /** @param {number} pair */
    const numberOf = (pair) => page.numberOf(pair);
    const marked = { pairs: page.scenario.view.marked, sign: MARK_SIGN };
    marks.draw();
    view.update({ data: { picture, batch, numberOf, marked, referenceFormulas: form, moving }, state: now() });
  }

  page.on("picture", draw);
  page.on("moving", () => view.move(page.moving));
  page.on("pointed", () => view.update({ state: now() }));
  page.on("theme", view.redraw);
  page.on("language", view.reword);
  page.on("language", marks.draw);
}

/**
 * Which pairs are marked, and their share of the gradient.
 * @param {import("./state.js").ExplorePage} page
 */
function markedPairs(page) {
  const words = h("span");
  const unmark = worded("button.lp-crumb", "ui.unmark", {
    type: "button",
    onclick: () => page.set({ view: { marked: [] } }),
  });
  const element = h("p.lp-note.lp-marked-pairs", { hidden: true }, words, " ", unmark);
  function draw() {
    const share = read(page.picture?.figures.marked_share ?? null);
    element.hidden = share === null;
    if (share === null) return;
    const numbers = page.scenario.view.marked
      .filter((pair) => pair < page.numbers.length)
      .map((pair) => page.numberOf(pair))
      .sort((a, b) => a - b);
    const pairs = numbers.slice(0, MAX_LISTED_PAIRS).join(", ") + (numbers.length > MAX_LISTED_PAIRS ? " …" : "");
    setText(words, say("ui.marked_pairs", { mark: MARK_SIGN, count: numbers.length, pairs, share: percent(share) }));
  }
  return { element, draw };
}
