// What can be taken away from a run: the model, the log, the script that repeats it, its figures.
import { h, reword, worded } from "../../kit/dom.js";
import { figureButtons } from "../../kit/figure_choices.js";
import { download, saved } from "../../kit/files.js";
import { language, say } from "../../kit/words.js";
import { dataOf, encoderOf, wholeLossOf } from "./naming.js";

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").FinetunePage} channel
 */
export default function takeaway(root, channel) {
  const code = h("pre.lp-code", { hidden: true, tabIndex: 0 });
  const copy = worded("button.lp-button", "ui.copy", {
    type: "button",
    hidden: true,
    onclick: () => navigator.clipboard.writeText(code.textContent ?? ""),
  });
  /** @type {(key: string, act: () => void, id?: string) => HTMLButtonElement} */
  const button = (key, act, id) => worded("button.lp-button", key, { type: "button", id, onclick: act });
  /** @type {(key: string, ...parts: HTMLElement[]) => HTMLElement} */
  const line = (key, ...buttons) => h("div.lp-row.lp-wrap", {}, worded("span.lp-what", key), ...buttons);
  const which = h("select", { id: "lp-finetune-figure", style: "width:auto", "data-title": "finetune.take.figure" });
  const model = button("finetune.take.zip", () => fetchFile("model"), "lp-finetune-zip");
  const box = h(
    "section",
    { hidden: true },
    worded("h2", "ui.take_away"),
    line("finetune.take.model", model),
    line(
      "finetune.take.run",
      button("finetune.take.json", () => save("json")),
      button("finetune.take.csv", () => save("csv")),
    ),
    line(
      "finetune.take.script",
      button("finetune.take.kit", () => fetchFile("kit"), "lp-finetune-kit"),
      button("finetune.take.read", read),
      button("finetune.take.py", () => save("script"), "lp-finetune-script"),
      worded("span.lp-note", "finetune.take.script_about"),
    ),
    line("finetune.take.figure", which, ...figureButtons("button.lp-button", figure)),
    h("div.lp-code-box", {}, copy, code),
  );
  root.append(box);
  reword(root);

  /** @param {string} what */
  const ask = (what) => channel.heard(channel.server?.take({ run: channel.shown[0], what }));

  /** @param {string} what */
  async function save(what) {
    const answer = await ask(what);
    if (answer?.text === undefined) return;
    const mark = answer.type === "text/csv" ? "\ufeff" : ""; // spreadsheets read Chinese by it
    download(answer.name, new Blob([mark, answer.text], { type: answer.type }));
  }

  async function read() {
    const answer = await ask("script");
    if (answer?.text === undefined) return;
    code.textContent = answer.text;
    code.hidden = copy.hidden = false;
  }

  /**
   * A model is large: the server packs it, and the browser fetches the file.
   * @param {string} what
   */
  async function fetchFile(what) {
    const answer = await ask(what);
    if (answer) h("a", { href: answer.path, download: answer.name }).click();
  }

  /**
   * Where a figure comes from: the losses with their parameters and seeds, the encoder, the data, the
   * step. The probe batch is that of the first run alone.
   * @param {Pick<import("./state.js").Figure, "step">} figure
   * @param {import("../../wire").RunStatus} about
   */
  function captionOf({ step }, about) {
    const shown = step ? [{ plan: about.plan, names: [about.id] }] : channel.groups();
    /** @param {string[]} names */
    const seeds = (names) =>
      say("finetune.seed_is", { seed: names.map((name) => channel.trace(name)?.about?.plan.seed).join(", ") });
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
   * @param {ReturnType<typeof import("../../kit/figure_choices.js").figureLook>} look
   * @param {number} ratio of a PNG
   */
  async function figure(look, ratio) {
    const chosen = figures().find(({ key }) => key === which.value);
    const about = channel.trace()?.about;
    if (!chosen || !about) return;
    const caption = captionOf(chosen, about);
    const name = `lossprism-${channel.shown[0]}-${chosen.name}`;
    const asked = chosen.chart
      ? channel.server?.chart({ ...look, name, chart: chosen.chart(caption) })
      : chosen.file?.(caption, look);
    const answer = await channel.heard(asked);
    if (answer?.text !== undefined) await saved(answer, ratio);
  }

  // The page's parts are built in any order.
  const figures = () => [...channel.charts, ...channel.stills].filter(({ element }) => !element.hidden);

  function draw() {
    const trace = channel.trace();
    box.hidden = !trace?.about;
    if (!trace?.about) return;
    model.disabled = !trace.about.summary;
    const drawn = figures();
    const titles = drawn.map((chart) => chart.title?.() ?? say(chart.key));
    const key = titles.join() + language();
    if (which.dataset.key === key) return;
    which.dataset.key = key;
    const chosen = which.value;
    which.replaceChildren(...drawn.map((chart, place) => h("option", { value: chart.key }, titles[place])));
    if (drawn.some((chart) => chart.key === chosen)) which.value = chosen;
  }
  channel.on("run", draw);
  channel.on("figures", draw);
  channel.on("shown", () => {
    code.hidden = copy.hidden = true;
    draw();
  });
  channel.on("language", draw);
}
