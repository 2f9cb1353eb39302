// The sidebar: data, encoder, loss, parameters, rules. Each control changes the scenario and
// nothing else.
(window.LossPrismInstruments ??= {}).controls = (root, channel, server) => {
  "use strict";
  const { h, say, worded, show, losses, examples, limits } = LossPrism;
  const { slider, parameterField, section, foldable, labelled } = LossPrism.fields;
  const GROUPS = ["pair_scores", "in_batch", "distances", "prototypes", "own"];

  // ---- Data --------------------------------------------------------------------------------

  const SOURCES = ["example", "table", "file", "random"];
  let tab = "example";
  const tabs = Object.fromEntries(SOURCES.map((source) => [source, worded("button.lp-tab", `source.${source}`, {
    type: "button", role: "tab", id: `lp-source-${source}`, "aria-controls": `lp-panel-${source}`, onclick: () => openTab(source),
  })]));

  const exampleChoice = h("select", { id: "lp-example", onchange: () => channel.set({ data: { source: "example", example: exampleChoice.value } }) },
    Object.keys(examples).map((id) => worded("option", `example.${id}.title`, { value: id })));
  const exampleAbout = h("p.lp-note");
  const copyExample = worded("button.lp-button", "ui.edit_copy", { type: "button", onclick: editCopy });
  const editButton = worded("button.lp-button", "ui.edit_pairs", { type: "button", onclick: () => channel.publish("edit") });
  const tableNote = h("p.lp-note");

  const chooser = h("input", { type: "file", id: "lp-file", accept: ".csv,.tsv,.txt,.jsonl,.json,.parquet", hidden: true });
  const drop = h("button.lp-drop", { type: "button", onclick: () => chooser.click() },
    worded("b", "ui.drop_file"), worded("span", "ui.file_kinds"));
  const fileNote = h("p.lp-note");
  const columnBox = h("div.lp-columns");

  const panels = {
    example: h("div.lp-panel", {}, labelled("ui.example", exampleChoice), exampleAbout, copyExample),
    table: h("div.lp-panel", {}, worded("p.lp-note", "ui.table_about"), editButton, tableNote),
    file: h("div.lp-panel", {}, chooser, drop, fileNote, columnBox),
    random: h("div.lp-panel"),
  };
  for (const [source, panel] of Object.entries(panels)) {
    Object.assign(panel, { id: `lp-panel-${source}`, role: "tabpanel" });
    panel.setAttribute("aria-labelledby", `lp-source-${source}`);
  }
  const skippedList = h("ul.lp-skipped", { hidden: true });

  function openTab(source) {
    tab = source;
    showTab();
    if (source === "example") channel.set({ data: { source: "example" } });
    if (source === "random") channel.set({ data: { source: "random" } });
    if (source === "file" && channel.scenario.data.file) channel.set({ data: { source: "table" } });
    if (source === "table") {
      if (channel.scenario.data.rows.length) channel.setRows(channel.scenario.data.rows);
      channel.publish("edit");
    }
  }

  function showTab() {
    for (const source of SOURCES) {
      tabs[source].setAttribute("aria-selected", String(source === tab));
      panels[source].hidden = source !== tab;
    }
  }

  // An example or a file becomes rows of one's own, to change at will.
  function editCopy() {
    const { first, second, labels } = channel.batch;
    const rows = labels.map((label, i) => [first[i], second[i], String(label)]);
    channel.setRows(rows);
    channel.publish("edit");
  }

  // ---- File --------------------------------------------------------------------------------

  let file = null;
  let undecided = ""; // a file that was read, but whose columns the user has yet to choose
  let turns = 0;
  LossPrism.files.offered(chooser, drop, readFile);

  async function readFile(blob, options = {}) {
    if (blob.size > limits.bytes) {
      channel.warn({ key: "problem.file_too_large", values: { name: blob.name, most: limits.bytes / 2 ** 20 } });
      return;
    }
    if (file !== blob) {
      fileNote.textContent = LossPrism.clip(blob.name);
      columnBox.replaceChildren();
    }
    file = blob;
    const turn = (turns += 1);
    channel.setBusy(true);
    const answer = await channel.work(server, "read_file", { name: blob.name, content: await LossPrism.files.encoded(blob), ...options });
    if (turn !== turns) return; // another file, or other columns of it, were chosen meanwhile
    channel.setBusy(false);
    if (answer === undefined) return;
    if (answer?.columns) offer(answer, options);
    const fits = channel.check(answer);
    undecided = !fits && answer.columns ? blob.name : "";
    if (!fits) { aboutFile(); return; }
    const { name, rows, reading } = answer;
    channel.set({ data: { source: "table", rows, file: name, reading } });
  }

  // What the file held is in the scene: who opens its link reads the same.
  function aboutFile() {
    if (undecided) { fileNote.textContent = say("ui.file_undecided", { name: undecided }); return; }
    const { file: name, rows, reading } = channel.scenario.data;
    const key = reading.drawn ? "ui.file_drawn" : reading.limited ? "ui.file_limited" : "ui.file_read";
    const told = { name, used: rows.length, total: reading.total, encoding: reading.encoding };
    fileNote.textContent = reading.total ? say(key, told) : name;
  }

  // What else could be read from the file: other columns, and where there are too many rows,
  // others of them.
  let offered = null;
  function offer(answer, options) {
    offered = [answer, options];
    const chosen = { ...answer.chosen };
    const pick = (role) => h("select", {
      onchange: (event) => {
        chosen[role] = event.target.value;
        if (Object.values(chosen).every(Boolean)) readFile(file, { ...options, columns: chosen });
      },
    }, (chosen[role] ? answer.columns : ["", ...answer.columns])
      .map((column) => h("option", { value: column, selected: chosen[role] === column }, column)));
    const header = h("input", { type: "checkbox", checked: answer.header, onchange: () => readFile(file, { header: header.checked }) });
    columnBox.replaceChildren(
      ...(answer.reading?.limited ? [drawing(answer, options)] : []),
      ...Object.keys(answer.chosen).map((role) => labelled(`column.${role}`, pick(role))),
      h("label.lp-check", {}, header, worded("span", "ui.has_header")),
    );
  }

  function drawing({ reading, rows }, options) {
    const values = { used: rows.length, total: reading.total };
    const button = (kind, key, seed) => h(kind, {
      type: "button", onclick: () => readFile(file, { ...options, seed }),
    }, say(key, values));
    if (!reading.drawn) return button("button.lp-button.lp-main", "ui.draw_rows", 0);
    return h("div.lp-row.lp-wrap", {},
      button("button.lp-button", "ui.draw_again", options.seed + 1),
      button("button.lp-button", "ui.first_rows", null));
  }

  // ---- Random ------------------------------------------------------------------------------

  const randomSliders = [];
  function buildRandom() {
    const labels = h("select", { id: "lp-random-labels", onchange: () => setRandom("labels", labels.value) },
      ["binary", "graded", "continuous"].map((kind) => worded("option", `random.labels.${kind}`, { value: kind })));
    const add = (name, step = 0.01) => {
      const [low, most] = limits.random[name];
      const high = name === "seed" ? 999 : most;
      const control = slider({
        key: `random.${name}`, low, high, step, initial: LossPrism.defaults.data.random[name],
        change: (v) => setRandom(name, v), name: `random-${name}`,
      });
      for (const input of control.element.querySelectorAll("input")) input.dataset.title = `random.${name}`;
      randomSliders.push([name, control]);
      return control.element;
    };
    panels.random.append(
      add("pairs", 1), add("dimension", 1), labelled("random.labels", labels), add("grades", 1),
      add("agreement"), add("mislabelled"), add("imbalance"), add("hard_negatives"), add("seed", 1),
    );
    randomSliders.push(["labels", { set: (v) => { labels.value = v; } }]);
  }
  const setRandom = (name, value) => channel.set(
    { data: { source: "random", random: { ...channel.scenario.data.random, [name]: value } } }, { announce: false });

  // ---- Encoder -----------------------------------------------------------------------------

  const encoderName = h("input", { type: "text", id: "lp-encoder", spellcheck: false, placeholder: limits.encoder });
  const crossName = h("input", { type: "text", id: "lp-cross", spellcheck: false });
  const useEncoder = worded("button.lp-button", "ui.use_encoder", {
    type: "button",
    onclick: () => channel.set({ data: { encoder: encoderName.value.trim() || limits.encoder, cross_encoder: crossName.value.trim() } }),
  });
  const useEmbedded = () => channel.set({ data: { encoder: limits.encoder, cross_encoder: "" } });
  const embedded = worded("button.lp-button", "ui.embedded_encoder", { type: "button", onclick: useEmbedded });
  channel.remedies.push({
    fits: ({ key }) => /^problem\.(encoder|cross|hub)_/.test(key) && !embedded.hidden,
    key: "ui.embedded_encoder", act: useEmbedded,
  });
  const encoderNow = h("p.lp-note");

  // ---- Loss --------------------------------------------------------------------------------

  const lossChoice = h("select", { id: "lp-loss", "data-title": "ui.loss", onchange: () => channel.choose(lossChoice.value) });
  for (const group of GROUPS) {
    const members = Object.entries(losses).filter(([, spec]) => spec.group === group);
    if (!members.length) continue;
    const box = h("optgroup", { label: say(`group.${group}`) });
    box.dataset.group = group;
    box.append(...members.map(([name]) => h("option", {
      value: name, "data-say": LossPrism.has(`loss.${name}.title`) ? `loss.${name}.title` : null,
    }, LossPrism.titleOf(name))));
    lossChoice.append(box);
  }
  const convention = h("select", { id: "lp-convention", onchange: () => channel.choose(channel.scenario.loss, convention.value) });
  const conventionField = labelled("ui.convention", convention);
  const parameters = h("div.lp-parameters");
  const scaleAdvice = h("p.lp-note");
  const references = h("p.lp-note.lp-references");
  let parameterControls = [];
  function setParameters() {
    for (const [parameter, control] of parameterControls) {
      control.set(channel.scenario.parameters[parameter.name] ?? parameter.default);
    }
  }

  function buildParameters() {
    const { spec, form, scenario } = channel;
    const others = Object.keys(spec.conventions).filter(Boolean);
    convention.replaceChildren(worded("option", "ui.own_convention", { value: "" }),
      ...others.map((name) => h("option", { value: name }, name)));
    convention.value = scenario.convention;
    conventionField.hidden = others.length === 0;
    parameterControls = form.parameters.map((parameter) => [
      parameter, parameterField(parameter, parameter.default, (v) => channel.setParameter(parameter.name, v)),
    ]);
    parameters.replaceChildren(...parameterControls.map(([, control]) => control.element));
    setParameters();
    LossPrism.reword(parameters);
    adviseScale();
    references.textContent = spec.references.length
      ? say("ui.references", { list: spec.references.map(cited).join("; ") }) : "";
  }

  // "S1 eq. 52" as a reader knows it: the source's name in place of our short one.
  const cited = (reference) => reference.replace(/^S\d/, (short) => say(`cite.${short}`))
    .replace(/ eq\. (.+)$/, (all, number) => say("cite.equation", { number }));

  // ---- Rules -------------------------------------------------------------------------------

  const threshold = h("input.lp-number", { type: "number", step: "any", id: "lp-threshold" });
  threshold.addEventListener("input", () => {
    const text = threshold.value.trim();
    channel.set({ rules: { threshold: text === "" ? null : Number(text) } }, { announce: false });
  });
  const extra = h("input", { type: "checkbox", onchange: () => channel.set({ rules: { extra_negatives: extra.checked } }, { announce: false }) });
  const prototypes = h("textarea", { rows: 2, spellcheck: false });
  prototypes.addEventListener("change", () => channel.set({ rules: { prototypes: prototypes.value } }, { announce: false }));
  const ruleText = h("ul.lp-rules");
  const rulesFold = h("details.lp-fold", {}, worded("summary", "ui.rules"), ruleText, labelled("ui.threshold", threshold),
    h("label.lp-check", {}, extra, worded("span", "ui.extra_negatives")), labelled("ui.prototypes", prototypes));
  channel.on("rules", () => {
    rulesFold.open = true;
    threshold.focus();
  });

  function adviseScale() {
    const range = channel.batch?.scale;
    const box = parameters.querySelector("[data-parameter=scale]");
    const { symbol, maximum } = channel.form.parameters.find(({ name }) => name === "scale") ?? {};
    // It speaks of CoSENT's λ, and of no other scale.
    scaleAdvice.hidden = !range || !box || channel.spec.group !== "pair_scores" || symbol !== "\\lambda";
    if (scaleAdvice.hidden) return;
    const take = (value) => h("button.lp-crumb", {
      type: "button", title: say("ui.take_scale"),
      onclick: () => channel.set({ parameters: { ...channel.scenario.parameters, scale: Number(value) } }),
    }, value);
    const ends = Object.fromEntries(range.map((value, i) => [`<${i}>`, take(show(Math.min(value, maximum), 3))]));
    const said = say("ui.suggested_scale", { low: "<0>", high: "<1>", sigma: show(channel.batch.sigma, 3) });
    scaleAdvice.replaceChildren(...said.split(/(<\d>)/).map((part) => ends[part] ?? part));
    box.closest(".lp-slider").append(scaleAdvice);
  }

  function describeRules() {
    const { batch } = channel;
    if (!batch) return;
    threshold.placeholder = show(batch.threshold);
    const lines = [
      say("rule.positives", { count: batch.positives, all: batch.labels.length, threshold: show(batch.threshold) }),
      say("rule.negatives", { count: batch.negatives }),
      say("rule.classes", { count: batch.classes, sentences: batch.sentences.length }),
      say(batch.dimension ? "rule.vectors" : "rule.no_vectors", { dimension: batch.dimension }),
    ];
    if (batch.orthogonal) lines.push(say("rule.orthogonal"));
    if (batch.given) lines.push(say("rule.given"));
    lines.push(say("rule.unit"), say("rule.levels"), say("rule.logits"));
    ruleText.replaceChildren(...lines.map((line) => h("li", {}, line)));
  }

  // ---- Together ----------------------------------------------------------------------------

  buildRandom();
  root.append(
    section("ui.loss", lossChoice, conventionField, parameters, references),
    foldable("ui.data", h("div.lp-tabs", { role: "tablist" }, Object.values(tabs)), Object.values(panels), skippedList),
    h("details.lp-fold", {}, worded("summary", "ui.encoder"), labelled("ui.encoder_name", encoderName),
      labelled("ui.cross_encoder", crossName), h("div.lp-row", {}, useEncoder, embedded), encoderNow),
    rulesFold,
  );
  LossPrism.reword(root);

  function words() {
    tellSkipped();
    for (const box of lossChoice.children) box.label = say(`group.${box.dataset.group}`);
    aboutData();
    describeRules();
  }

  function aboutData() {
    const { data } = channel.scenario;
    const { note } = examples[data.example] ?? {};
    exampleAbout.textContent = [say(`example.${data.example}.about`), note ? say(note) : ""].join(" ").trim();
    const count = data.rows.length;
    tableNote.textContent = count ? say(channel.limited ? "ui.table_limited" : "ui.rows_entered", { count, most: limits.pairs }) : "";
    aboutFile();
    embedded.hidden = data.encoder === limits.encoder && !data.cross_encoder;
    encoderNow.textContent = say(data.cross_encoder ? "ui.cross_now" : "ui.encoder_now", { name: data.cross_encoder || data.encoder });
  }

  let built = "";
  channel.on("scenario", () => {
    const { scenario } = channel;
    const { data, rules } = scenario;
    lossChoice.value = scenario.loss;
    const key = `${scenario.loss}|${scenario.convention}`;
    if (key !== built) buildParameters();
    else setParameters();
    built = key;
    exampleChoice.value = data.example;
    for (const [name, control] of randomSliders) control.set(data.random[name]);
    tab = data.source === "table" ? (data.file ? "file" : "table") : data.source;
    if (document.activeElement !== threshold) threshold.value = rules.threshold ?? "";
    extra.checked = rules.extra_negatives;
    prototypes.value = rules.prototypes;
    encoderName.value = data.encoder;
    crossName.value = data.cross_encoder;
    showTab();
    words();
  });
  // A parameter pointed at in a formula is lit.
  channel.on("pointed", () => {
    for (const input of parameters.querySelectorAll("[data-parameter]")) {
      const on = channel.pointed.part?.of === input.dataset.parameter;
      input.closest(".lp-slider, label").classList.toggle("lp-lit", on);
    }
  });
  channel.on("batch", () => {
    describeRules();
    adviseScale();
    copyExample.hidden = !channel.batch.editable;
  });
  channel.on("language", () => {
    buildParameters();
    if (offered) offer(...offered);
    words();
  });
  channel.on("skipped", () => {
    aboutData();
    tellSkipped();
  });

  // Rows that were left out: of the file by their numbers in it, of the table by theirs.
  function tellSkipped() {
    const { source, file: name, reading } = channel.scenario.data;
    const ofFile = source === "table" && name ? reading : { left_out: 0, reasons: [] };
    const all = [
      ...ofFile.reasons.map(([row, key, values]) => ({ row, key, values: Object.fromEntries(values) })),
      ...channel.skipped,
    ];
    const count = ofFile.left_out + channel.skipped.length;
    const told = all.slice(0, 20).map(({ row, key, values }) => h("li", {}, say("ui.row_skipped", { row, reason: say(key, values) })));
    if (count > told.length) told.push(h("li", {}, say("ui.more_skipped", { count: count - told.length })));
    skippedList.hidden = count === 0;
    skippedList.replaceChildren(h("li", {}, h("b", {}, say("ui.skipped", { count }))), ...told);
  }

  channel.connect(server);
};
