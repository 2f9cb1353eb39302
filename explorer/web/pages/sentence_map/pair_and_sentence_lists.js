// The lists below the map: the marked pairs, those with the largest gradients, the sentences that a run moved most.
import { show as number } from "../../kit/number_format.js";
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { LARGE_BATCH } from "./state.js";

/** @typedef {import("./state.js").MapPage} MapPage */
/** @typedef {{ page: MapPage }} Page */

const MAX_LISTED = 12; // pairs, and sentences

/** @type {(map: import("./state.js").SentenceMap, pair: number) => string} */
const textsOf = ({ sentences, first, second }, pair) => `${sentences[first[pair]]} | ${sentences[second[pair]]}`;

/** @param {Page} properties */
export function MarkedPairs({ page }) {
  const { map, pairs } = page;
  if (!map || !pairs.length) return h("p.lp-note", say("sentence_map.hint"));
  const { gradient } = page;
  return h(
    "section.lp-map-marked",
    { "aria-live": "polite" },
    h("h2", say("sentence_map.marked", { count: pairs.length })),
    h(
      "ul",
      pairs.map((pair) =>
        h(
          "li",
          { key: pair },
          h("span", { "data-batch-text": "" }, textsOf(map, pair)),
          h("small", say("sentence_map.gradient", { value: number(gradient[pair], 3) })),
          h(
            "button.lp-square",
            {
              title: say("sentence_map.unmark"),
              "aria-label": say("sentence_map.unmark"),
              onClick: () => page.toggle(pair),
            },
            "×",
          ),
        ),
      ),
    ),
    page.store.state.run || page.batch === LARGE_BATCH
      ? null
      : h("button.lp-button", { id: "lp-on-explore", onClick: () => leave(page) }, say("sentence_map.explore")),
    h("button.lp-button", { id: "lp-unmark-all", onClick: () => page.mark([], false) }, say("sentence_map.unmark_all")),
  );
}

/** @param {MapPage} page */
async function leave(page) {
  const address = await page.onExplore();
  if (address) location.assign(new URL(address, document.baseURI));
}

/** The pairs with the largest gradients: what the map shows to those who cannot point. @param {Page} properties */
export function HeaviestPairs({ page }) {
  const { map } = page;
  if (!map) return null;
  return h(
    "ol",
    page
      .heaviest()
      .slice(0, MAX_LISTED)
      .map((pair) =>
        h(
          "li",
          { key: pair },
          h(
            "button.lp-link",
            {
              ...{ type: "button", "data-batch-text": "", "aria-pressed": page.pairs.includes(pair) },
              onClick: () => page.toggle(pair),
            },
            textsOf(map, pair),
          ),
          ` ${number(page.gradient[pair], 3)}`,
        ),
      ),
  );
}

/** The sentences of which a run replaced the most neighbours. @param {Page} properties */
export function ChangedSentences({ page }) {
  const { map } = page;
  if (!map) return null;
  const { changed, neighbours, sentences } = map;
  const order = Array.from(changed.keys()).sort((one, other) => changed[other] - changed[one]);
  return h(
    "ol",
    order
      .slice(0, MAX_LISTED)
      .map((place) =>
        h(
          "li",
          { key: place },
          h(
            "button.lp-link",
            { "data-batch-text": "", onClick: () => page.set({ search: sentences[place] }) },
            sentences[place],
          ),
          ` ${say("sentence_map.replaced", { count: changed[place], all: neighbours })}`,
        ),
      ),
  );
}
