// The lever under the picture: the one parameter that a newcomer moves first.
import { h, reword } from "../../kit/dom.js";
import { leverOf } from "../../kit/main_parameter.js";
import { parameterList } from "../../kit/parameter_fields.js";
import { store, stored } from "../../kit/storage.js";
import { leverMotion } from "./main_parameter_motion.js";

const LEVER_SEEN_KEY = "lever_seen";
const MOTION_DELAY_MS = 100; // the picture stands still before the lever moves

/** @type {(root: HTMLElement, page: import("./state.js").ExplorePage) => void} */
export default function lever(root, page) {
  // A link shows its own values, and a reader who was here before has seen the lever move.
  const switchedOff = new URLSearchParams(location.search).get("motion") === "off";
  const isOpened = Boolean(location.hash || history.state?.lossprism);
  const moves = !isOpened && !switchedOff && stored(LEVER_SEEN_KEY) === null;
  const list = parameterList((name, value) => page.setParameter(name, value));
  const motion = leverMotion(page, show);
  const button = h("button.lp-square", { onclick: motion.toggle });
  root.append(list.element, button);

  function show() {
    const { scenario, form } = page;
    const moved = leverOf(form.parameters);
    root.hidden = moved === null;
    const key = `${scenario.loss}|${scenario.convention}|${JSON.stringify(moved)}`;
    list.set(key, moved ? [moved] : [], scenario.parameters);
    const isRunning = motion.isRunning();
    button.dataset.title = isRunning ? "ui.stop_lever" : "ui.move_lever";
    button.textContent = isRunning ? "■" : "▶";
    reword(root);
  }

  let isFirst = true;
  page.on("picture", () => {
    if (!isFirst) return;
    isFirst = false;
    store(LEVER_SEEN_KEY, "yes");
    if (moves) setTimeout(motion.play, MOTION_DELAY_MS);
  });
  page.on("pointed", () => list.light(page.pointed.part?.of));
  page.on("scenario", show);
  page.on("language", show);
}
