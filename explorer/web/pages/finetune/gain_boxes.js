// What a run has gained on its held-out pairs: each figure before and after (so far), as two marks on a line.
import { fixed, show } from "../../kit/number_format.js";
import { group, h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { HELD_OUT_METRICS, METRIC_DECIMALS } from "./held_out_metric_list_and_format.js";

/** @type {("ndcg_at_10" | "mrr_at_10")[]} */
const LIST_FIGURES = ["ndcg_at_10", "mrr_at_10"];

/** @param {{ trace: import("./run_log_data.js").Trace }} properties */
export function GainBoxes({ trace }) {
  const summary = trace.about?.summary ?? null;
  // Both are of the same pairs: all of them at the end, those of the curve until then.
  const [before, after] = summary ? [summary.before, summary.after] : [trace.evaluations[0], trace.evaluations.at(-1)];
  if (!before || !after) return h("div.lp-gains");
  const count = summary?.pairs.held_out ?? after.pairs;
  const all = trace.held.before?.pairs;
  const isSample = !summary && count !== all;
  const boxes = HELD_OUT_METRICS.flatMap((key) => {
    const now = after[key];
    if (now === null || now === undefined) return [];
    const what = say(`finetune.${key}`);
    const title = say(isSample ? "finetune.held_out_so_far" : "finetune.held_out_of", {
      what,
      count: count ?? "—",
      all: all ?? "—",
    });
    return [h(GainBox, { key, title, what, before: before[key] ?? null, now })];
  });
  return h("div.lp-gains", boxes, summary ? h(ListGains, { summary }) : null);
}

/**
 * How candidates of the held-out lists are ordered; runs of earlier versions do not say it.
 * @param {{ summary: import("../../wire").Summary }} properties
 */
function ListGains({ summary: { before, after, threshold } }) {
  const { lists } = after;
  if (!lists) return null;
  const { count, alike, without, floor } = lists;
  const boxes = LIST_FIGURES.flatMap((key) => {
    const now = lists[key];
    if (now === null) return [];
    const what = say(`finetune.list_${key}`);
    const title = say("finetune.of_lists", { what, count });
    return [h(GainBox, { key, title, what, before: before.lists?.[key] ?? null, now })];
  });
  const values = { count, alike, without, floor: show(floor, 3), threshold: show(threshold, 3) };
  return group(boxes, h("p.lp-note.lp-lists-about", say("finetune.lists_about", values)));
}

/**
 * Two marks on a line from 0 to 1, or from −1 where one is below 0.
 * @param {{ title: string, what: string, before: number | null, now: number }} properties
 */
function GainBox({ title, what, before, now }) {
  const old = before ?? 0;
  const low = Math.min(old, now) < 0 ? -1 : 0;
  /** @param {number} length */
  const share = (length) => `${(100 * length) / (1 - low)}%`;
  /** @param {number} value */
  const at = (value) => share(value - low);
  const [first, last] = [before, now].map((value) => fixed(value, METRIC_DECIMALS));
  const bar = {
    left: at(Math.min(old, now)),
    width: share(Math.abs(now - old)),
    background: `var(--lp-${now < old ? "bad" : "floor"})`,
  };
  return h(
    "div.lp-figure.lp-gain-box",
    h("span", title),
    h("div.lp-row", h("small", first), h("small", "→"), h("strong", last)),
    h(
      "div.lp-ruler.lp-gain",
      { role: "img", "aria-label": say("finetune.gain_says", { what, before: first, after: last }) },
      h("b", { style: bar }),
      h("i.lp-old", { style: { left: at(old) } }),
      h("i.lp-now", { style: { left: at(now) } }),
    ),
  );
}
