// Where the pairs of a plan come from: ready-made ones, files, a scene of Explore, a set of the hub.
import { find, h, reword, worded } from "../../kit/dom.js";
import { labelled, slider } from "../../kit/fields.js";
import { sent, tooLarge, withLabels } from "../../kit/files.js";
import { pageData } from "../../kit/page_data.js";
import { newestOf } from "../../kit/request.js";
import { agreeToSet, GONE } from "../../kit/server.js";
import { columnFields, encodingField, filePicker, tabbed } from "../../kit/sidebar.js";
import { stored } from "../../kit/storage.js";
import { say } from "../../kit/words.js";
import { lossOf, wholeLossOf } from "./naming.js";

/** @typedef {import("./state.js").PlanChange} PlanChange */
/** @typedef {import("./state.js").Answer<"hand_in">} FileAnswer */
/** @typedef {"file" | "held_out_file"} Entry a file to learn from, or one that is held out */

/**
 * A box for text: kept with every key, looked into when it is left.
 * @param {import("./state.js").FinetunePage} channel
 * @param {string} id
 * @param {(text: string) => PlanChange} put
 * @param {object} look
 */
export function textBox(channel, id, put, look = {}) {
  const box = h("input", {
    type: "text",
    id: `lp-finetune-${id}`,
    spellcheck: false,
    ...look,
    oninput: () => channel.note(put(box.value)),
    onchange: () => channel.setPlan(put(box.value)),
  });
  return box;
}

/**
 * @param {import("./state.js").FinetunePage} channel
 * @param {import("../../kit/types").Asking<import("../../wire").FinetuneServer>} server
 * @param {import("./complaints.js").Complaints} complaints
 */
export function dataFields(channel, server, { line, complain }) {
  const { limits } = pageData;
  const facts = pageData.finetune;
  /** @param {PlanChange["data"]} data */
  const set = (data) => channel.setPlan({ data });

  const SOURCES = ["example", "file", "link", "hub"];
  const ready = h(
    "select",
    {
      id: "lp-finetune-example",
      onchange: () =>
        set(
          facts.practice.includes(ready.value)
            ? { source: "practice", practice: ready.value }
            : { source: "example", example: ready.value },
        ),
    },
    [...facts.practice, ...facts.examples].map((name) => worded("option", `example.${name}.title`, { value: name })),
  );
  const readyAbout = h("p.lp-note");

  const link = textBox(channel, "link", (text) => ({ data: { link: text } }));
  // A scene says more than its pairs: the loss that was chosen there, and the rules.
  const takeScene = h("button.lp-button", {
    type: "button",
    id: "lp-finetune-take-scene",
    hidden: true,
    onclick: () => channel.takeOver(structuredClone(channel.checked?.of_scene ?? {})),
  });
  function offerScene() {
    const { plan, checked } = channel;
    const scene = plan.data.source === "link" ? checked?.of_scene : null;
    /** @param {import("../../wire").ChosenThere} chosen */
    const said = (chosen) =>
      JSON.stringify([
        wholeLossOf(chosen),
        chosen.threshold,
        chosen.label_range,
        chosen.extra_negatives,
        scene?.twins && chosen.twins,
        scene?.guide && chosen.guide,
        scene?.teacher_model && chosen.teacher_model,
      ]);
    takeScene.hidden = !scene || said(scene) === said(plan);
    if (scene && !takeScene.hidden) takeScene.textContent = say("finetune.take_scene", { name: lossOf(scene) });
  }
  const typedHub = (/** @type {string} */ text) => {
    agreeToSet(text);
    return { data: { hub: text.trim() } };
  };
  const hub = textBox(channel, "hub", typedHub, {
    placeholder: "sentence-transformers/stsb",
  });
  const part = textBox(channel, "split", (text) => ({ data: { split: text.trim() || "train" } }));

  /** @returns {{ told: HTMLElement, failed: HTMLElement, columns: HTMLElement, leave: HTMLElement,
   *   newest: ReturnType<typeof newestOf>, answer: FileAnswer | null }} */
  function fileState() {
    const leave = worded("button.lp-button", "finetune.leave_file", {
      type: "button",
      hidden: true,
      onclick: leaveFile,
    });
    return {
      told: h("p.lp-note"),
      failed: line(),
      columns: h("div.lp-columns"),
      leave,
      newest: newestOf(),
      answer: null,
    };
  }
  const files = { file: fileState(), held_out_file: fileState() };
  const entries = /** @type {Entry[]} */ (["file", "held_out_file"]);

  /**
   * @param {Entry} entry
   * @param {string} title
   */
  function fileField(entry, title) {
    const { told, failed, columns, leave } = files[entry];
    const picker = filePicker({ id: `lp-finetune-${entry}`, title }, (file) => handIn(entry, file));
    return h("div.lp-panel", {}, picker, told, failed, columns, entry === "held_out_file" ? leave : null);
  }

  /**
   * @param {Entry} entry
   * @param {File} file
   */
  async function handIn(entry, file) {
    const refusal = tooLarge(file, limits.bytes);
    if (refusal) {
      complain(files[entry].failed, refusal);
      return;
    }
    files[entry].told.textContent = file.name;
    const answer = await hear(entry, async () => server.hand_in(await sent(file)));
    if (answer.error) {
      await describe(entry); // the file of before is still there
      complain(files[entry].failed, answer.error);
      return;
    }
    set(
      entry === "file"
        ? { source: "file", file: answer.file, name: answer.name, columns: [], encoding: "", alternatives: [] }
        : { held_out_file: answer.file, held_out_name: answer.name },
    );
    tellFile(entry);
    describe("held_out_file"); // it is read by the columns of the other
  }

  /**
   * What the server says of a file: one handed in, or one of before, after a reload or by other columns.
   * @param {Entry} entry
   * @param {() => Promise<FileAnswer | null>} ask
   */
  async function hear(entry, ask) {
    const file = files[entry];
    const answer = (await file.newest(ask)) ?? { error: GONE };
    file.answer = answer.error ? null : answer;
    complain(file.failed, answer.problem);
    tellFile(entry);
    return answer;
  }

  /** @param {Entry} entry */
  function describe(entry) {
    const { [entry]: file, name, held_out_name: held, columns, encoding } = channel.plan.data;
    const isHeld = entry === "held_out_file";
    const asked = { file, name: isHeld ? held : name, columns, encoding, held_out: isHeld };
    return file ? hear(entry, () => server.describe(asked)) : null;
  }

  const describeAll = () => entries.forEach(describe);

  function leaveFile() {
    files.held_out_file.answer = null;
    set({ held_out_file: "", held_out_name: "" });
    tellFile("held_out_file");
  }

  /** @param {Entry} entry */
  function tellFile(entry) {
    const { told, leave, answer } = files[entry];
    const read = answer && !answer.problem ? say("ui.file_read", answer) : (answer?.name ?? "");
    told.textContent = withLabels(read, answer, entry === "file");
    leave.hidden = !answer;
    if (entry === "file") offerColumns(answer);
  }

  /**
   * Which column is what, and which hold another wording of the first sentence.
   * @param {FileAnswer | null} answer
   */
  function offerColumns(answer) {
    const box = files.file.columns;
    const held = box.contains(document.activeElement) ? document.activeElement?.getAttribute("name") : null;
    box.replaceChildren();
    if (!answer?.columns) return;
    const { chosen, unread = [] } = answer;
    /** @type {(role: string, column: string) => void} */
    const take = (role, column) => {
      const now = Object.entries({ ...chosen, ...channel.plan.data.columns, [role]: column });
      set({ columns: Object.fromEntries(now.filter(([, one]) => one)), alternatives: [] });
      describeAll();
    };
    /** @param {string} column */
    const tick = (column) => {
      const ticked = h("input", {
        type: "checkbox",
        name: column,
        checked: channel.plan.data.alternatives.includes(column),
        onchange: () => {
          const others = channel.plan.data.alternatives.filter((one) => one !== column);
          set({ alternatives: ticked.checked ? [...others, column] : others });
        },
      });
      return h("label.lp-check", {}, ticked, h("span", {}, column));
    };
    /** @param {string} encoding */
    const reread = (encoding) => {
      set({ encoding, columns: [], alternatives: [] });
      describeAll();
    };
    box.append(
      ...encodingField(answer, reread),
      ...columnFields(answer, take),
      ...(unread.length ? [worded("p.lp-note", "finetune.alternatives"), ...unread.map(tick)] : []),
    );
    reword(box);
    /** @type {HTMLElement | null} */
    const again = held ? box.querySelector(`[name="${CSS.escape(held)}"]`) : null;
    again?.focus();
  }

  const panels = {
    example: h("div.lp-panel", {}, labelled("finetune.ready", ready), readyAbout),
    file: h(
      "div",
      {},
      worded("p.lp-note", "finetune.file_about"),
      fileField("file", "ui.drop_file"),
      fileField("held_out_file", "finetune.held_out_file"),
    ),
    link: h("div.lp-panel", {}, worded("p.lp-note", "finetune.link_about"), labelled("finetune.link", link), takeScene),
    hub: h("div.lp-panel", {}, labelled("finetune.hub", hub), labelled("finetune.split", part)),
  };
  const sources = tabbed(
    {
      called: (name) => `finetune.source.${name}`,
      names: SOURCES,
      tabId: "lp-finetune-source",
      label: "finetune.source",
      panels,
      panelId: "lp-finetune-panel",
    },
    openTab,
  );
  /** @param {string} tab */
  function openTab(tab) {
    const source = tab === "example" ? (facts.practice.includes(ready.value) ? "practice" : "example") : tab;
    const scene = tab === "link" && !channel.plan.data.link ? { link: stored("scene") ?? "" } : {};
    set({ source, ...scene });
  }
  const share = slider({
    key: "finetune.held_out_share",
    low: 0.05,
    high: 0.5,
    step: 0.05,
    initial: channel.store.usual.plan.data.held_out_share,
    change: (value) => set({ held_out_share: value }),
    name: "held_out_share",
  });

  function fill() {
    const { data } = channel.plan;
    const tab = data.source === "practice" ? "example" : data.source;
    sources.set(tab);
    if (tab === "example") channel.setBeside({ ready: data.source === "practice" ? data.practice : data.example });
    ready.value = channel.beside.ready;
    readyAbout.textContent = say(`example.${ready.value}.about`);
    link.value = data.link;
    hub.value = data.hub;
    part.value = data.split;
    share.set(data.held_out_share);
    share.element.hidden = tab === "file" && Boolean(data.held_out_file);
    offerScene();
  }

  channel.on("checked", offerScene);
  return {
    elements: [sources.element, ...Object.values(panels), share.element],
    fill,
    // What is wrong with the file is said there already.
    /** @param {import("../../kit/types").Notice} problem */
    isTold: (problem) =>
      channel.plan.data.source === "file" && files.file.failed.textContent === say(problem.key, problem.values),
    describe: describeAll,
    reword: () => entries.forEach(tellFile),
    // Lead whoever has pairs to where they are asked for.
    lead() {
      set({ source: "file" });
      const drop = find(panels.file, ".lp-drop");
      drop.scrollIntoView({ block: "center" });
      drop.focus();
    },
  };
}
