// The head of the Fine-tune page: an invitation while nothing is chosen; else the run that is
// looked at, how far it is, its buttons, and what it has gained.
(window.LossPrismInstruments ??= {}).finetune_run = (root, channel) => {
  "use strict";
  const { h, say, worded, show, losses } = LossPrism;
  const facts = window.LossPrismData.finetune;
  const GAINS = ["spearman", "pearson", "accuracy", "auc"];

  const problem = h("div.lp-problem", { role: "alert", hidden: true });

  // ---- The invitation ----------------------------------------------------------------------

  const quick = worded("button.lp-start", "finetune.quick", {
    type: "button", id: "lp-finetune-quick",
    onclick: async () => {
      quick.disabled = true;
      const { first } = facts;
      const practice = LossPrism.language() === "zh" ? facts.practice.at(-1) : facts.practice[0];
      await channel.studio.start([{ ...first, ...facts.quick, data: { ...first.data, source: "practice", practice } }]);
      quick.disabled = false;
    },
  });
  const invitation = h("section.lp-invitation", { hidden: true },
    worded("h1", "page.finetune"), worded("p.lp-about", "finetune.invitation"),
    h("div.lp-row.lp-wrap", {}, quick, worded("span.lp-note", "finetune.quick_about")));

  // ---- The run -----------------------------------------------------------------------------

  const name = h("h1");
  const about = h("p.lp-about");
  const state = h("strong.lp-state");
  const left = h("span.lp-note");
  const bar = h("progress", { max: 1, value: 0 });
  const buttons = Object.fromEntries(["pause", "resume", "stop", "delete"].map((what) => [what, worded(
    "button.lp-button", `finetune.${what}`,
    { type: "button", id: `lp-finetune-${what}`, onclick: () => act(what) },
  )]));
  const failed = h("div.lp-problem", { role: "alert", hidden: true });
  const alarm = h("div.lp-alarm", { role: "status", hidden: true });
  const gains = h("div.lp-gains");
  const figures = Object.fromEntries(["loss", "gradient_norm", "learning_rate", "speed"].map((key) => [key, h("strong")]));
  const strip = h("div.lp-strip-of-figures", {},
    Object.entries(figures).map(([key, value]) => h("div.lp-figure", {}, worded("span", `finetune.figure.${key}`), value)), gains);
  const run = h("section", { hidden: true },
    h("div.lp-head", {}, h("div", {}, name, about), h("div.lp-row", {}, Object.values(buttons))),
    h("div.lp-progress", {}, state, bar, left), failed, alarm, strip);
  root.append(problem, invitation, run);
  LossPrism.reword(root);

  let surely = null; // deleting is asked for twice
  function act(what) {
    const id = channel.shown[0];
    if (what === "delete" && surely !== id) {
      surely = id;
      buttons.delete.textContent = say("finetune.surely");
      return;
    }
    surely = null;
    buttons.delete.textContent = say("finetune.delete");
    channel.studio.steer(what, id);
  }

  const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
  const titleOf = (plan) => losses[plan.loss]?.title ?? plan.loss;

  function encoderOf({ encoder, kind, dimension }) {
    const known = { [facts.scratch]: say("finetune.encoder.scratch"), [facts.embedded]: "all-MiniLM-L6-v2" };
    return `${known[encoder] ?? encoder}${encoder === facts.scratch ? ` (${dimension})` : ""} · ${say(`finetune.kind.${kind}`)}`;
  }

  function dataOf({ data }) {
    const name = { example: data.example, hub: data.hub }[data.source] ?? data.name;
    return LossPrism.has(`example.${name}.title`) ? say(`example.${name}.title`) : name;
  }

  function draw() {
    const trace = channel.studio?.trace();
    invitation.hidden = channel.shown.length > 0;
    run.hidden = !trace?.about;
    if (!trace?.about) return;
    const { about: told } = trace;
    const { plan, state: now, step, steps } = told;
    name.textContent = titleOf(plan);
    about.textContent = [encoderOf(plan), dataOf(plan), say("finetune.batch_of", { count: plan.batch_size }), say("finetune.seed_is", { seed: plan.seed })].join(" · ");
    state.textContent = now === "queued" && told.queue_position ? say("finetune.queue", { count: told.queue_position }) : say(`finetune.state.${now}`);
    state.dataset.state = now;
    bar.value = steps ? step / steps : 0;
    bar.hidden = !steps;
    bar.setAttribute("aria-label", say("finetune.progress"));
    const counted = steps ? say("finetune.step_of", { step, steps }) : "";
    const remaining = told.seconds_left !== null && now === "training" ? say("finetune.left", { time: clock(told.seconds_left) }) : clock(told.seconds);
    left.textContent = [counted, remaining].filter(Boolean).join(" · ");
    buttons.pause.hidden = !["loading", "training"].includes(now);
    buttons.resume.hidden = !["paused", "stopped", "failed", "interrupted"].includes(now);
    buttons.stop.hidden = !["queued", "loading", "training", "paused"].includes(now);
    buttons.delete.hidden = channel.studio.isLive(told);
    failed.hidden = !told.problem;
    if (told.problem) failed.textContent = say(told.problem.key, told.problem.values);
    const pace = told.summary?.steps_per_second ?? (told.seconds ? step / told.seconds : null);
    figures.loss.textContent = show(trace.smooth.at(-1), 4);
    figures.gradient_norm.textContent = show(trace.norm.at(-1), 3);
    figures.learning_rate.textContent = show(trace.rate.at(-1), 2);
    figures.speed.textContent = pace ? `${show(pace, 3)}/s` : "—";
    warnOfCollapse(trace);
    drawGains(trace, told.summary);
  }

  function warnOfCollapse({ about: { kind }, alarms, evaluations }) {
    const last = alarms.at(-1);
    alarm.hidden = !last || last.step !== evaluations.at(-1)?.step;
    if (alarm.hidden) return;
    alarm.textContent = say(last.collapse === null || kind === "cross" ? "finetune.alarm" : "finetune.alarm_at", {
      apart: show(last.high - last.low, 2), since: last.since, loss: show(last.loss, 4), collapse: show(last.collapse, 4),
    });
  }

  // Before and after (so far) as two marks on a line from 0 to 1, or from −1 where one is below 0.
  function drawGains(trace, summary) {
    const before = summary?.before ?? trace.held.before ?? trace.evaluations[0];
    const after = summary?.after ?? trace.evaluations.at(-1);
    if (!before || !after) { gains.replaceChildren(); return; }
    gains.replaceChildren(...GAINS.filter((key) => after[key] !== null && after[key] !== undefined).map((key) => {
      const [old, now] = [before[key] ?? 0, after[key]];
      const low = Math.min(old, now) < 0 ? -1 : 0;
      const share = (length) => `${(100 * length) / (1 - low)}%`;
      const at = (v) => share(v - low);
      const ruler = h("div.lp-ruler.lp-gain", { role: "img", "aria-label": say("finetune.gain_says", { what: say(`finetune.${key}`), before: show(before[key], 3), after: show(now, 3) }) },
        h("b", { style: `left:${at(Math.min(old, now))};width:${share(Math.abs(now - old))};background:var(--lp-${now < old ? "bad" : "floor"})` }),
        h("i.lp-old", { style: `left:${at(old)}` }), h("i.lp-now", { style: `left:${at(now)}` }));
      return h("div.lp-figure.lp-gain-box", {}, h("span", {}, say(summary ? "finetune.held_out_of" : "finetune.held_out_so_far", { what: say(`finetune.${key}`) })),
        h("div.lp-row", {}, h("small", {}, show(before[key], 3)), h("small", {}, "→"), h("strong", {}, show(now, 3))), ruler);
    }));
  }

  channel.on("shown", draw);
  channel.on("run", draw);
  channel.on("language", draw);
  channel.on("problem", () => {
    problem.hidden = !channel.problem;
    if (channel.problem) problem.textContent = say(channel.problem.key, channel.problem.values);
  });
};
