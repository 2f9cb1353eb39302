// The experiment of the source: what it printed, what was reached here, and a repetition.
import { h, worded } from "../../kit/dom.js";
import { signed } from "../../kit/numbers.js";
import { pageData } from "../../kit/page_data.js";
import { say } from "../../kit/words.js";
import { encoderNamed } from "./naming.js";
import { timeTrial } from "./trial.js";

/** @typedef {import("../../wire").Group} Group */

/** @param {number} share */
const percent = (share) => (100 * share).toFixed(2);

/**
 * @param {import("./state.js").FinetunePage} channel
 * @param {() => import("../../wire").Compared | null} answer how the runs shown compare
 * @returns {{ element: HTMLElement, print: () => void, tellTime: () => void }}
 */
export function sourceExperiment(channel, answer) {
  const facts = pageData.finetune;
  const repeat = worded("button.lp-button", "finetune.repeat", {
    type: "button",
    id: "lp-finetune-repeat",
    onclick: async () => {
      repeat.disabled = true;
      await channel.repeat(channel.plan);
      repeat.disabled = false;
    },
  });
  const time = h("p.lp-note", { id: "lp-finetune-repeat-time", role: "status" });
  const printed = h("div.lp-printed");
  const element = h(
    "details.lp-fold",
    {},
    worded("summary", "finetune.source_title"),
    worded("p", "finetune.source_about"),
    h("div.lp-row.lp-wrap", {}, repeat, worded("span.lp-note", "finetune.repeat_about")),
    time,
    printed,
  );

  // Told before it starts, once somebody looks here: how long it takes, or why it cannot be.
  const foreseen = () => channel.checked?.repetition;
  const trial = timeTrial(channel, {
    outlook: () => (element.open && !foreseen()?.refused ? foreseen() : null),
    asked: () => ({ plan: structuredClone(channel.plan), repetition: true }),
    told: () => tellTime(),
    failed: ({ key, values }) => {
      time.textContent = say(key, values);
    },
  });
  function tellTime() {
    const { refused = null, count = 0 } = foreseen() ?? {};
    time.textContent = refused ? say(refused.key, refused.values) : trial.sentence(count);
  }
  channel.on("checked", trial.settle);
  element.addEventListener("toggle", trial.settle);

  // What the shown cross-encoders reached under the two losses of the source, as further rows.
  /** @type {Record<string, string>} */
  const SHORT = { binary_cross_entropy: "CE", cosent: "CoSENT" };
  const DIFFERENCE = "CoSENT − CE";

  /** @param {string} figure */
  function repeated(figure) {
    /** @param {Group} group */
    const runOf = ({ runs: [name] }) => channel.trace(name)?.about;
    const ours = (answer()?.groups ?? []).filter(
      (group) => SHORT[group.loss] && group.figures[figure] && runOf(group)?.kind === "cross",
    );
    /** @type {(title: string, told: string) => HTMLElement} */
    const row = (title, told) =>
      h("tr.lp-lit", {}, h("th", { scope: "row" }, title), h("td", { colSpan: facts.source.sets.length + 1 }, told));
    const reached = ours.map((group) => {
      const { mean, spread: deviation } = group.figures[figure];
      const value = percent(mean) + (deviation === null ? "" : ` ± ${percent(deviation)}`);
      return row(
        `${encoderNamed({ encoder: runOf(group)?.plan.encoder ?? "" })} + ${SHORT[group.loss]}`,
        say("finetune.here", { value, count: group.runs.length }),
      );
    });
    const [one, other] = ours;
    const found = answer();
    const gap =
      ours.length === 2 &&
      found?.differences.find((told) => told.figure === figure && told.a === one.label && told.b === other.label);
    if (!found || !gap || one.loss === other.loss) return reached;
    const { between } = gap;
    const turned = other.loss !== "cosent";
    /** @param {number} value */
    const points = (value) => signed(100 * (turned ? -value : value), 2);
    const told = {
      difference: points(between.difference),
      low: points(turned ? between.high : between.low),
      high: points(turned ? between.low : between.high),
      count: between.seeds.length,
      level: found.level,
    };
    return [...reached, row(DIFFERENCE, say("finetune.here_difference", told))];
  }

  function print() {
    const { sets, citation } = facts.source;
    /** @param {string} key */
    const head = (key) =>
      h(
        "tr",
        {},
        h("th", { scope: "col" }, say(key)),
        [...sets, say("finetune.average")].map((set) => h("th", { scope: "col" }, set)),
      );
    /** @type {(title: string, told: string[]) => HTMLElement} */
    const row = (title, told) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, title),
        told.map((text) => h("td", {}, text)),
      );
    // Of each model its row with CE, that with CoSENT, and what lies between them.
    /** @param {"spearman" | "accuracy"} figure */
    const rows = (figure) =>
      facts.source[figure].flatMap(({ model, loss, values }, place, all) => [
        row(
          `${model} + ${loss}`,
          values.map((v) => v.toFixed(2)),
        ),
        ...(loss === SHORT.cosent
          ? [
              row(
                DIFFERENCE,
                values.map((v, set) => signed(v - all[place - 1].values[set], 2)),
              ),
            ]
          : []),
      ]);
    /** @param {"spearman" | "accuracy"} figure */
    const table = (figure) =>
      h("table", {}, h("thead", {}, head(`finetune.${figure}`)), h("tbody", {}, rows(figure), repeated(figure)));
    printed.replaceChildren(
      h(
        "div.lp-charts",
        {},
        /** @type {const} */ (["spearman", "accuracy"]).map((figure) => h("div.lp-scroll", {}, table(figure))),
      ),
      h("p.lp-note", {}, say("finetune.source_note", { citation })),
    );
  }

  return { element, print, tellTime };
}
