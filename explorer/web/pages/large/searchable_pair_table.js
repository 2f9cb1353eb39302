// Every pair with its gradient: sorted and searched on the server, twenty at a time.

import { batchText } from "../../kit/batch_text_with_picture.js";
import { grouped, show as written } from "../../kit/number_format.js";
import { group, h, show } from "../../kit/preact_view.js";
import { Requests, whileWorking } from "../../kit/request_scheduling.js";
import { say } from "../../kit/translated_sentences.js";

/** @typedef {import("./state.js").LargePage} LargePage */
/** @typedef {import("../../kit/types").Answer<import("../../wire").LargeServer, "pairs">} Answer */

const ROWS = 20; // of a page
const TYPING_MS = 250;
const COLUMNS = ["entry", "sentences", "label", "score", "gradient"];

/** A page of the pairs that a search finds, in an order. Publishes "pairs". */
class PairSearch {
  /** @param {LargePage} page */
  constructor(page) {
    this.page = page;
    this.search = "";
    this.column = "gradient";
    this.falling = false;
    this.pageNumber = 0;
    this.isComputing = false;
    /** @type {import("../../wire").PairsPage | null} */
    this.found = null;
    /** @type {import("../../wire").Problem | null} */
    this.unread = null; // what of the search cannot be read
    this.drawn = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.typing = undefined;
    /** @type {Requests<Answer>} */
    this.requests = new Requests({
      most: 2,
      ask: () => {
        const { search, column, falling, pageNumber } = this;
        return page.server.pairs({ ...page.request, search, column, falling, page: pageNumber });
      },
      again: whileWorking,
      take: (answer) => this.#take(answer),
    });
  }

  get pages() {
    return Math.max(1, Math.ceil((this.found?.found ?? 0) / ROWS));
  }

  ask(pageNumber = 0) {
    this.pageNumber = pageNumber;
    this.requests.ask();
  }

  /** @param {string} search */
  type(search) {
    this.search = search;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.ask(), TYPING_MS);
  }

  /** @type {(column: string) => void} Numbers come largest first; the second time it is the other way round. */
  sort(column) {
    this.falling = this.column === column ? !this.falling : true;
    this.column = column;
    this.ask();
  }

  /** @param {Answer} answer */
  #take({ error, ...answer }) {
    this.unread = error?.about === "search" ? error : null;
    if (error && !this.unread) this.page.warn(error);
    if (!error && answer.rows) {
      this.found = answer;
      this.drawn += 1;
    }
    this.isComputing = false;
    this.page.publish("pairs");
  }
}

/** @typedef {{ page: LargePage, pairs: PairSearch }} Properties */

/** @param {Properties} properties */
function Pairs({ page, pairs }) {
  page.observe("pairs", "answer");
  return group(
    h("h2", say("large.gradient_table")),
    h("p.lp-note", say("large.search_note"), " ", page.answer && !isDrawn(page) ? h(OnTheMap, { page }) : null),
    h(
      "div.lp-search",
      h("input", {
        type: "text",
        id: "lp-large-search",
        class: pairs.unread ? "lp-bad" : "",
        spellcheck: false,
        placeholder: say("large.search"),
        "aria-label": say("large.search"),
        onInput: (event) => pairs.type(event.currentTarget.value),
      }),
      h("span.lp-note", { class: pairs.unread ? "lp-wrong" : "", "aria-live": "polite" }, foundWords(pairs)),
    ),
    h("div.lp-scroll.lp-whole-words", h(PairTable, { page, pairs })),
    h(Paging, { page, pairs }),
  );
}

/** @param {LargePage} page */
const isDrawn = ({ answered }) => answered?.source.kind === "random";

/** The sentences of these pairs as points of a map. @param {{ page: LargePage }} properties */
const OnTheMap = ({ page }) =>
  h(
    "a.lp-link",
    {
      id: "lp-large-on-map",
      href: `learn/map${location.search}#large=${encodeURIComponent(JSON.stringify(page.request))}`,
    },
    say("large.on_map"),
  );

/** @param {PairSearch} pairs */
function foundWords({ unread, isComputing, found }) {
  if (isComputing) return say("large.doing.gradient");
  if (unread) return say(unread.key, unread.values);
  return found ? say("large.found", { count: grouped(found.found) }) : "";
}

/** @param {Properties} properties */
function PairTable({ page, pairs }) {
  const isNamed = !isDrawn(page); // pairs that were drawn have only their number
  const columns = isNamed ? COLUMNS : COLUMNS.filter((column) => column !== "sentences");
  return h(
    "table.lp-sortable",
    { "aria-label": say("large.gradient_table") },
    h(
      "thead",
      h(
        "tr",
        columns.map((column) => h(ColumnHead, { key: column, pairs, column })),
      ),
    ),
    h(
      "tbody",
      { "data-drawn": pairs.drawn },
      pairs.found?.rows.map((pair) =>
        h(
          "tr",
          { key: pair.entry },
          h("td", `#${grouped(pair.entry + 1)}`),
          isNamed
            ? h(
                "td.lp-wide",
                { "data-batch-text": "" },
                h(
                  "div.lp-two",
                  [pair.first, pair.second].map((text) => h("span", batchText(h, { text, of: pair }))),
                ),
              )
            : null,
          h("td", written(pair.label)),
          h("td", written(pair.score)),
          h("td", pair.gradient === "nan" ? "—" : written(pair.gradient)),
        ),
      ),
    ),
  );
}

/** @param {{ pairs: PairSearch, column: string }} properties */
function ColumnHead({ pairs, column }) {
  if (column === "sentences") return h("th.lp-wide", { scope: "col" }, say("large.sentences"));
  const isSorted = pairs.column === column;
  return h(
    "th",
    {
      scope: "col",
      "data-column": column,
      "aria-sort": isSorted ? (pairs.falling ? "descending" : "ascending") : "none",
    },
    h(
      "button.lp-sort",
      { onClick: () => pairs.sort(column) },
      h("span", say(`large.column.${column}`)),
      h("span.lp-arrow", { "aria-hidden": "true" }, isSorted ? (pairs.falling ? "▼" : "▲") : ""),
    ),
  );
}

/** @param {Properties} properties */
function Paging({ pairs }) {
  const { pageNumber, pages } = pairs;
  /** @type {(id: string, sign: string, by: number) => import("preact").VNode} */
  const turn = (id, sign, by) => {
    const title = say(`large.${id}`);
    const disabled = pageNumber + by < 0 || pageNumber + by >= pages;
    const act = () => pairs.ask(pageNumber + by);
    return h("button.lp-square", { id: `lp-large-${id}`, title, "aria-label": title, disabled, onClick: act }, sign);
  };
  return h(
    "div.lp-row",
    turn("previous", "‹", -1),
    h("span.lp-note", say("large.page_of", { page: grouped(pageNumber + 1), pages: grouped(pages) })),
    turn("next", "›", 1),
  );
}

/**
 * @param {HTMLElement} root
 * @param {LargePage} page
 */
export default (root, page) => {
  const pairs = new PairSearch(page);
  show(root, Pairs, { page, pairs });
  page.on("learning", () => {
    pairs.isComputing = true;
    page.publish("pairs");
  });
  page.on("details", () => pairs.ask());
};
