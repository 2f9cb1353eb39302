// What the page is waiting for: how far a long job has come, and a button that ends it.
import { grouped } from "./number_format.js";
import { h, show } from "./preact_view.js";
import { say } from "./translated_sentences.js";
import { useEffect, useState } from "./vendor/preact/hooks.js";

const SECOND = 1000; // ms

/** @typedef {{ page: Pick<import("./page_topics_notices_and_jobs.js").PageEvents, "busy" | "progress" | "observe" | "cancel"> }} Properties */

/** @param {Properties} properties */
export function Progress({ page }) {
  page.observe("busy", "progress");
  const { busy, progress } = page;
  return busy || progress ? h(Waiting, { page }) : null;
}

/** @param {Properties} properties */
function Waiting({ page }) {
  const { progress } = page;
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const began = Date.now();
    const timer = setInterval(() => setSeconds(Math.floor((Date.now() - began) / SECOND)), SECOND);
    return () => clearInterval(timer);
  }, []);
  const words = progress ? wordsOf(progress) : say("ui.working");
  return h(
    "div.lp-busy",
    h("span", words),
    seconds ? h("span", say("progress.elapsed", { seconds: grouped(seconds) })) : null,
    progress?.total ? h("progress", { max: progress.total, value: progress.done, "aria-label": words }) : null,
    progress ? h("button.lp-button", { onClick: () => page.cancel() }, say("ui.cancel")) : null,
  );
}

/** @param {import("../wire").Progress} progress */
const wordsOf = ({ what, values, done, total }) =>
  say(`progress.${what}`, { ...values, done: grouped(done), total: grouped(total) });

/**
 * @param {HTMLElement} root
 * @param {import("./page_topics_notices_and_jobs.js").PageEvents} page
 */
export default (root, page) => show(root, Progress, { page });
