// The derivation: the definition's own lines, each with its formula, its value and a thumbnail.
import { bytes } from "../../kit/arrays.js";
import { paint } from "../../kit/cells.js";
import { find, h, reword, setText, worded } from "../../kit/dom.js";
import { tex } from "../../kit/formula.js";
import { show } from "../../kit/numbers.js";
import { pageData } from "../../kit/page_data.js";
import { isDark } from "../../kit/theme.js";
import { has, language, said, say } from "../../kit/words.js";

/** @typedef {import("../../wire").Step} Step */

/** @type {Record<string, number>} */
const MOVES = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
/** @type {Record<string, number>} */
const CLICKS = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }; // a presenter's clicker has these

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").Scene} channel
 */
export default function derivation(root, channel) {
  const place = h("span.lp-place");
  // Counted from the step asked for, so that quick presses are not lost to a slow answer.
  const now = () => channel.scenario.view.step ?? channel.picture?.chosen ?? 0;
  /** @param {number} by */
  const step = (by) => () => go(now() + by);
  const rows = h("ol.lp-steps", { tabIndex: 0 });
  // For the pointer: by keyboard the arrows walk the rows.
  /** @type {(by: number, key: string, sign: string) => HTMLElement} */
  const button = (by, key, sign) =>
    h("button.lp-square", { type: "button", tabIndex: -1, "data-title": key, onclick: step(by) }, sign);
  const walking = find(document.body, "#main-matrix .lp-walk");
  walking.append(button(-1, "ui.previous_step", "◀"), place, button(1, "ui.next_step", "▶"));
  root.append(h("div.lp-bar", {}, worded("h2", "ui.derivation")), rows);
  reword(root);
  reword(walking);

  let built = "";
  /** @type {HTMLElement | null} */
  let current = null; // the row of the chosen step
  /** @type {{ row: HTMLElement, thumbnail: HTMLCanvasElement, drawn: string, value: HTMLElement }[]} */
  let parts = [];

  /** @param {number} to */
  function go(to) {
    const last = parts.length - 1;
    channel.goTo(Math.max(0, Math.min(last, to)));
    // On a projector, walking brings derivation and matrix to the top of the screen.
    if (document.body.classList.contains("lp-presenting"))
      root.closest("#lp-middle")?.scrollIntoView({ block: "start" });
  }

  root.addEventListener("keydown", (event) => {
    const by = MOVES[event.key];
    if (by) walk(event, by);
  });

  /**
   * @param {KeyboardEvent} event
   * @param {number} by
   */
  function walk(event, by) {
    if (!channel.picture || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(now() + by);
  }

  // On a projector the keys walk from anywhere, those of a presenter's clicker too, unless they
  // mean something where the focus is.
  window.addEventListener("keydown", (event) => {
    const { classList } = document.body;
    if (!classList.contains("lp-presenting") || classList.contains("lp-drawer")) return;
    if (event.defaultPrevented || /** @type {Element} */ (event.target).matches("input, select, textarea")) return;
    const by = CLICKS[event.key];
    if (by) walk(event, by);
  });

  /**
   * The rows stay as long as the lines are the same; only numbers and pictures move.
   * @param {Step[]} steps
   * @param {number} inputs
   */
  function build(steps, inputs) {
    parts = steps.map((step, index) => {
      const thumbnail = h("canvas.lp-thumb", { width: 1, height: 1 });
      const value = h("span.lp-value");
      const formula = h("div.lp-formula");
      if (step.latex) tex(formula, step.latex);
      else formula.append(h("code", {}, step.name));
      const { label, loss, name } = step.of ?? { label: "", loss: channel.scenario.loss, name: null };
      const own = label ? step.name.slice(label.length + 1) : step.name;
      const spoken = own.replace(/_/g, " ");
      const line = h(
        "code.lp-line",
        { title: step.source || step.name },
        index < inputs || !step.source ? spoken : linked(step.source, index, label),
      );
      const group = pageData.losses[loss]?.group ?? channel.spec.group;
      const key = [loss, group, "any"].map((owner) => `step.${owner}.${own}`).find(has);
      const about = key ? worded("p.lp-why", key) : null;
      const row = h(
        index < inputs ? "li.lp-step.lp-input" : "li.lp-step",
        { onclick: () => go(index) },
        h("div.lp-thumb-box", {}, h("div.lp-thumb-wrap", {}, thumbnail), value),
        h("div.lp-words", {}, name ? h("small.lp-part-name", {}, said(name)) : null, formula, line, about),
      );
      return { row, thumbnail, drawn: "", value };
    });
    rows.replaceChildren(...parts.map((part) => part.row));
  }

  /**
   * The line of code, broken at its blanks only; the names of earlier steps in it lead to them.
   * @param {string} source
   * @param {number} index
   * @param {string} label of the part that the line stands in
   */
  function linked(source, index, label) {
    const [target, ...rest] = source.split(" ");
    return [target, ...rest.flatMap((part) => [" ", h("span.lp-unbroken", {}, ...names(part, index, label))])];
  }

  /**
   * @param {string} code
   * @param {number} index
   * @param {string} label
   */
  function names(code, index, label) {
    return code
      .split(/(?<![\w.])([A-Za-z_]\w*)/)
      .filter(Boolean)
      .map((word) => {
        const within = label ? channel.stepNamed(`${label}_${word}`, index) : -1;
        const step = within < 0 ? channel.stepNamed(word, index) : within;
        if (step < 0) return word;
        return h(
          "button.lp-ref",
          {
            type: "button",
            tabIndex: -1,
            onclick: (/** @type {Event} */ event) => {
              event.stopPropagation();
              go(step);
            },
            onmouseenter: () => channel.point([], null, { of: word, at: "step" }),
            onmouseleave: () => channel.point(),
          },
          word,
        );
      });
  }

  /**
   * What a slider does not move, scores and masks, is drawn once.
   * @param {(typeof parts)[number]} part
   * @param {import("../../wire").Thumbnail} thumb
   */
  function drawThumbnail(part, thumb) {
    const { rows, columns } = thumb;
    const ramp = thumb.boolean ? "mask" : thumb.signed ? "diverging" : "sequential";
    const key = [isDark(), rows, columns, ramp, thumb.data].join();
    if (key === part.drawn) return;
    part.drawn = key;
    const canvas = part.thumbnail;
    canvas.classList.toggle("lp-strip", rows === 1);
    const values = Float32Array.from(bytes(thumb.data), (byte) =>
      byte === 255 ? -Infinity : byte === 254 ? Number.NaN : byte,
    );
    paint(canvas, { rows, columns, values, least: 0, largest: 253, ramp });
  }

  function draw() {
    if (!channel.picture) return;
    const { steps, chosen, inputs } = channel.picture;
    const key =
      `${language()}|${channel.scenario.loss}|${channel.scenario.convention}|` +
      steps.map((step) => `${step.name}:${step.line}`).join();
    if (key !== built) {
      built = key;
      build(steps, inputs);
    }
    steps.forEach((step, index) => {
      const { thumbnail, value } = parts[index];
      const drawn = step.thumbnail && step.thumbnail.rows * step.thumbnail.columns > 0;
      thumbnail.hidden = !drawn;
      if (step.thumbnail && drawn) drawThumbnail(parts[index], step.thumbnail);
      const text = "value" in step ? show(step.value, 6) : "";
      setText(value, text);
    });
    if (current !== parts[chosen].row) choose(chosen);
  }

  /** @param {number} step */
  function choose(step) {
    current?.removeAttribute("aria-current");
    current = parts[step].row;
    current.setAttribute("aria-current", "step");
    place.textContent = say("ui.step_of", { step: step + 1, all: parts.length });
    keepInSight(current);
  }

  /**
   * Scrolls the list, never the page.
   * @param {HTMLElement} row
   */
  function keepInSight(row) {
    const above = row.offsetTop - rows.offsetTop;
    if (above < rows.scrollTop) rows.scrollTop = above;
    const bottom = above + row.offsetHeight;
    if (bottom > rows.scrollTop + rows.clientHeight) rows.scrollTop = bottom - rows.clientHeight;
  }

  // A pair pointed at elsewhere is ringed in every thumbnail that has it as row or column.
  function mark() {
    const { picture, pointed } = channel;
    const from = pointed.part && picture ? channel.stepNamed(pointed.part.of, picture.chosen) : -1;
    for (const [index, { row }] of parts.entries()) row.classList.toggle("lp-lit", index === from);
    const on = pointed.pairs.length > 0;
    rows.classList.toggle("lp-pointing", on);
    if (!on || !picture) {
      for (const { row } of parts) row.style.removeProperty("--lp-mark");
      return;
    }
    const { row_axis: rowAxis, column_axis: columnAxis } = picture.shown;
    const axis = columnAxis.pairs.length ? columnAxis : rowAxis;
    const at = axis.pairs.indexOf(pointed.pairs[pointed.pairs.length - 1]);
    for (const [index, { row }] of parts.entries()) {
      const { thumbnail, shape } = picture.steps[index];
      const shared = thumbnail && shape.at(-1) === axis.pairs.length;
      if (at >= 0 && shared) row.style.setProperty("--lp-mark", String((at + 0.5) / axis.pairs.length));
      else row.style.removeProperty("--lp-mark");
    }
  }

  // Presenting makes the rows larger and the list no longer.
  new ResizeObserver(() => {
    if (current) keepInSight(current);
  }).observe(rows);
  channel.on("picture", draw);
  channel.on("theme", draw);
  channel.on("language", draw);
  channel.on("pointed", mark);
}
