// What the Large batch page is at work on, and what went wrong.
import { grouped } from "../../kit/number_format.js";
import { pageData } from "../../kit/page_data.js";
import { group, h, show } from "../../kit/preact_view.js";
import { useLayoutEffect, useRef } from "../../kit/vendor/preact/hooks.js";
import { say, titleOf } from "../../kit/words.js";

/** @typedef {import("./state.js").LargePage} LargePage */
/** @typedef {import("../../wire").Progress} Progress */

/**
 * Another attempt, where that may end better, by what the problem is about.
 * @type {Record<string, string>}
 */
const AGAIN = { cancelled: "large.go_on", again: "ui.again" };

/** @param {{ channel: LargePage }} properties */
function ProgressAndProblem({ channel }) {
  channel.observe("problem", "working");
  useLayoutEffect(() => {
    document.body.classList.toggle("lp-stale", Boolean(channel.problem || (channel.working && isOther(channel))));
  });
  return group(h(Problem, { channel }), h(Underway, { channel }));
}

/** @type {(channel: LargePage) => boolean} Whether what is in view is not what is asked for. */
const isOther = ({ of, asked }) => Boolean(of) && JSON.stringify(of) !== JSON.stringify(asked);

/** @param {{ channel: LargePage }} properties */
function Problem({ channel }) {
  const { problem, notice, of, answer } = channel;
  const message = problem ?? notice;
  const leftover =
    problem && of && answer && isOther(channel)
      ? say("large.leftover", { loss: titleOf(of.loss), count: answer.figures.pairs })
      : "";
  return h(
    "div.lp-problem",
    { role: "alert", hidden: !message },
    message && h("span", null, say(message.key, message.values)),
    leftover && ` ${leftover}`,
    problem && group(" ", h(Remedy, { channel, about: problem.about ?? "" })),
  );
}

/**
 * What puts it right: as many pairs as the loss takes, the rest of what was stopped, another attempt.
 * @param {{ channel: LargePage, about: string }} properties
 */
function Remedy({ channel, about }) {
  const { source, loss } = channel.asked;
  if (about === "size" && source.kind === "random") {
    const most = pageData.large.losses[loss].most_drawn;
    const draw = () => channel.change({ source: { ...source, random: { ...source.random, pairs: most } } });
    return h("button.lp-button", { type: "button", onClick: draw }, say("large.use_most", { most: grouped(most) }));
  }
  if (!(about in AGAIN)) return null;
  const again = () => {
    channel.forgive();
    channel.ask();
  };
  return h("button.lp-button", { type: "button", onClick: again }, say(AGAIN[about]));
}

/** @param {{ channel: LargePage }} properties */
function Underway({ channel }) {
  const { working } = channel;
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
    null,
    h("span", { "aria-live": "polite" }, label),
    h("progress", { "aria-label": label, ...(total ? { max: total, value: done } : {}) }),
    h("button.lp-button", { type: "button", id: "lp-stop", onClick: () => channel.stop() }, say("ui.stop")),
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
 * @param {LargePage} channel
 * @param {import("../../kit/types").Asking<import("../../wire").LargeServer>} server
 */
export default function progressAndProblem(root, channel, server) {
  show(root, ProgressAndProblem, { channel });
  const { classList } = document.body;
  classList.add("lp-unanswered");
  channel.on("working", () => {
    if (channel.working && channel.problem) channel.fail(null);
  });
  channel.on("answer", () => classList.remove("lp-unanswered"));
  channel.on("learning", () => classList.add("lp-learning"));
  channel.on("details", () => classList.remove("lp-learning"));
  channel.on("problem", () => {
    if (channel.problem) classList.remove("lp-learning");
  });
  channel.connect(server);
}
