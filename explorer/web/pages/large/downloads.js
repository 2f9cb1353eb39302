// What can be taken away of a large batch: its pictures, its tables, its figures.
import { h, worded } from "../../kit/dom.js";
import { figureButtons } from "../../kit/figure_export_options.js";

/** @type {(root: HTMLElement, page: import("./state.js").LargePage) => void} */
export default function takeaway(root, page) {
  /** @type {(key: string, act: () => void) => HTMLButtonElement} */
  const button = (key, act) => worded("button.lp-button", key, { onclick: act });
  /** @type {(key: string, ...buttons: HTMLElement[]) => HTMLDivElement} */
  const line = (key, ...buttons) => h("div.lp-row.lp-wrap", worded("span.lp-what", key), ...buttons);
  /** @param {string} what */
  const pictures = (what) => figureButtons("button.lp-button", (look, ratio) => page.downloads.take(what, look, ratio));
  root.append(
    h(
      "details.lp-table",
      { id: "lp-large-take" },
      worded("summary", "ui.take_away"),
      line("large.map", ...pictures("map_svg")),
      line(
        "large.histogram",
        ...pictures("histogram_svg"),
        button("take.csv", () => page.downloads.take("histogram_csv")),
      ),
      line(
        "take.tables",
        button("large.take_pairs", () => page.downloads.take("pairs_csv")),
        button("take.terms", () => page.downloads.take("terms_csv")),
        button("take.suspects", () => page.downloads.take("suspects_csv")),
      ),
      line(
        "large.take_figures",
        button("take.csv", () => page.downloads.take("figures_csv")),
        button("take.json", () => page.downloads.take("figures_json")),
      ),
      worded("p.lp-note", "large.take_note"),
    ),
  );
}
