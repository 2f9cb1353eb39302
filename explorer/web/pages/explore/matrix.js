// The matrix of the chosen step.
import { focusParameter } from "../../kit/fields.js";
import { pictureView } from "../../kit/picture.js";

export default function matrix(root, channel) {
  const view = pictureView(root, { orderId: "lp-order" }, (what, ...told) => {
    if (what === "point") channel.point(...told);
    else if (what === "view") choose(...told);
    else focusParameter(told[0]);
  });

  function choose(change) {
    channel.set({ view: change }, { announce: false });
    view.update({ state: now() });
  }

  const now = () => ({ view: channel.scenario.view, pointed: channel.pointed, drawn: channel.drawn ?? 0 });

  channel.on("picture", () => {
    const { picture, batch, form } = channel;
    const numberOf = (pair) => channel.numberOf(pair);
    view.update({ data: { picture, batch, numberOf, landmarks: form }, state: now() });
  });
  channel.on("pointed", () => view.update({ state: now() }));
  channel.on("theme", view.redraw);
  channel.on("language", view.reword);
}
