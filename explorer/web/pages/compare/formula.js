// Two definitions as one formula: what both share, what only one has, what a parameter makes different;
// the same of the two listings, line by line. Every part has its number on this batch.
import { paperColour } from "../../kit/colours.js";
import { h, reword, worded } from "../../kit/dom.js";
import { saved } from "../../kit/files.js";
import { tex } from "../../kit/formula.js";
import { show } from "../../kit/numbers.js";
import { has, language, parameterName, say } from "../../kit/words.js";
import { latexOf, PAPER_INKS, plain } from "./latex.js";
import { chip, colourOf, labelOf, letterOf, named } from "./legend.js";
import { downloads } from "./taking.js";

/** @typedef {import("../../wire").StepNumbers} StepNumbers */
/** @typedef {"shared" | "parameter" | "changed" | "base" | "other"} Ink */

/** @type {Ink[]} */
const INKS = ["shared", "base", "other", "parameter"];

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ComparePage} channel
 */
export default function formula(root, channel) {
  const key = h("p.lp-inks");
  const lines = h("div.lp-differing");
  const told = h("p.lp-atom", { "aria-live": "polite" });
  const parameters = h("div.lp-scroll");
  const listing = h("table.lp-listing");
  const code = h(
    "details.lp-more",
    { open: window.innerWidth > 760 },
    worded("summary", "compare.code"),
    h("div.lp-scroll.lp-listing-box", { role: "region", tabIndex: 0, "data-title": "compare.code" }, listing),
  );
  const taking = downloads(channel, { name: "formulas", csv: asCsv });
  taking.element.prepend(
    worded("button.lp-crumb", "take.latex", { type: "button", onclick: () => saveLatex(true) }),
    worded("button.lp-crumb", "take.latex_plain", { type: "button", onclick: () => saveLatex(false) }),
  );
  const wrong = h("p.lp-wrong", { hidden: true });
  const apart = worded("p.lp-note", "compare.not_one_formula", { hidden: true });
  const whole = h("div", {}, apart, key, lines, told, parameters, code);
  root.append(h("div.lp-bar", {}, worded("h2", "compare.formula"), taking.element), wrong, whole);
  reword(root);

  let drawn = "";

  function draw() {
    const { differing, between, notDiffering } = channel;
    wrong.hidden = !notDiffering;
    whole.hidden = !differing;
    wrong.textContent = notDiffering ? say(notDiffering.key, notDiffering.values) : "";
    if (!differing) return;
    const now = JSON.stringify([differing.formula, differing.code.length, between, language(), channel.of]);
    tellParameters(differing.parameters);
    if (now === drawn) return; // only numbers moved
    drawn = now;
    tellInks(differing);
    lines.replaceChildren(
      ...differing.formula.map((latex) => {
        const line = h("div.lp-differing-line");
        tex(line, latex, true);
        wire(line);
        return line;
      }),
    );
    tellCode(differing.code);
    apart.hidden = differing.together;
    told.textContent = say("compare.formula_hint");
  }

  /** @param {import("../../wire").Differing} differing */
  function tellInks({ empty, together }) {
    const [base, other] = channel.between;
    root.style.setProperty("--lp-base", colourOf(base));
    root.style.setProperty("--lp-other", colourOf(other));
    /** @type {Record<string, HTMLElement | string>} */
    const what = {
      shared: say("compare.ink.shared"),
      base: h("span", {}, say("compare.ink.only"), " ", named(channel.of, base)),
      other: h("span", {}, say("compare.ink.only"), " ", named(channel.of, other)),
      parameter: say("compare.ink.parameter"),
    };
    key.replaceChildren(
      ...(empty
        ? [say("compare.same_formula", { first: letterOf(base), second: letterOf(other) })]
        : (together ? INKS : /** @type {Ink[]} */ (["base", "other"])).map((ink) =>
            h("span", {}, h(`i.lp-ink-${ink}`, { "aria-hidden": "true" }), " ", what[ink]),
          )),
    );
  }

  // ---- The parts of the formula ----------------------------------------------------------------

  /** @param {HTMLElement} line */
  function wire(line) {
    /** @type {NodeListOf<HTMLElement>} */
    const parts = line.querySelectorAll("[data-ink]");
    for (const part of parts) {
      part.classList.add("lp-part", `lp-ink-of-${part.dataset.ink}`);
      for (const token of tokensOf(part)) token.classList.add(`lp-token-${part.dataset.ink}`);
      const leaf = !part.querySelector("[data-ink]");
      if (leaf) part.tabIndex = 0;
      const reach = (/** @type {Event} */ event) => {
        event.stopPropagation();
        light(part);
      };
      part.addEventListener("mouseover", reach);
      part.addEventListener("focus", reach);
      part.addEventListener("click", (event) => {
        event.stopPropagation();
        lead(part);
      });
      part.addEventListener("keydown", (event) => {
        if (event.key === "Enter") lead(part);
      });
      if (leaf) {
        part.setAttribute("role", "button");
        part.setAttribute("aria-label", `${part.textContent}: ${saidOf(part)}`);
      }
    }
    line.addEventListener("mouseleave", () => light(null));
    line.querySelector(".katex-html")?.removeAttribute("aria-hidden");
    line.querySelector(".katex-mathml")?.setAttribute("aria-hidden", "true");
  }

  /**
   * The letters and signs of a part that stand in no part inside it.
   * @param {HTMLElement} part
   */
  const tokensOf = (part) =>
    Array.from(part.querySelectorAll("span")).filter(
      (one) => !one.childElementCount && one.textContent?.trim() && one.closest("[data-ink]") === part,
    );

  /**
   * The steps of both sides that a part belongs to.
   * @param {HTMLElement} part
   */
  function stepsOf({ dataset: { base, other } }) {
    /** @param {string | undefined} text */
    const place = (text) => (text === undefined ? null : Number(text));
    return { base: place(base), other: place(other) };
  }

  /** @param {HTMLElement | null} part */
  function light(part) {
    for (const lit of lines.querySelectorAll(".lp-lit")) lit.classList.remove("lp-lit");
    part?.classList.add("lp-lit");
    told.textContent = part ? saidOf(part) : say("compare.formula_hint");
  }

  /** @param {HTMLElement} part */
  function saidOf(part) {
    const { differing, between } = channel;
    if (!differing) return "";
    const steps = stepsOf(part);
    const [base, other] = between;
    /** @type {[number, number | null, StepNumbers[]][]} */
    const both = [
      [base, steps.base, differing.base],
      [other, steps.other, differing.other],
    ];
    const kind = say(`compare.ink.said.${part.dataset.ink}`, { first: letterOf(base), second: letterOf(other) });
    return [
      kind,
      ...both.flatMap(([side, step, held]) => (step === null ? [] : [`${letterOf(side)} ${inNumbers(held[step])}`])),
    ].join(" · ");
  }

  /** @param {StepNumbers} step */
  function inNumbers({ name, number }) {
    const called = name.replace(/_/g, " ");
    if (!number) return called;
    const { count, present, least, mean, largest } = number;
    if (count === 1) return `${called} = ${show(mean)}`;
    const values = {
      name: called,
      present,
      count,
      least: show(least, 3),
      mean: show(mean, 3),
      largest: show(largest, 3),
    };
    return say(present < count ? "compare.number_of" : "compare.number", values);
  }

  /**
   * Look at the step of either side.
   * @param {HTMLElement} part
   */
  function lead(part) {
    const { base, other } = stepsOf(part);
    channel.lookAt([
      [channel.between[0], base],
      [channel.between[1], other],
    ]);
  }

  // ---- Parameters ------------------------------------------------------------------------------

  /** @param {import("../../wire").ParameterPair[]} all */
  function tellParameters(all) {
    const [base, other] = channel.between;
    const differ = all.filter(({ kind, base: one, other: two }) => kind !== "shared" && one && two);
    /** @type {(whose: "base" | "other") => string[]} */
    const alone = (whose) => all.filter(({ kind }) => kind === whose).map(({ [whose]: name }) => called(name));
    /** @param {import("../../wire").Setting} value */
    const cell = (value) => {
      if (value === null) return say("ui.off");
      if (typeof value === "boolean") return say(value ? "ui.yes" : "ui.no");
      if (typeof value === "string") return has(`choice.${value}`) ? say(`choice.${value}`) : value;
      return [value]
        .flat()
        .map((one) => show(one))
        .join(", ");
    };
    /** @param {string | null} name */
    const called = (name) => (name === null ? "" : parameterName(name));
    const only = /** @type {const} */ (["base", "other"])
      .map((whose, i) => ({ place: channel.between[i], names: alone(whose) }))
      .filter(({ names }) => names.length);
    parameters.replaceChildren(
      h(
        "table.lp-parameters-apart",
        { hidden: !differ.length, "aria-label": say("compare.differing_parameters") },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            worded("th", "compare.differing_parameters", { scope: "col" }),
            h("th", {}, chip(base)),
            h("th", {}, chip(other)),
          ),
        ),
        h(
          "tbody",
          {},
          differ.map(({ kind, base: one, other: two, base_value, other_value }) =>
            h(
              `tr.lp-ink-row-${kind}`,
              {},
              h(
                "th",
                { scope: "row" },
                one && two && one !== two ? `${called(one)} / ${called(two)}` : called(one ?? two),
              ),
              h("td", {}, cell(base_value)),
              h("td", {}, cell(other_value)),
            ),
          ),
        ),
      ),
      ...only.map(({ place, names }) =>
        h("p.lp-note", {}, chip(place), " ", say("compare.only_parameters", { names: names.join(say("ui.between")) })),
      ),
    );
  }

  // ---- The listings ----------------------------------------------------------------------------

  /** @param {import("../../wire").FormulaLine[]} all */
  function tellCode(all) {
    const [base, other] = channel.between;
    /** @type {(side: number, text: string, step: number | null) => HTMLElement} */
    const cell = (side, text, step) =>
      h(
        "td",
        {},
        step === null
          ? h("code", {}, text)
          : h(
              "button.lp-code-line",
              { type: "button", onclick: () => channel.lookAt([[side, step]]) },
              h("code", {}, text),
            ),
      );
    listing.replaceChildren(
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th"),
          h("th", { scope: "col" }, named(channel.of, base)),
          h("th", { scope: "col" }, named(channel.of, other)),
        ),
      ),
      h(
        "tbody",
        {},
        all.map(({ kind, base_text, other_text, base_step, other_step }) =>
          h(
            `tr.lp-ink-row-${kind}`,
            {},
            h("td.lp-ink-sign", { title: say(`compare.ink.line.${kind}`) }, SIGNS[kind]),
            cell(base, base_text, base_step),
            cell(other, other_text, other_step),
          ),
        ),
      ),
    );
  }

  /**
   * The formula with what differs marked, to be compiled.
   * @param {boolean} coloured
   */
  function saveLatex(coloured) {
    const { differing, between } = channel;
    if (!differing) return;
    const [base, other] = between.map((place) => labelOf(channel.of, place));
    const { base: first, other: second, parameter } = PAPER_INKS;
    const inks = { base: paperColour(first), other: paperColour(second), parameter: paperColour(parameter) };
    const key = say(coloured ? "compare.latex_key" : "compare.latex_key_plain", { base, other });
    const text = latexOf(differing.formula, key, coloured ? inks : null);
    saved({ name: "lossprism-formulas.tex", type: "text/x-tex", text });
  }

  function asCsv() {
    const { differing } = channel;
    /** @type {(string | number)[][]} */
    const rows = [["kind", "base", "other"]];
    for (const { kind, base_text, other_text } of differing?.code ?? []) rows.push([kind, base_text, other_text]);
    for (const latex of differing?.formula ?? []) rows.push(["latex", plain(latex), ""]);
    return rows;
  }

  channel.on("formula", draw);
  channel.on("language", () => {
    drawn = "";
    draw();
  });
}

// A colour is never told alone.
const SIGNS = { shared: "", parameter: "≈", changed: "≈", base: "−", other: "+" };
