// The state of the Fine-tune page, put on its bus: the plan that is being made, the runs there
// are, those that are shown, and what their logs have told so far.
(window.LossPrismParts ??= {}).studio = (channel, server) => {
  "use strict";
  const { GONE, stored, store, say, losses } = LossPrism;
  const { first } = window.LossPrismData.finetune;
  const LIVE = new Set(["queued", "loading", "training", "paused", "saving"]);
  const LIVE_MS = 200, LIST_MS = 1500;
  const SMOOTH = 0.9;
  const MOST_SHOWN = 6;
  const MOST_KNOWN = 200;

  channel.told = ["plan", "checked", "runs", "shown", "run", "at", "problem"];
  channel.plan = draft();
  channel.runs = [];
  channel.shown = []; // names of runs: the first is looked at, the others are laid over it
  channel.at = null; // the recorded step that is looked at; null follows the run
  channel.checked = null;
  const traces = new Map();

  // ---- Asking ------------------------------------------------------------------------------

  // The answer, or null once the page has said what went wrong.
  async function ask(name, request) {
    const answer = await server[name](request);
    if (answer && !answer.error) return answer;
    channel.warn(answer?.error ?? GONE);
    return null;
  }

  // ---- The plan ----------------------------------------------------------------------------

  // What was chosen last is still there after a reload.
  function draft() {
    try {
      const kept = JSON.parse(stored("finetune"));
      return { ...structuredClone(first), ...kept, data: { ...first.data, ...kept.data } };
    } catch { return structuredClone(first); }
  }

  let checking = 0;
  let due = null;
  function check() {
    clearTimeout(due);
    const turn = (checking += 1);
    due = setTimeout(async () => {
      const answer = await server.check({ plan: channel.plan });
      if (turn !== checking) return;
      channel.checked = answer ?? { error: GONE };
      channel.publish("checked");
    }, 250);
  }

  function setPlan(change) {
    const { data, ...others } = change;
    Object.assign(channel.plan, others);
    if (data) channel.plan.data = { ...channel.plan.data, ...data };
    store("finetune", JSON.stringify(channel.plan));
    channel.publish("plan");
    check();
  }

  // ---- The logs ----------------------------------------------------------------------------

  const emptyTrace = () => ({
    offset: 0, about: null, done: false, steps: [], loss: [], smooth: [], norm: [], rate: [],
    evaluations: [], alarms: [], held: {}, trend: 0, weight: 0,
  });

  function absorb(trace, record) {
    const { kind, step } = record;
    if (kind === "step") {
      trace.weight = SMOOTH * trace.weight + 1 - SMOOTH;
      trace.trend = SMOOTH * trace.trend + (1 - SMOOTH) * record.loss;
      trace.steps.push(step);
      trace.loss.push(record.loss);
      trace.smooth.push(trace.trend / trace.weight);
      trace.norm.push(record.gradient_norm);
      trace.rate.push(record.learning_rate);
    } else if (kind === "evaluation") trace.evaluations.push(record);
    else if (kind === "alarm") trace.alarms.push(record);
    else if (kind === "held_out") trace.held[record.when] = record;
    else if (kind === "resumed") rewind(trace, step);
  }

  // A run that was continued does again what lay behind its last checkpoint.
  function rewind(trace, step) {
    const kept = trace.steps.filter((one) => one <= step).length;
    for (const list of [trace.steps, trace.loss, trace.smooth, trace.norm, trace.rate]) list.length = kept;
    for (const name of ["evaluations", "alarms"]) trace[name] = trace[name].filter((one) => one.step <= step);
    trace.trend = trace.weight * (trace.smooth.at(-1) ?? 0);
  }

  // The runs that this browser began or looked at: on a server shared by strangers, all it sees.
  const known = () => (stored("runs") ?? "").split(",").filter(Boolean);
  const know = (names) => store("runs", [...new Set([...names, ...known()])].slice(0, MOST_KNOWN).join(","));

  let listed = 0;
  let ticking = false;
  let timer = null;
  async function tick() {
    if (ticking) return;
    ticking = true;
    clearTimeout(timer);
    const wanted = channel.shown.filter((name) => !traces.get(name)?.done);
    const list = Date.now() - listed > LIST_MS;
    if (wanted.length || list) {
      const offsets = Object.fromEntries(wanted.map((name) => [name, traces.get(name)?.offset ?? 0]));
      const answer = await server.watch({ offsets, list, known: known() });
      if (answer && !answer.error) take(answer, list);
      else channel.fail(answer?.error ?? GONE);
    }
    ticking = false;
    const live = !channel.problem && channel.shown.some((name) => !traces.get(name)?.done);
    timer = setTimeout(tick, live ? LIVE_MS : LIST_MS);
  }

  function take(answer, list) {
    if (channel.problem) channel.fail(null);
    for (const [name, status] of Object.entries(answer.runs)) {
      if (status.error) {
        channel.warn(status.error);
        show(channel.shown.filter((other) => other !== name));
        continue;
      }
      if (!channel.shown.includes(name)) continue;
      const trace = traces.get(name) ?? emptyTrace();
      traces.set(name, trace);
      for (const record of status.records) absorb(trace, record);
      trace.offset = status.offset;
      trace.about = status;
      trace.done = !LIVE.has(status.state);
    }
    if (Object.keys(answer.runs).length) channel.publish("run");
    if (!list) return;
    listed = Date.now();
    const before = JSON.stringify(channel.runs);
    channel.runs = answer.listed;
    for (const { id, state } of channel.runs) {
      const trace = traces.get(id);
      if (trace?.done && LIVE.has(state)) trace.done = false;
    }
    if (JSON.stringify(channel.runs) !== before) channel.publish("runs");
  }

  // ---- What is shown -----------------------------------------------------------------------

  function show(names) {
    if (String(names) === String(channel.shown)) return;
    if (names[0] !== channel.shown[0]) look(null);
    know(names);
    channel.shown = names;
    for (const name of traces.keys()) if (!names.includes(name)) traces.delete(name);
    const place = names.length ? `#${names.join(",")}` : "";
    history.replaceState(history.state, "", location.pathname + location.search + place);
    channel.publish("shown");
    tick();
  }

  function look(step) {
    if (step === channel.at) return;
    channel.at = step;
    channel.publish("at");
  }

  const fromAddress = () => decodeURIComponent(location.hash.slice(1)).split(",").filter(Boolean).slice(0, MOST_SHOWN);
  window.addEventListener("hashchange", () => show(fromAddress()));

  async function queue(what, request) {
    const answer = await ask(what, request);
    if (!answer) return;
    channel.warn(null);
    listed = 0;
    know(answer.started);
    show(answer.started.slice(0, MOST_SHOWN));
  }

  async function steer(what, name) {
    const answer = await ask("steer", { run: name, what });
    if (!answer) return;
    channel.warn(null);
    listed = 0;
    const trace = traces.get(name);
    if (trace) trace.done = false;
    if (what === "delete") show(channel.shown.filter((other) => other !== name));
    tick();
  }

  const repeat = (plan) => queue("repeat", { plan });
  const start = (plans) => queue("start", { plans });

  // ---- Names and colours of the runs that are shown -----------------------------------------

  const COLOURS = ["accent", "up", "floor", "collapse", "down", "faint"];

  // The loss, and whatever else tells the shown runs apart.
  function labels() {
    const plans = channel.shown.map((name) => [name, traces.get(name)?.about?.plan]).filter(([, plan]) => plan);
    const differ = ["encoder", "kind", "parameters", "convention", "learning_rate", "batch_size", "seed"]
      .filter((key) => new Set(plans.map(([, plan]) => JSON.stringify(plan[key]))).size > 1);
    const told = (plan, key) => (key === "seed" ? say("finetune.seed_is", { seed: plan.seed })
      : key === "parameters" ? Object.entries(plan.parameters).map((pair) => pair.join("=")).join(" ") : String(plan[key]));
    return new Map(plans.map(([name, plan]) => [name,
      [losses[plan.loss]?.title ?? plan.loss, ...differ.map((key) => told(plan, key))].filter(Boolean).join(" · ")]));
  }

  channel.studio = {
    ask, server, setPlan, check, show, look, start, repeat, steer, labels,
    colour: (place) => COLOURS[place % COLOURS.length],
    isLive: (about) => LIVE.has(about.state),
    // What the log of a shown run has told so far: the first one's if none is named.
    trace: (name = channel.shown[0]) => traces.get(name),
    toggle(name) {
      const others = channel.shown.filter((other) => other !== name);
      show(others.length < channel.shown.length ? others : [...channel.shown, name].slice(-MOST_SHOWN));
    },
    begin() {
      channel.publish("plan");
      check();
      channel.shown = [];
      const asked = fromAddress();
      if (asked.length) show(asked);
      else { channel.publish("shown"); tick(); }
    },
  };
};
