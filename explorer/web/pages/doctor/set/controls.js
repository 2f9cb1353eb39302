// The sidebar of the second door: where the data set comes from, the loss and the batch size that it is
// examined for.
import { fileArrival } from "../../../kit/arrival.js";
import { clip, h, reword, worded } from "../../../kit/dom.js";
import { labelled, numberField, section } from "../../../kit/fields.js";
import { withLabels } from "../../../kit/files.js";
import { grouped } from "../../../kit/numbers.js";
import { pageData } from "../../../kit/page_data.js";
import { agree, agreeToSet, GONE } from "../../../kit/server.js";
import { check, columnFields, encodingField, groupsOf, lossSelect, tabbed, tellSkipped } from "../../../kit/sidebar.js";
import { say } from "../../../kit/words.js";

const TYPING_MS = 400;
const LARGEST_SLID = 4096; // batch that the slider reaches

/**
 * The columns to begin with where the rows are taken for texts with classes, or for pairs again.
 * @param {boolean} ofClasses
 * @param {Record<string, string>} chosen
 * @param {string[]} names
 * @returns {Record<string, string>}
 */
export function guessed(ofClasses, chosen, names) {
  const known = (/** @type {string | undefined} */ name) => (name && names.includes(name) ? name : "");
  const other = (/** @type {string} */ name) => names.find((one) => one !== name) ?? "";
  const text = known(chosen.text) || known(chosen.first) || known(chosen.anchor);
  if (ofClasses) {
    const kind = known(chosen.score) || names[names.length - 1];
    return { text: text && text !== kind ? text : other(kind), class: kind };
  }
  const first = text || names[0];
  const pair = { first, second: other(first) };
  return names.length === 2 ? { ...pair, score: "none" } : pair; // nothing is left to be a label
}

/** @param {import("../state.js").DoctorPage} channel */
export default function dataControls(channel) {
  const door = channel.data;
  const facts = pageData.doctor;

  const sets = h(
    "select",
    { id: "lp-doctor-set", onchange: () => door.begin({ kind: "example", example: sets.value }) },
    facts.sets.map((name) => worded("option", `example.${name}.title`, { value: name })),
  );
  const setAbout = h("p.lp-note");

  const fileNote = h("p.lp-note");
  const arrival = fileArrival(channel, {
    id: "lp-doctor-file",
    kinds: "doctor.file_kinds",
    most: facts.bytes,
    note: fileNote,
    put: async (piece) => (await channel.server?.hand_in(piece)) ?? { error: GONE },
    take: (file, name) => door.begin({ kind: "file", file, name }),
  });

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  const pasted = h("textarea.lp-pasted", {
    id: "lp-doctor-pasted",
    rows: 8,
    spellcheck: false,
    placeholder: "sentence1\tsentence2\tscore",
    oninput: () => {
      clearTimeout(typing);
      typing = setTimeout(() => door.begin({ kind: "typed", pasted: pasted.value }), TYPING_MS);
    },
  });

  const hub = h("input", {
    type: "text",
    id: "lp-doctor-hub",
    spellcheck: false,
    placeholder: "sentence-transformers/stsb",
    onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && readHub(),
  });
  const part = h("input", { type: "text", id: "lp-doctor-split", spellcheck: false });
  const rows = numberField(entryOf("rows"), {
    key: "doctor.hub_rows",
    name: "rows",
    logarithmic: true,
    change: (value) => {
      wantedRows = value;
    },
  });
  let wantedRows = Number(entryOf("rows").default);
  function readHub() {
    if (!hub.value.trim()) return hub.focus();
    agreeToSet(hub.value);
    door.begin({ kind: "hub", hub: hub.value.trim(), split: part.value.trim() || "train", rows: wantedRows });
  }
  const hubRead = h("p.lp-note");

  const columns = h("div.lp-columns");
  const skipped = h("ul.lp-skipped", { hidden: true });

  const panels = {
    example: h("div.lp-panel", {}, labelled("doctor.set", sets), setAbout),
    file: h("div.lp-panel", {}, arrival, fileNote),
    hub: h(
      "div.lp-panel",
      {},
      labelled("doctor.hub", hub),
      labelled("doctor.hub_split", part),
      rows.element,
      worded("button.lp-button", "doctor.hub_fetch", { type: "button", id: "lp-doctor-fetch", onclick: readHub }),
      hubRead,
      worded("p.lp-note", "doctor.hub_about"),
    ),
    typed: h("div.lp-panel", {}, labelled("doctor.pasted", pasted)),
  };
  const sources = tabbed(
    {
      called: (name) => `doctor.from.${name}`,
      names: /** @type {(keyof typeof panels)[]} */ (Object.keys(panels)),
      tabId: "lp-doctor-from",
      label: "doctor.from",
      panels,
      panelId: "lp-doctor-from-panel",
    },
    (kind) => door.begin({ kind }),
  );

  const loss = lossSelect("lp-doctor-for", (name) => door.set({ loss: name }));
  const batch = numberField(entryOf("batch"), {
    key: "doctor.batch_size",
    name: "batch",
    high: LARGEST_SLID,
    logarithmic: true,
    change: (value) => door.set({ batch: value }),
  });
  const tokens = h("input", {
    type: "number",
    id: "lp-doctor-tokens",
    min: 0,
    max: entryOf("tokens").high,
    step: 1,
    oninput: () => {
      const value = Number(tokens.value);
      const fits = Number.isInteger(value) && value >= 0 && value <= (entryOf("tokens").high ?? 0);
      tokens.classList.toggle("lp-bad", !fits);
      if (fits) door.set({ tokens: value });
    },
  });

  const margin = h("input", {
    type: "number",
    id: "lp-doctor-margin",
    step: "any",
    oninput: () => {
      if (!margin.validity.badInput) door.set({ margin: margin.value === "" ? null : Number(margin.value) });
    },
  });
  const marginBox = labelled("doctor.for_margin", margin);

  const encoder = h("input", {
    type: "text",
    id: "lp-doctor-encoder",
    spellcheck: false,
    placeholder: facts.encoder,
  });
  const most = numberField(entryOf("most"), {
    key: "doctor.encoded_pairs",
    name: "most",
    logarithmic: true,
    change: (value) => {
      wanted = value;
    },
  });
  let wanted = Number(entryOf("most").default);
  const encode = worded("button.lp-button", "doctor.encode", {
    type: "button",
    id: "lp-doctor-encode",
    onclick: () => {
      agree(encoder.value);
      door.set({ encoder: encoder.value.trim() || facts.encoder, most: wanted });
    },
  });
  const leave = worded("button.lp-button", "doctor.without", {
    type: "button",
    hidden: true,
    onclick: () => door.set({ encoder: "" }),
  });

  /** @param {string} name */
  function entryOf(name) {
    const entry = channel.store.table.get(`data.${name}`);
    if (!entry) throw new RangeError(name);
    return entry;
  }

  function listLosses() {
    const ours = Object.entries(pageData.losses).filter(([, { group }]) => group !== "own");
    loss.fill(groupsOf(Object.fromEntries(ours)));
    loss.set(door.state.loss);
  }

  function tellFile() {
    const { kind, name } = door.state;
    const read = door.read;
    const file = read?.findings ? read.file : read?.undecided ? read : null;
    const unread = kind === "example" || !file;
    columns.hidden = unread;
    if (unread) skipped.hidden = true;
    hubRead.textContent = "";
    if (!file) {
      fileNote.textContent = kind === "file" && name ? clip(name) : "";
      return;
    }
    const called = kind === "file" ? name : kind === "hub" ? door.state.hub : say("doctor.pasted_table");
    const note = kind === "hub" ? hubRead : fileNote;
    note.textContent = [told(file, called), kind === "file" ? say("doctor.file_again") : ""].join(" ");
    const chosen = { ...file.chosen };
    /** @type {(role: string, column: string) => void} */
    const take = (role, column) => {
      chosen[role] = column;
      if ("anchor" in chosen || (chosen.first && chosen.second) || (chosen.text && chosen.class))
        door.set({ columns: Object.fromEntries(Object.entries(chosen).filter(([, one]) => one)) });
    };
    columns.replaceChildren(...encodingField(file, (encoding) => door.set({ encoding, header: null, columns: {} })));
    if (file.columns.length > 1) columns.append(kindField(file));
    if (file.columns.length)
      columns.append(
        ...columnFields({ ...file, chosen }, take),
        check("ui.has_header", file.header, (header) => door.set({ header, columns: {} })),
      );
    reword(columns);
    tellSkipped(skipped, file.skipped, file.told);
  }

  /**
   * Whether the rows are pairs, or texts with their classes: of a table that can be either.
   * @param {import("../../../wire").LargeFile | import("../../../wire").UndecidedData} file
   */
  function kindField({ chosen, columns: names, header }) {
    const ofClasses = "class" in chosen;
    // Read otherwise, the first row might no longer be taken for the names that were chosen from.
    const turn = () => door.set({ columns: guessed(select.value === "classes", chosen, names), header });
    const select = h(
      "select",
      { name: "kind", onchange: turn },
      ["pairs", "classes"].map((kind) => worded("option", `doctor.rows_are.${kind}`, { value: kind })),
    );
    select.value = ofClasses ? "classes" : "pairs";
    return labelled("doctor.rows_are", select);
  }

  /**
   * @param {import("../../../wire").LargeFile | import("../../../wire").UndecidedData} file
   * @param {string} name
   */
  function told(file, name) {
    if ("undecided" in file) return say(file.columns.length ? "ui.file_undecided" : "ui.encoding_undecided", { name });
    const counts = { name: clip(name), used: grouped(file.used), total: grouped(file.total) };
    const ofClasses = "class" in file.chosen;
    const read = say(ofClasses ? "doctor.class.read" : file.limited ? "large.file_limited" : "large.file_read", counts);
    return withLabels(read, file);
  }

  function fill() {
    const { kind, example, loss: chosen, batch: size, tokens: length, margin: beyond } = door.state;
    sources.set(kind);
    sets.value = example;
    setAbout.textContent = say(`example.${example}.about`);
    if (document.activeElement !== pasted) pasted.value = door.state.pasted;
    if (door.state.hub) {
      hub.value = door.state.hub;
      part.value = door.state.split;
    }
    part.placeholder = String(entryOf("split").default);
    wantedRows = door.state.rows;
    rows.set(wantedRows);
    loss.set(chosen);
    batch.set(size);
    marginBox.hidden = !facts.with_margin.includes(chosen);
    if (document.activeElement !== margin) margin.value = beyond === null ? "" : String(beyond);
    if (document.activeElement !== tokens) tokens.value = String(length);
    if (door.state.encoder) encoder.value = door.state.encoder;
    leave.hidden = !door.state.encoder;
    wanted = door.state.most;
    most.set(wanted);
    tellFile();
  }

  channel.on("state", fill);
  channel.on("examined", tellFile);
  channel.on("language", () => {
    listLosses();
    fill();
  });
  listLosses();
  return h(
    "div",
    {},
    section("doctor.data_set", sources.element, Object.values(panels), columns, skipped),
    section("doctor.examined_for", loss.element, batch.element, marginBox, labelled("doctor.tokens", tokens)),
    section(
      "doctor.encoder",
      labelled("ui.encoder", encoder),
      most.element,
      h("div.lp-row.lp-wrap", {}, encode, leave),
      worded("p.lp-note", "doctor.encoder_note"),
    ),
  );
}
