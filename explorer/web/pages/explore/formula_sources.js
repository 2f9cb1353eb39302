// Where the formula of the loss comes from, once, at the end of the page.
import { h, setText } from "../../kit/dom.js";
import { say } from "../../kit/words.js";

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").Scene} channel
 */
export default function sources(root, channel) {
  const line = h("p.lp-note.lp-references");
  root.append(line);

  function list() {
    const { references } = channel.spec;
    line.hidden = references.length === 0;
    setText(line, say("ui.references", { list: references.map(cited).join("; ") }));
  }
  channel.on("scenario", list);
  channel.on("language", list);
}

/**
 * "S1 eq. 52" as a reader knows it: the source's name in place of our short one.
 * @param {string} reference
 */
const cited = (reference) =>
  reference
    .replace(/^S\d/, (short) => say(`cite.${short}`))
    .replace(/ eq\. (.+)$/, (_all, number) => say("cite.equation", { number }));
