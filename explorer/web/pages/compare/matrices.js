// The step that is looked at of every side, beside each other: a cell pointed at in one is shown in all.
import { h, reword, worded } from "../../kit/dom.js";
import { figureButtons, figureLook } from "../../kit/figure_choices.js";
import { saved } from "../../kit/files.js";
import { pictureView } from "../../kit/picture.js";
import { GONE } from "../../kit/server.js";
import { say } from "../../kit/words.js";
import { chip, nameOf } from "./legend.js";

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ComparePage} channel
 * @param {import("../../kit/types").Asking<import("../../wire").CompareServer>} server
 */
export default function matrices(root, channel, server) {
  const grid = h("div.lp-matrices");
  const details = h(
    "details.lp-more.lp-beside",
    { open: true, ontoggle: look },
    worded("summary", "compare.matrices"),
    worded("p.lp-note", "compare.matrices.about"),
    grid,
  );
  root.append(details);
  reword(root);

  // What is not looked at is not sent.
  function look() {
    if (channel.looking === details.open) return;
    channel.looking = details.open;
    if (details.open) channel.ask();
  }

  /** @param {number} place */
  function panelOf(place) {
    const title = h("div.lp-matrix-of");
    const step = h("select", {
      id: `lp-step-of-${place}`,
      onchange: () => channel.lookAt([[place, Number(step.value)]]),
    });
    const body = h("div");

    /**
     * The matrix as a file: the figure of this step on Explore.
     * @param {string} what
     */
    async function save(what, look = figureLook(), ratio = 1) {
      const scene = channel.sceneOf(channel.of[place]);
      const scenario = { ...scene, view: { ...scene.view, step: Number(step.value) } };
      const answer = await server.take({ what, scenario, ...look });
      if (!answer || answer.error) channel.warn(answer?.error ?? GONE);
      else await saved(answer, ratio);
    }
    const element = h(
      "section.lp-matrix-box",
      {},
      title,
      h("label.lp-inline", {}, worded("span", "compare.step"), step),
      body,
      h(
        "div.lp-downloads",
        {},
        figureButtons("button.lp-crumb", (look, ratio) => save("matrix_svg", look, ratio)),
        worded("button.lp-crumb", "take.csv", { type: "button", onclick: () => save("matrix_csv") }),
      ),
    );
    const view = pictureView(body, {}, (...told) => {
      if (told[0] === "point") channel.point(told[1], told[2], told[3]);
      else if (told[0] === "view") choose(told[1]);
    });
    reword(element);

    /** @param {Partial<import("../../wire").View>} change */
    function choose({ step: to, facet, order }) {
      if (to !== undefined) channel.lookAt([[place, to]]);
      if (facet) {
        channel.set({ facet });
        for (const panel of panels) panel.mark();
      }
      if (order) channel.set({ order });
    }

    let listed = "";
    /** @type {{ looked: object | null, batch: object | null }} */
    let drawn = { looked: null, batch: null };
    /** @param {import("../../wire").Looked} looked */
    function listSteps({ steps, chosen }) {
      const names = steps.map(
        ({ name, shape }) => `${name.replace(/_/g, " ")}${shape.length ? ` [${shape.join(" × ")}]` : ""}`,
      );
      if (listed !== names.join("|")) {
        listed = names.join("|");
        step.replaceChildren(...names.map((name, value) => h("option", { value }, name)));
      }
      step.value = String(chosen);
    }

    return {
      element,
      view,
      update() {
        const side = channel.compared?.sides[place];
        const { batch } = channel;
        element.hidden = !side?.looked;
        if (!side?.looked || !batch) return;
        title.replaceChildren(chip(place), " ", h("span", {}, nameOf(channel.of[place])));
        step.setAttribute("aria-label", `${say("compare.step")}: ${nameOf(channel.of[place])}`);
        listSteps(side.looked);
        /** @param {number} pair */
        const numberOf = (pair) => channel.numberOf(pair);
        const form = channel.formOf(channel.of[place]);
        // What is drawn already stays, and hears only what is pointed at.
        if (drawn.looked === side.looked && drawn.batch === batch) {
          view.update({ state: now() });
          return;
        }
        drawn = { looked: side.looked, batch };
        view.update({ data: { picture: side.looked, batch, numberOf, landmarks: form ?? {} }, state: now() });
      },
      mark() {
        view.update({ state: now() });
        view.redraw();
      },
    };
  }

  const now = () => {
    const { facet, order } = channel.store.state;
    return { view: { facet, order, pinned: null }, pointed: channel.pointed, drawn: channel.drawn };
  };

  /** @type {ReturnType<typeof panelOf>[]} */
  const panels = [];
  function draw() {
    const count = channel.compared?.sides.length ?? 0;
    while (panels.length < count) panels.push(panelOf(panels.length));
    const elements = panels.slice(0, count).map(({ element }) => element);
    if (grid.children.length !== count) grid.replaceChildren(...elements);
    grid.dataset.count = String(count);
    for (const panel of panels.slice(0, count)) panel.update();
  }

  channel.on("compared", draw);
  channel.on("pointed", () => {
    for (const panel of panels) panel.view.update({ state: now() });
  });
  channel.on("theme", () => {
    for (const panel of panels) panel.view.redraw();
  });
  channel.on("language", () => {
    for (const panel of panels) {
      panel.view.reword();
      panel.update();
    }
  });
}
