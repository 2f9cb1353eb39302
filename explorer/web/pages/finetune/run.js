// The head of the Fine-tune page: an invitation while nothing is chosen; else the run that is
// looked at, how far it is, its buttons, and what it has gained.
import { h, reword, worded } from "../../kit/dom.js";
import { formulaOf } from "../../kit/form.js";
import { tex } from "../../kit/formula.js";
import { fixed, show, signedEnds } from "../../kit/numbers.js";
import { pageData } from "../../kit/page_data.js";
import { Requests } from "../../kit/request.js";
import { entitle } from "../../kit/title.js";
import { language, say, titleOf } from "../../kit/words.js";
import { invitationOf } from "./invitation.js";
import { dataOf, encoderOf, leadingOf, PLACES, queued } from "./naming.js";

/** @typedef {import("../../wire").RunStatus} RunStatus */
/** @typedef {import("../../wire").Remarked} Remarked */
/** @typedef {import("./traces.js").Trace} Trace */

/** @type {("spearman" | "pearson" | "accuracy" | "auc" | "accuracy_at_1" | "mrr_at_10")[]} */
const GAINS = ["spearman", "pearson", "accuracy", "auc", "accuracy_at_1", "mrr_at_10"];
/** @type {("ndcg_at_10" | "mrr_at_10")[]} */
const LIST_GAINS = ["ndcg_at_10", "mrr_at_10"];

/** @param {number} seconds */
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").FinetunePage} channel
 */
export default function run(root, channel) {
  const { losses } = pageData;
  const GLIDE_MS = 100;
  const LEAST_APART = 0.001; // less is not worth a figure

  const problem = h("div.lp-problem", { role: "alert", hidden: true });
  const invitation = invitationOf(channel);

  // ---- The run -----------------------------------------------------------------------------

  const name = h("h1");
  const about = h("p.lp-about");
  const formula = h("div.lp-headline");
  const beside = h("section.lp-verdict", { hidden: true });
  const remarks = h("ul.lp-remarks", { "aria-live": "polite" });
  const state = h("strong.lp-state");
  const left = h("span.lp-note");
  const bar = h("progress", { max: 1, value: 0 });
  /** @param {string} what */
  const steering = (what) =>
    worded("button.lp-button", `finetune.${what}`, {
      type: "button",
      id: `lp-finetune-${what}`,
      onclick: () => act(what),
    });
  const buttons = {
    pause: steering("pause"),
    resume: steering("resume"),
    stop: steering("stop"),
    unshare: steering("unshare"),
    delete: steering("delete"),
  };
  const reuse = worded("button.lp-button", "finetune.reuse", {
    type: "button",
    id: "lp-finetune-reuse",
    onclick: () => {
      const told = channel.trace()?.about;
      if (told) channel.reuse(told.plan);
    },
  });
  const failed = h("div.lp-problem", { role: "alert", hidden: true });
  const alarm = h("div.lp-alarm", { role: "status", hidden: true });
  const gains = h("div.lp-gains");
  const figures = { loss: h("strong"), gradient_norm: h("strong"), learning_rate: h("strong"), speed: h("strong") };
  const strip = h(
    "div.lp-strip-of-figures",
    {},
    Object.entries(figures).map(([key, value]) =>
      h("div.lp-figure", {}, worded("span", `finetune.figure.${key}`), value),
    ),
    gains,
  );
  const run = h(
    "section",
    { hidden: true },
    beside,
    h("div.lp-head", {}, h("div", {}, name, about), formula),
    h("div.lp-progress", {}, state, bar, left, h("div.lp-row", {}, reuse, Object.values(buttons))),
    failed,
    alarm,
    strip,
    remarks,
  );
  root.append(problem, invitation, run);
  reword(root);

  /** @type {string | null} */
  let surely = null; // deleting is asked for twice
  /** @param {string} what */
  function act(what) {
    const id = channel.shown[0];
    if (what === "delete" && surely !== id) {
      surely = id;
      buttons.delete.textContent = say("finetune.surely");
      return;
    }
    surely = null;
    buttons.delete.textContent = say("finetune.delete");
    channel.steer(what, id);
  }

  function draw() {
    const trace = channel.trace();
    invitation.hidden = channel.shown.length > 0;
    run.hidden = !trace?.about;
    entitle([trace?.about ? titleOf(trace.about.plan.loss) : "", say("page.finetune")].filter(Boolean).join(" · "));
    if (!trace?.about) return;
    const { about: told } = trace;
    const { plan, state: now, step, steps } = told;
    name.textContent = titleOf(plan.loss);
    about.textContent = [
      encoderOf(plan),
      dataOf(plan),
      losses[plan.loss]?.conventions[plan.convention]?.asks_guide && plan.guide
        ? say("ui.guide_now", { name: plan.guide })
        : "",
      losses[plan.loss]?.conventions[plan.convention]?.asks_teacher && plan.teacher_model
        ? say("ui.teacher_now", { name: plan.teacher_model })
        : "",
      say("finetune.batch_of", { count: plan.batch_size }),
      say("finetune.seed_is", { seed: plan.seed }),
    ]
      .filter(Boolean)
      .join(" · ");
    state.textContent =
      now === "queued" && told.queue_position
        ? queued(told)
        : told.loading
          ? say(`finetune.loading.${told.loading.total ? "teacher_at" : told.loading.part}`, { ...told.loading })
          : say(`finetune.state.${now}`);
    state.dataset.state = now;
    bar.hidden = !steps;
    bar.setAttribute("aria-label", say("finetune.progress"));
    heard(told);
    write(plan);
    compare();
    buttons.pause.hidden = !["loading", "training"].includes(now);
    buttons.resume.hidden = !["paused", "stopped", "failed", "interrupted"].includes(now);
    buttons.stop.hidden = !["queued", "loading", "training", "paused"].includes(now);
    buttons.unshare.hidden = !told.shared;
    buttons.delete.hidden = channel.isLive(told);
    failed.hidden = !told.problem;
    if (told.problem) failed.textContent = say(told.problem.key, told.problem.values);
    const pace = told.summary?.steps_per_second ?? (told.seconds ? step / told.seconds : null);
    figures.loss.textContent = show(trace.smooth.at(-1), 4);
    figures.gradient_norm.textContent = show(trace.norm.at(-1), 3);
    figures.learning_rate.textContent = show(trace.rate.at(-1), 2);
    figures.speed.textContent = pace ? show(pace, 3) : "—";
    strip.hidden = !channel.isLive(told) && !trace.steps.length && !trace.evaluations.length;
    warnOfCollapse(trace);
    drawGains(trace, told.summary);
  }

  // Between two steps, which may take a second each, the bar goes on at the pace of the last ones,
  // up to where the next step would bring it; and while it loads, the clock goes on.
  /** @type {RunStatus | null} */
  let last = null;
  let since = 0;
  /** @type {ReturnType<typeof setInterval> | null} */
  let gliding = null;
  /** @param {RunStatus} told */
  function heard(told) {
    const isNew =
      last?.id !== told.id ||
      last.step !== told.step ||
      last.state !== told.state ||
      last.loading?.part !== told.loading?.part;
    if (isNew) [last, since] = [told, performance.now()];
    glide();
    const { seconds_left: remaining, step, steps } = told;
    // Where a step takes less than that, what the server tells is as fine.
    const takesLong = remaining !== null && 1000 * remaining > GLIDE_MS * ((steps ?? 0) - step);
    const moves = told.loading || (told.state === "training" && takesLong);
    if (moves && !gliding) gliding = setInterval(glide, GLIDE_MS);
    if (!moves) {
      clearInterval(gliding ?? undefined);
      gliding = null;
    }
  }

  function glide() {
    if (!last) return;
    const { state: now, step, steps, loading, seconds_left: remaining } = last;
    const seconds = loading ? loading.seconds + (performance.now() - since) / 1000 : last.seconds;
    const ahead = steps === null ? 0 : steps - step;
    const awaited = now === "training" && ahead > 0 ? remaining : null;
    const gone = awaited === null ? 0 : Math.min((performance.now() - since) / 1000, awaited / ahead);
    bar.value = steps ? (step + (awaited ? (gone * ahead) / awaited : 0)) / steps : 0;
    const told =
      awaited !== null ? say("finetune.left", { time: clock(awaited - gone) }) : now === "queued" ? "" : clock(seconds);
    const said = [steps ? say("finetune.step_of", { step, steps }) : "", told].filter(Boolean).join(" · ");
    if (left.textContent !== said) left.textContent = said; // the same words anew are laid out anew
  }

  /** @param {import("../../wire").TrainingPlan} plan */
  function write({ loss, convention, parameters, twins }) {
    const form = losses[loss]?.conventions[convention];
    const key = JSON.stringify([loss, convention, parameters, twins, language()]);
    if (formula.dataset.formula === key) return;
    formula.dataset.formula = key;
    if (form) tex(formula, formulaOf(form, parameters, twins), true);
    else formula.replaceChildren();
  }

  // Of several runs: how they came out, how many have ended, and which of them is looked at below.
  let compared = "";
  function compare() {
    const all = channel.shown.flatMap((one) => channel.trace(one)?.about ?? []);
    beside.hidden = all.length < 2;
    const ended = all.filter((one) => !channel.isLive(one)).length;
    const groups = channel.groups();
    const key = JSON.stringify([channel.shown, ended, groups.map(({ label }) => label), channel.verdict, language()]);
    if (beside.hidden || key === compared) return;
    compared = key;
    const tabs = groups.flatMap(({ names, colour, label, name: called }) =>
      names.map((one) => ({
        one,
        colour,
        label:
          names.length > 1
            ? `${called} · ${say("finetune.seed_is", { seed: channel.trace(one)?.about?.plan.seed })}`
            : label,
      })),
    );
    const titles = [...new Set(groups.map(({ plan }) => titleOf(plan.loss)))];
    entitle([titles.join(say("ui.versus")), say("page.finetune")].join(" · "));
    beside.replaceChildren(
      h("h1", {}, titles.join(" · ")),
      h(
        "ul.lp-remarks",
        {},
        (channel.verdict ?? []).map((sentence) => h("li", {}, sentence)),
      ),
      h("p.lp-note", {}, say("finetune.beside", { count: all.length, ended })),
      h(
        "div.lp-row.lp-wrap",
        { role: "group", "aria-label": say("finetune.looked_at") },
        tabs.map(({ one, colour, label }) =>
          h(
            "button.lp-button.lp-looked",
            {
              type: "button",
              "aria-pressed": String(one === channel.shown[0]),
              style: `border-bottom-color: var(--lp-${colour})`,
              onclick: () => channel.first(one),
            },
            label,
          ),
        ),
      ),
    );
  }
  channel.on("verdict", compare);

  // The server says what is striking about the run: anew at each evaluation and at the end.
  let remarked = "";
  /** @type {Remarked} */
  let found = { remarks: [], gain: null, level: "" };
  /** @type {Requests<{ id: string, answer: import("./state.js").Answer<"remark"> | null | undefined }>} */
  const remarking = new Requests({
    ask: async () => {
      const [id] = channel.shown;
      return { id, answer: id ? await channel.server?.remark({ run: id }) : null };
    },
    take: takeRemarks,
  });
  function remark() {
    const trace = channel.trace();
    const id = trace?.about?.id;
    const key = `${id}:${trace?.evaluations.length}:${Boolean(trace?.about?.summary)}`;
    if (!id || key === remarked) return;
    remarked = key;
    remarking.ask();
  }

  /** @param {{ id: string, answer: import("./state.js").Answer<"remark"> | null | undefined }} told */
  function takeRemarks({ id, answer }) {
    if (id !== channel.shown[0]) return;
    found = answer?.remarks ? answer : { remarks: [], gain: null, level: "" };
    tellRemarks();
    draw();
  }
  const tellRemarks = () =>
    remarks.replaceChildren(...found.remarks.map(({ key, values }) => h("li", {}, say(`remark.${key}`, values))));

  /** @param {Trace} trace */
  function warnOfCollapse({ about: told, alarms, evaluations }) {
    const last = alarms.at(-1);
    alarm.hidden = !last || last.step !== evaluations.at(-1)?.step;
    if (!last || alarm.hidden) return;
    alarm.textContent = say(
      told?.kind === "cross" ? "finetune.alarm_cross" : last.collapse === null ? "finetune.alarm" : "finetune.alarm_at",
      {
        apart: show(Math.max(last.high - last.low, LEAST_APART), 2),
        since: last.since,
        loss: show(last.loss, 4),
        collapse: show(last.collapse, 4),
      },
    );
  }

  /**
   * Before and after (so far) as two marks on a line from 0 to 1, or from −1 where one is below 0.
   * @param {Trace} trace
   * @param {import("../../wire").Summary | null} summary
   */
  function drawGains(trace, summary) {
    // Both are of the same pairs: all of them at the end, those of the curve until then.
    const [before, after] = summary
      ? [summary.before, summary.after]
      : [trace.evaluations[0], trace.evaluations.at(-1)];
    if (!before || !after) {
      gains.replaceChildren();
      return;
    }
    gains.replaceChildren(
      ...GAINS.flatMap((key) => {
        const now = after[key];
        if (now === null || now === undefined) return [];
        const head = say(summary ? "finetune.held_out_of" : "finetune.held_out_so_far", {
          what: say(`finetune.${key}`),
          count: summary?.pairs.held_out ?? after.pairs ?? "—",
          all: trace.held.before?.pairs ?? "—",
        });
        const interval =
          key === leadingOf(after) && summary && found.gain
            ? say("finetune.interval", { level: found.level, ...signedEnds(found.gain) })
            : "";
        return gainBox(head, say(`finetune.${key}`), before[key] ?? null, now, interval);
      }),
      ...(summary ? ofLists(summary) : []),
    );
  }

  /**
   * How candidates of the held-out lists are ordered; runs of earlier versions do not say it.
   * @param {import("../../wire").Summary} summary
   */
  function ofLists({ before, after, threshold }) {
    const lists = after.lists;
    if (!lists) return [];
    const { count, alike, without, floor } = lists;
    const boxes = LIST_GAINS.flatMap((key) => {
      const now = lists[key];
      if (now === null) return [];
      const what = say(`finetune.list_${key}`);
      return gainBox(say("finetune.of_lists", { what, count }), what, before.lists?.[key] ?? null, now, "");
    });
    const about = { count, alike, without, floor: show(floor, 3), threshold: show(threshold, 3) };
    return [...boxes, h("p.lp-note.lp-lists-about", {}, say("finetune.lists_about", about))];
  }

  /**
   * @param {string} head
   * @param {string} what
   * @param {number | null} before
   * @param {number} now
   * @param {string} note
   */
  function gainBox(head, what, before, now, note) {
    const old = before ?? 0;
    const low = Math.min(old, now) < 0 ? -1 : 0;
    /** @param {number} length */
    const share = (length) => `${(100 * length) / (1 - low)}%`;
    /** @param {number} v */
    const at = (v) => share(v - low);
    const ruler = h(
      "div.lp-ruler.lp-gain",
      {
        role: "img",
        "aria-label": say("finetune.gain_says", { what, before: fixed(before, PLACES), after: fixed(now, PLACES) }),
      },
      h("b", {
        style: `left:${at(Math.min(old, now))};width:${share(Math.abs(now - old))};background:var(--lp-${now < old ? "bad" : "floor"})`,
      }),
      h("i.lp-old", { style: `left:${at(old)}` }),
      h("i.lp-now", { style: `left:${at(now)}` }),
    );
    return h(
      "div.lp-figure.lp-gain-box",
      {},
      h("span", {}, head),
      h(
        "div.lp-row",
        {},
        h("small", {}, fixed(before, PLACES)),
        h("small", {}, "→"),
        h("strong", {}, fixed(now, PLACES)),
      ),
      ruler,
      note ? h("small", {}, note) : null,
    );
  }

  channel.on("shown", () => {
    [remarked, found] = ["", { remarks: [], gain: null, level: "" }];
    tellRemarks();
    draw();
    remark();
  });
  channel.on("run", () => {
    draw();
    remark();
  });
  function tellProblem() {
    problem.hidden = !channel.problem;
    if (channel.problem) problem.textContent = say(channel.problem.key, channel.problem.values);
  }
  channel.on("language", () => {
    draw();
    tellRemarks();
    tellProblem();
  });
  channel.on("problem", tellProblem);
}
