// How long training would take, by two trial steps on the server: tried once the plan has settled,
// and never while a run trains.
import { pageData } from "../../kit/page_data.js";
import { say } from "../../kit/translated_sentences.js";

/** @typedef {import("../../wire").Pace} Pace */

/**
 * `outlook` gives what the server foresees (steps and the key of their pace), or nothing where it cannot;
 * `request` what to time. Each change is published as "pace".
 * @param {import("./state.js").FinetunePage} page
 * @param {{ outlook: () => { steps: number, pace: string } | null | undefined, request: () => object }} about
 */
export function timeTrial(page, { outlook, request }) {
  const facts = pageData.finetune;
  const SETTLED_MS = 1200,
    LATER_MS = 3000;
  /** @type {Map<string, Pace>} */
  const paces = new Map();
  let trying = "";
  /** @type {import("../../kit/types").Notice | null} */
  let failure = null;
  /** @type {ReturnType<typeof setTimeout> | null} */
  let due = null;
  const key = () => outlook()?.pace ?? "";
  const pace = () => paces.get(key());

  /** @type {(then: (() => void) | null, ms?: number) => void} */
  function wait(then, ms) {
    clearTimeout(due ?? undefined);
    due =
      then &&
      setTimeout(() => {
        due = null;
        then();
      }, ms);
    page.publish("pace");
  }

  function settle() {
    const settled = key() && !pace() && !page.runs.some(page.isLive);
    wait(settled ? measure : null, SETTLED_MS);
  }

  async function measure() {
    const timed = key();
    const { server } = page;
    if (trying || !timed || !server || document.hidden || pace()) return;
    trying = timed;
    page.publish("pace");
    const answer = await page.work(server, "estimate", request());
    trying = "";
    if (answer?.seconds_per_step) paces.set(timed, answer);
    failure = timed === key() ? (answer?.error ?? null) : null;
    page.publish("pace");
    if (timed !== key()) settle();
    else if (!failure && answer && !pace()) wait(settle, LATER_MS); // the server is busy
  }

  /** @type {(count: number) => string} What is known of the time of so many runs, as a sentence. */
  function sentence(count) {
    const { steps } = outlook() ?? { steps: 0 };
    const found = pace();
    if (!found) return trying || due ? say("finetune.measuring") : "";
    const { seconds_to_load: load = 0, seconds_per_step: step = 0, seconds_per_evaluation: evaluation = 0 } = found;
    const evaluations = page.plan.evaluations + facts.more_evaluations;
    const seconds = load + steps * step + evaluations * evaluation;
    return say(count > 1 ? "finetune.takes_many" : "finetune.takes", {
      steps,
      count,
      time: durationWords(count * seconds),
    });
  }

  page.on("plan", () => {
    failure = null;
    wait(null);
  });
  for (const topic of ["checked", "runs"]) page.on(topic, settle);
  document.addEventListener("visibilitychange", settle);
  return { settle, sentence, failure: () => failure };
}

/** @type {(seconds: number) => string} A time in words, to a digit or two. */
export const durationWords = (seconds) =>
  seconds < 90
    ? say("finetune.seconds", { count: Math.max(1, Math.round(seconds)) })
    : seconds < 5400
      ? say("finetune.minutes", { count: Math.round(seconds / 60) })
      : say("finetune.hours", { count: (seconds / 3600).toFixed(1) });
