// The matrix of the chosen step.
import { find, h } from "../../kit/dom.js";
import { focusParameter } from "../../kit/sidebar_fields.js";
import { pictureView } from "../../kit/step_view.js";
import { facetsAt } from "./lever_range.js";

// Heading and lever stay on the screen with the cells.
const around = (/** @type {boolean} */ isPresenting) => (isPresenting ? 392 : 400);

/** @type {(root: HTMLElement, channel: import("./state.js").ExplorePage) => void} */
export default function matrix(root, channel) {
  const beside = find(document.body, "#main-cell .lp"); // the card stands beside the picture, not below it
  const tools = h("div.lp-walk"); // the derivation walks here, beside the picture
  const view = pictureView(root, { orderId: "lp-order", beside, around, tools }, (...event) => {
    if (event[0] === "point") channel.point(event[1], event[2], event[3]);
    else if (event[0] === "view") choose(event[1]);
    else focusParameter(event[1]);
  });

  /** @param {Partial<import("../../wire").View>} change */
  function choose(change) {
    channel.set({ view: change }, { announce: false });
    view.update({ state: now() });
  }

  const now = () => ({ view: channel.scenario.view, pointed: channel.pointed, drawn: channel.drawn });

  function draw() {
    const { picture, batch, form, stop } = channel;
    if (!picture) return;
    /** @param {number} pair */
    const numberOf = (pair) => channel.numberOf(pair);
    const moving = stop && facetsAt(stop, picture.shown, channel.scenario.view.facet);
    view.update({ data: { picture, batch, numberOf, referenceFormulas: form, moving }, state: now() });
  }

  channel.on("picture", draw);
  channel.on("stop", draw);
  channel.on("pointed", () => view.update({ state: now() }));
  channel.on("theme", view.redraw);
  channel.on("language", view.reword);
}
