// What the page is waiting for: how far a long job has come, and a button that ends it.
import { grouped } from "./number_format.js";
import { h, show } from "./preact_view.js";
import { say } from "./words.js";

/** @param {{ channel: Pick<import("./bus.js").Bus, "busy" | "progress" | "observe" | "cancel"> }} properties */
export function Progress({ channel }) {
  channel.observe("busy", "progress");
  const { busy, progress } = channel;
  if (!busy && !progress) return null;
  const words = progress ? wordsOf(progress) : say("ui.working");
  return h(
    "div.lp-busy",
    null,
    h("span", null, words),
    progress?.total ? h("progress", { max: progress.total, value: progress.done, "aria-label": words }) : null,
    progress ? h("button.lp-button", { type: "button", onClick: () => channel.cancel() }, say("ui.cancel")) : null,
  );
}

/** @param {import("../wire").Progress} progress */
const wordsOf = ({ what, values, done, total }) =>
  say(`progress.${what}`, { ...values, done: grouped(done), total: grouped(total) });

/**
 * @param {HTMLElement} root
 * @param {import("./bus.js").Bus} channel
 */
export default (root, channel) => show(root, Progress, { channel });
