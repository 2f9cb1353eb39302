// The trainings that measure a claim: a button, how far they are, and what they show.
import { h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { useState } from "../../kit/vendor/preact/hooks.js";
import { ClaimResult } from "./claim_result.js";

/** @typedef {import("../../wire").FollowedRuns} FollowedRuns */

/** @param {{ page: import("./state.js").ClaimsPage }} properties */
export function TrainingPanel({ page }) {
  page.observe("followed");
  const [isStarting, setStarting] = useState(false);
  const { claim, followed, runs } = page;
  if (!claim.trains) return null;
  const isLive = runs.length > 0 && (followed === null || followed.done < followed.count);
  async function start() {
    setStarting(true);
    await page.train();
    setStarting(false);
  }
  return h(
    "section.lp-claim-training",
    h(
      "p.lp-row.lp-wrap",
      isLive
        ? h("button.lp-button", { onClick: () => page.stop() }, say("claims.stop"))
        : h("button.lp-button.lp-main", { disabled: isStarting, onClick: start }, say("claims.train")),
      h("span.lp-note", { role: "status" }, isLive ? progressOf(followed) : say("claims.train_about")),
    ),
    followed?.found && !followed.found.parts.length ? h("p", say("claims.unmeasured")) : null,
    followed?.found?.parts.length
      ? h(ClaimResult, { page, name: claim.name, result: followed.found, title: say("claims.trained") })
      : null,
  );
}

/** @param {FollowedRuns | null} followed */
function progressOf(followed) {
  if (!followed) return say("claims.starting");
  const { done, count, step, steps } = followed;
  const run = { run: done + 1, runs: count };
  return step === null || steps === null
    ? say("claims.waiting", run)
    : say("claims.running", { ...run, at: step, last: steps });
}
