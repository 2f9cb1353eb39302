// Above the answer: what is checked, and the number, the dataset or the log.
import { TabPanel, Tabs } from "../../kit/components.js";
import { pageData } from "../../kit/page_data.js";
import { group, h, show } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { DataSource } from "./data/source.js";
import { NumberField } from "./number/number_and_sidebar_fields.js";
import { RunSource } from "./run/source.js";

const PANELS = { number: NumberField, data: DataSource, run: RunSource };

/** @param {{ page: import("./state.js").DoctorPage }} properties */
function InputPanel({ page }) {
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
  );
}

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").DoctorPage} page
 */
export default (root, page) => show(root, InputPanel, { page });
