// The sidebar: loss, settings, data, encoder, rules. Each control changes the scenario and nothing else.
import { reveal } from "../../kit/dom.js";
import { group, h, show } from "../../kit/preact_view.js";
import { exploreRemedies } from "./remedies_for_error_messages.js";
import { DataFold, RowsLeftOut } from "./sidebar/data.js";
import { FileReading } from "./sidebar/file.js";
import { LossSection } from "./sidebar/loss.js";

/** @typedef {import("./state.js").ExplorePage} ExplorePage */
/** @typedef {import("../../kit/types").Asking<import("../../wire").ExploreServer>} Server */

/** @param {{ page: ExplorePage, server: Server, reading: FileReading }} properties */
const Controls = ({ page, server, reading }) =>
  group(h(LossSection, { page, server }), h(RowsLeftOut, { page }), h(DataFold, { page, reading }));

/** @type {(root: HTMLElement, page: ExplorePage, server: Server) => void} */
export default function controls(root, page, server) {
  show(root, Controls, { page, server, reading: new FileReading(page, server) });
  page.remedies.push(...exploreRemedies(page));
  page.on("rules", () => reveal("lp-threshold"));
  page.connect(server);
}
