// The sidebar of the Fine-tune page: the plan of a run. Each control changes the plan and nothing
// else; what the server finds in it comes back as "checked".
(window.LossPrismInstruments ??= {}).finetune_controls = (root, channel, server) => {
  "use strict";
  const { h, say, worded, show, has, losses, limits, stored } = LossPrism;
  const { slider, parameterField, section, foldable, labelled } = LossPrism.fields;
  const facts = window.LossPrismData.finetune;
  LossPrismParts.studio(channel, server);
  const { studio } = channel;
  const set = (change) => studio.setPlan(change);
  const FEW = 30; // held-out pairs: below this a correlation is mostly chance

  // ---- Pieces ------------------------------------------------------------------------------

  const note = () => h("p.lp-note");
  const wrong = () => h("p.lp-wrong", { role: "alert", hidden: true });
  function complain(line, told) {
    line.hidden = !told;
    line.textContent = told ? say(told.key, told.values) : "";
  }

  function tablist(key, names, choose) {
    const buttons = Object.fromEntries(names.map((name) => [name, worded("button.lp-tab", `${key}.${name}`, {
      type: "button", role: "tab", id: `lp-${key.replace(".", "-")}-${name}`, onclick: () => choose(name),
    })]));
    return {
      element: h("div.lp-tabs", { role: "tablist", "aria-label": say(key) }, Object.values(buttons)),
      set(chosen) { for (const name of names) buttons[name].setAttribute("aria-selected", String(name === chosen)); },
    };
  }

  // Boxes for the numbers of the plan. What does not fit is named and not taken.
  const boxes = {};
  function numberBox(name, step = "any") {
    const [low, high] = facts.ranges[name];
    const box = h("input", { type: "number", id: `lp-finetune-${name}`, min: low, max: high, step });
    const told = wrong();
    box.addEventListener("input", () => {
      const value = Number(box.value);
      const fits = box.value.trim() !== "" && value >= low && value <= high && (step !== 1 || Number.isInteger(value));
      box.classList.toggle("lp-bad", !fits);
      complain(told, fits ? null : { key: "ui.accepted", values: { low, high } });
      if (fits) set({ [name]: value });
    });
    box.addEventListener("blur", () => {
      box.value = channel.plan[name];
      box.classList.remove("lp-bad");
      complain(told, null);
    });
    boxes[name] = box;
    return h("div", {}, labelled(`finetune.${name}`, box), told);
  }

  // ---- Data --------------------------------------------------------------------------------

  const SOURCES = ["example", "file", "link", "hub"];
  const tabOf = (source) => (source === "practice" ? "example" : source);
  const sources = tablist("finetune.source", SOURCES, (tab) => set({ data: {
    source: tab === "example" ? (ready.value.startsWith("practice") ? "practice" : "example") : tab,
    ...(tab === "link" && !channel.plan.data.link ? { link: stored("scene") ?? "" } : {}),
  } }));
  const ready = h("select", {
    id: "lp-finetune-example",
    onchange: () => set({ data: facts.practice.includes(ready.value)
      ? { source: "practice", practice: ready.value } : { source: "example", example: ready.value } }),
  }, [...facts.practice, ...facts.examples].map((name) => worded("option", `example.${name}.title`, { value: name })));
  const readyAbout = note();

  const link = h("input", { type: "text", id: "lp-finetune-link", spellcheck: false, onchange: () => set({ data: { link: link.value } }) });
  const hub = h("input", { type: "text", id: "lp-finetune-hub", spellcheck: false, placeholder: "sentence-transformers/stsb", onchange: () => set({ data: { hub: hub.value.trim() } }) });
  const part = h("input", { type: "text", id: "lp-finetune-split", spellcheck: false, onchange: () => set({ data: { split: part.value.trim() || "train" } }) });

  const files = {};
  function fileField(entry, key) {
    const chooser = h("input", { type: "file", id: `lp-finetune-${entry}`, accept: ".csv,.tsv,.txt,.jsonl,.json,.parquet", hidden: true });
    const drop = h("button.lp-drop", { type: "button", onclick: () => chooser.click() }, worded("b", key), worded("span", "ui.file_kinds"));
    const told = note();
    const failed = wrong();
    const columns = h("div.lp-columns");
    LossPrism.files.offered(chooser, drop, (file) => handIn(entry, file));
    files[entry] = { told, failed, columns, turns: 0 };
    return h("div.lp-panel", {}, chooser, drop, told, failed, columns);
  }

  async function handIn(entry, file, columns = null) {
    const { told, failed } = files[entry];
    if (file.size > limits.bytes) {
      complain(failed, { key: "problem.file_too_large", values: { name: file.name, most: limits.bytes / 2 ** 20 } });
      return;
    }
    told.textContent = file.name;
    const turn = (files[entry].turns += 1);
    const content = await LossPrism.files.encoded(file);
    const answer = await server.hand_in({ name: file.name, content, columns });
    if (turn !== files[entry].turns) return; // another file, or other columns of it, were chosen meanwhile
    if (!answer || answer.error) { complain(failed, answer?.error ?? LossPrism.GONE); return; }
    complain(failed, answer.problem);
    if (!answer.problem) told.textContent = say("ui.file_read", answer);
    if (entry === "file") askColumns(answer, file);
    if (answer.problem) return;
    set({ data: entry === "file"
      ? { source: "file", file: answer.file, name: answer.name, columns: columns ?? [], alternatives: [] }
      : { held_out_file: answer.file } });
  }

  // Which column is what, and which hold another wording of the first sentence.
  function askColumns(answer, file) {
    const chosen = { ...answer.chosen };
    const pick = (role) => h("select", {
      onchange: (event) => {
        chosen[role] = event.target.value;
        if (Object.values(chosen).every(Boolean)) handIn("file", file, { ...chosen });
      },
    }, (chosen[role] ? answer.columns : ["", ...answer.columns])
      .map((column) => h("option", { value: column, selected: chosen[role] === column }, column)));
    const others = answer.columns.filter((column) => !Object.values(chosen).includes(column));
    const tick = (column) => {
      const box = h("input", {
        type: "checkbox",
        onchange: () => {
          const { alternatives } = channel.plan.data;
          set({ data: { alternatives: box.checked ? [...alternatives, column] : alternatives.filter((one) => one !== column) } });
        },
      });
      return h("label.lp-check", {}, box, h("span", {}, column));
    };
    files.file.columns.replaceChildren(
      ...Object.keys(chosen).map((role) => labelled(`column.${role}`, pick(role))),
      ...(others.length && !answer.problem ? [worded("p.lp-note", "finetune.alternatives"), ...others.map(tick)] : []));
    LossPrism.reword(files.file.columns);
  }

  const panels = {
    example: h("div.lp-panel", {}, labelled("finetune.ready", ready), readyAbout),
    file: h("div", {}, fileField("file", "ui.drop_file"), fileField("held_out_file", "finetune.held_out_file")),
    link: h("div.lp-panel", {}, worded("p.lp-note", "finetune.link_about"), labelled("finetune.link", link)),
    hub: h("div.lp-panel", {}, labelled("finetune.hub", hub), labelled("finetune.split", part)),
  };
  for (const [name, panel] of Object.entries(panels)) {
    Object.assign(panel, { id: `lp-finetune-panel-${name}`, role: "tabpanel" });
    panel.setAttribute("aria-labelledby", `lp-finetune-source-${name}`);
  }
  const share = slider({
    label: say("finetune.held_out_share"), low: 0.05, high: 0.5, step: 0.05, initial: facts.first.data.held_out_share,
    change: (value) => set({ data: { held_out_share: value } }), name: "held_out_share",
  });
  share.element.querySelector(".lp-name span").dataset.say = "finetune.held_out_share";
  const found = note();
  const dataWrong = wrong();

  // ---- Encoder -----------------------------------------------------------------------------

  // The rate that suits vectors from scratch would wreck a transformer: the other kind has its own.
  function chooseEncoder() {
    const encoder = named[encoderChoice.value] ?? encoderName.value.trim();
    const sameKind = (encoder === facts.scratch) === (channel.plan.encoder === facts.scratch);
    set({ encoder, ...(sameKind ? {} : { learning_rate: 0 }) });
  }
  const encoderChoice = h("select", { id: "lp-finetune-encoder", onchange: chooseEncoder },
    ["embedded", "scratch", "other"].map((name) => worded("option", `finetune.encoder.${name}`, { value: name })));
  const named = { embedded: facts.embedded, scratch: facts.scratch };
  const encoderName = h("input", { type: "text", id: "lp-finetune-encoder-name", spellcheck: false, onchange: () => set({ encoder: encoderName.value.trim() }) });
  const encoderField = labelled("ui.encoder_name", encoderName);
  const encoderAbout = note();
  const encoderWrong = wrong();
  const kinds = tablist("finetune.kind", ["bi", "cross"], (kind) => set({ kind }));

  // ---- Loss --------------------------------------------------------------------------------

  const lossChoice = h("select", { id: "lp-finetune-loss", "data-title": "ui.loss", onchange: () => set({ loss: lossChoice.value, convention: "", parameters: {} }) });
  const lossAbout = note();
  const lossWrong = wrong();
  const convention = h("select", { onchange: () => set({ convention: convention.value, parameters: {} }) });
  const conventionField = labelled("ui.convention", convention);
  const parameters = h("div.lp-parameters");
  const refused = h("ul.lp-rules");
  const refusedBox = h("details.lp-refused", {}, h("summary"), refused);

  function listLosses() {
    const reasons = channel.checked?.losses ?? {};
    const option = ([name, spec]) => h("option", { value: name }, spec.title);
    const all = Object.entries(losses);
    const able = all.filter(([name]) => !reasons[name]);
    const unable = all.filter(([name]) => reasons[name]);
    const groups = [...new Set(able.map(([, spec]) => spec.group))];
    const grouped = () => groups.map((group) => h("optgroup", { label: say(`group.${group}`) }, able.filter(([, spec]) => spec.group === group).map(option)));
    another.replaceChildren(h("option", { value: "" }, say("finetune.another")), ...grouped());
    lossChoice.replaceChildren(...grouped(),
      ...(unable.length ? [h("optgroup", { label: say("finetune.unable") }, unable.map(option))] : []));
    lossChoice.value = channel.plan.loss;
    refusedBox.hidden = !unable.length;
    refusedBox.firstChild.textContent = say("finetune.refused", { count: unable.length });
    refused.replaceChildren(...unable.map(([name, spec]) => h("li", {}, h("b", {}, `${spec.title}: `), say(reasons[name].key, reasons[name].values))));
  }

  let built = "";
  function buildParameters() {
    const { plan } = channel;
    const spec = losses[plan.loss];
    const key = `${plan.loss}|${plan.convention}|${LossPrism.language()}`;
    if (!spec || key === built) return;
    built = key;
    const others = Object.keys(spec.conventions).filter(Boolean);
    convention.replaceChildren(worded("option", "ui.own_convention", { value: "" }), ...others.map((name) => h("option", { value: name }, name)));
    convention.value = plan.convention;
    conventionField.hidden = !others.length;
    parameters.replaceChildren(...spec.conventions[plan.convention].parameters.map((parameter) => {
      const { name } = parameter;
      const field = parameterField(parameter, parameter.default, (value) => set({ parameters: { ...channel.plan.parameters, [name]: value } }));
      field.set(plan.parameters[name] ?? parameter.default);
      return field.element;
    }));
    const about = `loss.${plan.loss}.about`;
    lossAbout.textContent = has(about) ? say(about) : spec.about;
    LossPrism.reword(parameters);
  }

  // ---- How -----------------------------------------------------------------------------------

  const schedule = h("select", { id: "lp-finetune-schedule", onchange: () => set({ schedule: schedule.value }) },
    facts.schedules.map((name) => worded("option", `finetune.schedule.${name}`, { value: name })));
  const bf16 = h("input", { type: "checkbox", onchange: () => set({ bf16: bf16.checked }) });
  const extra = h("input", { type: "checkbox", onchange: () => set({ extra_negatives: extra.checked }) });
  const threshold = h("input", { type: "number", step: "any", oninput: () => set({ threshold: threshold.value.trim() === "" ? null : Number(threshold.value) }) });
  const augment = facts.augmentations.map((kind) => {
    const box = h("input", { type: "checkbox", onchange: () => set({ data: { augment: augment.filter((one) => one.box.checked).map((one) => one.kind) } }) });
    return { kind, box, element: h("label.lp-check", {}, box, worded("span", `finetune.augment.${kind}`)) };
  });
  const scratchOnly = h("div", {}, numberBox("vocabulary", 1), numberBox("dimension", 1));
  const layersOnly = h("div", {}, numberBox("layers", 1), numberBox("lora", 1));
  const rateNote = note();
  const seeds = h("input", { type: "number", id: "lp-finetune-seeds", min: 1, max: 10, step: 1, value: 1 });

  // ---- Start -------------------------------------------------------------------------------

  const start = h("button.lp-start", { type: "button", id: "lp-finetune-start", onclick: begin });
  const startWrong = wrong();
  const time = h("p.lp-note", { id: "lp-finetune-time", role: "status" });
  const summary = h("p.lp-note.lp-summary");

  // The losses to be trained. The one in the controls above is the plan's; the others stand beside
  // it, some before and some after.
  let [before, after] = [[], []];
  const formOf = ({ loss, convention, parameters }) => ({ loss, convention, parameters });
  const chosen = () => [...before, formOf(channel.plan), ...after];
  const forms = () => [...new Map(chosen().map((form) => [JSON.stringify(form), form])).values()];
  const another = h("select", { id: "lp-finetune-another", "data-title": "finetune.another", onchange: () => put([...chosen(), { loss: another.value, convention: "", parameters: {} }]) });
  const kept = h("ul.lp-kept");

  // These losses are chosen now, and the one at a place (the last) is in the controls.
  function put(all, at = all.length - 1) {
    [before, after] = [all.slice(0, at), all.slice(at + 1)];
    set(all[at]);
  }

  const nameOf = ({ loss, convention, parameters }) => [losses[loss]?.title ?? loss, convention, ...Object.entries(parameters).map((pair) => pair.join(" = "))].filter(Boolean).join(" · ");

  function tellKept() {
    const all = chosen();
    another.value = "";
    kept.setAttribute("aria-label", say("finetune.kept"));
    kept.replaceChildren(...all.map((form, place) => {
      const name = nameOf(form);
      const here = place === before.length;
      const leave = () => put(all.filter((_, other) => other !== place), here ? Math.max(place - 1, 0) : before.length - (place < before.length));
      return h("li", {}, h("button.lp-kept-name", { type: "button", "aria-pressed": String(here), title: say("finetune.edit", { name }), onclick: () => put(all, place) }, name),
        all.length > 1 ? h("button.lp-quiet", { type: "button", ariaLabel: say("finetune.unkeep", { name }), title: say("finetune.unkeep", { name }), onclick: leave }, "✕") : null);
    }));
  }

  const perForm = () => Math.max(1, Math.min(10, Math.round(Number(seeds.value)) || 1));
  seeds.addEventListener("input", () => tellTime());

  async function begin() {
    const plans = forms().flatMap((form) => Array.from({ length: perForm() }, (_, i) => ({ ...channel.plan, ...form, seed: channel.plan.seed + i })));
    channel.cancel();
    start.disabled = true;
    await studio.start(plans);
    start.disabled = false;
  }

  function tellWrong() {
    complain(startWrong, channel.notice ?? channel.checked?.error ?? channel.checked?.refused);
  }
  channel.on("problem", tellWrong);

  // Once the plan has settled, two trial steps on the server tell how long it will take. Nothing is
  // tried while a run trains.
  const SETTLED_MS = 1200, LATER_MS = 3000;
  const paces = new Map();
  const speedKey = ({ steps, epochs, evaluations, seed, learning_rate, ...others }) => JSON.stringify(others);
  let trying = "";
  let settling = null;
  const isBusy = () => channel.runs.some(studio.isLive);

  function settle() {
    clearTimeout(settling);
    const { checked } = channel;
    if (!checked || checked.error || checked.refused || paceNow() || isBusy()) return;
    settling = setTimeout(estimate, SETTLED_MS);
  }

  async function estimate() {
    const key = speedKey(channel.plan);
    if (trying || document.hidden || paceNow()) return;
    trying = key;
    tellTime();
    const answer = await channel.work(server, "estimate", { plan: structuredClone(channel.plan) });
    trying = "";
    if (answer?.seconds_per_step) paces.set(key, answer);
    if (key !== speedKey(channel.plan)) settle();
    else if (answer?.error) complain(startWrong, answer.error);
    else if (answer && !paceNow()) settling = setTimeout(settle, LATER_MS); // the server is busy
    tellTime();
  }

  const paceNow = () => paces.get(speedKey(channel.plan));

  // What the button will do: which encoder, how many losses and seeds, how long.
  function tellTime() {
    const [many, each] = [forms().length, perForm()];
    const count = many * each;
    start.textContent = count > 1 ? say("finetune.start_many", { count }) : say("finetune.start");
    const { plan, checked } = channel;
    const { steps } = checked ?? {};
    const pace = paceNow();
    summary.textContent = [studio.encoderOf(plan),
      many > 1 && each > 1 ? say("finetune.product", { losses: many, seeds: each, count }) : forms().map(nameOf).join(", "),
      steps ? say("finetune.steps_of", { steps, batch: plan.batch_size }) : ""].filter(Boolean).join(" · ");
    if (!steps) { time.textContent = ""; return; }
    const seconds = pace && pace.seconds_to_load + steps * pace.seconds_per_step + (plan.evaluations + facts.more_evaluations) * pace.seconds_per_evaluation;
    time.textContent = pace
      ? say(count > 1 ? "finetune.takes_many" : "finetune.takes", { steps, count, time: clock(count * seconds) })
      : trying ? say("finetune.measuring") : "";
    const { minutes } = checked;
    if (minutes) time.textContent += ` ${say("finetune.shared_time", { minutes })}`;
  }
  const clock = (seconds) => (seconds < 90 ? say("finetune.seconds", { count: Math.max(1, Math.round(seconds)) })
    : seconds < 5400 ? say("finetune.minutes", { count: Math.round(seconds / 60) })
      : say("finetune.hours", { count: (seconds / 3600).toFixed(1) }));

  // ---- Together ----------------------------------------------------------------------------

  root.append(
    foldable("ui.data", sources.element, ...Object.values(panels), share.element, found, dataWrong),
    foldable("ui.encoder", labelled("finetune.encoder", encoderChoice), encoderField, encoderAbout, kinds.element, encoderWrong),
    foldable("ui.loss", lossChoice, lossWrong, lossAbout, conventionField, parameters, worded("h3", "finetune.kept"), kept, another, refusedBox),
    h("details.lp-fold", {}, worded("summary", "finetune.how"),
      h("div.lp-pair-of-fields", {}, numberBox("epochs"), numberBox("steps", 1), numberBox("batch_size", 1), numberBox("learning_rate")), rateNote,
      labelled("finetune.schedule", schedule),
      h("div.lp-pair-of-fields", {}, numberBox("warmup"), numberBox("weight_decay"), numberBox("clipping"), numberBox("evaluations", 1), numberBox("seed", 1), labelled("ui.threshold", threshold)),
      scratchOnly, layersOnly,
      h("label.lp-check", {}, bf16, worded("span", "finetune.bf16")),
      h("label.lp-check", {}, extra, worded("span", "ui.extra_negatives")),
      augment.map((one) => one.element)),
    h("div.lp-start-box", {},
      h("div.lp-row", {}, start, h("label.lp-inline", {}, worded("span", "finetune.seeds"), seeds)),
      summary, startWrong, time),
  );
  LossPrism.reword(root);

  function fill() {
    const { plan } = channel;
    const tab = tabOf(plan.data.source);
    sources.set(tab);
    for (const name of SOURCES) panels[name].hidden = name !== tab;
    ready.value = plan.data.source === "example" ? plan.data.example : plan.data.practice;
    readyAbout.textContent = say(`example.${ready.value}.about`);
    link.value = plan.data.link;
    hub.value = plan.data.hub;
    part.value = plan.data.split;
    share.set(plan.data.held_out_share);
    const choice = Object.keys(named).find((name) => named[name] === plan.encoder) ?? "other";
    encoderChoice.value = choice;
    encoderField.hidden = choice !== "other";
    if (choice === "other") encoderName.value = plan.encoder;
    encoderAbout.textContent = say(`finetune.encoder.${choice}.about`);
    scratchOnly.hidden = choice !== "scratch";
    layersOnly.hidden = choice === "scratch";
    kinds.set(plan.kind);
    lossChoice.value = plan.loss;
    buildParameters();
    for (const [name, box] of Object.entries(boxes)) if (document.activeElement !== box) box.value = plan[name];
    schedule.value = plan.schedule;
    bf16.checked = plan.bf16;
    extra.checked = plan.extra_negatives;
    if (document.activeElement !== threshold) threshold.value = plan.threshold ?? "";
    for (const { kind, box } of augment) box.checked = plan.data.augment.includes(kind);
    complain(startWrong, null);
    tellKept();
    tellTime();
  }

  function tellChecked() {
    const { checked } = channel;
    if (!checked) return;
    // Each sentence stands where it can be put right.
    const { error } = checked;
    const of = /encoder|scratch/.test(error?.key) ? encoderWrong : /parameter|convention|loss/.test(error?.key) ? lossWrong : dataWrong;
    for (const line of [dataWrong, encoderWrong]) complain(line, null);
    complain(lossWrong, checked.refused);
    if (error) complain(of, error);
    found.hidden = Boolean(error);
    if (!error) {
      const [low, high, count] = checked.labels;
      found.textContent = [say("finetune.found", { train: checked.train, held_out: checked.held_out, low: show(low), high: show(high), count }),
        checked.skipped ? say("finetune.left_out", { count: checked.skipped }) : "",
        checked.held_out < FEW ? say("finetune.few") : "",
        checked.shared ? say("finetune.shared", { count: checked.shared }) : ""].join(" ").trim();
      rateNote.textContent = channel.plan.learning_rate ? "" : say("finetune.usual_rate", { rate: show(checked.rate) });
      listLosses();
    }
    tellWrong();
    tellTime();
    settle();
  }

  channel.on("plan", () => { clearTimeout(settling); channel.cancel(); fill(); });
  channel.on("checked", tellChecked);
  channel.on("runs", () => { tellTime(); settle(); });
  document.addEventListener("visibilitychange", settle);
  channel.on("language", () => { built = ""; fill(); tellChecked(); listLosses(); tellKept(); });
  // What another button than these has put here is shown to have changed.
  channel.on("taken", () => {
    root.classList.remove("lp-taken");
    void root.offsetWidth; // so that it begins anew
    root.classList.add("lp-taken");
  });
  listLosses();
  studio.begin();
};
