// The matrix of the probe batch at the recorded step that is looked at.
import { focusParameter } from "../../kit/fields.js";
import { pictureView } from "../../kit/picture.js";

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").FinetunePage} channel
 */
export default function probeMatrix(root, channel) {
  const view = pictureView(root, {}, (...told) => {
    if (told[0] === "point") channel.probe.point(told[1], told[2], told[3]);
    else if (told[0] === "view") channel.probe.choose(told[1]);
    else focusParameter(told[1]);
  });
  /** @type {import("../../wire").Picture | null} */
  let shown = null;

  function draw() {
    const { picture, batch, landmarks, pointed, drawn, scenario } = channel.probe;
    if (!picture) return;
    const state = { view: scenario.view, pointed, drawn };
    /** @param {number} pair */
    const numberOf = (pair) => pair + 1;
    const data = { picture, batch, landmarks, numberOf };
    view.update(picture === shown ? { state } : { data, state });
    shown = picture;
  }

  channel.on("probe", draw);
  channel.on("theme", view.redraw);
  channel.on("language", view.reword);
}
