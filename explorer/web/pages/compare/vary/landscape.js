// The losses over the score of a positive and of a negative, with the comparisons of the batch as dots.
import { boundaryWords, LandscapePlot, landscapesIn } from "../../../kit/landscape.js";
import { labelOf, Named } from "../../../kit/loss_legend.js";
import { h } from "../../../kit/preact_view.js";
import { numbered } from "../../../kit/state_link.js";
import { useMemo } from "../../../kit/vendor/preact/hooks.js";
import { say } from "../../../kit/words.js";
import { Result, useExperiment } from "./experiment.js";

/** @typedef {import("../../../wire").Landscapes} Answer */

/** @param {{ channel: import("../state.js").ComparePage }} properties */
export function LandscapeExperiment({ channel }) {
  /** @type {import("./experiment.js").Experiment<Answer>} */
  const { answer, sides, ...rest } = useExperiment(channel, "landscape", {});
  const landscapes = useMemo(() => answer && landscapesIn(answer), [answer]);
  const shown = sides.filter((_side, place) => landscapes?.[place]).slice(0, 2);
  const address = new URL(`learn/landscape#${new URLSearchParams(numbered(shown))}`, document.baseURI).href;
  return h(
    Result,
    { experiment: { answer, sides, ...rest } },
    h("p.lp-note", null, say("landscape.about")),
    h(
      "div.lp-landscape-sides",
      null,
      sides.map((_side, place) => {
        const landscape = landscapes?.[place];
        const problem = answer?.sides[place].problem;
        return h(
          "section",
          { key: place },
          h(Named, { sides, place }),
          h("p.lp-note", null, problem ? say(problem.key, problem.values) : landscape && boundaryWords(landscape, 0)),
          landscape &&
            h(LandscapePlot, {
              ...{ landscape, stop: 0, view: "levels", negative: null },
              label: say("landscape.picture", { loss: labelOf(sides, place) }),
            }),
        );
      }),
    ),
    h("p", null, h("a.lp-link", { href: address }, say("landscape.open"))),
  );
}
