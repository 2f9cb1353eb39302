// All runs, and those that are shown beside each other: figures with their spread over seeds, a
// paired test, what changed places, and the experiment of the source.
import { h, reword, worded } from "../../kit/dom.js";
import { given } from "../../kit/given.js";
import { show, showWithin } from "../../kit/numbers.js";
import { Requests } from "../../kit/request.js";
import { sortableTable } from "../../kit/table.js";
import { language, say, titleOf } from "../../kit/words.js";
import { gainsFigure } from "./gains.js";
import { encoderNamed } from "./naming.js";
import { timeTrial } from "./trial.js";

/** @typedef {import("../../wire").RunStatus} RunStatus */
/** @typedef {import("../../wire").Group} Group */
/** @typedef {import("../../wire").Compared} Compared */

/** @type {("spearman" | "pearson" | "accuracy" | "auc")[]} */
const FIGURES = ["spearman", "pearson", "accuracy", "auc"];
const SURE = 0.05;
/** @type {(run: RunStatus) => number} */
const before = (run) => run.summary?.before.spearman ?? NaN;
/** @type {(run: RunStatus) => number} */
const after = (run) => run.summary?.after.spearman ?? NaN;
/** @param {number} value */
const shownAs = (value) => (Number.isNaN(value) ? "—" : show(value, 3));
/** @param {number} share */
const percent = (share) => (100 * share).toFixed(2);
/** @param {string} text */
const signed = (text) => (text.startsWith("-") ? text.replace("-", "−") : `+${text}`);

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").FinetunePage} channel
 */
export default function runs(root, channel) {
  const facts = given.finetune;

  // ---- All runs ----------------------------------------------------------------------------

  const runs = sortableTable({
    key: "finetune.runs",
    most: 8,
    pick: (run) => channel.show([run.id]),
    columns: [
      {
        key: "finetune.column.show",
        by: (/** @type {RunStatus} */ run) => Number(channel.shown.includes(run.id)),
        box: {
          label: (run) => say("finetune.compare_run", { name: `${titleOf(run.loss)}, ${run.plan.seed}` }),
          checked: (run) => channel.shown.includes(run.id),
          toggle: (run) => channel.toggle(run.id),
        },
      },
      { key: "ui.loss", wide: true, cell: (run) => titleOf(run.loss), by: (run) => titleOf(run.loss) },
      {
        key: "finetune.column.before",
        cell: (run) => shownAs(before(run)),
        by: before,
      },
      {
        key: "finetune.column.after",
        cell: (run) => shownAs(after(run)),
        by: after,
      },
      {
        key: "finetune.column.state",
        cell: (run) =>
          run.queue_position
            ? say("finetune.queue", { count: run.queue_position })
            : say(`finetune.state.${run.state}`),
        by: (run) => run.state,
      },
      { key: "finetune.step", cell: (run) => `${run.step}/${run.steps ?? "—"}`, by: (run) => run.step },
      {
        key: "ui.encoder",
        wide: true,
        cell: (run) => [encoderNamed(run.plan), say(`finetune.kind.${run.kind}`)],
        by: (run) => run.encoder,
      },
      { key: "finetune.seed", cell: (run) => String(run.plan.seed), by: (run) => run.plan.seed },
      {
        key: "finetune.column.started",
        cell: (run) =>
          new Date(1000 * run.created).toLocaleString(language(), {
            month: "short",
            day: "numeric",
            hour: "2-digit",
            minute: "2-digit",
          }),
        by: (run) => run.created,
      },
    ],
  });
  const all = h(
    "section",
    { hidden: true },
    worded("h2", "finetune.runs"),
    worded("p.lp-note", "finetune.runs_about"),
    runs.element,
  );

  // ---- Beside each other -------------------------------------------------------------------

  /**
   * The server's label of a group → what the page calls it.
   * @param {string} label
   */
  function titled(label) {
    const name = answer?.groups.find((group) => group.label === label)?.runs[0] ?? "";
    return channel.groups().find(({ names }) => names.includes(name))?.name ?? label;
  }
  /** @param {Partial<import("../../wire").Spread>} [figure] */
  const spread = ({ mean, spread: deviation } = {}) => (mean === undefined ? "—" : showWithin(mean, deviation));
  const figures = sortableTable({
    key: "finetune.final",
    columns: [
      {
        key: "ui.loss",
        wide: true,
        cell: (/** @type {Group} */ { label }) => titled(label),
        by: ({ label }) => titled(label),
      },
      ...[...FIGURES, "loss"].map((figure) => ({
        key: figure === "loss" ? "finetune.column.last_loss" : `finetune.${figure}`,
        cell: (/** @type {Group} */ group) => spread(group.figures[figure]),
        by: (/** @type {Group} */ group) => group.figures[figure]?.mean ?? NaN,
        spare: true,
      })),
      { key: "finetune.column.seeds", cell: (group) => String(group.seeds.length), by: (group) => group.seeds.length },
    ],
  });
  /** @param {import("../../wire").PairedTest} test */
  const compared = ({ a, b }) => `${titled(b)} − ${titled(a)}`;
  const tests = sortableTable({
    key: "finetune.tests",
    columns: [
      { key: "finetune.column.compared", wide: true, cell: compared, by: compared },
      { key: "finetune.column.figure", cell: ({ figure }) => say(`finetune.${figure}`), by: ({ figure }) => figure },
      { key: "finetune.column.difference", cell: (test) => show(test.difference, 3), by: (test) => test.difference },
      { key: "finetune.column.p", cell: (test) => show(test.p, 2), by: (test) => test.p ?? NaN },
      { key: "finetune.column.seeds", cell: (test) => String(test.seeds.length), by: (test) => test.seeds.length },
    ],
  });
  const moved = sortableTable({
    key: "finetune.moved",
    columns: [
      {
        key: "finetune.column.rank_before",
        cell: (/** @type {import("../../wire").MovedPair} */ pair) => show(pair.rank_before, 3),
        by: (pair) => pair.rank_before,
      },
      { key: "finetune.column.rank_after", cell: (pair) => show(pair.rank_after, 3), by: (pair) => pair.rank_after },
      { key: "finetune.column.label_rank", cell: (pair) => show(pair.label_rank, 3), by: (pair) => pair.label_rank },
      { key: "ui.label", cell: (pair) => show(pair.label, 3), by: (pair) => pair.label },
      { key: "ui.pair", wide: true, cell: (pair) => [pair.first, pair.second], by: (pair) => pair.first },
    ],
  });
  /** @param {import("../../wire").Neighbour[]} near */
  const listed = (near) => near.map(({ sentence, cosine }) => `${show(cosine, 2)}  ${sentence}`);
  const neighbours = sortableTable({
    key: "finetune.neighbours",
    most: 4,
    columns: [
      {
        key: "finetune.column.kept",
        cell: (/** @type {import("../../wire").Neighbours} */ one) => `${one.kept}/${one.before.length}`,
        by: (one) => one.kept,
      },
      { key: "finetune.column.sentence", wide: true, cell: (one) => one.sentence, by: (one) => one.sentence },
      {
        key: "finetune.column.nearest_before",
        wide: true,
        cell: (one) => listed(one.before),
        by: (one) => one.before[0]?.cosine ?? NaN,
      },
      {
        key: "finetune.column.nearest_after",
        wide: true,
        cell: (one) => listed(one.after),
        by: (one) => one.after[0]?.cosine ?? NaN,
      },
    ],
  });
  // What a telephone would squeeze too much is moved with the finger there.
  runs.element.style.setProperty("--lp-least", "700px");
  neighbours.element.style.setProperty("--lp-least", "620px");
  moved.element.style.setProperty("--lp-narrow", "52px");
  // A mean and its deviation stand in one line, and near what they belong to.
  figures.element.style.setProperty("--lp-narrow", "108px");
  for (const { element } of [figures, tests]) element.classList.add("lp-close");
  /**
   * @template Row
   * @param {string} key
   * @param {ReturnType<typeof sortableTable<Row>>} table
   */
  function partOf(key, table) {
    const box = h("div", { hidden: true }, worded("h3", key), worded("p.lp-note", `${key}_about`), table.element);
    /** @param {Row[]} rows */
    function fill(rows = []) {
      box.hidden = !rows.length;
      if (rows.length) table.fill(rows);
    }
    return { box, fill };
  }
  const parts = {
    groups: partOf("finetune.final", figures),
    tests: partOf("finetune.tests", tests),
    moved: partOf("finetune.moved", moved),
    neighbours: partOf("finetune.neighbours", neighbours),
  };
  const gains = gainsFigure(channel);
  const beside = h(
    "section",
    { hidden: true },
    worded("h2", "finetune.compared"),
    gains.element,
    Object.values(parts).map(({ box }) => box),
  );
  channel.stills.push(gains);

  // How the plans came out beside each other, best first, and how much that says.
  function verdict() {
    const labels = new Map(channel.groups().flatMap(({ names, label }) => names.map((name) => [name, label])));
    const known = (answer?.groups ?? [])
      .filter(({ runs: [name], figures: { spearman } }) => spearman && labels.has(name))
      .sort((a, b) => b.figures.spearman.mean - a.figures.spearman.mean);
    const [best, next] = known;
    if (!next) return null;
    const named = known.map((group) => ({ name: labels.get(group.runs[0]), value: spread(group.figures.spearman) }));
    const list = named
      .map((one, place) => say(place ? "finetune.verdict_next" : "finetune.verdict_best", one))
      .join("");
    return [list + say("finetune.verdict_end"), howSure(best, next)];
  }

  /** @param {Group} group */
  const dataKey = ({ runs: [name] }) => JSON.stringify(channel.trace(name)?.about?.plan.data);

  /**
   * @param {Group} best
   * @param {Group} next
   */
  function howSure(best, next) {
    if (dataKey(best) !== dataKey(next)) return say("finetune.other_data");
    if (Math.min(best.seeds.length, next.seeds.length) < 2) return say("finetune.one_seed");
    const test = answer?.tests.find(
      ({ a, b, figure }) => figure === "spearman" && [a, b].includes(best.label) && [a, b].includes(next.label),
    );
    if (typeof test?.p !== "number") return say("finetune.no_test");
    return say(test.p < SURE ? "finetune.tested" : "finetune.tested_chance", {
      count: test.seeds.length,
      difference: show(Math.abs(test.difference), 2),
      p: show(test.p, 2),
    });
  }

  let asked = "";
  /** @type {Compared | null} */
  let answer = null;
  function compare() {
    const ended = channel.shown.filter((name) => channel.trace(name)?.about?.summary);
    const key = ended.join();
    if (key === asked) return;
    asked = key;
    comparing.ask();
  }
  /** @type {Requests<import("./state.js").Answer<"compare"> | null>} */
  const comparing = new Requests({
    ask: async () => (asked ? channel.heard(channel.server?.compare({ runs: asked.split(",") })) : null),
    take: (found) => {
      answer = found?.groups ? found : null;
      tell();
    },
  });

  function tell() {
    beside.hidden = !answer;
    channel.verdict = verdict();
    channel.publish("verdict");
    gains.fill(answer?.groups ?? [], titled);
    parts.groups.fill(answer?.groups);
    parts.tests.fill(answer?.tests);
    parts.moved.fill(answer?.moved);
    parts.neighbours.fill(answer?.neighbours);
    print();
  }

  // ---- The experiment of the source --------------------------------------------------------

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
  const experiment = h(
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
    outlook: () => (experiment.open && !foreseen()?.refused ? foreseen() : null),
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
  experiment.addEventListener("toggle", trial.settle);

  // What the shown cross-encoders reached under the two losses of the source, as further rows.
  /** @type {Record<string, string>} */
  const SHORT = { binary_cross_entropy: "CE", cosent: "CoSENT" };
  const DIFFERENCE = "CoSENT − CE";

  /** @param {string} figure */
  function repeated(figure) {
    /** @param {Group} group */
    const runOf = ({ runs: [name] }) => channel.runs.find(({ id }) => id === name);
    const ours = (answer?.groups ?? []).filter(
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
    const test =
      ours.length === 2 &&
      answer?.tests.find((told) => told.figure === figure && told.a === one.label && told.b === other.label);
    if (!test || one.loss === other.loss) return reached;
    const difference = signed(percent(other.loss === "cosent" ? test.difference : -test.difference));
    return [
      ...reached,
      row(DIFFERENCE, say("finetune.here_difference", { difference, count: test.seeds.length, p: show(test.p, 2) })),
    ];
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
                values.map((v, set) => signed((v - all[place - 1].values[set]).toFixed(2))),
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

  root.append(beside, all, experiment);
  reword(root);
  print();

  function list() {
    all.hidden = !channel.runs.length;
    if (!channel.runs.length) return;
    runs.fill(channel.runs);
    runs.light((run) => run?.id === channel.shown[0]);
  }
  channel.on("runs", list);
  channel.on("shown", () => {
    list();
    compare();
  });
  channel.on("run", compare);
  channel.on("gain", () => gains.fill(answer?.groups ?? [], titled));
  channel.on("language", () => {
    list();
    tell();
    tellTime();
  });
}
