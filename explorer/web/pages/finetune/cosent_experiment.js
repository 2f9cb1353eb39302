// The experiment of the source: what it printed, what was reached here, and a repetition.
import { signed } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { useMemo, useRef, useState } from "../../kit/vendor/preact/hooks.js";
import { Button, Note } from "./form_components.js";
import { encoderNamed } from "./plan_names.js";
import { timeTrial } from "./time_estimate.js";

/** @typedef {{ page: import("./state.js").FinetunePage }} Page */
/** @typedef {import("../../wire").Group} Group */
/** @typedef {"spearman" | "accuracy"} Figure */

const FIGURES = /** @type {Figure[]} */ (["spearman", "accuracy"]);
/** @type {Record<string, string>} the two losses of the source */
const SHORT = { binary_cross_entropy: "CE", cosent: "CoSENT" };
const DIFFERENCE = "CoSENT − CE";

/** @param {number} share */
const percent = (share) => (100 * share).toFixed(2);

/** @param {Page} properties */
export function SourceExperiment({ page }) {
  page.observe("checked", "compared", "pace");
  const isOpen = useRef(false);
  const [isRepeating, setRepeating] = useState(false);
  // The page says how long it takes, or why it cannot be, once somebody looks here.
  const trial = useMemo(
    () =>
      timeTrial(page, {
        outlook: () => {
          const outlook = page.checked?.repetition;
          return isOpen.current && !outlook?.refused ? outlook : null;
        },
        request: () => ({ plan: structuredClone(page.plan), repetition: true }),
      }),
    [],
  );
  const { refused = null, count = 0 } = page.checked?.repetition ?? {};
  const problem = refused ?? trial.failure();
  async function repeat() {
    setRepeating(true);
    await page.repeat(page.plan);
    setRepeating(false);
  }
  return h(
    "details.lp-fold",
    {
      onToggle: (event) => {
        isOpen.current = event.currentTarget.open;
        trial.settle();
      },
    },
    h("summary", say("finetune.source_title")),
    h("p", say("finetune.source_about")),
    h(
      "div.lp-row.lp-wrap",
      h(Button, { id: "lp-finetune-repeat", name: say("finetune.repeat"), disabled: isRepeating, act: repeat }),
      h("span.lp-note", say("finetune.repeat_about")),
    ),
    h(Note, {
      id: "lp-finetune-repeat-time",
      role: "status",
      text: problem ? say(problem.key, problem.values) : trial.sentence(count),
    }),
    h(
      "div.lp-printed",
      h(
        "div.lp-charts",
        FIGURES.map((figure) => h("div.lp-scroll", { key: figure }, h(Printed, { page, figure }))),
      ),
      h(Note, { text: say("finetune.source_note", { citation: pageData.finetune.source.citation }) }),
    ),
  );
}

/**
 * A figure of the source: of each model its row with CE, that with CoSENT, and what lies between them; then what was
 * reached here.
 * @param {Page & { figure: Figure }} properties
 */
function Printed({ page, figure }) {
  const { sets, [figure]: printed } = pageData.finetune.source;
  const rows = printed.flatMap(({ model, loss, values }, place, all) => {
    const own = { title: `${model} + ${loss}`, cells: values.map((value) => value.toFixed(2)) };
    if (loss !== SHORT.cosent) return [own];
    const gaps = values.map((value, set) => signed(value - all[place - 1].values[set], 2));
    return [own, { title: DIFFERENCE, cells: gaps }];
  });
  const heads = [say(`finetune.${figure}`), ...sets, say("finetune.average")];
  return h(
    "table",
    h(
      "thead",
      h(
        "tr",
        heads.map((title) => h("th", { scope: "col" }, title)),
      ),
    ),
    h(
      "tbody",
      rows.map(({ title, cells }) =>
        h(
          "tr",
          h("th", { scope: "row" }, title),
          cells.map((text) => h("td", text)),
        ),
      ),
      reachedHere(page, figure).map(([title, text]) =>
        h("tr.lp-lit", h("th", { scope: "row" }, title), h("td", { colSpan: sets.length + 1 }, text)),
      ),
    ),
  );
}

/**
 * What the shown cross-encoders reached under the two losses of the source, as titles with their words; it stands
 * beside the held-out pairs, and no others.
 * @type {(page: import("./state.js").FinetunePage, figure: Figure) => string[][]}
 */
function reachedHere(page, figure) {
  const { answer } = page.comparison;
  if (!answer || answer.unseen) return [];
  /** @param {Group} group */
  const runOf = ({ runs: [name] }) => page.trace(name)?.about;
  const ours = answer.groups.filter(
    (group) => SHORT[group.loss] && group.figures[figure] && runOf(group)?.kind === "cross",
  );
  const reached = ours.map((group) => {
    const { mean, spread } = group.figures[figure];
    const value = percent(mean) + (spread === null ? "" : ` ± ${percent(spread)}`);
    const title = `${encoderNamed({ encoder: runOf(group)?.plan.encoder ?? "" })} + ${SHORT[group.loss]}`;
    return [title, say("finetune.here", { value, count: group.runs.length })];
  });
  const [one, other] = ours;
  if (ours.length !== 2 || one.loss === other.loss) return reached;
  const gap = answer.differences.find(
    (each) => each.figure === figure && each.a === one.label && each.b === other.label,
  );
  if (!gap) return reached;
  const { difference, low, high, seeds } = gap.between;
  const isTurned = other.loss !== "cosent";
  /** @param {number} value */
  const points = (value) => signed(100 * (isTurned ? -value : value), 2);
  const values = {
    difference: points(difference),
    low: points(isTurned ? high : low),
    high: points(isTurned ? low : high),
    count: seeds.length,
    level: answer.level,
  };
  return [...reached, [DIFFERENCE, say("finetune.here_difference", values)]];
}
