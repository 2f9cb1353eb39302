// What can be taken away: pictures, tables, the code that gives the same number, the scenario.
import { h, worded } from "../../kit/dom.js";
import { figureButtons } from "../../kit/figure_export_options.js";
import { say } from "../../kit/translated_sentences.js";
import { takeawayRequests } from "./download_requests.js";

// The sentence where there is no such code.
/** @type {Partial<Record<string, string>>} */
const NO_CODE_SENTENCES = { code_module: "take.no_module", code_trainer: "take.no_trainer" };

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ExplorePage} page
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export default function takeaway(root, page, server) {
  const { ask, save } = takeawayRequests(page, server);
  let reading = "";
  const code = h("pre.lp-code", { hidden: true, tabIndex: 0 });
  const copy = worded("button.lp-button", "ui.copy", {
    hidden: true,
    onclick: () => navigator.clipboard.writeText(code.textContent ?? ""),
  });
  const zip = worded("button.lp-button", "take.code_zip", { hidden: true, onclick: () => save(`${reading}_zip`) });
  const opener = h("input", { type: "file", accept: ".json", hidden: true });

  /** @type {(key: string, act: () => void) => HTMLButtonElement} */
  const button = (key, act) => worded("button.lp-button", key, { onclick: act });
  /** @type {(key: string, ...buttons: HTMLElement[]) => HTMLDivElement} */
  const line = (key, ...buttons) => h("div.lp-row.lp-wrap", worded("span.lp-what", key), ...buttons);
  /** @param {string} what */
  const pictures = (what) => figureButtons("button.lp-button", (look, ratio) => save(what, look, ratio));
  root.append(
    h(
      "details.lp-table",
      worded("summary", "ui.take_away"),
      line(
        "take.matrix",
        ...pictures("matrix_svg"),
        button("take.html", () => save("matrix_html")),
        button("take.csv", () => save("matrix_csv")),
      ),
      line(
        "take.bars",
        ...pictures("bars_svg"),
        button("take.csv", () => save("pairs_csv")),
      ),
      line(
        "take.tables",
        button("take.terms", () => save("terms_csv")),
        button("take.suspects", () => save("suspects_csv")),
      ),
      line(
        "take.code",
        button("take.alone", () => read("code_alone")),
        button("take.ours", () => read("code_package")),
        button("take.module", () => read("code_module")),
        button("take.twin", () => read("code_twin")),
        button("take.trainer", () => read("code_trainer")),
      ),
      line(
        "take.scene",
        button("take.file", () => save("scenario_json")),
        button("take.open", () => opener.click()),
        opener,
      ),
      h("div.lp-code-box", h("div.lp-code-tools", copy, zip), code),
    ),
  );

  /** @param {string} what */
  async function read(what) {
    reading = what;
    const answer = await ask(what);
    if (!answer || reading !== what) return;
    code.textContent = answer.text || say(NO_CODE_SENTENCES[what] ?? "take.no_twin");
    code.hidden = false;
    copy.hidden = zip.hidden = !answer.text;
  }

  opener.addEventListener("change", async () => {
    const file = opener.files?.[0];
    opener.value = "";
    if (file) await page.openScenario(await file.text());
  });
}
