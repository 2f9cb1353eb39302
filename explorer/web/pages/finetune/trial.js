// How long training would take, by two trial steps on the server: tried once the plan has settled,
// and never while a run trains.
import { pageData } from "../../kit/page_data.js";
import { say } from "../../kit/words.js";
import { roughly } from "./naming.js";

/** @typedef {import("../../wire").Pace} Pace */

/**
 * `outlook` gives what the server foresees (steps and the key of their pace), or nothing while there is no
 * telling; `asked` the request; `told` hears of every change.
 * @param {import("./state.js").FinetunePage} channel
 * @param {{ outlook: () => { steps: number, pace: string } | null | undefined, asked: () => object,
 *   told: () => void, failed: (problem: import("../../kit/types").Notice) => void }} about
 */
export function timeTrial(channel, { outlook, asked, told, failed }) {
  const facts = pageData.finetune;
  const SETTLED_MS = 1200,
    LATER_MS = 3000;
  /** @type {Map<string, Pace>} */
  const paces = new Map();
  let trying = "";
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
    told();
  }

  function settle() {
    const settled = key() && !pace() && !channel.runs.some(channel.isLive);
    wait(settled ? measure : null, SETTLED_MS);
  }

  async function measure() {
    const wanted = key();
    const { server } = channel;
    if (trying || !wanted || !server || document.hidden || pace()) return;
    trying = wanted;
    told();
    const answer = await channel.work(server, "estimate", asked());
    trying = "";
    if (answer?.seconds_per_step) paces.set(wanted, answer);
    told();
    if (wanted !== key()) settle();
    else if (answer?.error) failed(answer.error);
    else if (answer && !pace()) wait(settle, LATER_MS); // the server is busy
  }

  /**
   * What is known of the time of so many runs, as a sentence.
   * @param {number} count
   */
  function sentence(count) {
    const { steps } = outlook() ?? { steps: 0 };
    const found = pace();
    if (!found) return trying || due ? say("finetune.measuring") : "";
    const { seconds_to_load: load = 0, seconds_per_step: step = 0, seconds_per_evaluation: evaluation = 0 } = found;
    const evaluations = channel.plan.evaluations + facts.more_evaluations;
    const seconds = load + steps * step + evaluations * evaluation;
    return say(count > 1 ? "finetune.takes_many" : "finetune.takes", { steps, count, time: roughly(count * seconds) });
  }

  channel.on("plan", () => wait(null));
  channel.on("runs", settle);
  document.addEventListener("visibilitychange", settle);
  return { settle, sentence };
}
