// Every pair with its gradient: sorted and searched on the server, twenty at a time.
import { h, reword, worded } from "../../kit/dom.js";
import { grouped, show } from "../../kit/numbers.js";
import { Requests } from "../../kit/request.js";
import { GONE } from "../../kit/server.js";
import { say } from "../../kit/words.js";

/** @typedef {import("../../kit/types").Answer<import("../../wire").LargeServer, "pairs">} Answer */

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").LargePage} channel
 */
export default function pairs(root, channel) {
  const PAGE = 20,
    AGAIN_MS = 300;
  const COLUMNS = ["entry", "sentences", "label", "score", "gradient"];

  const search = h("input", { type: "text", id: "lp-large-search", spellcheck: false });
  const found = h("span.lp-note", { "aria-live": "polite" });
  const order = { column: "gradient", falling: false };
  let page = 0;
  /** @type {Record<string, HTMLElement>} */
  const arrows = {};
  const heads = COLUMNS.map((column) => {
    if (column === "sentences") return worded("th.lp-wide", "large.sentences", { scope: "col" });
    arrows[column] = h("span.lp-arrow", { "aria-hidden": "true" });
    const head = h(
      "th",
      { scope: "col" },
      h(
        "button.lp-sort",
        { type: "button", onclick: () => sort(column) },
        worded("span", `large.column.${column}`),
        arrows[column],
      ),
    );
    head.dataset.column = column;
    return head;
  });
  const body = h("tbody");
  const table = h("table.lp-sortable", {}, h("thead", {}, h("tr", {}, heads)), body);
  const [previous, next] = [
    ["lp-large-previous", "‹", -1, "large.previous"],
    ["lp-large-next", "›", 1, "large.next"],
  ].map(([id, sign, by, key]) =>
    h(
      "button.lp-square",
      {
        type: "button",
        id,
        "data-title": key,
        onclick: () => {
          page += Number(by);
          ask();
        },
      },
      sign,
    ),
  );
  const place = h("span.lp-note");
  root.append(
    worded("h2", "large.gradient_table"),
    worded("p.lp-note", "large.search_note"),
    h("div.lp-search", {}, search, found),
    h("div.lp-scroll.lp-whole-words", {}, table),
    h("div.lp-row", {}, previous, place, next),
  );
  reword(root);

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      page = 0;
      ask();
    }, 250);
  });

  /**
   * Numbers come largest first; the second time it is the other way round.
   * @param {string} column
   */
  function sort(column) {
    order.falling = order.column === column ? !order.falling : true;
    order.column = column;
    page = 0;
    ask();
  }

  /** @type {Requests<Answer>} */
  const requests = new Requests({
    most: 2,
    ask: async () => {
      const answer = await channel.server?.pairs({ ...channel.asked, search: search.value, ...order, page });
      return answer ?? { error: GONE };
    },
    again: ({ working }) => (working ? AGAIN_MS : null),
    take,
  });
  const ask = () => requests.ask();

  /** @param {Answer} answer */
  function take({ error, ...answer }) {
    const unread = error?.about === "search";
    if (error && unread) found.textContent = say(error.key, error.values);
    else if (error) channel.warn(error);
    else if (answer.rows) draw(answer);
    search.classList.toggle("lp-bad", unread);
    found.classList.toggle("lp-wrong", unread);
  }

  /** @type {import("../../wire").PairsPage | null} */
  let last = null;
  /** @param {import("../../wire").PairsPage} answer */
  function draw(answer) {
    last = answer;
    body.replaceChildren(
      ...answer.rows.map((pair) =>
        h(
          "tr",
          {},
          h("td", {}, `#${grouped(pair.entry + 1)}`),
          h("td.lp-wide", {}, h("div.lp-two", {}, h("span", {}, pair.first), h("span", {}, pair.second))),
          h("td", {}, show(pair.label)),
          h("td", {}, show(pair.score)),
          h("td", {}, pair.gradient === "nan" ? "—" : show(pair.gradient)),
        ),
      ),
    );
    for (const head of heads) {
      const { column } = head.dataset;
      if (!column) continue;
      const chosen = order.column === column;
      head.setAttribute("aria-sort", chosen ? (order.falling ? "descending" : "ascending") : "none");
      arrows[column].textContent = chosen ? (order.falling ? "▼" : "▲") : "";
    }
    const pages = Math.max(1, Math.ceil(answer.found / PAGE));
    previous.disabled = page === 0;
    next.disabled = page + 1 >= pages;
    place.textContent = say("large.page_of", { page: grouped(page + 1), pages: grouped(pages) });
    found.textContent = say("large.found", { count: grouped(answer.found) });
    search.placeholder = say("large.search");
    search.setAttribute("aria-label", say("large.search"));
    table.setAttribute("aria-label", say("large.gradient_table"));
    body.dataset.drawn = String(Number(body.dataset.drawn ?? 0) + 1);
  }

  channel.on("learning", () => {
    found.textContent = say("large.doing.gradient");
  });
  channel.on("details", () => {
    page = 0;
    ask();
  });
  channel.on("language", () => {
    if (last) draw(last);
  });
}
