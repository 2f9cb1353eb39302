// The sidebar: data, encoder, loss, parameters, rules. Each control changes the scenario and
// nothing else.

import { combiner } from "../../kit/combination.js";
import { h, reword, setText, worded } from "../../kit/dom.js";
import { labelled, section } from "../../kit/fields.js";
import { lossFinder } from "../../kit/finder.js";
import { isChosen, leverOf } from "../../kit/form.js";
import { labelRules, targetsOf } from "../../kit/label_rules.js";
import { show } from "../../kit/numbers.js";
import { pageData } from "../../kit/page_data.js";
import { shareable } from "../../kit/redaction.js";
import { aboutTeacher, guideWords, teacherWords } from "../../kit/second_models.js";
import { agree } from "../../kit/server.js";
import {
  conventionField,
  groupsOf,
  lossSelect,
  parameterList,
  randomFields,
  tabbed,
  tellSkipped,
  twinsField,
} from "../../kit/sidebar.js";
import { addressFor } from "../../kit/sides.js";
import { carriedOver } from "../../kit/sums.js";
import { say, titleOf } from "../../kit/words.js";
import { filePanel } from "./file.js";

/** @typedef {"example" | "table" | "file" | "random"} Source */

/** @type {Source[]} */
const SOURCES = ["example", "table", "file", "random"];

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").Scene} channel
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export default function controls(root, channel, server) {
  const { losses, limits } = pageData;
  const { examples } = pageData.explore;

  // ---- Data --------------------------------------------------------------------------------

  const exampleChoice = h(
    "select",
    { id: "lp-example", onchange: () => channel.set({ data: { source: "example", example: exampleChoice.value } }) },
    Object.keys(examples).map((id) => worded("option", `example.${id}.title`, { value: id })),
  );
  const exampleAbout = h("p.lp-note");
  const copyExample = worded("button.lp-button", "ui.edit_copy", { type: "button", onclick: editCopy });
  const editButton = worded("button.lp-button", "ui.edit_pairs", {
    type: "button",
    onclick: () => channel.publish("edit"),
  });
  const tableNote = h("p.lp-note");

  const file = filePanel(channel, server);
  const panels = {
    example: h("div.lp-panel", {}, labelled("ui.example", exampleChoice), exampleAbout, copyExample),
    table: h("div.lp-panel", {}, worded("p.lp-note", "ui.table_about"), editButton, tableNote),
    file: file.element,
    random: h("div.lp-panel"),
  };
  const sources = tabbed(
    { called: (name) => `source.${name}`, names: SOURCES, tabId: "lp-source", panels, panelId: "lp-panel" },
    openTab,
  );
  const skippedList = h("ul.lp-skipped", { hidden: true });

  /** @param {Source} source */
  function openTab(source) {
    sources.set(source);
    if (source === "example") channel.set({ data: { source: "example" } });
    if (source === "random") channel.set({ data: { source: "random" } });
    if (source === "file" && channel.scenario.data.file) channel.set({ data: { source: "table" } });
    if (source === "table") {
      if (channel.scenario.data.rows.length) channel.setRows(channel.scenario.data.rows);
      channel.publish("edit");
    }
  }

  // An example or a file becomes rows of one's own, to change at will.
  function editCopy() {
    if (!channel.batch) return;
    const { first, second, labels, labelled } = channel.batch;
    /** @type {import("../../kit/types").Row[]} */
    const rows = labels.map((label, i) => [first[i], second[i], labelled ? String(label) : ""]);
    channel.setRows(rows);
    channel.publish("edit");
  }

  // ---- Random ------------------------------------------------------------------------------

  /** @type {(name: string, value: number | string) => void} */
  const setRandom = (name, value) =>
    channel.set({ data: { source: "random", random: { [name]: value } } }, { announce: false });
  const random = randomFields(channel.store.table, "data.random.", { labelsId: "lp-random-labels" }, setRandom);
  panels.random.append(
    random.element("pairs"),
    random.element("candidates"),
    random.element("dimension"),
    random.labels,
    ...["grades", "agreement", "mislabelled", "imbalance", "hard_negatives", "guide", "seed"].map(random.element),
  );

  // ---- Encoder -----------------------------------------------------------------------------

  const encoderName = h("input", { type: "text", id: "lp-encoder", spellcheck: false, placeholder: limits.encoder });
  const crossName = h("input", { type: "text", id: "lp-cross", spellcheck: false });
  const known = [limits.encoder, ...limits.plain_encoders].map((value) => h("option", { value }));
  const knownModels = h("datalist", { id: "lp-known-models" }, known);
  /** @param {string} id */
  const secondModel = (id) => h("input", { type: "text", id, spellcheck: false, list: "lp-known-models" });
  const guideName = secondModel("lp-guide");
  const teacherName = secondModel("lp-teacher");
  const guideField = labelled("ui.guide", guideName);
  const teacherField = labelled("ui.teacher", teacherName);
  const useEncoder = worded("button.lp-button", "ui.use_encoder", {
    type: "button",
    onclick: () => {
      for (const { value } of [encoderName, crossName, guideName, teacherName]) agree(value);
      channel.set({
        data: {
          encoder: encoderName.value.trim() || limits.encoder,
          cross_encoder: crossName.value.trim(),
          guide: guideName.value.trim(),
          teacher_model: teacherName.value.trim(),
        },
      });
    },
  });
  const useEmbedded = () => channel.set({ data: { encoder: limits.encoder, cross_encoder: "" } });
  const embedded = worded("button.lp-button", "ui.embedded_encoder", { type: "button", onclick: useEmbedded });
  channel.remedies.push({
    fits: ({ about }) => about === "encoder" && !embedded.hidden,
    key: "ui.embedded_encoder",
    act: useEmbedded,
  });
  const encoderNow = h("p.lp-note");
  const encoderFold = h(
    "details.lp-fold",
    {},
    worded("summary", "ui.encoder"),
    labelled("ui.encoder_name", encoderName),
    labelled("ui.cross_encoder", crossName),
    guideField,
    teacherField,
    knownModels,
    h("div.lp-row", {}, useEncoder, embedded),
    encoderNow,
  );

  // What a loss asks beside the encoder, told where it is chosen.
  /** @param {HTMLInputElement} input */
  const chooseIn = (input) => {
    dataFold.open = encoderFold.open = true;
    input.focus();
  };
  const guideNow = h("p.lp-note");
  const chooseGuide = worded("button.lp-button", "ui.choose_guide", {
    type: "button",
    onclick: () => chooseIn(guideName),
  });
  const teacherNow = h("p.lp-note");
  const chooseTeacher = worded("button.lp-button", "ui.choose_teacher", {
    type: "button",
    onclick: () => chooseIn(teacherName),
  });
  const noneOwned = worded("p.lp-note", "ui.no_own_negatives");
  const asked = h("div.lp-panel", {}, guideNow, chooseGuide, teacherNow, chooseTeacher, noneOwned);
  // What speaks of a query's own hard negatives does nothing where there are none.
  const speaksOfOwn = () =>
    channel.form.parameters.some(
      ({ name, default: usual, without_owners: none }) =>
        none !== null && (channel.scenario.parameters[name] ?? usual) !== none,
    );
  const hasWords = () => channel.scenario.data.source !== "random" && channel.batch?.editable !== false;
  function aboutAsked() {
    const { form, batch, scenario, problem } = channel;
    const { data } = scenario;
    // While there is a problem the batch is that of an earlier scene.
    guideNow.hidden = !form.asks_guide || problem !== null;
    teacherNow.hidden = !form.asks_teacher || problem !== null;
    chooseGuide.hidden = !form.asks_guide || !hasWords();
    chooseTeacher.hidden = !form.asks_teacher || !hasWords();
    noneOwned.hidden = !form.knows_owners || !batch || batch.owned > 0 || !speaksOfOwn();
    asked.hidden = [guideNow, chooseGuide, teacherNow, chooseTeacher, noneOwned].every(({ hidden }) => hidden);
    setText(guideNow, batch ? guideWords(data, batch.guided) : "");
    setText(teacherNow, batch ? teacherWords(data, batch.taught) : "");
    guideField.hidden = !form.asks_guide && !data.guide;
    teacherField.hidden = !form.asks_teacher && !data.teacher_model;
    random.element("guide").hidden = !form.asks_guide && !data.random.guide;
  }
  channel.remedies.push(
    {
      fits: ({ about }) => about === "guide",
      key: "ui.without_guide",
      act: () => channel.set({ data: channel.scenario.data.guide ? { guide: "" } : { guided: [] } }),
    },
    {
      fits: ({ about }) => aboutTeacher(about) && channel.scenario.data.teacher_model !== "",
      key: "ui.without_teacher",
      act: () => channel.set({ data: { teacher_model: "" } }),
    },
    {
      fits: ({ about }) => aboutTeacher(about) && hasWords(),
      key: "ui.choose_teacher",
      act: () => chooseIn(teacherName),
    },
  );

  // ---- Loss --------------------------------------------------------------------------------

  const lossChoice = lossSelect("lp-loss", (loss) => channel.choose(loss));
  const byName = lossFinder("lp-loss-name", (loss, name) => channel.choose(loss, name));
  const compared = lossSelect("lp-compare-with", compareWith);
  compared.element.dataset.title = "ui.compare_with";
  let unscored = false;
  function listLosses() {
    lossChoice.fill(
      groupsOf(losses, (name, { learns_from_positives }) => {
        const title = titleOf(name);
        return unscored && !learns_from_positives ? say("ui.needs_scores", { name: title }) : title;
      }),
    );
    compared.fill(groupsOf(losses), worded("option", "ui.compare_with", { value: "" }));
    lossChoice.set(channel.scenario.loss);
    byName.list();
  }
  listLosses();
  const overPositives = Object.entries(losses).find(
    ([, spec]) => spec.group === "in_batch" && spec.learns_from_positives,
  );
  channel.remedies.push({
    fits: ({ about }) => about === "scores" && overPositives !== undefined,
    key: "ui.loss_over_positives",
    act: () => overPositives && channel.choose(overPositives[0]),
  });
  channel.remedies.push({
    fits: ({ about }) => about === "lists" || about === "teacher",
    key: "ui.example_of_lists",
    act: () => channel.set({ data: { source: "example", example: "graded_lists" } }),
  });
  const combination = combiner("lp-combine", async (loss) => {
    await channel.learn(loss);
    const { loss: before, parameters: chosen } = channel.scenario;
    channel.choose(loss, "", carriedOver(before, chosen, loss));
  });
  const convention = conventionField("lp-convention", (name) => channel.choose(channel.scenario.loss, name));
  const parameters = parameterList((name, value) => channel.setParameter(name, value));
  const settings = h("summary");
  const settingsFold = h("details.lp-fold", { hidden: true }, settings, parameters.element);
  const namesFold = h(
    "details.lp-fold",
    {},
    worded("summary", "ui.other_losses"),
    byName.element,
    convention.element,
    combination.element,
    compared.element,
  );

  /**
   * Lead to Compare, with the batch that is here.
   * @param {string} other
   */
  async function compareWith(other) {
    compared.set("");
    const { scenario } = channel;
    const { loss, convention, parameters } = scenario;
    const sides = [
      { loss, convention, parameters },
      { loss: other, convention: "", parameters: {} },
    ];
    const { shared, isWhole } = shareable(scenario);
    const answer = await server.link(shared);
    if (!channel.check(answer)) return;
    const most = isWhole ? limits.link : 0;
    location.href = addressFor(sides, { link: answer?.link ?? "", most, scene: scenario });
  }

  function setParameters() {
    const { spec, form, scenario } = channel;
    const { loss, convention: name, parameters: chosen } = scenario;
    const lever = leverOf(form.parameters); // stands under the picture
    const rest = form.parameters.filter((one) => one !== lever);
    const key = `${loss}|${name}|${JSON.stringify(rest)}`; // one's own may get others
    const isNew = parameters.set(key, rest, chosen);
    setText(settings, say("ui.more_settings", { count: rest.length }));
    settingsFold.hidden = rest.length === 0;
    if (rest.some((one) => isChosen(one, chosen))) settingsFold.open = true;
    if (!isNew) return;
    convention.set(spec, name);
    if (name || loss.includes("+")) namesFold.open = true;
  }

  // ---- Rules -------------------------------------------------------------------------------

  const labels = labelRules("lp-", (rules) => channel.set({ rules }));
  const extra = h("input", {
    type: "checkbox",
    onchange: () => channel.set({ rules: { extra_negatives: extra.checked } }, { announce: false }),
  });
  const prototypes = h("textarea", { rows: 2, spellcheck: false });
  prototypes.addEventListener("change", () =>
    channel.set({ rules: { prototypes: prototypes.value } }, { announce: false }),
  );
  const twins = twinsField("lp-twins", ["keep", "leave_out"], (chosen) =>
    channel.set({ rules: { twins: chosen } }, { announce: true }),
  );
  const ruleText = h("ul.lp-rules");
  const rulesFold = h(
    "details.lp-fold",
    {},
    worded("summary", "ui.rules"),
    labels.element,
    ruleText,
    h("label.lp-check", {}, extra, worded("span", "ui.extra_negatives")),
    twins.element,
    labelled("ui.prototypes", prototypes),
  );
  channel.on("rules", () => {
    dataFold.open = rulesFold.open = true;
    labels.focus();
  });

  function describeRules() {
    const { batch } = channel;
    if (!batch) return;
    labels.tell(batch);
    const lines = [
      say("rule.positives", { count: batch.positives, all: batch.labels.length, threshold: show(batch.threshold) }),
      say("rule.negatives", { count: batch.negatives }),
      ...(batch.owned ? [say("rule.owned", { count: batch.owned })] : []),
      say("rule.classes", { count: batch.classes, sentences: batch.sentences.length }),
      say(batch.dimension ? "rule.vectors" : "rule.no_vectors", { dimension: batch.dimension }),
    ];
    if (batch.orthogonal) lines.push(say("rule.orthogonal"));
    if (batch.given) lines.push(say("rule.given"));
    lines.push(targetsOf(batch.label_range), say("rule.levels"), say("rule.logits"));
    ruleText.replaceChildren(...lines.map((line) => h("li", {}, line)));
  }

  // ---- Together ----------------------------------------------------------------------------

  const dataNow = h("small", { "data-batch-text": "" }); // which data are shown, while the fold is closed
  const dataFold = h(
    "details.lp-fold",
    {},
    h("summary", {}, worded("span", "ui.data_and_encoder"), " ", dataNow),
    sources.element,
    Object.values(panels),
    encoderFold,
    rulesFold,
  );
  root.append(section("ui.loss", lossChoice.element, asked, namesFold, settingsFold), skippedList, dataFold);
  reword(root);

  function words() {
    aboutSkipped();
    aboutData();
    aboutAsked();
    describeRules();
  }

  function aboutData() {
    const { data } = channel.scenario;
    const { note } = examples[data.example] ?? {};
    const name = data.source === "example" ? say(`example.${data.example}.title`) : "";
    setText(dataNow, name || data.file || say(`source.${data.source}`));
    setText(exampleAbout, [say(`example.${data.example}.about`), note ? say(note) : ""].join(" ").trim());
    const count = data.rows.length;
    const entered = say(channel.limited ? "ui.table_limited" : "ui.rows_entered", { count, most: limits.pairs });
    setText(tableNote, count ? [entered, channel.madeOf()].filter(Boolean).join(" ") : "");
    file.words();
    embedded.hidden = data.encoder === limits.encoder && !data.cross_encoder;
    setText(
      encoderNow,
      say(data.cross_encoder ? "ui.cross_now" : "ui.encoder_now", {
        name: data.cross_encoder || data.encoder,
      }),
    );
  }

  channel.on("scenario", () => {
    const { scenario } = channel;
    const { data, rules } = scenario;
    if (unscored !== channel.isUnscored) {
      unscored = !unscored;
      listLosses();
    }
    if (!lossChoice.has(scenario.loss)) listLosses();
    lossChoice.set(scenario.loss);
    combination.set(scenario.loss);
    setParameters();
    exampleChoice.value = data.example;
    random.set(data.random);
    sources.set(data.source === "table" ? (data.file ? "file" : "table") : data.source);
    labels.set(rules);
    extra.checked = rules.extra_negatives;
    twins.set(rules.twins);
    twins.element.hidden = !channel.form.counted;
    prototypes.value = rules.prototypes;
    encoderName.value = data.encoder;
    crossName.value = data.cross_encoder;
    guideName.value = data.guide;
    teacherName.value = data.teacher_model;
    words();
  });
  channel.on("picture", aboutAsked);
  channel.on("problem", aboutAsked);
  channel.on("pointed", () => parameters.light(channel.pointed.part?.of));
  channel.on("batch", () => {
    aboutAsked();
    aboutData();
    describeRules();
    copyExample.hidden = !channel.batch?.editable;
  });
  channel.on("language", () => {
    listLosses();
    combination.set(channel.scenario.loss);
    setParameters();
    file.relanguage();
    words();
  });
  channel.on("skipped", () => {
    aboutData();
    aboutSkipped();
  });

  // Rows that were left out: of the file by their numbers in it, of the table by theirs.
  function aboutSkipped() {
    const { source, file: name, reading } = channel.scenario.data;
    const isFile = source === "table" && name !== "";
    const ofFile = isFile
      ? reading.reasons.map(([row, key, values]) => ({ row, key, values: Object.fromEntries(values) }))
      : [];
    const count = (isFile ? reading.left_out : 0) + channel.skipped.length;
    tellSkipped(skippedList, count, [...ofFile, ...channel.skipped]);
  }

  channel.connect(server);
}
