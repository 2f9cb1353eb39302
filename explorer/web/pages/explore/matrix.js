// The matrix of the chosen step.
import { find, h } from "../../kit/dom.js";
import { focusParameter } from "../../kit/sidebar_fields.js";
import { pictureView } from "../../kit/step_view.js";

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
    view.update({ data: { picture, batch, numberOf, referenceFormulas: form, moving }, state: now() });
  }

  page.on("picture", draw);
  page.on("moving", () => view.move(page.moving));
  page.on("pointed", () => view.update({ state: now() }));
  page.on("theme", view.redraw);
  page.on("language", view.reword);
}
