// The sidebar of the Fine-tune page: the plan of a run. Each control changes the plan and nothing
// else; what the server finds in it comes back as "checked".
(window.LossPrismInstruments ??= {}).finetune_controls = (root, channel, server) => {
  "use strict";
  const { h, say, worded, show, has, losses, limits, stored, titleOf } = LossPrism;
  const { slider, parameterField, section, foldable, labelled } = LossPrism.fields;
  const facts = window.LossPrismData.finetune;
  LossPrismParts.studio(channel, server);
  const { studio } = channel;
  const set = (change) => studio.setPlan(change);
  const FEW = 30; // held-out pairs: below this a correlation is mostly chance

  // ---- Pieces ------------------------------------------------------------------------------

  const note = () => h("p.lp-note");
  const wrong = () => h("p.lp-wrong", { role: "alert", hidden: true });
  const complaints = new Map();
  function complain(line, told) {
    complaints.set(line, told);
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

  // Boxes for numbers, of the plan and beside it. What does not fit is named and not taken.
  const boxes = {};
  const write = (name) => { if (document.activeElement !== boxes[name].box) boxes[name].box.value = boxes[name].now(); };
  function numberBox(name, step = "any", now = () => channel.plan[name], take = (value) => set({ [name]: value })) {
    const [low, high] = facts.ranges[name];
    const box = h("input", { type: "number", id: `lp-finetune-${name}`, min: low, max: high, step });
    const told = wrong();
    box.addEventListener("input", () => {
      const value = Number(box.value);
      const fits = box.value.trim() !== "" && value >= low && value <= high && (step !== 1 || Number.isInteger(value));
      box.classList.toggle("lp-bad", !fits);
      complain(told, fits ? null : { key: "ui.accepted_else", values: { low, high, value: now() } });
      if (fits) take(value);
    });
    box.addEventListener("blur", () => {
      box.value = now();
      box.classList.remove("lp-bad");
      complain(told, null);
    });
    boxes[name] = { box, now };
    return h("div", {}, labelled(`finetune.${name}`, box), told);
  }

  // A box for text: kept with every key, looked into when it is left.
  const textBox = (id, put, look = {}) => h("input", {
    type: "text", id: `lp-finetune-${id}`, spellcheck: false, ...look,
    oninput: ({ target }) => studio.note(put(target.value)), onchange: ({ target }) => set(put(target.value)),
  });

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

  const link = textBox("link", (text) => ({ data: { link: text } }));
  // A scene says more than its pairs: the loss that was chosen there, and the rules.
  const takeScene = h("button.lp-button", { type: "button", id: "lp-finetune-take-scene", hidden: true, onclick: () => studio.takeOver(structuredClone(channel.checked.of_scene)) });
  function offerScene() {
    const { plan, checked } = channel;
    const scene = plan.data.source === "link" && checked?.of_scene;
    const said = (chosen) => JSON.stringify([studio.wholeLossOf(chosen), chosen.threshold, chosen.extra_negatives]);
    takeScene.hidden = !scene || said(scene) === said(plan);
    if (!takeScene.hidden) takeScene.textContent = say("finetune.take_scene", { name: studio.lossOf(scene) });
  }
  const hub = textBox("hub", (text) => ({ data: { hub: text.trim() } }), { placeholder: "sentence-transformers/stsb" });
  const part = textBox("split", (text) => ({ data: { split: text.trim() || "train" } }));

  const files = {};
  function fileField(entry, key) {
    const chooser = h("input", { type: "file", id: `lp-finetune-${entry}`, accept: ".csv,.tsv,.txt,.jsonl,.json,.parquet", hidden: true });
    const drop = h("button.lp-drop", { type: "button", onclick: () => chooser.click() }, worded("b", key), worded("span", "ui.file_kinds"));
    const [told, failed, columns] = [note(), wrong(), h("div.lp-columns")];
    const leave = worded("button.lp-button", "finetune.leave_file", { type: "button", hidden: true, onclick: leaveFile });
    LossPrism.files.offered(chooser, drop, (file) => handIn(entry, file));
    files[entry] = { told, failed, columns, leave, turns: 0, answer: null };
    return h("div.lp-panel", {}, chooser, drop, told, failed, columns, entry === "held_out_file" ? leave : null);
  }

  async function handIn(entry, file) {
    if (file.size > limits.bytes) {
      complain(files[entry].failed, { key: "problem.file_too_large", values: { name: file.name, most: limits.bytes / 2 ** 20 } });
      return;
    }
    files[entry].told.textContent = file.name;
    const answer = await hear(entry, async () => server.hand_in({ name: file.name, content: await LossPrism.files.encoded(file) }));
    if (!answer) return;
    if (answer.error) {
      await describe(entry); // the file of before is still there
      complain(files[entry].failed, answer.error);
      return;
    }
    set({ data: entry === "file"
      ? { source: "file", file: answer.file, name: answer.name, columns: [], alternatives: [] }
      : { held_out_file: answer.file, held_out_name: answer.name } });
    tellFile(entry);
  }

  // What the server says of a file: one handed in, or one of before, after a reload or by other columns.
  async function hear(entry, ask) {
    const file = files[entry];
    const turn = (file.turns += 1);
    const answer = (await ask()) ?? { error: LossPrism.GONE };
    if (turn !== file.turns) return null; // another file, or other columns of it, were chosen meanwhile
    file.answer = answer.error ? null : answer;
    complain(file.failed, answer.problem);
    tellFile(entry);
    return answer;
  }

  function describe(entry) {
    const { [entry]: file, name, held_out_name: held, columns } = channel.plan.data;
    const asked = entry === "file" ? { file, name, columns } : { file, name: held };
    return file ? hear(entry, () => server.describe(asked)) : null;
  }

  function leaveFile() {
    files.held_out_file.answer = null;
    set({ data: { held_out_file: "", held_out_name: "" } });
    tellFile("held_out_file");
  }

  function tellFile(entry) {
    const { told, leave, answer } = files[entry];
    told.textContent = !answer ? "" : answer.problem ? answer.name : say("ui.file_read", answer);
    leave.hidden = !answer;
    if (entry === "file") offerColumns(answer);
  }

  // Which column is what, and which hold another wording of the first sentence.
  function offerColumns(answer) {
    const box = files.file.columns;
    const held = box.contains(document.activeElement) ? document.activeElement.name : null;
    box.replaceChildren();
    if (!answer) return;
    const { columns, chosen, problem } = answer;
    const pick = (role) => h("select", {
      name: role,
      onchange: ({ target }) => {
        const now = Object.entries({ ...chosen, ...channel.plan.data.columns, [role]: target.value }).filter(([, column]) => column);
        set({ data: { columns: Object.fromEntries(now), alternatives: [] } });
        describe("file");
      },
    }, (chosen[role] ? columns : ["", ...columns]).map((column) => h("option", { value: column, selected: chosen[role] === column }, column)));
    const tick = (column) => h("label.lp-check", {}, h("input", {
      type: "checkbox", name: column, checked: channel.plan.data.alternatives.includes(column),
      onchange: ({ target }) => {
        const others = channel.plan.data.alternatives.filter((one) => one !== column);
        set({ data: { alternatives: target.checked ? [...others, column] : others } });
      },
    }), h("span", {}, column));
    const others = columns.filter((column) => !Object.values(chosen).includes(column));
    box.append(
      ...Object.keys(chosen).map((role) => labelled(`column.${role}`, pick(role))),
      ...(others.length && !problem ? [worded("p.lp-note", "finetune.alternatives"), ...others.map(tick)] : []));
    LossPrism.reword(box);
    if (held) box.querySelector(`[name="${CSS.escape(held)}"]`)?.focus();
  }

  const panels = {
    example: h("div.lp-panel", {}, labelled("finetune.ready", ready), readyAbout),
    file: h("div", {}, worded("p.lp-note", "finetune.file_about"), fileField("file", "ui.drop_file"), fileField("held_out_file", "finetune.held_out_file")),
    link: h("div.lp-panel", {}, worded("p.lp-note", "finetune.link_about"), labelled("finetune.link", link), takeScene),
    hub: h("div.lp-panel", {}, labelled("finetune.hub", hub), labelled("finetune.split", part)),
  };
  for (const [name, panel] of Object.entries(panels)) {
    Object.assign(panel, { id: `lp-finetune-panel-${name}`, role: "tabpanel" });
    panel.setAttribute("aria-labelledby", `lp-finetune-source-${name}`);
  }
  const share = slider({
    key: "finetune.held_out_share", low: 0.05, high: 0.5, step: 0.05, initial: facts.first.data.held_out_share,
    change: (value) => set({ data: { held_out_share: value } }), name: "held_out_share",
  });
  const found = note();
  const dataWrong = wrong();

  // ---- Encoder -----------------------------------------------------------------------------

  // The rate that suits vectors from scratch would wreck a transformer: the other kind has its own.
  function chooseEncoder() {
    const encoder = named[encoderChoice.value] ?? channel.beside.model;
    const sameKind = (encoder === facts.scratch) === (channel.plan.encoder === facts.scratch);
    set({ encoder, ...(sameKind ? {} : { learning_rate: 0 }) });
  }
  const encoderChoice = h("select", { id: "lp-finetune-encoder", onchange: chooseEncoder },
    ["embedded", "scratch", "other"].map((name) => worded("option", `finetune.encoder.${name}`, { value: name })));
  const named = { embedded: facts.embedded, scratch: facts.scratch };
  const encoderName = textBox("encoder-name", (text) => ({ encoder: text.trim() }));
  const encoderField = labelled("ui.encoder_name", encoderName);
  const encoderAbout = note();
  const encoderWrong = wrong();
  const kinds = tablist("finetune.kind", ["bi", "cross"], (kind) => set({ kind }));

  // ---- Loss --------------------------------------------------------------------------------

  const lossChoice = h("select", { id: "lp-finetune-loss", "data-title": "ui.loss", onchange: () => set({ loss: lossChoice.value, convention: "", parameters: {} }) });
  const lossAbout = note();
  const lossWrong = wrong();
  const convention = h("select", { id: "lp-finetune-convention", onchange: () => set({ convention: convention.value, parameters: {} }) });
  const conventionField = labelled("ui.convention", convention);
  const parameters = h("div.lp-parameters");
  const refused = h("ul.lp-rules");
  const refusedBox = h("details.lp-refused", {}, h("summary"), refused);

  function listLosses() {
    const reasons = channel.checked?.losses ?? {};
    const option = ([name]) => h("option", { value: name }, titleOf(name));
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
    refused.replaceChildren(...unable.map(([name]) => h("li", {}, h("b", {}, `${titleOf(name)}: `), say(reasons[name].key, reasons[name].values))));
  }

  let built = "";
  let fields = [];
  function buildParameters() {
    const { plan } = channel;
    const spec = losses[plan.loss];
    const key = `${plan.loss}|${plan.convention}|${LossPrism.language()}`;
    if (spec && key !== built) newParameters(spec, key);
    for (const [parameter, field] of fields) field.set(plan.parameters[parameter.name] ?? parameter.default);
  }

  function newParameters(spec, key) {
    const { plan } = channel;
    built = key;
    const others = Object.keys(spec.conventions).filter(Boolean);
    convention.replaceChildren(worded("option", "ui.own_convention", { value: "" }), ...others.map((name) => h("option", { value: name }, name)));
    convention.value = plan.convention;
    conventionField.hidden = !others.length;
    fields = spec.conventions[plan.convention].parameters.map((parameter) => [
      parameter, parameterField(parameter, parameter.default, (value) => set({ parameters: { ...channel.plan.parameters, [parameter.name]: value } })),
    ]);
    parameters.replaceChildren(...fields.map(([, field]) => field.element));
    const about = `loss.${plan.loss}.about`;
    lossAbout.textContent = has(about) ? say(about) : spec.about;
    LossPrism.reword(parameters);
  }

  // ---- How -----------------------------------------------------------------------------------

  const schedule = h("select", { id: "lp-finetune-schedule", onchange: () => set({ schedule: schedule.value }) },
    facts.schedules.map((name) => worded("option", `finetune.schedule.${name}`, { value: name })));
  const bf16 = h("input", { type: "checkbox", id: "lp-finetune-bf16", onchange: () => set({ bf16: bf16.checked }) });
  const extra = h("input", { type: "checkbox", id: "lp-finetune-extra_negatives", onchange: () => set({ extra_negatives: extra.checked }) });
  const threshold = h("input", { type: "number", id: "lp-finetune-threshold", step: "any", oninput: () => set({ threshold: threshold.value.trim() === "" ? null : Number(threshold.value) }) });
  const augment = facts.augmentations.map((kind) => {
    const box = h("input", { type: "checkbox", id: `lp-finetune-${kind}`, onchange: () => set({ data: { augment: augment.filter((one) => one.box.checked).map((one) => one.kind) } }) });
    return { kind, box, element: h("label.lp-check", {}, box, worded("span", `finetune.augment.${kind}`)) };
  });
  const scratchOnly = h("div", {}, numberBox("vocabulary", 1), numberBox("dimension", 1));
  const layersOnly = h("div", {}, numberBox("layers", 1), numberBox("lora", 1));
  const rateNote = note();
  const seeds = numberBox("seeds", 1, () => channel.beside.seeds, (value) => { studio.setBeside({ seeds: value }); tellTime(); });

  // ---- Start -------------------------------------------------------------------------------

  const start = h("button.lp-start", { type: "button", id: "lp-finetune-start", onclick: begin });
  const startWrong = wrong();
  const time = h("p.lp-note", { id: "lp-finetune-time", role: "status" });
  const summary = h("p.lp-note.lp-summary");

  // The losses to be trained. The one in the controls above is the plan's; the others stand beside
  // it, some before and some after.
  const formOf = ({ loss, convention, parameters }) => ({ loss, convention, parameters });
  const chosen = () => [...channel.beside.before, formOf(channel.plan), ...channel.beside.after];
  const forms = () => [...new Map(chosen().map((form) => [JSON.stringify(form), form])).values()];
  const another = h("select", { id: "lp-finetune-another", "data-title": "finetune.another", onchange: () => put([...chosen(), { loss: another.value, convention: "", parameters: {} }]) });
  const kept = h("ul.lp-kept");

  // These losses are chosen now, and the one at a place (the last) is in the controls.
  function put(all, at = all.length - 1) {
    studio.setBeside({ before: all.slice(0, at), after: all.slice(at + 1) });
    set(all[at]);
  }

  function tellKept() {
    const all = chosen();
    const now = channel.beside.before.length;
    another.value = "";
    kept.setAttribute("aria-label", say("finetune.kept"));
    kept.replaceChildren(...all.map((form, place) => {
      const name = studio.lossOf(form);
      const here = place === now;
      const leave = () => put(all.filter((_, other) => other !== place), here ? Math.max(place - 1, 0) : now - (place < now));
      return h("li", {}, h("button.lp-kept-name", { type: "button", "aria-pressed": String(here), title: say("finetune.edit", { name }), onclick: () => put(all, place) }, name),
        all.length > 1 ? h("button.lp-quiet", { type: "button", ariaLabel: say("finetune.unkeep", { name }), title: say("finetune.unkeep", { name }), onclick: leave }, "✕") : null);
    }));
  }

  async function begin() {
    const plans = forms().flatMap((form) => Array.from({ length: channel.beside.seeds }, (_, i) => ({ ...channel.plan, ...form, seed: channel.plan.seed + i })));
    channel.cancel();
    start.disabled = true;
    await studio.start(plans);
    start.disabled = false;
  }

  function tellWrong() {
    complain(startWrong, channel.notice ?? channel.checked?.error ?? channel.checked?.refused);
  }
  channel.on("problem", tellWrong);

  const able = () => (channel.checked?.error || channel.checked?.refused ? null : channel.checked);
  const trial = LossPrismParts.trial(channel, {
    outlook: able, asked: () => ({ plan: structuredClone(channel.plan) }), told: () => tellTime(), failed: (error) => complain(startWrong, error),
  });

  // What the button will do: which encoder, how many losses and seeds, how long.
  function tellTime() {
    const [many, each] = [forms().length, channel.beside.seeds];
    const count = many * each;
    start.textContent = count > 1 ? say("finetune.start_many", { count }) : say("finetune.start");
    const { plan, checked } = channel;
    const { steps } = checked ?? {};
    summary.textContent = [studio.encoderOf(plan),
      many > 1 && each > 1 ? say("finetune.product", { losses: many, seeds: each, count }) : forms().map(studio.lossOf).join(", "),
      steps ? say("finetune.steps_of", { steps, batch: plan.batch_size, epochs: show((steps * plan.batch_size) / checked.examples, 2) }) : ""].filter(Boolean).join(" · ");
    if (!steps) { time.textContent = ""; return; }
    time.textContent = trial.sentence(count);
    const { minutes } = checked;
    if (minutes) time.textContent += ` ${say("finetune.shared_time", { minutes })}`;
  }

  // ---- Together ----------------------------------------------------------------------------

  root.append(
    foldable("ui.data", sources.element, ...Object.values(panels), share.element, found, dataWrong),
    foldable("ui.encoder", labelled("finetune.encoder", encoderChoice), encoderField, encoderAbout, kinds.element, encoderWrong),
    foldable("ui.loss", lossChoice, lossWrong, lossAbout, conventionField, parameters, worded("h3", "finetune.kept"), kept, another, refusedBox),
    h("details.lp-fold", {}, worded("summary", "finetune.how"),
      h("div.lp-pair-of-fields", {}, numberBox("epochs", "any", () => channel.plan.epochs, (value) => set({ epochs: value, steps: 0 })), numberBox("steps", 1), numberBox("batch_size", 1), numberBox("learning_rate")), rateNote,
      labelled("finetune.schedule", schedule),
      h("div.lp-pair-of-fields", {}, numberBox("warmup"), numberBox("weight_decay"), numberBox("clipping"), numberBox("evaluations", 1), numberBox("seed", 1), labelled("ui.threshold", threshold)),
      scratchOnly, layersOnly,
      h("label.lp-check", {}, bf16, worded("span", "finetune.bf16")),
      h("label.lp-check", {}, extra, worded("span", "ui.extra_negatives")),
      augment.map((one) => one.element)),
    h("div.lp-start-box", {},
      h("div.lp-row", {}, start, seeds),
      summary, startWrong, time),
  );
  LossPrism.reword(root);

  function fill() {
    const { plan } = channel;
    const tab = tabOf(plan.data.source);
    sources.set(tab);
    for (const name of SOURCES) panels[name].hidden = name !== tab;
    if (tab === "example") studio.setBeside({ ready: plan.data[plan.data.source] });
    ready.value = channel.beside.ready;
    readyAbout.textContent = say(`example.${ready.value}.about`);
    link.value = plan.data.link;
    hub.value = plan.data.hub;
    part.value = plan.data.split;
    share.set(plan.data.held_out_share);
    share.element.hidden = tab === "file" && Boolean(plan.data.held_out_file);
    const choice = Object.keys(named).find((name) => named[name] === plan.encoder) ?? "other";
    encoderChoice.value = choice;
    encoderField.hidden = choice !== "other";
    if (choice === "other") studio.setBeside({ model: plan.encoder });
    encoderName.value = channel.beside.model;
    encoderAbout.textContent = say(`finetune.encoder.${choice}.about`);
    scratchOnly.hidden = choice !== "scratch";
    layersOnly.hidden = choice === "scratch";
    kinds.set(plan.kind);
    lossChoice.value = plan.loss;
    buildParameters();
    Object.keys(boxes).forEach(write);
    schedule.value = plan.schedule;
    bf16.checked = plan.bf16;
    extra.checked = plan.extra_negatives;
    if (document.activeElement !== threshold) threshold.value = plan.threshold ?? "";
    for (const { kind, box } of augment) box.checked = plan.data.augment.includes(kind);
    complain(startWrong, null);
    tellKept();
    offerScene();
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
    const said = of === dataWrong && channel.plan.data.source === "file" && complaints.get(files.file.failed);
    if (error && said?.key !== error.key) complain(of, error);
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
    offerScene();
    tellWrong();
    trial.settle();
  }

  channel.on("plan", () => { channel.cancel(); fill(); });
  channel.on("checked", tellChecked);
  channel.on("runs", tellTime);
  channel.on("language", () => {
    built = "";
    fill();
    tellChecked();
    listLosses();
    Object.keys(files).forEach(tellFile);
    for (const [line, told] of complaints) complain(line, told);
  });
  // Someone who has pairs is led to where they are asked for.
  channel.on("own", () => {
    set({ data: { source: "file" } });
    root.querySelector("details").open = true;
    const drop = panels.file.querySelector(".lp-drop");
    drop.scrollIntoView({ block: "center" });
    drop.focus();
  });
  // What another button than these has put here is shown to have changed.
  channel.on("taken", () => {
    root.classList.remove("lp-taken");
    void root.offsetWidth; // so that it begins anew
    root.classList.add("lp-taken");
  });
  listLosses();
  Object.keys(files).forEach(describe);
  studio.begin();
};
