// The sidebar of the third door: the log of a run, its curves, and what is known beside it.
import { fileArrival } from "../../../kit/arrival.js";
import { clip, h, worded } from "../../../kit/dom.js";
import { foldable, labelled, section } from "../../../kit/fields.js";
import { pageData } from "../../../kit/page_data.js";
import { agree, GONE } from "../../../kit/server.js";
import { tabbed } from "../../../kit/sidebar.js";
import { say } from "../../../kit/words.js";

/**
 * @param {import("../state.js").DoctorPage} channel
 * @param {string} names id of the list of the names of losses
 */
export default function runControls(channel, names) {
  const door = channel.run;
  const { logs, log_bytes: bytes, counts, settings, of_other } = pageData.doctor;

  const examples = h(
    "select",
    { id: "lp-doctor-log", onchange: () => door.begin({ kind: "example", example: examples.value }) },
    logs.map((name) => worded("option", `doctor.log.${name}`, { value: name })),
  );
  const fileNote = h("p.lp-note");
  const arrival = fileArrival(channel, {
    id: "lp-doctor-log-file",
    kinds: "doctor.log_kinds",
    most: bytes,
    note: fileNote,
    put: async (piece) => (await channel.server?.hand_in(piece)) ?? { error: GONE },
    take: (file, name) => door.begin({ kind: "file", file, name }),
  });
  const folder = h("input", {
    type: "text",
    id: "lp-doctor-folder",
    spellcheck: false,
    onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && listKept(),
  });
  function listKept() {
    if (!folder.value.trim()) return folder.focus();
    agree(folder.value);
    door.begin({ kind: "kept", folder: folder.value.trim() });
  }
  const panels = {
    example: h("div.lp-panel", {}, labelled("doctor.log", examples), worded("p.lp-note", "doctor.log_note")),
    file: h("div.lp-panel", {}, arrival, fileNote),
    typed: h("div.lp-panel", {}, worded("p.lp-note", "doctor.typed_note")),
    kept: h(
      "div.lp-panel",
      {},
      labelled("doctor.kept_folder", folder),
      worded("button.lp-button", "doctor.kept_list", { type: "button", id: "lp-doctor-kept", onclick: listKept }),
      worded("p.lp-note", "doctor.kept_note"),
    ),
  };
  const sources = tabbed(
    {
      called: (name) => `doctor.by.${name}`,
      names: /** @type {(keyof typeof panels)[]} */ (Object.keys(panels)),
      tabId: "lp-doctor-by",
      label: "doctor.by",
      panels,
      panelId: "lp-doctor-by-panel",
    },
    (kind) => door.begin({ kind }),
  );

  /** @type {Record<string, HTMLInputElement>} */
  const boxes = {};
  /**
   * @param {string} name
   * @param {Record<string, string>} more
   */
  function box(name, more) {
    boxes[name] = h("input", {
      type: "text",
      id: `lp-run-${name}`,
      spellcheck: false,
      autocomplete: "off",
      oninput: () => door.set({ [name]: boxes[name].value }),
      ...more,
    });
    return boxes[name];
  }
  const loss = box("loss", { list: names });
  const numbers = [...counts, ...settings].map((name) =>
    labelled(`doctor.known.${name}`, box(name, { inputMode: "decimal" })),
  );

  /** @param {"curve" | "held_out" | "step"} name */
  function curveSelect(name) {
    const select = h("select", { id: `lp-run-${name}`, onchange: () => door.set({ [name]: select.value }) });
    return select;
  }
  const trained = curveSelect("curve");
  const held = curveSelect("held_out");
  const step = curveSelect("step");
  const stepBox = labelled("doctor.step_column", step);
  const curves = h("div", {}, labelled("doctor.curve", trained), labelled("doctor.held_out", held));

  // Another run beside it, with what is known of that one.
  /** @param {Record<string, string>} change */
  function choose(change) {
    door.set(change);
    channel.publish("state");
  }
  // What was known of a run leaves with it, and so does its file.
  const forgotten = Object.fromEntries(["file", "name", ...of_other].map((name) => [`other_${name}`, ""]));
  const chosen = () => choose({ ...(other.value === "none" ? forgotten : {}), other: other.value });
  const other = h("select", { id: "lp-run-other", onchange: chosen }, [
    worded("option", "doctor.beside_none", { value: "none" }),
    ...logs.map((name) => worded("option", `doctor.log.${name}`, { value: name })),
    worded("option", "doctor.by.file", { value: "file" }),
  ]);
  const otherNote = h("p.lp-note");
  const otherArrival = fileArrival(channel, {
    id: "lp-doctor-other-file",
    kinds: "doctor.log_kinds",
    most: bytes,
    note: otherNote,
    put: async (piece) => (await channel.server?.hand_in(piece)) ?? { error: GONE },
    take: (file, name) => choose({ other: "file", other_file: file, other_name: name }),
  });
  const otherFile = h("div.lp-panel", { hidden: true }, otherArrival, otherNote);
  const otherKnown = h(
    "div",
    { hidden: true },
    worded("p.lp-note", "doctor.beside_known"),
    of_other.map((name) =>
      labelled(
        name === "loss" ? "doctor.loss" : `doctor.known.${name}`,
        box(`other_${name}`, name === "loss" ? { list: names } : { inputMode: "decimal" }),
      ),
    ),
  );
  const beside = section("doctor.beside_it", labelled("doctor.beside_log", other), otherFile, otherKnown);

  /**
   * @param {HTMLSelectElement} select
   * @param {string[]} named
   * @param {string} chosen "" for none
   */
  function list(select, named, chosen) {
    const none = chosen ? [] : [h("option", { value: "" }, "–")];
    select.replaceChildren(...none, ...named.map((one) => h("option", { value: one }, one)));
    select.value = chosen;
  }

  function tell() {
    const { kind, name, example } = door.state;
    sources.set(kind);
    examples.value = example;
    fileNote.textContent = kind === "file" && name ? `${clip(name)} ${say("doctor.file_again")}` : "";
    for (const [one, input] of Object.entries(boxes))
      if (document.activeElement !== input) input.value = door.state[one];
    if (document.activeElement !== folder) folder.value = door.state.folder;
    for (const one of [beside, knownPart, countsPart]) one.hidden = kind === "kept" && !door.found;
    other.value = door.state.other;
    otherFile.hidden = door.state.other !== "file";
    otherKnown.hidden = door.state.other === "none";
    otherNote.textContent = door.state.other_name ? clip(door.state.other_name) : "";
    const { found } = door;
    const named = Object.keys(found?.curves ?? {});
    curves.hidden = named.length < 2;
    stepBox.hidden = kind !== "file" || (found?.steps.length ?? 0) < 2;
    if (!found) return;
    list(step, found.steps, found.step);
    for (const one of step.options) if (one.value === "#") one.textContent = say("doctor.step_rows");
    list(trained, named, found.curve);
    list(held, named, found.held_out);
    // What the log says stands where nothing was typed.
    for (const [one, input] of Object.entries(boxes)) {
      const ofOther = one.startsWith("other_");
      const told = ofOther ? found.beside?.known[one.slice("other_".length)] : found.known[one];
      input.placeholder = String(told ?? "");
    }
  }

  const knownPart = section(
    "doctor.known_of_it",
    labelled("doctor.loss", loss),
    worded("p.lp-note", "doctor.known_note"),
  );
  const countsPart = foldable("doctor.batch", h("div.lp-doctor-counts", {}, numbers));
  channel.on("state", tell);
  channel.on("examined_run", tell);
  channel.on("language", tell);
  return h(
    "div",
    {},
    section("doctor.a_log", sources.element, Object.values(panels), stepBox, curves),
    knownPart,
    countsPart,
    beside,
  );
}
