// What the Large batch page is at work on, and what went wrong.
import { grouped } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { group, h, show } from "../../kit/preact_view.js";
import { say, titleOf } from "../../kit/translated_sentences.js";
import { useLayoutEffect, useRef } from "../../kit/vendor/preact/hooks.js";

/** @typedef {import("./state.js").LargePage} LargePage */
/** @typedef {import("../../wire").Progress} Progress */

/**
 * Another attempt, where that may end better, by what the problem is about.
 * @type {Record<string, string>}
 */
const AGAIN = { cancelled: "large.go_on", again: "ui.again" };

/** @param {{ page: LargePage }} properties */
function ProgressAndProblem({ page }) {
  page.observe("problem", "working");
  useLayoutEffect(() => {
    document.body.classList.toggle("lp-stale", Boolean(page.problem || (page.working && isOther(page))));
  });
  return group(h(Problem, { page }), h(Underway, { page }));
}

/** @type {(page: LargePage) => boolean} Whether what is in view is not what is asked for. */
const isOther = ({ answered, request }) => Boolean(answered) && JSON.stringify(answered) !== JSON.stringify(request);

/** @param {{ page: LargePage }} properties */
function Problem({ page }) {
  const { problem, notice, answered, answer } = page;
  const message = problem ?? notice;
  const leftover =
    problem && answered && answer && isOther(page)
      ? say("large.leftover", { loss: titleOf(answered.loss), count: answer.figures.pairs })
      : "";
  return h(
    "div.lp-problem",
    { role: "alert", hidden: !message },
    message && h("span", say(message.key, message.values)),
    leftover && ` ${leftover}`,
    problem && group(" ", h(Remedy, { page, about: problem.about ?? "" })),
  );
}

/**
 * What puts it right: as many pairs as the loss takes, the rest of what was stopped, another attempt.
 * @param {{ page: LargePage, about: string }} properties
 */
function Remedy({ page, about }) {
  const { source, loss } = page.request;
  if (about === "size" && source.kind === "random") {
    const most = pageData.large.losses[loss].most_drawn;
    const draw = () => page.change({ source: { ...source, random: { ...source.random, pairs: most } } });
    return h("button.lp-button", { onClick: draw }, say("large.use_most", { most: grouped(most) }));
  }
  if (!(about in AGAIN)) return null;
  const again = () => {
    page.clearProblem();
    page.ask();
  };
  return h("button.lp-button", { onClick: again }, say(AGAIN[about]));
}

/** @param {{ page: LargePage }} properties */
function Underway({ page }) {
  const { working } = page;
  // When this stage was first heard of, and how far it was then.
  const begun = useRef(/** @type {(Progress & { at: number }) | null} */ (null));
  if (working?.what !== begun.current?.what) begun.current = working && { ...working, at: performance.now() };
  if (!working || !begun.current) return h("div.lp-underway", { hidden: true });
  const { what, done, total } = working;
  const words = [
    say(`large.doing.${what}`, { done: grouped(done) }),
    total && what !== "parsing" ? say("large.done", { done: grouped(done), total: grouped(total) }) : "",
    remaining(working, begun.current),
    what === "encoding" ? say("large.kept") : "",
  ];
  const label = words.filter(Boolean).join(" ");
  return h(
    "div.lp-underway",
    h("span", { "aria-live": "polite" }, label),
    h("progress", { "aria-label": label, ...(total ? { max: total, value: done } : {}) }),
    h("button.lp-button", { id: "lp-stop", onClick: () => page.stop() }, say("ui.stop")),
  );
}

/**
 * How long it takes still, once there is something to go by: some progress, over a few seconds.
 * @type {(working: Progress, begun: Progress & { at: number }) => string}
 */
function remaining({ done, total }, begun) {
  const seconds = (performance.now() - begun.at) / 1000;
  if (!total || done <= begun.done || seconds < 4) return "";
  const left = (seconds * (total - done)) / (done - begun.done);
  const [unit, length] = left < 90 ? ["seconds", 1] : left < 5400 ? ["minutes", 60] : ["hours", 3600];
  return say(`large.left.${unit}`, { count: Math.max(1, Math.round(left / Number(length))) });
}

/**
 * @param {HTMLElement} root
 * @param {LargePage} page
 * @param {import("../../kit/types").Asking<import("../../wire").LargeServer>} server
 */
export default function progressAndProblem(root, page, server) {
  show(root, ProgressAndProblem, { page });
  const { classList } = document.body;
  classList.add("lp-unanswered");
  page.on("working", () => {
    if (page.working && page.problem) page.fail(null);
  });
  page.on("answer", () => classList.remove("lp-unanswered"));
  page.on("learning", () => classList.add("lp-learning"));
  page.on("details", () => classList.remove("lp-learning"));
  page.on("problem", () => {
    if (page.problem) classList.remove("lp-learning");
  });
  page.connect(server);
}
