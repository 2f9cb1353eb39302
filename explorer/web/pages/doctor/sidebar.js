// The sidebar: what is known of the number, the dataset or the run.
import { group, h, show } from "../../kit/preact_view.js";
import { DataControls } from "./data/sidebar.js";
import { LossNames, NumberControls } from "./number/number_and_sidebar_fields.js";
import { RunControls } from "./run/sidebar.js";

const PANELS = { number: NumberControls, data: DataControls, run: RunControls };

/** @param {{ page: import("./state.js").DoctorPage }} properties */
function Controls({ page }) {
  page.observe("state");
  const { check } = page;
  return group(h(PANELS[check], { key: check, page }), h(LossNames));
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").DoctorPage} page
 * @param {import("../../kit/types").Asking<import("../../wire").DoctorServer>} server
 */
export default function controls(root, page, server) {
  show(root, Controls, { page });
  page.on("language", () => page.ask());
  page.connect(server);
}
