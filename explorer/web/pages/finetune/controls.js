// The sidebar of the Fine-tune page: the plan of a run. Each control changes the plan and nothing
// else; what the server finds in it comes back as "checked".
import { combiner } from "../../kit/combination.js";
import { h, reword, worded } from "../../kit/dom.js";
import { foldable, labelled } from "../../kit/fields.js";
import { lossFinder } from "../../kit/finder.js";
import { labelRules, targetsOf } from "../../kit/label_rules.js";
import { percent, show } from "../../kit/numbers.js";
import { pageData } from "../../kit/page_data.js";
import { agree } from "../../kit/server.js";
import { conventionField, lossSelect, parameterList, tabbed, twinsField } from "../../kit/sidebar.js";
import { aboutOf } from "../../kit/sums.js";
import { aboutTrials, valuesOf } from "../../kit/trials.js";
import { say, titleOf } from "../../kit/words.js";
import { complaints, numberBoxes } from "./complaints.js";
import { dataFields, textBox } from "./data.js";
import { startBox } from "./start.js";

/** @typedef {import("../../wire").TrainingPlan} Plan */

/**
 * The name of a model as the reader typed it, who thereby agrees to fetch it.
 * @param {string} text
 */
function typed(text) {
  agree(text);
  return text.trim();
}

/**
 * What so few held-out pairs cannot tell.
 * @param {import("../../wire").Checked} checked
 */
function fewWords({ held_out: count, by_chance: reach, level }) {
  if (reach === null) return say("finetune.few_queries", { share: percent(1 / count) });
  return say("finetune.few", { count, reach: show(reach, 2), level });
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").FinetunePage} channel
 * @param {import("../../kit/types").Asking<import("../../wire").FinetuneServer>} server
 */
export default function controls(root, channel, server) {
  const { losses } = pageData;
  const facts = pageData.finetune;
  /** @param {import("./state.js").PlanChange} change */
  const set = (change) => channel.setPlan(change);
  const FEW = 30; // held-out pairs: below this it is said how little they tell

  const wrong = complaints();
  const { line, complain } = wrong;
  const numbers = numberBoxes(channel, wrong);
  /** @param {string} name */
  const number = (name) => numbers.box(name, (value) => set({ [name]: value }));
  const data = dataFields(channel, server, wrong);
  const found = h("p.lp-note");
  const dataWrong = line();
  const seeds = numbers.box("seeds", (value) => {
    channel.setBeside({ seeds: value });
    start.tellTime();
  });
  const start = startBox(channel, wrong, seeds);

  // ---- Encoder -----------------------------------------------------------------------------

  const named = new Map([
    ["embedded", facts.embedded],
    ["scratch", facts.scratch],
  ]);
  // The rate that suits vectors from scratch would wreck a transformer: the other kind has its own.
  function chooseEncoder() {
    const encoder = named.get(encoderChoice.value) ?? channel.beside.model;
    const sameKind = (encoder === facts.scratch) === (channel.plan.encoder === facts.scratch);
    set({ encoder, ...(sameKind ? {} : { learning_rate: 0 }) });
  }
  const encoderChoice = h(
    "select",
    { id: "lp-finetune-encoder", onchange: chooseEncoder },
    ["embedded", "scratch", "other"].map((name) => worded("option", `finetune.encoder.${name}`, { value: name })),
  );
  const encoderName = textBox(channel, "encoder-name", (text) => ({ encoder: typed(text) }));
  const encoderField = labelled("ui.encoder_name", encoderName);
  const encoderAbout = h("p.lp-note");
  const encoderWrong = line();
  const kinds = tabbed(
    {
      called: (name) => `finetune.kind.${name}`,
      names: /** @type {("bi" | "cross")[]} */ (["bi", "cross"]),
      tabId: "lp-finetune-kind",
      label: "finetune.kind",
    },
    (kind) => set({ kind }),
  );

  // ---- Loss --------------------------------------------------------------------------------

  const lossChoice = lossSelect("lp-finetune-loss", (loss) => set({ loss, convention: "", parameters: {} }));
  const byName = lossFinder("lp-finetune-loss-name", (loss, name) => set({ loss, convention: name, parameters: {} }));
  const combination = combiner("lp-finetune-combine", (loss) => channel.combine(loss));
  const lossAbout = h("p.lp-note");
  const lossWrong = line();
  const convention = conventionField("lp-finetune-convention", (name) => set({ convention: name, parameters: {} }));
  const parameters = parameterList((name, value) => set({ parameters: { ...channel.plan.parameters, [name]: value } }));
  const trials = h("div.lp-trials");
  const refused = h("ul.lp-rules");
  const refusedSummary = h("summary");
  const refusedBox = h("details.lp-refused", {}, refusedSummary, refused);

  function listLosses() {
    const reasons = channel.checked?.losses ?? {};
    const all = Object.entries(losses);
    const able = all.filter(([name]) => !reasons[name]);
    const unable = all.flatMap(([name]) => {
      const reason = reasons[name];
      return reason ? [{ name, title: titleOf(name), reason }] : [];
    });
    const others = unable.map(({ name, title }) => [name, title]);
    const groups = [...new Set(able.map(([, spec]) => spec.group))].map((group) => ({
      label: say(`group.${group}`),
      losses: able.filter(([, spec]) => spec.group === group).map(([name]) => [name, titleOf(name)]),
    }));
    start.fillLosses(groups);
    lossChoice.fill(unable.length ? [...groups, { label: say("finetune.unable"), losses: others }] : groups);
    lossChoice.set(channel.plan.loss);
    byName.list();
    refusedBox.hidden = !unable.length;
    refusedSummary.textContent = say("finetune.refused", { count: unable.length });
    refused.replaceChildren(
      ...unable.map(({ title, reason }) => h("li", {}, h("b", {}, `${title}: `), say(reason.key, reason.values))),
    );
  }

  function fillParameters() {
    const { plan } = channel;
    const spec = losses[plan.loss];
    if (!spec) return;
    const form = spec.conventions[plan.convention];
    if (!parameters.set(`${plan.loss}|${plan.convention}`, form.parameters, plan.parameters)) return;
    convention.set(spec, plan.convention);
    combination.set(plan.loss);
    lossAbout.textContent = aboutOf(plan.loss);
  }

  // What each number of the loss can be tried at.
  function offerTrials() {
    const { checked } = channel;
    const able = checked && !checked.error && !checked.refused ? checked.trials : [];
    const about = able.length ? aboutTrials(able[0], "trials.about") : "";
    trials.replaceChildren(
      ...able.map((offer) => {
        const press = h(
          "button.lp-button",
          { type: "button", name: offer.parameter, disabled: !offer.values.length },
          say("trials.try", { values: valuesOf(offer) }),
        );
        press.addEventListener("click", async () => {
          press.disabled = true;
          await channel.tryValues(channel.plan, offer.parameter);
          press.disabled = false;
        });
        return press;
      }),
      h("p.lp-note", {}, about),
    );
  }

  // ---- How -----------------------------------------------------------------------------------

  const schedule = h(
    "select",
    { id: "lp-finetune-schedule", onchange: () => set({ schedule: /** @type {Plan["schedule"]} */ (schedule.value) }) },
    facts.schedules.map((name) => worded("option", `finetune.schedule.${name}`, { value: name })),
  );
  const sampler = h(
    "select",
    { id: "lp-finetune-sampler", onchange: () => set({ sampler: /** @type {Plan["sampler"]} */ (sampler.value) }) },
    worded("option", "finetune.sampler.usual", { value: "" }),
    facts.samplers.map((name) => worded("option", `sampler.${name}`, { value: name })),
  );
  const bf16 = h("input", { type: "checkbox", id: "lp-finetune-bf16", onchange: () => set({ bf16: bf16.checked }) });
  const extra = h("input", {
    type: "checkbox",
    id: "lp-finetune-extra_negatives",
    onchange: () => set({ extra_negatives: extra.checked }),
  });
  const labels = labelRules("lp-finetune-", set);
  const targets = h("p.lp-note");
  const twins = twinsField(
    "lp-finetune-twins",
    /** @type {Plan["twins"][]} */ (["apart", "leave_out", "keep"]),
    (kind) => set({ twins: kind }),
  );
  // What a loss asks beside the encoder that is trained.
  const guideName = textBox(channel, "guide", (text) => ({ guide: typed(text) }));
  const guideAbout = h("p.lp-note");
  const guideWrong = line();
  const guideBox = h("div", { hidden: true }, labelled("ui.guide", guideName), guideAbout, guideWrong);
  const teacherName = textBox(channel, "teacher", (text) => ({ teacher_model: typed(text) }));
  const teacherAbout = h("p.lp-note");
  const teacherWrong = line();
  const teacherBox = h("div", { hidden: true }, labelled("ui.teacher", teacherName), teacherAbout, teacherWrong);
  function tellModels() {
    const { plan, checked } = channel;
    const form = losses[plan.loss]?.conventions[plan.convention];
    guideBox.hidden = !form?.asks_guide && !plan.guide;
    teacherBox.hidden = !form?.asks_teacher && !plan.teacher_model;
    guideName.value = plan.guide;
    teacherName.value = plan.teacher_model;
    guideAbout.textContent = plan.guide
      ? say(form?.asks_guide ? "finetune.guide_about" : "finetune.no_guide_asked")
      : say(checked?.guide_unread ? "finetune.guide_unread" : "finetune.own_guide");
    const count = checked?.asked;
    teacherAbout.textContent = plan.teacher_model
      ? form?.asks_teacher
        ? count
          ? say("finetune.teacher_about", { count })
          : ""
        : say("finetune.no_teacher_asked")
      : say(checked?.taught ? "ui.teacher_given" : "ui.teacher_none");
  }
  function tellTwins() {
    const form = losses[channel.plan.loss]?.conventions[channel.plan.convention];
    const { twins: chosen, sampler: drawn } = channel.plan;
    // A sampler that was chosen decides whether texts are kept apart.
    const usual = drawn === "" ? "apart" : "keep";
    const able = /** @type {Plan["twins"][]} */ ([
      ...(drawn === "" ? ["apart"] : []),
      ...(form?.counted ? ["leave_out"] : []),
      "keep",
    ]);
    twins.set(able.includes(chosen) ? chosen : usual, able);
    twins.element.hidden = !form?.negatives_of_batch || able.length < 2 || drawn === "no_duplicates";
  }
  const augment = facts.augmentations.map((kind) => {
    const box = h("input", {
      type: "checkbox",
      id: `lp-finetune-${kind}`,
      onchange: () => set({ data: { augment: augment.filter((one) => one.box.checked).map((one) => one.kind) } }),
    });
    return { kind, box, element: h("label.lp-check", {}, box, worded("span", `finetune.augment.${kind}`)) };
  });
  const scratchOnly = h("div", {}, number("vocabulary"), number("dimension"));
  const layersOnly = h("div", {}, number("layers"), number("lora"));
  const rateNote = h("p.lp-note");
  const rowsNote = h("p.lp-note", { id: "lp-finetune-rows" });

  // ---- Together ----------------------------------------------------------------------------

  root.append(
    foldable("ui.data", ...data.elements, found, dataWrong),
    foldable(
      "ui.encoder",
      labelled("finetune.encoder", encoderChoice),
      encoderField,
      encoderAbout,
      kinds.element,
      encoderWrong,
    ),
    foldable(
      "ui.loss",
      lossChoice.element,
      byName.element,
      lossWrong,
      lossAbout,
      combination.element,
      convention.element,
      guideBox,
      teacherBox,
      parameters.element,
      trials,
      worded("h3", "finetune.kept"),
      ...start.losses,
      refusedBox,
    ),
    h(
      "details.lp-fold",
      {},
      worded("summary", "finetune.how"),
      h(
        "div.lp-pair-of-fields",
        {},
        numbers.box("epochs", (epochs) => set({ epochs, steps: 0 })),
        ["steps", "batch_size", "learning_rate"].map(number),
      ),
      rowsNote,
      rateNote,
      labelled("finetune.schedule", schedule),
      h("div.lp-pair-of-fields", {}, ["warmup", "weight_decay", "clipping", "evaluations", "seed"].map(number)),
      labels.element,
      targets,
      labelled("finetune.sampler", sampler),
      scratchOnly,
      layersOnly,
      h("label.lp-check", {}, bf16, worded("span", "finetune.bf16")),
      h("label.lp-check", {}, extra, worded("span", "ui.extra_negatives")),
      twins.element,
      augment.map((one) => one.element),
    ),
    start.element,
  );
  reword(root);

  function fill() {
    const { plan } = channel;
    data.fill();
    const choice = [...named].find(([, encoder]) => encoder === plan.encoder)?.[0] ?? "other";
    encoderChoice.value = choice;
    encoderField.hidden = choice !== "other";
    if (choice === "other") channel.setBeside({ model: plan.encoder });
    encoderName.value = channel.beside.model;
    encoderAbout.textContent = say(`finetune.encoder.${choice}.about`);
    scratchOnly.hidden = choice !== "scratch";
    layersOnly.hidden = choice === "scratch";
    kinds.set(plan.kind);
    if (lossChoice.has(plan.loss)) lossChoice.set(plan.loss);
    else listLosses(); // a sum that was not heard of before
    fillParameters();
    numbers.fill();
    schedule.value = plan.schedule;
    sampler.value = plan.sampler;
    bf16.checked = plan.bf16;
    extra.checked = plan.extra_negatives;
    labels.set(plan);
    tellTwins();
    tellModels();
    for (const { kind, box } of augment) box.checked = plan.data.augment.includes(kind);
    start.fill();
  }

  function tellChecked() {
    const { checked } = channel;
    if (!checked) return;
    // Each sentence stands where it can be put right.
    const { error } = checked;
    /** @type {Partial<Record<string, HTMLElement>>} */
    const places = {
      encoder: encoderWrong,
      guide: guideWrong,
      teacher: teacherWrong,
      loss: lossWrong,
      scores: lossWrong,
    };
    const of = places[error?.about ?? ""] ?? dataWrong;
    for (const one of [dataWrong, encoderWrong, guideWrong, teacherWrong]) complain(one, null);
    complain(lossWrong, checked.refused);
    offerTrials();
    tellModels();
    if (error && !(of === dataWrong && data.isTold(error))) complain(of, error);
    found.hidden = Boolean(error);
    if (checked.labels) {
      const [low, high, count] = checked.labels;
      found.textContent = [
        say(checked.labelled ? "finetune.found" : "finetune.found_positives", {
          train: checked.train,
          held_out: checked.held_out,
          low: show(low),
          high: show(high),
          count,
        }),
        checked.skipped ? say("finetune.left_out", { count: checked.skipped }) : "",
        ...(checked.notes ?? []).map(({ key, values }) => say(key, values)),
        checked.held_out < FEW ? fewWords(checked) : "",
        checked.shared ? say("finetune.shared", { count: checked.shared }) : "",
      ]
        .join(" ")
        .trim();
      rateNote.textContent = channel.plan.learning_rate ? "" : say("finetune.usual_rate", { rate: show(checked.rate) });
      const { form, examples } = checked;
      rowsNote.hidden = !form || form === "pairs";
      rowsNote.textContent = form && form !== "pairs" ? say(`finetune.rows.${form}`, { count: examples }) : "";
      labels.tell(checked.rules);
      targets.textContent = targetsOf(checked.rules.label_range);
      listLosses();
    }
    start.tellChecked();
  }

  channel.on("plan", () => {
    channel.cancel();
    fill();
  });
  channel.on("checked", tellChecked);
  channel.on("language", () => {
    fill();
    tellChecked();
    listLosses();
    data.reword();
    wrong.reword();
  });
  // Someone who has pairs is led to where they are asked for.
  channel.on("own", () => {
    root.querySelector("details")?.setAttribute("open", "");
    data.lead();
  });
  // What another button than these has put here is shown to have changed.
  channel.on("taken", () => {
    root.classList.remove("lp-taken");
    void root.offsetWidth; // so that it begins anew
    root.classList.add("lp-taken");
  });
  listLosses();
  channel.connect(server);
  data.describe();
}
