// What the Large batch page is at work on, and what went wrong.
import { h, worded } from "../../kit/dom.js";
import { grouped } from "../../kit/numbers.js";
import { pageData } from "../../kit/page_data.js";
import { say, titleOf } from "../../kit/words.js";

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").LargePage} channel
 * @param {import("../../kit/types").Asking<import("../../wire").LargeServer>} server
 */
export default function scene(root, channel, server) {
  const facts = pageData.large;

  const problem = h("div.lp-problem", { role: "alert", hidden: true });
  const words = h("span", { "aria-live": "polite" });
  const bar = h("progress");
  const stop = worded("button.lp-button", "ui.stop", { type: "button", id: "lp-stop", onclick: () => channel.stop() });
  const busy = h("div.lp-underway", { hidden: true }, words, bar, stop);
  root.append(problem, busy);

  /** @type {(import("../../wire").Progress & { at: number }) | null} */
  let begun = null; // when this stage was first heard of, and how far it was then
  function show() {
    const { working } = channel;
    if (working && channel.problem) channel.fail(null);
    judge();
    if (working?.what !== begun?.what) begun = working && { ...working, at: performance.now() };
    busy.hidden = !working;
    if (!working || !begun) return;
    const { what, done, total } = working;
    words.textContent = [
      say(`large.doing.${what}`, { done: grouped(done) }),
      total && what !== "parsing" ? say("large.done", { done: grouped(done), total: grouped(total) }) : "",
      remaining(working, begun),
      what === "encoding" ? say("large.kept") : "",
    ]
      .filter(Boolean)
      .join(" ");
    if (total) Object.assign(bar, { max: total, value: done });
    else bar.removeAttribute("value");
    bar.setAttribute("aria-label", words.textContent);
  }

  /**
   * Told once there is something to go by: some progress, over a few seconds.
   * @param {import("../../wire").Progress} working
   * @param {import("../../wire").Progress & { at: number }} begun
   */
  function remaining({ done, total }, begun) {
    const seconds = (performance.now() - begun.at) / 1000;
    if (!total || done <= begun.done || seconds < 4) return "";
    const left = (seconds * (total - done)) / (done - begun.done);
    const [unit, length] = left < 90 ? ["seconds", 1] : left < 5400 ? ["minutes", 60] : ["hours", 3600];
    return say(`large.left.${unit}`, { count: Math.max(1, Math.round(left / Number(length))) });
  }

  // What puts it right: as many pairs as the loss takes, the rest of what was stopped, or another
  // attempt where that may end better.
  /** @type {Record<string, string>} */
  const AGAIN = {
    cancelled: "large.go_on",
    again: "ui.again",
  };
  /** @param {import("../../kit/types").Notice} problem */
  function remedy({ about = "" }) {
    const { source, loss } = channel.asked;
    if (about === "size" && source.kind === "random") {
      const most = facts.losses[loss].most_drawn;
      return h(
        "button.lp-button",
        {
          type: "button",
          onclick: () => channel.change({ source: { ...source, random: { ...source.random, pairs: most } } }),
        },
        say("large.use_most", { most: grouped(most) }),
      );
    }
    return (
      AGAIN[about] &&
      worded("button.lp-button", AGAIN[about], {
        type: "button",
        onclick: () => {
          channel.forgive();
          channel.ask();
        },
      })
    );
  }

  // What is in view may not be what is asked for.
  const isOther = () => Boolean(channel.of) && JSON.stringify(channel.of) !== JSON.stringify(channel.asked);
  const leftover = () =>
    isOther() && channel.of && channel.answer
      ? say("large.leftover", { loss: titleOf(channel.of.loss), count: channel.answer.figures.pairs })
      : "";

  function judge() {
    document.body.classList.toggle("lp-stale", Boolean(channel.problem || (channel.working && isOther())));
  }

  function complain() {
    const told = channel.problem ?? channel.notice;
    problem.hidden = !told;
    judge();
    if (!told) return;
    const more = channel.problem ? [leftover(), remedy(channel.problem)] : [];
    problem.replaceChildren(
      h("span", {}, say(told.key, told.values)),
      ...more.flatMap((part) => (part ? [" ", part] : [])),
    );
  }

  const { classList } = document.body;
  classList.add("lp-before");
  channel.on("working", show);
  channel.on("answer", () => classList.remove("lp-before"));
  channel.on("learning", () => classList.add("lp-learning"));
  channel.on("details", () => classList.remove("lp-learning"));
  channel.on("problem", () => {
    if (channel.problem) classList.remove("lp-learning");
    complain();
  });
  channel.on("language", () => {
    complain();
    show();
  });
  channel.connect(server);
}
