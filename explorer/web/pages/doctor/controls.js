// The sidebar: the doors; the number, the loss that gave it, and what is known of the batch; the data set; the run.
import { h, reword, worded } from "../../kit/dom.js";
import { foldable, labelled, section } from "../../kit/fields.js";
import { nameOptions } from "../../kit/finder.js";
import { pageData } from "../../kit/page_data.js";
import { tabbed } from "../../kit/sidebar.js";
import { titleOf } from "../../kit/words.js";
import { exampleButtons } from "./examples.js";
import runControls from "./run/controls.js";
import dataControls from "./set/controls.js";

const PASTE_MS = 400;

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").DoctorPage} channel
 * @param {import("../../kit/types").Asking<import("../../wire").DoctorServer>} server
 */
export default function controls(root, channel, server) {
  const { counts, settings } = pageData.doctor;

  /** @type {Record<string, HTMLInputElement>} */
  const boxes = {};
  /**
   * @param {string} name
   * @param {Record<string, any>} more
   */
  function box(name, more = {}) {
    boxes[name] = h("input", {
      type: "text",
      id: `lp-doctor-${name}`,
      spellcheck: false,
      autocomplete: "off",
      oninput: () => channel.set({ [name]: boxes[name].value }),
      ...more,
    });
    return boxes[name];
  }

  const known = h("datalist", { id: "lp-doctor-losses" });
  function listLosses() {
    known.replaceChildren(
      ...Object.keys(pageData.losses).map((name) => h("option", { value: name, label: titleOf(name) })),
      ...nameOptions(),
    );
  }
  listLosses();
  const loss = box("loss");
  loss.setAttribute("list", known.id);

  const tries = h("div.lp-doctor-tries");
  const listExamples = () => tries.replaceChildren(...exampleButtons(channel));

  const number = h(
    "div",
    {},
    section(
      "doctor.number",
      labelled("doctor.value", box("value", { inputMode: "decimal", placeholder: "5.545" })),
      labelled("doctor.loss", loss),
      known,
    ),
    foldable(
      "doctor.batch",
      h(
        "div.lp-doctor-counts",
        {},
        counts.map((name) => labelled(`doctor.known.${name}`, box(name, { inputMode: "numeric" }))),
      ),
    ),
    foldable(
      "doctor.settings",
      h(
        "div.lp-doctor-counts",
        {},
        settings.map((name) => labelled(`doctor.known.${name}`, box(name, { inputMode: "decimal" }))),
      ),
    ),
    worded("p.lp-note", "doctor.leave_out"),
    foldable("doctor.examples", tries),
  );
  const panels = { number, data: dataControls(channel), run: runControls(channel, known.id) };
  const { doors } = pageData.doctor;
  const doorTabs = tabbed(
    {
      called: (door) => `doctor.door.${door}`,
      names: doors,
      tabId: "lp-doctor-door",
      label: "doctor.doors",
      panels,
      panelId: "lp-doctor-panel",
    },
    (door) => channel.enter(door),
  );
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  const paste = h("textarea.lp-pasted", {
    id: "lp-doctor-paste",
    rows: 3,
    spellcheck: false,
    placeholder: "{'loss': 0.6925, 'grad_norm': 1.2, 'epoch': 0.1}",
    oninput: () => {
      clearTimeout(typing);
      if (paste.value.trim()) typing = setTimeout(() => channel.paste(paste.value), PASTE_MS);
    },
  });
  root.append(labelled("doctor.paste", paste), doorTabs.element, ...Object.values(panels));
  reword(root);
  listExamples();

  channel.on("state", () => {
    doorTabs.set(channel.door);
    for (const [name, one] of Object.entries(boxes)) one.value = channel.store.state[name];
  });
  channel.on("language", () => {
    listLosses();
    listExamples();
    channel.ask();
  });
  channel.connect(server);
}
