// The sidebar: what to check, and what is known of it.
import { TabPanel, Tabs } from "../../kit/components.js";
import { pageData } from "../../kit/page_data.js";
import { group, h, show } from "../../kit/preact_view.js";
import { say } from "../../kit/words.js";
import { DataControls } from "./data/controls.js";
import { LossNames, NumberControls } from "./number/controls.js";
import { RunControls } from "./run/controls.js";

const PANELS = { number: NumberControls, data: DataControls, run: RunControls };

/** @param {{ page: import("./state.js").DoctorPage }} properties */
function Controls({ page }) {
  page.observe("state");
  const { check } = page;
  return group(
    h(Tabs, {
      id: "lp-doctor-check",
      label: say("doctor.checks"),
      names: /** @type {(typeof check)[]} */ (pageData.doctor.checks),
      chosen: check,
      title: (name) => say(`doctor.check.${name}`),
      choose: (name) => page.enter(name),
    }),
    h(TabPanel, { id: "lp-doctor-check", chosen: check }, h(PANELS[check], { page })),
    h(LossNames, null),
  );
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
