// How far a run is: what it does now, a bar, the time left, and its buttons.
import { group, h } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { useLayoutEffect, useRef, useState } from "../../kit/vendor/preact/hooks.js";
import { Button } from "./form_components.js";
import { durationWords } from "./time_estimate.js";

/** @typedef {import("../../wire").RunStatus} RunStatus */
/** @typedef {{ page: import("./state.js").FinetunePage, about: RunStatus }} Run */

const GLIDE_MS = 100;
const STEPS = /** @type {const} */ (["start", "libraries", "encoder", "held_out", "training"]);

/** @param {number} seconds */
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

/** @param {Run} properties */
export const RunProgress = ({ page, about }) =>
  group(
    h(
      "div.lp-progress",
      h("strong.lp-state", { "data-state": about.state }, stateWords(about)),
      h(Bar, { about }),
      h(
        "div.lp-row",
        ACTIONS.filter(({ fits }) => fits(about)).map(({ what }) =>
          h(Button, {
            key: what,
            id: `lp-finetune-${what}`,
            name: say(`finetune.${what}`),
            act: () => page.steer(what, about.id),
          }),
        ),
      ),
    ),
    about.state === "loading" || startsNext(about) ? h(Preparation, { at: partOf(about) }) : null,
  );

/**
 * What happens before the first step, one after the other.
 * @param {{ at: typeof STEPS[number] }} properties
 */
const Preparation = ({ at }) =>
  h(
    "ol.lp-preparation",
    { "aria-label": say("finetune.preparation") },
    STEPS.map((name) =>
      h(
        "li",
        {
          key: name,
          class: STEPS.indexOf(name) < STEPS.indexOf(at) ? "lp-done" : undefined,
          "aria-current": name === at ? "step" : undefined,
        },
        say(`finetune.preparing.${name}`),
      ),
    ),
  );

/**
 * A run whose first news is still to come.
 */
export const Starting = () =>
  h(
    "section",
    h("h1", say("finetune.starting")),
    h("progress.lp-starting", { "aria-label": say("finetune.starting") }),
    h(Preparation, { at: "start" }),
  );

/** @type {(about: RunStatus) => boolean} Whether it waits for nothing but its process. */
const startsNext = ({ state, queue_position: position }) => state === "queued" && !position;

/** @param {RunStatus} about */
function partOf(about) {
  if (about.state === "queued") return "start";
  const { loading } = about;
  const part = loading?.part === "teacher" ? "encoder" : (loading?.part ?? "libraries");
  return /** @type {typeof STEPS[number]} */ (part);
}

/** @param {RunStatus} about */
function stateWords(about) {
  if (about.state === "queued" && about.queue_position) return queueWords(about);
  if (startsNext(about)) return say("finetune.starting");
  if (!about.loading) return say(`finetune.state.${about.state}`);
  return say(`finetune.loading.${about.loading.total ? "teacher_at" : about.loading.part}`, { ...about.loading });
}

/**
 * That a run waits, for how many others, and what they have to train where that is known.
 * @param {{ queue_position: number | null, queue_seconds: number | null }} run
 */
export const queueWords = ({ queue_position: before, queue_seconds: seconds }) =>
  seconds === null
    ? say("finetune.queue", { count: before ?? 0 })
    : say("finetune.queue_for", { count: before ?? 0, time: durationWords(seconds) });

/** @type {{ what: string, fits: (about: RunStatus) => boolean }[]} */
const ACTIONS = [
  { what: "pause", fits: ({ state }) => ["loading", "training"].includes(state) },
  { what: "resume", fits: ({ state }) => ["paused", "stopped", "failed", "interrupted"].includes(state) },
  { what: "stop", fits: ({ state }) => ["queued", "loading", "training", "paused"].includes(state) },
  { what: "unshare", fits: ({ shared }) => shared },
];

/**
 * Between two steps, which may take a second each, the bar goes on at the pace of the last ones, up to where the
 * next step would bring it; while the run loads, the clock goes on.
 * @param {{ about: RunStatus }} properties
 */
function Bar({ about }) {
  const [, draw] = useState(0);
  const last = useRef({ about, since: performance.now() });
  if (isNews(last.current.about, about)) last.current = { about, since: performance.now() };
  const { state, step, steps, loading, seconds_left: remaining } = about;
  const ahead = steps === null ? 0 : steps - step;
  const left = state === "training" && ahead > 0 ? remaining : null;
  // Where a step takes less than that, what the server says is as fine.
  const moves = Boolean(loading) || (left !== null && 1000 * left > GLIDE_MS * ahead);
  useLayoutEffect(() => {
    if (!moves) return undefined;
    const timer = setInterval(() => draw((count) => count + 1), GLIDE_MS);
    return () => clearInterval(timer);
  }, [moves]);
  const since = (performance.now() - last.current.since) / 1000;
  const gone = left === null ? 0 : Math.min(since, left / ahead);
  const seconds = loading ? loading.seconds + since : about.seconds;
  const time = left !== null ? say("finetune.left", { time: clock(left - gone) }) : clock(seconds);
  const isWaiting = loading || startsNext(about);
  const words = [steps ? say("finetune.step_of", { step, steps }) : "", state === "queued" ? "" : time];
  return group(
    steps
      ? h("progress", {
          max: 1,
          value: (step + (left ? (gone * ahead) / left : 0)) / steps,
          "aria-label": say("finetune.progress"),
        })
      : isWaiting
        ? h("progress", { "aria-label": say("finetune.progress") })
        : h("span"),
    h("span.lp-note", words.filter(Boolean).join(" · ")),
  );
}

/** @type {(before: RunStatus, now: RunStatus) => boolean} Whether a status says more than an earlier one. */
const isNews = (before, now) =>
  before.id !== now.id ||
  before.step !== now.step ||
  before.state !== now.state ||
  before.loading?.part !== now.loading?.part;
