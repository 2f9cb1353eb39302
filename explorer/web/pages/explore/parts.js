// A sum of losses, part by part: what each weighs, how far they agree, and on which pairs they do not.
import { h, reword, worded } from "../../kit/dom.js";
import { tex } from "../../kit/formula.js";
import { counted, percent, read, show } from "../../kit/numbers.js";
import { said, say } from "../../kit/words.js";
import { agreementWords, opposedWords } from "./wording.js";

/** @typedef {import("../../wire").PartSeen} PartSeen */
/** @typedef {import("../../wire").Parts} Parts */

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").Scene} channel
 */
export default function parts(root, channel) {
  const block = /** @type {HTMLElement} */ (root.closest(".lp-instrument") ?? root);
  const table = h("table.lp-part-table");
  const agree = h("p.lp-note");
  const agreement = h("table.lp-part-table");
  const opposed = h("ol.lp-opposed");
  const against = h("p.lp-note");
  const energy = h("table.lp-part-table");
  const nested = worded("p.lp-note", "ui.parts.energy.about", { hidden: true });
  const pairs = h("details.lp-more", {}, worded("summary", "ui.parts.pairs"), opposed);
  root.append(
    worded("h2", "ui.parts"),
    worded("p.lp-note", "ui.parts.about"),
    h("div.lp-scroll", { role: "region", tabIndex: 0, "data-title": "ui.parts" }, table),
    agree,
    h("div.lp-scroll", {}, agreement),
    against,
    pairs,
    nested,
    h("div.lp-scroll", {}, energy),
  );
  block.style.display = "none";

  const heads = ["part", "value", "share", "equal", "effective"];
  const head = () =>
    h("thead", {}, h("tr", {}, ...heads.map((key) => worded("th", `ui.parts.${key}`, { scope: "col" }))));

  /** @param {PartSeen} part */
  function row(part) {
    const formula = h("div.lp-formula");
    tex(formula, part.formula);
    const bar = h("div.lp-part-bar", {}, h("i"));
    bar.style.setProperty("--lp-part", percent(part.share ?? 0));
    const { equal } = part;
    const [least, most] = boundsOf(part.weight);
    const settable = equal !== null && least <= equal && equal <= most;
    const set = h("button.lp-button", {
      type: "button",
      hidden: !settable,
      "data-title": "ui.parts.equal.set",
      onclick: () => settable && weigh(part.weight, equal),
    });
    set.textContent = settable ? show(equal, 3) : "";
    const beyond = say("ui.parts.equal.beyond", { low: show(least), high: show(most) });
    const unset = equal === null ? ["—"] : settable ? [] : [show(equal, 3), h("small", {}, beyond)];
    const landmarks = [
      part.collapse === null ? "" : say("ui.parts.collapse", { value: show(part.collapse, 3) }),
      part.floor === null ? "" : say("ui.parts.floor", { value: show(part.floor, 3) }),
    ].filter(Boolean);
    const effective =
      part.effective === null ? "—" : say("ui.parts.of", { count: counted(part.effective, 3), all: part.terms ?? 0 });
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, h("strong", {}, said(part.name)), formula),
      h("td", {}, show(part.value, 4), h("small", {}, landmarks.join(" · "))),
      h("td", {}, part.share === null ? "—" : percent(part.share), bar),
      h("td", {}, ...unset, set),
      h("td", {}, effective),
    );
  }

  /**
   * Between which ends its slider has a weight.
   * @param {string} name of the weight
   */
  function boundsOf(name) {
    const { minimum = 0, maximum = Infinity } = channel.form.parameters.find((one) => one.name === name) ?? {};
    return [minimum, maximum];
  }

  /**
   * @param {string} name of the weight
   * @param {number} value
   */
  function weigh(name, value) {
    const [least, most] = boundsOf(name);
    const within = Math.min(most, Math.max(least, Number(value.toPrecision(3))));
    channel.set({ parameters: { ...channel.scenario.parameters, [name]: within } });
  }

  /** @param {Parts} found */
  function tellAgreement({ parts: all, cosines, opposed: heaviest, opposed_count: count, undone }) {
    agree.textContent = agreementWords(all, cosines);
    agreement.replaceChildren(...(all.length > 2 ? cosineRows(all, cosines) : []));
    pairs.hidden = count === 0;
    against.textContent = opposedWords(count, channel.batch?.labels.length ?? 0, undone);
    opposed.replaceChildren(
      ...heaviest.map(({ pair, pulls }) => {
        const { first = [], second = [] } = channel.batch ?? {};
        const told = pulls.map((pull, k) =>
          h("span.lp-pull", { className: sideOf(read(pull)) }, `${said(all[k].name)} ${show(pull, 3)}`),
        );
        const line = h(
          "li",
          { tabIndex: 0 },
          h(
            "div.lp-two",
            {},
            h("span", {}, `${channel.numberOf(pair)} · ${first[pair] ?? ""}`),
            h("span", {}, second[pair] ?? ""),
          ),
          h("div.lp-row.lp-wrap", {}, told),
        );
        for (const event of ["mouseenter", "focus"]) line.addEventListener(event, () => channel.point([pair]));
        for (const event of ["mouseleave", "blur"]) line.addEventListener(event, () => channel.point());
        return line;
      }),
    );
  }

  /**
   * @param {PartSeen[]} all
   * @param {import("../../wire").Real[][]} cosines
   */
  function cosineRows(all, cosines) {
    const rows = all.map(({ name }, row) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, said(name)),
        ...all.map((_part, column) => h("td", {}, column < row ? show(cosines[row][column], 3) : "")),
      ),
    );
    const names = all.slice(0, -1).map(({ name }) => h("th", { scope: "col" }, said(name)));
    return [h("thead", {}, h("tr", {}, h("td"), ...names, h("td"))), h("tbody", {}, ...rows.slice(1))];
  }

  /** @param {number | null} pull */
  const sideOf = (pull) => `lp-pull ${(pull ?? 0) > 0 ? "lp-apart" : "lp-together"}`;

  /** @param {Parts} found */
  function tellEnergy({ energies }) {
    nested.hidden = energies.length === 0;
    const keys = ["dimensions", "alone", "energy"];
    energy.replaceChildren(
      ...(energies.length
        ? [
            h("thead", {}, h("tr", {}, ...keys.map((key) => worded("th", `ui.parts.${key}`, { scope: "col" })))),
            h(
              "tbody",
              {},
              ...energies.map(({ dimensions, share, alone }) =>
                h("tr", {}, h("th", { scope: "row" }, String(dimensions)), cellOf(alone), cellOf(share)),
              ),
            ),
          ]
        : []),
    );
  }

  /** @param {import("../../wire").Real} share */
  function cellOf(share) {
    const value = read(share);
    const bar = h("div.lp-part-bar", {}, h("i"));
    bar.style.setProperty("--lp-part", percent(value ?? 0));
    return h("td", {}, value === null || Number.isNaN(value) ? "—" : percent(value), bar);
  }

  let shown = "";
  function draw() {
    const found = channel.picture?.parts ?? null;
    block.style.display = found ? "" : "none";
    const now = JSON.stringify(found);
    if (!found || now === shown) return;
    shown = now;
    table.replaceChildren(head(), h("tbody", {}, ...found.parts.map(row)));
    tellAgreement(found);
    tellEnergy(found);
    reword(root);
  }
  channel.on("picture", draw);
  channel.on("language", () => {
    shown = "";
    draw();
  });
}
