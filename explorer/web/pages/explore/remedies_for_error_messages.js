// What can be put right by a button beside a problem on Explore.
import { reveal } from "../../kit/dom.js";
import { aboutTeacher } from "../../kit/model_names_as_shown.js";
import { pageData } from "../../kit/page_data.js";
import { remediesOf } from "../../kit/scenario_remedies.js";
import { isEmbedded, useEmbedded } from "./sidebar/encoder.js";
import { hasTexts } from "./sidebar/loss.js";

/**
 * What can be put right by a button beside a problem.
 * @type {(page: import("./state.js").ExplorePage) => import("../../kit/types").Remedy[]}
 */
export function exploreRemedies(page) {
  const overPositives = Object.entries(pageData.losses).find(
    ([, spec]) => spec.group === "in_batch" && spec.learns_from_positives,
  );
  return [
    {
      fits: ({ about }) => about === "encoder" && !isEmbedded(page),
      key: "ui.embedded_encoder",
      act: () => useEmbedded(page),
    },
    {
      fits: ({ about }) => aboutTeacher(about) && hasTexts(page),
      key: "ui.choose_teacher",
      act: () => reveal("lp-teacher"),
    },
    {
      fits: ({ about }) => about === "scores" && overPositives !== undefined,
      key: "ui.loss_over_positives",
      act: () => overPositives && page.choose(overPositives[0]),
    },
    ...remediesOf(page),
  ];
}
