// What went wrong, with buttons for what can be put right at once.
import { h, worded } from "./dom.js";
import { say } from "./words.js";

/** @typedef {{ fits: (problem: import("./types").Notice) => boolean, key: string, act: () => void }} Remedy */

/**
 * The box at the head of a page. `isShown()`: whether there is a picture, which a refused change leaves
 * a true one.
 * @param {{ problem: import("./types").Notice | null, notice: import("./types").Notice | null, remedies: Remedy[],
 *   on(topic: string, listener: () => void): void }} page
 * @param {() => boolean} isShown
 */
export function problemBox(page, isShown) {
  const box = h("div.lp-problem", { role: "alert", hidden: true });
  function complain() {
    const message = page.problem ?? page.notice;
    box.hidden = !message;
    document.body.classList.toggle("lp-stale", Boolean(page.problem));
    if (!message) return;
    const remedies = page.remedies.filter(({ fits }) => fits(message));
    const isStillShown = !page.problem && "about" in message && isShown();
    box.replaceChildren(
      say(message.key, message.values),
      isStillShown ? h("p", say("ui.still_shown")) : "",
      ...remedies.map(({ key, act }) => worded("button.lp-button", key, { onclick: act })),
    );
  }
  page.on("problem", complain);
  page.on("language", complain);
  return box;
}
