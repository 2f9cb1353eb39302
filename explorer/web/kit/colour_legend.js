// The scale of the colours of cells: its bar with numbers, and what it measures.
import { paint } from "./cell_canvas.js";
import { palette } from "./colours.js";
import { h, setText } from "./dom.js";
import { has, say } from "./translated_sentences.js";

/** @typedef {import("./cell_canvas.js").Ramp} Ramp */

/** The colours of a scale from its largest value down, with up to three numbers beside it. */
export function legendBar() {
  const canvas = h("canvas.lp-legend", { width: 1, height: 128 });
  const numbers = [h("span"), h("span"), h("span")];
  const element = h("div.lp-legend-box", canvas, h("div.lp-scale", numbers));
  let painted = "";

  /**
   * `texts`: largest, middle, least; null leaves those before. With `two` only the ends of the ramp are shown, for yes and no.
   * @param {Ramp} ramp
   * @param {string[] | null} texts
   */
  function draw(ramp, texts, two = false) {
    const key = `${palette()[ramp]}|${two}`;
    if (key !== painted) {
      painted = key;
      const values = Array.from({ length: 128 }, (_, y) => (two ? Number(y < 64) : 1 - (2 * y) / 255));
      paint(canvas, { rows: 128, columns: 1, values, least: 0, largest: 1, ramp });
    }
    if (!texts) return;
    numbers.forEach((number, i) => {
      setText(number, texts[i] ?? "");
    });
  }

  return { element, draw };
}

let count = 0; // of the tips of a page

/** What a scale measures, and in a tip what that means, where that is not plain. */
export class ScaleCaption {
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
