// Playing a film: start and stop, a step back and on, any frame, and the points that a hand moved put back.
import { pageData } from "../../kit/page_data.js";
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { MOVE_SIZE } from "./state.js";

/** @param {{ page: import("./state.js").SpherePage }} properties */
export function Playback({ page }) {
  page.observe("frame", "film", "state");
  const { at, last, isPlaying, filmed, moves } = page;
  /** @type {(id: string, key: string, sign: string, act: () => void) => any} */
  const button = (id, key, sign, act) =>
    h("button.lp-button", { id, title: say(key), "aria-label": say(key), disabled: !filmed, onClick: act }, sign);
  return h(
    "div.lp-transport",
    { role: "group", "aria-label": say("sphere.film") },
    isPlaying
      ? button("lp-play", "sphere.pause", "❚❚", () => page.pause())
      : button("lp-play", "sphere.play", "▶", () => page.play()),
    button("lp-back", "sphere.back", "◂", () => page.show(at - 1)),
    button("lp-on", "sphere.on", "▸", () => page.show(at + 1)),
    h("input", {
      type: "range",
      id: "lp-frame",
      min: 0,
      max: last,
      step: 1,
      value: at,
      disabled: !filmed,
      "aria-label": say("sphere.frame"),
      "aria-valuetext": say("sphere.step", { step: at, steps: last }),
      onInput: (event) => page.show(Number(event.currentTarget.value)),
    }),
    h("output.lp-step", { for: "lp-frame" }, say("sphere.step", { step: at, steps: last })),
    moves.length
      ? h(
          "button.lp-button",
          { id: "lp-put-back", onClick: () => page.set({ steps: { moves: [] } }) },
          say("sphere.put_back", { count: moves.length / MOVE_SIZE, most: pageData.sphere.moves }),
        )
      : null,
  );
}
