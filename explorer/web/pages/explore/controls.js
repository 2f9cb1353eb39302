// The sidebar: loss, settings, data, encoder, rules. Each control changes the scenario and nothing else.
import { reveal } from "../../kit/dom.js";
import { pageData } from "../../kit/page_data.js";
import { group, h, show } from "../../kit/preact_view.js";
import { aboutTeacher } from "../../kit/second_models.js";
import { DataFold, RowsLeftOut } from "./sidebar/data.js";
import { isEmbedded, useEmbedded } from "./sidebar/encoder.js";
import { FileReading } from "./sidebar/file.js";
import { hasTexts, LossSection } from "./sidebar/loss.js";

/** @typedef {import("./state.js").ExplorePage} ExplorePage */
/** @typedef {import("../../kit/types").Asking<import("../../wire").ExploreServer>} Server */

/** @param {{ channel: ExplorePage, server: Server, reading: FileReading }} properties */
const Controls = ({ channel, server, reading }) =>
  group(h(LossSection, { channel, server }), h(RowsLeftOut, { channel }), h(DataFold, { channel, reading }));

/**
 * What can be put right by a button beside a problem.
 * @type {(channel: ExplorePage) => import("../../kit/problem.js").Remedy[]}
 */
function remediesOf(channel) {
  const overPositives = Object.entries(pageData.losses).find(
    ([, spec]) => spec.group === "in_batch" && spec.learns_from_positives,
  );
  return [
    {
      fits: ({ about }) => about === "encoder" && !isEmbedded(channel),
      key: "ui.embedded_encoder",
      act: () => useEmbedded(channel),
    },
    {
      fits: ({ about }) => about === "guide",
      key: "ui.without_guide",
      act: () => channel.set({ data: channel.scenario.data.guide ? { guide: "" } : { guided: [] } }),
    },
    {
      fits: ({ about }) => aboutTeacher(about) && channel.scenario.data.teacher_model !== "",
      key: "ui.without_teacher",
      act: () => channel.set({ data: { teacher_model: "" } }),
    },
    {
      fits: ({ about }) => aboutTeacher(about) && hasTexts(channel),
      key: "ui.choose_teacher",
      act: () => reveal("lp-teacher"),
    },
    {
      fits: ({ about }) => about === "scores" && overPositives !== undefined,
      key: "ui.loss_over_positives",
      act: () => overPositives && channel.choose(overPositives[0]),
    },
    {
      fits: ({ about }) => about === "lists" || about === "teacher",
      key: "ui.example_of_lists",
      act: () => channel.set({ data: { source: "example", example: "graded_lists" } }),
    },
  ];
}

/** @type {(root: HTMLElement, channel: ExplorePage, server: Server) => void} */
export default function controls(root, channel, server) {
  show(root, Controls, { channel, server, reading: new FileReading(channel, server) });
  channel.remedies.push(...remediesOf(channel));
  channel.on("rules", () => reveal("lp-threshold"));
  channel.leverRange.listen();
  channel.connect(server);
}
