// What went wrong, with buttons for what can be put right at once.
import { h, worded } from "./dom.js";
import { say } from "./words.js";

/** @typedef {{ fits: (problem: import("./types").Notice) => boolean, key: string, act: () => void }} Remedy */

/**
 * The box at the head of a page. `isShown()`: whether there is a picture, which a refused change leaves
 * a true one.
 * @param {{ problem: import("./types").Notice | null, notice: import("./types").Notice | null, remedies: Remedy[],
 *   on(topic: string, listener: () => void): void }} channel
 * @param {() => boolean} isShown
 */
export function problemBox(channel, isShown) {
  const box = h("div.lp-problem", { role: "alert", hidden: true });
  function complain() {
    const message = channel.problem ?? channel.notice;
    box.hidden = !message;
    document.body.classList.toggle("lp-stale", Boolean(channel.problem));
    if (!message) return;
    const remedies = channel.remedies.filter(({ fits }) => fits(message));
    const isStillShown = !channel.problem && "about" in message && isShown();
    box.replaceChildren(
      say(message.key, message.values),
      isStillShown ? h("p", {}, say("ui.still_shown")) : "",
      ...remedies.map(({ key, act }) => worded("button.lp-button", key, { type: "button", onclick: act })),
    );
  }
  channel.on("problem", complain);
  channel.on("language", complain);
  return box;
}
