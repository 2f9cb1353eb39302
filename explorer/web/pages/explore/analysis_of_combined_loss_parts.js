// A sum of losses, part by part: what each weighs, how far they agree, and on which pairs they do not.

import { batchText } from "../../kit/batch_text_with_picture.js";
import { Fold } from "../../kit/components.js";
import { tex } from "../../kit/formula.js";
import { counted, percent, read, show as written } from "../../kit/number_format.js";
import { group, h, hosted, show } from "../../kit/preact_view.js";
import { say, wordOf } from "../../kit/translated_sentences.js";

/** @typedef {import("./state.js").ExplorePage} ExplorePage */
/** @typedef {import("../../wire").PartSeen} PartSeen */
/** @typedef {import("../../wire").Parts} Parts */
/** @typedef {{ page: ExplorePage, found: Parts }} Properties */

/** @param {{ page: ExplorePage }} properties */
function PartsOfSum({ page }) {
  page.observe("picture");
  const found = page.picture?.parts ?? null;
  if (!found) return null;
  return group(
    h("h2", say("ui.parts")),
    h("p.lp-note", say("ui.parts.about")),
    h(
      "div.lp-scroll",
      { role: "region", tabIndex: 0, "aria-label": say("ui.parts") },
      h(
        "table.lp-part-table",
        h(Heads, { names: ["part", "value", "share", "equal", "effective"] }),
        h(
          "tbody",
          found.parts.map((part) => h(PartRow, { key: part.weight, page, part })),
        ),
      ),
    ),
    h(Agreement, { page, found }),
    found.energies.length ? h(PrefixEnergies, { page, found }) : null,
  );
}

/** @param {{ names: string[] }} properties of columns */
const Heads = ({ names }) =>
  h(
    "thead",
    h(
      "tr",
      names.map((name) => h("th", { scope: "col" }, say(`ui.parts.${name}`))),
    ),
  );

/** @param {{ page: ExplorePage, part: PartSeen }} properties */
function PartRow({ page, part }) {
  const { formula, share, terms } = part;
  const references = [
    part.collapse === null ? "" : say("ui.parts.collapse", { value: written(part.collapse, 3) }),
    part.floor === null ? "" : say("ui.parts.floor", { value: written(part.floor, 3) }),
  ].filter(Boolean);
  const effective =
    part.effective === null ? "—" : say("ui.parts.of", { count: counted(part.effective, 3), all: terms ?? 0 });
  return h(
    "tr",
    h(
      "th",
      { scope: "row" },
      h("strong", wordOf(part.name)),
      hosted({ kind: "div.lp-formula", make: (root) => root, update: (root) => tex(root, formula) }),
    ),
    h("td", written(part.value, 4), h("small", references.join(" · "))),
    h("td", share === null ? "—" : percent(share), h(ShareBar, { share: share ?? 0 })),
    h("td", h(EqualWeight, { page, part })),
    h("td", effective),
  );
}

/** @param {{ share: number }} properties */
const ShareBar = ({ share }) => h("div.lp-part-bar", { style: { "--lp-part": percent(share) } }, h("i"));

/**
 * The weight at which a part has as large a gradient as the first, as a button where the slider reaches it.
 * @param {{ page: ExplorePage, part: PartSeen }} properties
 */
function EqualWeight({ page, part: { weight, equal } }) {
  if (equal === null) return "—";
  const { minimum = 0, maximum = Infinity } = page.form.parameters.find(({ name }) => name === weight) ?? {};
  if (equal < minimum || equal > maximum) {
    const beyond = say("ui.parts.equal.beyond", { low: written(minimum), high: written(maximum) });
    return group(written(equal, 3), h("small", beyond));
  }
  const title = say("ui.parts.equal.set");
  const rounded = Math.min(maximum, Math.max(minimum, Number(equal.toPrecision(3))));
  const set = () => page.set({ parameters: { ...page.scenario.parameters, [weight]: rounded } });
  return h("button.lp-button", { title, "aria-label": title, onClick: set }, written(equal, 3));
}

/** @param {Properties} properties */
function Agreement({ page, found }) {
  const { parts, cosines, opposed, opposed_count: count, undone } = found;
  return group(
    h("p.lp-note", agreementWords(parts, cosines)),
    parts.length > 2 ? h(Cosines, { parts, cosines }) : null,
    h("p.lp-note", opposedWords(count, page.batch?.labels.length ?? 0, undone)),
    count
      ? h(
          Fold,
          { title: say("ui.parts.pairs") },
          h(
            "ol.lp-opposed",
            opposed.map((one) => h(OpposedPair, { key: one.pair, page, parts, ...one })),
          ),
        )
      : null,
  );
}

/**
 * How far the gradients of two parts agree; of more a table says it.
 * @type {(parts: Parts["parts"], cosines: Parts["cosines"]) => string}
 */
export function agreementWords(parts, cosines) {
  if (parts.length !== 2) return parts.length > 2 ? say("ui.parts.cosines") : "";
  const [first, second] = parts.map(({ name }) => wordOf(name));
  const value = read(cosines[0][1]);
  if (value === null || Number.isNaN(value)) return say("ui.parts.no_cosine", { first, second });
  return say("ui.parts.cosine", { first, second, value: written(value, 3) });
}

/**
 * On how many of all pairs the parts pull against each other, and which share of their pull that undoes.
 * @type {(count: number, all: number, undone: number) => string}
 */
export const opposedWords = (count, all, undone) =>
  count ? say("ui.parts.opposed", { count, all, share: percent(undone) }) : say("ui.parts.none_opposed");

/** @param {Pick<Parts, "parts" | "cosines">} properties */
const Cosines = ({ parts, cosines }) =>
  h(
    "div.lp-scroll",
    h(
      "table.lp-part-table",
      h(
        "thead",
        h(
          "tr",
          h("td"),
          parts.slice(0, -1).map(({ name }) => h("th", { scope: "col" }, wordOf(name))),
          h("td"),
        ),
      ),
      h(
        "tbody",
        parts.slice(1).map(({ name }, above) =>
          h(
            "tr",
            h("th", { scope: "row" }, wordOf(name)),
            parts.map((_part, column) => h("td", column <= above ? written(cosines[above + 1][column], 3) : "")),
          ),
        ),
      ),
    ),
  );

/**
 * A pair that the parts pull in opposite directions.
 * @param {{ page: ExplorePage, parts: PartSeen[] } & Parts["opposed"][number]} properties
 */
function OpposedPair({ page, parts, pair, pulls }) {
  const of = page.batch;
  const point = () => page.point([pair]);
  const leave = () => page.point();
  return h(
    "li",
    { tabIndex: 0, onMouseEnter: point, onFocus: point, onMouseLeave: leave, onBlur: leave },
    h(
      "div.lp-two",
      h("span", batchText(h, { of, before: `${page.numberOf(pair)} · `, text: of?.first[pair] ?? "" })),
      h("span", batchText(h, { of, text: of?.second[pair] ?? "" })),
    ),
    h(
      "div.lp-row.lp-wrap",
      pulls.map((pull, k) =>
        h(
          (read(pull) ?? 0) > 0 ? "span.lp-pull.lp-apart" : "span.lp-pull",
          `${wordOf(parts[k].name)} ${written(pull, 3)}`,
        ),
      ),
    ),
  );
}

/**
 * What each prefix of the vectors does alone, and its share of the gradient.
 * @param {Properties} properties
 */
const PrefixEnergies = ({ found: { energies } }) =>
  group(
    h("p.lp-note", say("ui.parts.energy.about")),
    h(
      "div.lp-scroll",
      h(
        "table.lp-part-table",
        h(Heads, { names: ["dimensions", "alone", "energy"] }),
        h(
          "tbody",
          energies.map(({ dimensions, share, alone }) =>
            h(
              "tr",
              { key: dimensions },
              h("th", { scope: "row" }, String(dimensions)),
              h(ShareCell, { share: alone }),
              h(ShareCell, { share }),
            ),
          ),
        ),
      ),
    ),
  );

/** @param {{ share: import("../../wire").Real }} properties */
function ShareCell({ share }) {
  const value = read(share) ?? NaN;
  const isKnown = !Number.isNaN(value);
  return h("td", isKnown ? percent(value) : "—", h(ShareBar, { share: isKnown ? value : 0 }));
}

/**
 * @param {HTMLElement} root
 * @param {ExplorePage} page
 */
export default (root, page) => show(root, PartsOfSum, { page });
