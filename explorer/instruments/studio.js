// The state of the Fine-tune page, put on its bus: the plan that is being made, the runs there
// are, those that are shown, and what their logs have told so far.
(window.LossPrismParts ??= {}).studio = (channel, server) => {
  "use strict";
  const { GONE, stored, store, say } = LossPrism;
  const facts = window.LossPrismData.finetune;
  const { first } = facts;
  const LIVE = new Set(["queued", "loading", "training", "paused", "saving"]);
  const LIVE_MS = 200, LIST_MS = 1500;
  const SMOOTH = 0.8;
  const MOST_SHOWN = 24;
  const MOST_KNOWN = 200;

  channel.told = ["plan", "checked", "runs", "shown", "run", "at", "problem"];
  // Beside the plan: the losses to train before and after its own, the seeds of each, and what was
  // chosen where the plan now says something else.
  const alone = { before: [], after: [], seeds: 1, model: "", ready: first.data.practice };
  [channel.plan, channel.beside] = draft();
  channel.runs = [];
  channel.shown = []; // names of runs: the first is looked at, the others are laid over it
  let order = []; // the same names as they came, so that each keeps its colour whichever is first
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

  // What was chosen last is still there after a reload, and on coming back from another page.
  function draft() {
    const fresh = structuredClone([first, alone]);
    try {
      const { plan, beside } = JSON.parse(stored("finetune"));
      return [{ ...fresh[0], ...plan, data: { ...first.data, ...plan.data } }, { ...fresh[1], ...beside }];
    } catch { return fresh; }
  }
  const keep = () => store("finetune", JSON.stringify({ plan: channel.plan, beside: channel.beside }));

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

  // What is being typed is kept, and looked into once it is whole.
  function note({ data, ...others }) {
    Object.assign(channel.plan, others);
    if (data) channel.plan.data = { ...channel.plan.data, ...data };
    keep();
  }

  function setBeside(change) {
    Object.assign(channel.beside, change);
    keep();
  }

  function setPlan(change) {
    note(change);
    channel.warn(null);
    channel.publish("plan");
    check();
  }

  // The settings of a run, to be tried with a change. Its data too, where the page can name them.
  function reuse({ data, own_loss: own, ...plan }) {
    const source = facts.practice.includes(data.name) ? { source: "practice", practice: data.name }
      : ["example", "hub"].includes(data.source) ? { source: data.source, example: data.example, hub: data.hub, split: data.split } : {};
    const { held_out_share: share, augment } = data;
    takeOver({ ...plan, data: { ...source, held_out_share: share, augment } });
  }

  // A whole plan from elsewhere on the page comes into the controls, and is seen to.
  function takeOver(plan) {
    setPlan(plan);
    channel.publish("taken");
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

  let arrived = false;
  let listed = 0;
  let ticking = false;
  let timer = null;
  async function tick() {
    if (ticking) return;
    ticking = true;
    clearTimeout(timer);
    const began = Date.now();
    const list = began - listed > LIST_MS;
    // A run that waits for its turn has nothing new to tell each time.
    const wanted = channel.shown.filter((name) => {
      const trace = traces.get(name);
      return !trace?.done && (list || trace?.about?.state !== "queued");
    });
    if (wanted.length || list) {
      const offsets = Object.fromEntries(wanted.map((name) => [name, traces.get(name)?.offset ?? 0]));
      const answer = await server.watch({ offsets, list, known: known() });
      if (answer && !answer.error) take(answer, list);
      else channel.fail(answer?.error ?? GONE);
    }
    ticking = false;
    const live = !channel.problem && channel.shown.some((name) => !traces.get(name)?.done);
    timer = setTimeout(tick, Math.max(0, (live ? LIVE_MS : LIST_MS) - (Date.now() - began)));
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
    if (!arrived) welcomeBack();
    arrived = true;
  }

  // Whoever comes without an address while a run of theirs is under way finds it.
  function welcomeBack() {
    const mine = channel.runs.find(({ id, state }) => LIVE.has(state) && known().includes(id));
    if (mine && !channel.shown.length) show([mine.id]);
  }

  // ---- What is shown -----------------------------------------------------------------------

  function show(names) {
    if (String(names) === String(channel.shown)) return;
    if (names[0] !== channel.shown[0]) look(null);
    know(names);
    channel.shown = names;
    order = [...order.filter((name) => names.includes(name)), ...names.filter((name) => !order.includes(name))];
    for (const name of traces.keys()) if (!names.includes(name)) traces.delete(name);
    history.replaceState(history.state, "", LossPrism.addressOf(names.join(",")));
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

  const naming = window.LossPrismParts.naming();
  const COLOURS = ["accent", "up", "floor", "collapse", "down", "faint"];

  // The shown runs that differ in nothing but their seed: a colour each, a name by which they are
  // told apart from the others, and a label that says of how many seeds they are, or of which.
  function groups() {
    const found = new Map();
    for (const name of order) {
      const plan = traces.get(name)?.about?.plan;
      if (!plan) continue;
      const key = JSON.stringify({ ...plan, seed: 0 });
      if (!found.has(key)) found.set(key, { plan, names: [], colour: COLOURS[found.size % COLOURS.length] });
      found.get(key).names.push(name);
    }
    const all = [...found.values()];
    const seeds = new Set(all.map(({ plan }) => plan.seed));
    naming.apart(all.map(({ plan }) => plan)).forEach((name, place) => {
      const { plan, names } = all[place];
      const seed = names.length > 1 ? say("finetune.mean_of", { count: names.length })
        : seeds.size > 1 ? say("finetune.seed_is", { seed: plan.seed }) : "";
      Object.assign(all[place], { name, label: [name, seed].filter(Boolean).join(" · ") });
    });
    return all;
  }

  channel.studio = {
    ask, server, note, setPlan, setBeside, takeOver, reuse, check, show, look, start, repeat, steer, groups, ...naming,
    isLive: (about) => LIVE.has(about.state),
    // What the log of a shown run has told so far: the first one's if none is named.
    trace: (name = channel.shown[0]) => traces.get(name),
    // Look at this run; the others stay laid over it.
    first: (name) => show([name, ...channel.shown.filter((other) => other !== name)]),
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
