// The head of the Fine-tune page: an invitation while nothing is chosen; else the run that is looked at, how far it
// is, and what it has gained.

import { Notes } from "../../kit/components.js";
import { formulaOf, tex } from "../../kit/formula.js";
import { show as number } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { group, h, hosted, show } from "../../kit/preact_view.js";
import { entitle } from "../../kit/title.js";
import { language, say, titleOf } from "../../kit/translated_sentences.js";
import { useLayoutEffect } from "../../kit/vendor/preact/hooks.js";
import { Invitation } from "./empty_state.js";
import { GainBoxes } from "./gain_boxes.js";
import { dataOf, encoderOf } from "./plan_names.js";
import { RunProgress, Starting } from "./progress.js";

/** @typedef {{ page: import("./state.js").FinetunePage }} Page */
/** @typedef {import("../../wire").RunStatus} RunStatus */
/** @typedef {import("./run_log_data.js").Trace} Trace */

const LEAST_SHOWN = 0.001; // a smaller spread of similarities is not worth a figure

/** @param {Page} properties */
function RunSummary({ page }) {
  page.observe("shown", "run", "remarks", "compared", "problem", "starting");
  const trace = page.trace();
  const about = trace?.about;
  const groups = page.groups();
  const runs = page.shown.flatMap((name) => page.trace(name)?.about ?? []);
  const titles = [...new Set(groups.map(({ plan }) => titleOf(plan.loss)))];
  const named = runs.length > 1 ? titles.join(say("ui.versus")) : about ? titleOf(about.plan.loss) : "";
  useLayoutEffect(() => entitle([named, say("page.finetune")].filter(Boolean).join(" · ")));
  const { problem, isStarting } = page;
  useLayoutEffect(() => {
    if (isStarting) window.scrollTo(0, 0); // to where the run is followed
  }, [isStarting]);
  return group(
    h("div.lp-problem", { role: "alert", hidden: !problem }, problem && say(problem.key, problem.values)),
    runs.length > 1 ? h(Verdict, { page, groups, runs, titles }) : null,
    trace && about ? h(Run, { page, trace, about, isAlone: runs.length < 2 }) : null,
    !about && (isStarting || page.shown.length) ? h(Starting) : null,
    !about && !isStarting && !page.shown.length ? h(Invitation, { page }) : null,
  );
}

/**
 * Of several runs: how they came out, how many have ended, and which of them is looked at below.
 * @param {Page & { groups: import("./seed_groups.js").RunGroup[], runs: RunStatus[], titles: string[] }} properties
 */
function Verdict({ page, groups, runs, titles }) {
  const ended = runs.filter((run) => !page.isLive(run)).length;
  const tabs = groups.flatMap(({ names, colour, label, name }) =>
    names.map((id) => {
      const seed = say("finetune.seed_is", { seed: page.trace(id)?.about?.plan.seed });
      return { id, colour, label: names.length > 1 ? `${name} · ${seed}` : label };
    }),
  );
  return h(
    "section.lp-verdict",
    h("h1", titles.join(" · ")),
    h(
      "ul.lp-remarks",
      page.comparison.verdict().map((sentence) => h("li", sentence)),
    ),
    h("p.lp-note", say("finetune.beside", { count: runs.length, ended })),
    h(
      "div.lp-row.lp-wrap",
      { role: "group", "aria-label": say("finetune.looked_at") },
      tabs.map(({ id, colour, label }) =>
        h(
          "button.lp-button.lp-looked",
          {
            key: id,
            "aria-pressed": id === page.shown[0] ? "true" : "false",
            style: { borderBottomColor: `var(--lp-${colour})` },
            onClick: () => page.first(id),
          },
          label,
        ),
      ),
    ),
  );
}

/** @param {Page & { trace: Trace, about: RunStatus, isAlone: boolean }} properties */
function Run({ page, trace, about, isAlone }) {
  const { plan, problem } = about;
  const [first = "", ...others] = page.remarks.remarks.map(({ key, values }) => say(`remark.${key}`, values));
  return h(
    "section",
    h(
      "div.lp-head",
      h("div", h(isAlone ? "h1" : "h2", titleOf(plan.loss)), h("p.lp-about", aboutWords(plan))),
      h(Formula, { plan }),
    ),
    h(RunProgress, { page, about }),
    problem ? h("div.lp-problem", { role: "alert" }, say(problem.key, problem.values)) : null,
    h(Alarm, { trace }),
    h(Figures, { page, trace, about }),
    h("p.lp-about.lp-remark", { "aria-live": "polite" }, first),
    h(Notes, { notes: others }),
  );
}

/** @param {import("../../wire").RecordedPlan} plan */
function aboutWords(plan) {
  const form = pageData.losses[plan.loss]?.conventions[plan.convention];
  return [
    encoderOf(plan),
    dataOf(plan),
    form?.asks_guide && plan.guide ? say("ui.guide_now", { name: plan.guide }) : "",
    form?.asks_teacher && plan.teacher_model ? say("ui.teacher_now", { name: plan.teacher_model }) : "",
    say("finetune.batch_of", { count: plan.batch_size }),
    say("finetune.seed_is", { seed: plan.seed }),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** @param {{ plan: import("../../wire").RecordedPlan }} properties */
function Formula({ plan: { loss, convention, parameters, twins } }) {
  const form = pageData.losses[loss]?.conventions[convention];
  return hosted({
    kind: "div.lp-headline",
    make: (root) => root,
    update: (root) => {
      const key = JSON.stringify([loss, convention, parameters, twins, language()]);
      if (root.dataset.formula === key) return;
      root.dataset.formula = key;
      if (form) tex(root, formulaOf(form, parameters, twins), true);
      else root.replaceChildren();
    },
  });
}

/**
 * That all similarities are one, while that is so.
 * @param {{ trace: Trace }} properties
 */
function Alarm({ trace: { about, alarms, evaluations } }) {
  const last = alarms.at(-1);
  if (!last || last.step !== evaluations.at(-1)?.step) return null;
  const ofPairs = last.collapse === null ? "finetune.alarm" : "finetune.alarm_at";
  const values = {
    apart: number(Math.max(last.high - last.low, LEAST_SHOWN), 2),
    since: last.since,
    loss: number(last.loss, 4),
    collapse: number(last.collapse, 4),
  };
  return h("div.lp-alarm", { role: "status" }, say(about?.kind === "cross" ? "finetune.alarm_cross" : ofPairs, values));
}

/** @param {Page & { trace: Trace, about: RunStatus }} properties */
function Figures({ page, trace, about }) {
  if (!page.isLive(about) && !about.summary && !trace.evaluations.length) return null;
  const pace = about.summary?.steps_per_second ?? (about.seconds ? about.step / about.seconds : null);
  const figures = {
    loss: number(trace.smooth.at(-1), 4),
    speed: pace ? number(pace, 3) : "—",
  };
  return h(
    "div.lp-strip-of-figures",
    Object.entries(figures).map(([key, value]) =>
      h("div.lp-figure", { key }, h("span", say(`finetune.figure.${key}`)), h("strong", value)),
    ),
    h(GainBoxes, { trace }),
  );
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").FinetunePage} page
 */
export default (root, page) => show(root, RunSummary, { page });
