// The matrix of the probe batch at the recorded step that is looked at.
import { focusParameter } from "../../kit/fields.js";
import { pictureView } from "../../kit/picture.js";

export default function probeMatrix(root, channel) {
  const view = pictureView(root, {}, (what, ...told) => {
    if (what === "point") channel.probe.point(...told);
    else if (what === "view") channel.probe.choose(...told);
    else focusParameter(told[0]);
  });
  let shown = null;

  function draw() {
    const { picture, batch, landmarks, pointed, drawn, scenario } = channel.probe;
    if (!picture) return;
    const state = { view: scenario.view, pointed, drawn };
    const data = { picture, batch, landmarks, numberOf: (pair) => pair + 1 };
    view.update(picture === shown ? { state } : { data, state });
    shown = picture;
  }

  channel.on("probe", draw);
  channel.on("theme", view.redraw);
  channel.on("language", view.reword);
}
