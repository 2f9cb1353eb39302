// What can be taken away from a run: the model, the log, the script that repeats it, its figures.
import { FigureButtons } from "../../kit/figure_export_options.js";
import { download, saveAnswer } from "../../kit/file_downloads.js";
import { h, show } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { useState } from "../../kit/vendor/preact/hooks.js";
import { Button, Note } from "./form_components.js";
import { dataOf, encoderOf, wholeLossOf } from "./plan_names.js";

/** @typedef {import("./state.js").FinetunePage} FinetunePage */
/** @typedef {{ page: FinetunePage }} Page */

/** @param {Page} properties */
function TakeAway({ page }) {
  page.observe("run", "shown", "figures");
  const about = page.trace()?.about;
  if (!about) return null;
  return h(
    "section",
    h("h2", say("ui.take_away")),
    h(
      Line,
      { name: "finetune.take.model" },
      h(Button, {
        id: "lp-finetune-zip",
        name: say("finetune.take.zip"),
        disabled: !about.summary,
        act: () => fetchFile(page, "model"),
      }),
    ),
    h(
      Line,
      { name: "finetune.take.run" },
      ["json", "csv"].map((what) =>
        h(Button, { key: what, name: say(`finetune.take.${what}`), act: () => save(page, what) }),
      ),
      page.isLive(about) ? null : h(Deletion, { key: about.id, page, about }),
    ),
    h(Script, { key: about.id, page }),
    h(FigureLine, { page }),
  );
}

/**
 * Deleting takes two clicks.
 * @param {Page & { about: import("../../wire").RunStatus }} properties
 */
function Deletion({ page, about }) {
  const [isSure, setSure] = useState(false);
  return h(Button, {
    id: "lp-finetune-delete",
    name: say(isSure ? "finetune.surely" : "finetune.delete"),
    act: () => {
      if (isSure) page.steer("delete", about.id);
      setSure(!isSure);
    },
  });
}

/** @param {{ name: string, children?: import("../../kit/types").Children }} properties */
const Line = ({ name, children }) => h("div.lp-row.lp-wrap", h("span.lp-what", say(name)), children);

/** @param {Page} properties */
function Script({ page }) {
  const [code, setCode] = useState("");
  async function read() {
    const answer = await ask(page, "script");
    setCode(answer?.text ?? "");
  }
  return h(
    "div",
    h(
      Line,
      { name: "finetune.take.script" },
      h(Button, {
        id: "lp-finetune-kit",
        name: say("finetune.take.kit"),
        act: () => fetchFile(page, "kit"),
      }),
      h(Button, { name: say("finetune.take.read"), act: read }),
      h(Button, { id: "lp-finetune-script", name: say("finetune.take.py"), act: () => save(page, "script") }),
    ),
    h(Note, { text: say("finetune.take.script_about") }),
    code
      ? h(
          "div.lp-code-box",
          h(Button, { name: say("ui.copy"), act: () => navigator.clipboard.writeText(code) }),
          h("pre.lp-code", { tabIndex: 0 }, code),
        )
      : null,
  );
}

/** @param {Page} properties */
function FigureLine({ page }) {
  const [chosen, choose] = useState("");
  const all = [...page.charts.values(), ...page.drawings.values()].filter(
    ({ element }) => element.isConnected && !element.closest("[hidden]"),
  );
  const figure = all.find(({ key }) => key === chosen) ?? all[0];
  if (!figure) return null;
  const title = say("finetune.take.figure");
  /** @type {(look: import("./state.js").Look, ratio: number) => Promise<void>} */
  async function take(look, ratio) {
    const caption = captionOf(page, figure);
    const name = `lossprism-${page.shown[0]}-${figure.name}`;
    const answer = await page.answered(
      figure.chart ? page.server.chart({ ...look, name, chart: figure.chart(caption) }) : figure.file?.(caption, look),
    );
    if (answer?.text !== undefined) await saveAnswer(answer, ratio);
  }
  return h(
    Line,
    { name: "finetune.take.figure" },
    h(
      "select",
      {
        id: "lp-finetune-figure",
        title,
        "aria-label": title,
        value: figure.key,
        onChange: (event) => choose(event.currentTarget.value),
      },
      all.map((one) => h("option", { key: one.key, value: one.key }, one.title?.() ?? say(one.key))),
    ),
    h(FigureButtons, { button: "button.lp-button", kind: "div.lp-row.lp-wrap", save: take }),
  );
}

/**
 * @param {FinetunePage} page
 * @param {string} what
 */
const ask = (page, what) => page.answered(page.server.take({ run: page.shown[0], what }));

/** @type {(page: FinetunePage, what: string) => Promise<void>} */
async function save(page, what) {
  const answer = await ask(page, what);
  if (answer?.text !== undefined) await saveAnswer(answer);
}

/**
 * A model is large: the server packs it, and the browser fetches the file.
 * @type {(page: FinetunePage, what: string) => Promise<void>}
 */
async function fetchFile(page, what) {
  const answer = await ask(page, what);
  if (answer?.path) download(answer);
}

/**
 * Where a figure comes from: the losses with their parameters and seeds, the encoder, the data, the step. The probe
 * batch is that of the first run alone.
 * @param {FinetunePage} page
 * @param {Pick<import("./state.js").Figure, "step">} figure
 */
function captionOf(page, { step }) {
  const about = page.trace()?.about;
  if (!about) return { losses: [], origin: "" };
  const shown = step ? [{ plan: about.plan, names: [about.id] }] : page.groups();
  /** @param {string[]} names */
  const seeds = (names) =>
    say("finetune.seed_is", { seed: names.map((name) => page.trace(name)?.about?.plan.seed).join(", ") });
  const { pairs } = about.summary ?? {};
  const data = dataOf(about.plan);
  const origin = [
    encoderOf(about.plan),
    pairs ? say("finetune.data_is", { data, ...pairs }) : data,
    say("finetune.batch_of", { count: about.plan.batch_size }),
    step ? seeds([about.id]) : "",
    say("finetune.at_step", { step: step ? step() : about.step }),
  ];
  return {
    losses: shown.map(({ plan, names }) => [wholeLossOf(plan), step ? "" : seeds(names)].filter(Boolean).join(" · ")),
    origin: origin.filter(Boolean).join(" · "),
  };
}

/**
 * @param {HTMLElement} root
 * @param {FinetunePage} page
 */
export default (root, page) => show(root, TakeAway, { page });
