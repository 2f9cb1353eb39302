// What a scale measures, and in a tip what that means, where that is not plain.
import { h, setText } from "./dom.js";
import { has, say } from "./words.js";

let count = 0; // of the tips of a page

export class Measured {
  constructor() {
    this.measure = h("span");
    this.meaning = h("span.lp-tip", { role: "tooltip", id: `lp-tip-matrix-${++count}` });
    this.element = h("div.lp-measured", { "aria-describedby": this.meaning.id }, this.measure, this.meaning);
  }

  /** @param {string} key */
  explain(key) {
    setText(this.measure, say(key));
    const about = `${key}.about`;
    this.meaning.hidden = !has(about);
    this.element.removeAttribute("tabindex");
    if (this.meaning.hidden) return;
    setText(this.meaning, say(about));
    this.element.tabIndex = 0;
  }
}
