// The sidebar: loss, settings, data, encoder, rules. Each control changes the scenario and nothing else.
import { reveal } from "../../kit/dom.js";
import { aboutTeacher } from "../../kit/guide_and_teacher_names.js";
import { pageData } from "../../kit/page_data.js";
import { group, h, show } from "../../kit/preact_view.js";
import { remediesOf } from "../../kit/scenario_remedies.js";
import { DataFold, RowsLeftOut } from "./sidebar/data.js";
import { isEmbedded, useEmbedded } from "./sidebar/encoder.js";
import { FileReading } from "./sidebar/file.js";
import { hasTexts, LossSection } from "./sidebar/loss.js";

/** @typedef {import("./state.js").ExplorePage} ExplorePage */
/** @typedef {import("../../kit/types").Asking<import("../../wire").ExploreServer>} Server */

/** @param {{ page: ExplorePage, server: Server, reading: FileReading }} properties */
const Controls = ({ page, server, reading }) =>
  group(h(LossSection, { page, server }), h(RowsLeftOut, { page }), h(DataFold, { page, reading }));

/**
 * What can be put right by a button beside a problem.
 * @type {(page: ExplorePage) => import("../../kit/types").Remedy[]}
 */
function exploreRemedies(page) {
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

/** @type {(root: HTMLElement, page: ExplorePage, server: Server) => void} */
export default function controls(root, page, server) {
  show(root, Controls, { page, server, reading: new FileReading(page, server) });
  page.remedies.push(...exploreRemedies(page));
  page.on("rules", () => reveal("lp-threshold"));
  page.connect(server);
}
