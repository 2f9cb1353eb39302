// The chosen step of every loss as a matrix, side by side: a cell that is pointed at in one is marked in all.
import { Named, nameOf } from "../../kit/compared_loss_labels.js";
import { Select, Tabs } from "../../kit/components.js";
import { ORDERS, pictureView } from "../../kit/derivation_step_matrix.js";
import { figureLook } from "../../kit/figure_export_options.js";
import { saveAnswer } from "../../kit/file_downloads.js";
import { group, h, hosted } from "../../kit/preact_view.js";
import { isDark } from "../../kit/theme.js";
import { language, say } from "../../kit/translated_sentences.js";
import { SaveButtons } from "./downloads.js";
import { FoldedOptions } from "./folding_section.js";

/** @typedef {import("./state.js").ComparePage} ComparePage */
/** @typedef {{ page: ComparePage, place: number, looked: import("../../wire").Looked }} Panel */

/** @param {{ page: ComparePage }} properties */
export function Matrices({ page }) {
  page.observe("compared", "state", "unfolded");
  const steps = page.compared?.sides.map(({ looked }) => looked) ?? [];
  const { facet, order } = page.store.state;
  const having = facetsOf(steps);
  const shown = having.includes(facet) ? facet : having[0];
  return group(
    h(
      "div.lp-bar",
      h(Tabs, {
        id: "lp-compare-facet",
        label: say("compare.matrices"),
        names: having,
        chosen: shown,
        title: (name) => say(`facet.${name}`),
        choose: (name) => page.set({ facet: name }),
      }),
      h(
        FoldedOptions,
        { page, section: "matrices" },
        h(Select, {
          name: say("ui.sorted_by"),
          inline: true,
          id: "lp-compare-order",
          value: order,
          options: ORDERS.map((name) => [name, say(`order.${name}`)]),
          change: (name) => page.set({ order: name }),
        }),
      ),
    ),
    h(
      "div.lp-matrices",
      { role: "tabpanel", id: "lp-compare-facet-panel", "aria-labelledby": `lp-compare-facet-${shown}` },
      steps.map((looked, place) => (looked ? h(MatrixPanel, { key: place, page, place, looked }) : null)),
    ),
    h("p.lp-note", say("compare.matrices.about")),
  );
}

/**
 * What the cells of any of these steps can show; of a step that has it not, its value is shown.
 * @param {(import("../../wire").Looked | null)[]} steps
 */
const facetsOf = (steps) =>
  /** @type {const} */ (["value", "mask", "weight", "gradient"]).filter(
    (name) => name === "value" || steps.some((looked) => looked?.shown[name]),
  );

/** @param {Panel} properties */
function MatrixPanel({ page, place, looked }) {
  const hasOptions = page.showsOptions("matrices");
  return h(
    hasOptions ? "section.lp-matrix-box" : "section.lp-matrix-box.lp-without-options",
    h("div", h(Named, { sides: page.comparedSides, place })),
    hasOptions ? h(StepSelect, { page, place, looked }) : null,
    h(Matrix, { page, place, looked }),
    hasOptions
      ? h(SaveButtons, {
          figure: (look, ratio) => save(page, place, looked, "matrix_svg", look, ratio),
          buttons: [["take.csv", () => save(page, place, looked, "matrix_csv")]],
        })
      : null,
  );
}

/** @param {Panel} properties */
const StepSelect = ({ page, place, looked: { steps, chosen } }) =>
  h(
    "label.lp-inline",
    h("span", say("compare.step")),
    h(
      "select",
      {
        id: `lp-step-of-${place}`,
        "aria-label": `${say("compare.step")}: ${nameOf(page.comparedSides[place])}`,
        value: String(chosen),
        onChange: (event) => page.lookAt([[place, Number(event.currentTarget.value)]]),
      },
      steps.map(({ name, shape }, step) =>
        h("option", { value: String(step) }, name.replace(/_/g, " "), shape.length ? ` [${shape.join(" × ")}]` : ""),
      ),
    ),
  );

/** @param {Panel} properties */
function Matrix({ page, place, looked }) {
  page.observe("pointed", "batch", "theme");
  const { batch, pointed, drawn } = page;
  const { facet, order } = page.store.state;
  const stateWith = (/** @type {[number, number] | null} */ range) => ({
    view: { facet, order, pinned: null, colour_range: range },
    pointed,
    drawn,
  });
  const data = {
    picture: looked,
    batch,
    numberOf: (/** @type {number} */ pair) => page.numberOf(pair),
    referenceFormulas: page.formOf(page.comparedSides[place]) ?? {},
  };
  // What these depend on is drawn again where they change; pointing only marks.
  const content = [looked, batch, language()];
  const shown = `${looked.chosen} ${facet}`; // what a fixed range of colours is of
  const looks = `${facet} ${order} ${isDark()}`;
  return hosted({
    make: (root) => {
      const range = /** @type {[number, number] | null} */ (null);
      const made = { content: /** @type {unknown[]} */ ([]), looks, shown, range, stateWith };
      const view = pictureView(root, { hasBar: false }, (...message) => {
        applyEmitted(page, place, message);
        if (message[0] !== "view" || message[1].colour_range === undefined) return;
        made.range = message[1].colour_range;
        view.update({ state: made.stateWith(made.range) });
      });
      return Object.assign(made, { view });
    },
    update: (made) => {
      const isNew = content.some((one, i) => one !== made.content[i]);
      if (made.shown !== shown) made.range = null;
      const state = stateWith(made.range);
      made.view.update(isNew ? { data, state } : { state });
      if (!isNew && made.looks !== looks) made.view.redraw();
      made.content = content;
      Object.assign(made, { looks, shown, stateWith });
    },
  });
}

/** @type {(page: ComparePage, place: number, message: import("../../kit/derivation_step_matrix.js").Emitted) => void} */
function applyEmitted(page, place, message) {
  if (message[0] === "point") page.point(message[1], message[2], message[3]);
  if (message[0] !== "view") return;
  const { step } = message[1];
  if (step !== undefined) page.lookAt([[place, step]]);
}

/**
 * Save the matrix: the figure of this step on Explore.
 * @param {ComparePage} page
 * @param {number} place
 * @param {import("../../wire").Looked} looked
 * @param {string} what
 */
async function save(page, place, { chosen }, what, look = figureLook(), ratio = 1) {
  const own = page.scenarioOf(page.comparedSides[place]);
  const scenario = { ...own, view: { ...own.view, step: chosen } };
  const answer = await page.server.take({ what, scenario, ...look });
  if (answer.error) page.warn(answer.error);
  else await saveAnswer(answer, ratio);
}
