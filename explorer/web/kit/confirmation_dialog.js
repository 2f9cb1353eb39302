// A question that stands in the way of what may do harm: asked in the page, answered by a click or a key.
import { h } from "./dom.js";
import { say } from "./translated_sentences.js";

/**
 * Ask, and promise whether it was agreed to. Escape declines, and so does the button that has the focus at first.
 * @param {string} key of the sentence
 * @param {Record<string, any>} values
 * @param {string} agreeing the key of the button that agrees
 * @returns {Promise<boolean>}
 */
export function askConfirmation(key, values, agreeing) {
  const about = h("p", { id: "lp-question" }, say(key, values));
  const button = (/** @type {string} */ name, /** @type {string} */ value) =>
    h("button.lp-button", { type: "submit", value }, say(name));
  const [cancel, agree] = [button("ui.cancel", ""), button(agreeing, "yes")];
  const dialog = h(
    "dialog.lp.lp-question",
    { "aria-describedby": about.id, "aria-label": say(agreeing) },
    h("form", { method: "dialog" }, about, h("div.lp-row", cancel, agree)),
  );
  document.body.append(dialog);
  dialog.showModal();
  cancel.focus();
  return new Promise((decide) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      decide(dialog.returnValue === "yes");
    });
  });
}
