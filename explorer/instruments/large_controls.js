// The sidebar of the Large batch page: where the pairs come from, the loss, its parameters.
(window.LossPrismInstruments ??= {}).large_controls = (root, channel) => {
  "use strict";
  const { h, say, worded, grouped } = LossPrism;
  const { slider, parameterField, labelled, section, foldable } = LossPrism.fields;
  const given = window.LossPrismData.large;
  const KINDS = ["random", "file", "explore"];
  const PIECE = 2 ** 21; // bytes of a file that travel at a time

  // The source of each kind that was last looked at: choosing its tab brings it back.
  const lately = { random: { kind: "random", random: { ...given.first } } };

  // ---- Random ------------------------------------------------------------------------------

  const setRandom = (name, value) => channel.change({
    source: { kind: "random", random: { ...lately.random.random, [name]: value } },
  });
  const numbers = {};
  const WHOLE = ["pairs", "dimension", "grades", "seed"];
  for (const [name, [low, most]] of Object.entries(given.random)) {
    numbers[name] = slider({
      key: `random.${name}`, low, high: name === "seed" ? 999 : most, whole: WHOLE.includes(name),
      step: WHOLE.includes(name) ? 1 : 0.01, logarithmic: name === "pairs", name: `random-${name}`,
      initial: given.first[name], change: (v) => setRandom(name, v),
    });
  }
  const kinds = h("select", { id: "lp-large-labels", onchange: () => setRandom("labels", kinds.value) },
    ["binary", "graded", "continuous"].map((kind) => worded("option", `random.labels.${kind}`, { value: kind })));
  const sizes = h("div.lp-sizes", {}, [10_000, 100_000, 1_000_000].map((n) => h("button.lp-button", {
    type: "button", onclick: () => setRandom("pairs", n),
  }, grouped(n))));

  // ---- File --------------------------------------------------------------------------------

  const chooser = h("input", { type: "file", id: "lp-large-file", accept: ".csv,.tsv,.txt,.jsonl,.json,.parquet", hidden: true });
  const drop = h("button.lp-drop", { type: "button", onclick: () => chooser.click() },
    worded("b", "ui.drop_file"), worded("span", "large.file_kinds"));
  const arriving = h("progress", { hidden: true, max: 1 });
  const giveUp = worded("button.lp-button", "ui.stop", { type: "button", hidden: true, onclick: () => { sending = null; } });
  const fileNote = h("p.lp-note");
  const columns = h("div.lp-columns");
  const skipped = h("ul.lp-skipped", { hidden: true });
  const encoder = h("input", { type: "text", id: "lp-large-encoder", spellcheck: false, placeholder: given.encoder });
  const useEncoder = worded("button.lp-button", "ui.use_encoder", {
    type: "button", onclick: () => channel.change({ source: { ...channel.asked.source, encoder: encoder.value.trim() || given.encoder } }),
  });
  LossPrism.files.offered(chooser, drop, send);

  // The file goes over piece by piece; the server names it by its content.
  let sending = null;
  async function send(file) {
    if (file.size > given.bytes) {
      channel.warn({ key: "problem.large_file_too_large", values: { name: file.name, most: given.bytes / 2 ** 20 } });
      return;
    }
    sending = file;
    const token = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    const parts = { name: file.name, token };
    const wrong = channel.problem; // with what was asked for before
    channel.forgive();
    fileNote.textContent = file.name;
    arriving.hidden = giveUp.hidden = false;
    let answer = null;
    for (let start = 0; start === 0 || start < file.size; start += PIECE) {
      arriving.value = start / Math.max(file.size, 1);
      answer = await ask("hand_in", { ...parts, start, content: await LossPrism.files.encoded(file.slice(start, start + PIECE)), last: start + PIECE >= file.size });
      if (sending !== file || answer.error) break;
    }
    if (sending !== file || answer.error) await ask("hand_in", { token, forget: true });
    if (sending && sending !== file) return; // another file was chosen meanwhile
    arriving.hidden = giveUp.hidden = true;
    if (!sending || answer.error) channel.fail(wrong);
    if (!sending) { fileNote.textContent = say("large.not_sent", parts); return; }
    sending = null;
    if (answer.error) { channel.warn(answer.error); return; }
    channel.change({ source: { kind: "file", file: answer.file, name: file.name, columns: {}, encoder: encoder.value.trim() || given.encoder } });
  }

  const ask = async (name, request) => {
    try { return (await channel.server[name](request)) ?? { error: LossPrism.GONE }; } catch { return { error: LossPrism.GONE }; }
  };

  const ROLES = ["first", "second", "score", "similarity"];
  let described = "";
  async function describe() {
    const { source } = channel.asked;
    const key = JSON.stringify([source.file, source.columns, source.header, LossPrism.language()]);
    if (source.kind !== "file" || key === described) return;
    described = key;
    let answer;
    do {
      answer = await ask("describe_file", { source });
      if (answer.working) await new Promise((done) => { setTimeout(done, 300); });
    } while (answer.working && described === key);
    if (described !== key) return;
    if (answer.error) { described = ""; return; } // the problem is told with the blocks
    fileNote.textContent = answer.undecided ? say("ui.file_undecided", { name: source.name }) : say(answer.limited ? "large.file_limited" : "large.file_read", {
      name: source.name, used: grouped(answer.used), total: grouped(answer.total),
    });
    const set = (part) => channel.change({ source: { ...channel.asked.source, ...part } });
    const chosen = { ...answer.chosen }; // with what is chosen while the next answer is awaited
    const roles = "anchor" in answer.chosen ? Object.keys(answer.chosen) : ROLES;
    const pick = (role) => {
      const none = worded("option", "large.no_column", { value: "" });
      const select = h("select", {
        onchange: () => {
          chosen[role] = select.value;
          set({ columns: { ...chosen } });
        },
      }, none, answer.columns.map((column) => h("option", { value: column }, column)));
      select.value = answer.chosen[role] ?? "";
      return labelled(`column.${role}`, select);
    };
    const header = h("input", { type: "checkbox", checked: answer.header, onchange: () => set({ header: header.checked, columns: {} }) });
    columns.replaceChildren(...roles.map(pick), h("label.lp-check", {}, header, worded("span", "ui.has_header")));
    skipped.hidden = answer.skipped === 0;
    const more = answer.skipped - answer.told.length;
    skipped.replaceChildren(
      h("li", {}, h("b", {}, say("ui.skipped", { count: answer.skipped }))),
      ...answer.told.map(({ row, key: why, values }) => h("li", {}, say("ui.row_skipped", { row, reason: say(why, values) }))),
      ...(more > 0 ? [h("li", {}, say("ui.more_skipped", { count: more }))] : []));
  }

  // ---- The Explore page's batch ------------------------------------------------------------

  const link = h("input", { type: "text", id: "lp-large-link", spellcheck: false });
  const openLink = worded("button.lp-button", "large.open_link", {
    type: "button", onclick: () => channel.change({ source: { kind: "explore", link: link.value.trim().split("#").pop() } }),
  });

  // ---- Tabs --------------------------------------------------------------------------------

  const rest = Object.keys(numbers).filter((name) => !["pairs", "dimension", "grades"].includes(name));
  const panels = {
    random: h("div.lp-panel", {}, numbers.pairs.element, sizes, labelled("random.labels", kinds), numbers.grades.element,
      numbers.dimension.element, rest.map((name) => numbers[name].element)),
    file: h("div.lp-panel", {}, chooser, drop, arriving, giveUp, fileNote, columns, skipped,
      worded("p.lp-note", "large.encoder_note"), labelled("ui.encoder", encoder), useEncoder),
    explore: h("div.lp-panel", {}, worded("p.lp-note", "large.explore_note"), labelled("large.link", link), openLink),
  };
  let tab = "random";
  const tabs = Object.fromEntries(KINDS.map((kind) => [kind, worded("button.lp-tab", `large.source.${kind}`, {
    type: "button", role: "tab", id: `lp-large-${kind}`, onclick: () => choose(kind),
  })]));
  const still = h("p.lp-note");
  function choose(kind) {
    tab = kind;
    if (lately[kind]) channel.change({ source: lately[kind] });
    else showTab();
  }
  function showTab() {
    const { source } = channel.asked;
    still.hidden = tab === source.kind;
    if (!still.hidden) still.textContent = say(`large.still.${tab}`, { source: source.name ?? say(`large.source.${source.kind}`) });
    for (const kind of KINDS) {
      tabs[kind].setAttribute("aria-selected", String(kind === tab));
      panels[kind].hidden = kind !== tab;
    }
  }

  // ---- Loss --------------------------------------------------------------------------------

  const lossChoice = h("select", { id: "lp-large-loss", "data-title": "ui.loss", onchange: () => channel.change({ loss: lossChoice.value, parameters: {} }) });
  for (const name of ["split", "smooth", "linear", "in_batch"]) {
    const members = Object.entries(given.losses).filter(([, { family }]) => family === name);
    if (!members.length) continue;
    const box = h("optgroup", {}, members.map(([id]) => h("option", { value: id })));
    box.dataset.group = name;
    lossChoice.append(box);
  }
  const lossNote = h("p.lp-note");
  const parameters = h("div.lp-parameters");
  let built = "";
  let controls = {};
  function buildParameters() {
    const { loss } = channel.asked;
    if (built === loss + LossPrism.language()) return;
    built = loss + LossPrism.language();
    const set = (name, value) => channel.change({ parameters: { ...channel.asked.parameters, [name]: value } });
    controls = Object.fromEntries((given.losses[loss]?.parameters ?? [])
      .map((parameter) => [parameter.name, parameterField(parameter, parameter.default, (v) => set(parameter.name, v))]));
    parameters.replaceChildren(...Object.values(controls).map((control) => control.element));
  }

  root.append(
    section("large.loss", lossChoice, lossNote, parameters, h("details.lp-not-here", {}, worded("summary", "large.not_here"),
      ["hierarchical_cosent", "multitask_cosent", "max_violation", "single", "others"].map((why) => worded("p.lp-note", `large.not_here.${why}`)))),
    foldable("large.data", h("div.lp-tabs", { role: "tablist" }, Object.values(tabs)), still, Object.values(panels)),
  );
  LossPrism.reword(root);

  function fill() {
    const { source, loss, parameters: chosen } = channel.asked;
    const spec = given.losses[loss];
    lately[source.kind] = source;
    buildParameters();
    lossChoice.value = loss;
    lossNote.textContent = spec ? say(`large.family.${spec.family}`, { most: grouped(spec.most) }) : "";
    if (spec?.wanted === "angles") lossNote.textContent += ` ${say("large.angle_note", { drawn: grouped(spec.most_drawn) })}`;
    for (const p of spec?.parameters ?? []) controls[p.name].set(chosen[p.name] ?? p.default);
    if (source.kind === "random") {
      for (const [name, control] of Object.entries(numbers)) control.set(source.random[name]);
      kinds.value = source.random.labels;
      numbers.grades.element.hidden = source.random.labels !== "graded";
    }
    numbers.dimension.element.hidden = spec?.wanted === "cosines";
    if (source.encoder) encoder.value = source.encoder;
    if (source.link) link.value = source.link;
    describe();
  }

  let kindShown = "";
  function state() {
    if (kindShown !== channel.asked.source.kind) tab = kindShown = channel.asked.source.kind;
    showTab();
    fill();
  }
  function words() {
    for (const option of lossChoice.options) option.textContent = LossPrism.titleOf(option.value);
    for (const group of lossChoice.querySelectorAll("optgroup")) group.label = say(`large.group.${group.dataset.group}`);
    sizes.querySelectorAll("button").forEach((button, i) => { button.textContent = grouped([10_000, 100_000, 1_000_000][i]); });
    // The scene that the Explore page was last at.
    try { link.placeholder = ""; link.value ||= localStorage.getItem("lossprism.scene") ?? ""; } catch { /* private window */ }
  }

  channel.on("state", state);
  channel.on("answer", describe); // where reading it was stopped before
  channel.on("language", () => { words(); fill(); showTab(); LossPrism.reword(root); });
  words();
};
