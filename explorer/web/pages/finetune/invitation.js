// What stands in the place of a run while none is chosen: an invitation to one click, and what the plan
// on the left would learn from.
import { h, worded } from "../../kit/dom.js";
import { show } from "../../kit/numbers.js";
import { pageData } from "../../kit/page_data.js";
import { language } from "../../kit/words.js";

/**
 * @param {import("./state.js").FinetunePage} channel
 * @returns {HTMLElement}
 */
export function invitationOf(channel) {
  const facts = pageData.finetune;

  const quick = worded("button.lp-start", "finetune.quick", {
    type: "button",
    id: "lp-finetune-quick",
    onclick: async () => {
      quick.disabled = true;
      const { data, ...first } = channel.store.usual.plan;
      const practice = language() === "zh" ? facts.practice.at(-1) : facts.practice[0];
      await channel.takeOver({
        ...first,
        ...facts.quick,
        data: {
          ...data,
          ...channel.plan.data,
          held_out_share: data.held_out_share,
          augment: data.augment,
          source: "practice",
          practice,
        },
      });
      await channel.start([structuredClone(channel.plan)]);
      quick.disabled = false;
    },
  });
  const own = worded("button.lp-button", "finetune.own", {
    type: "button",
    id: "lp-finetune-own",
    onclick: () => channel.publish("own"),
  });
  // What the plan on the left would learn from: a pair of the highest label, of the middle, of the least.
  const sample = h("tbody");
  const lesson = h(
    "div",
    { hidden: true },
    worded("h2", "finetune.sample"),
    h(
      "table.lp-sample",
      {},
      h(
        "thead",
        {},
        h("tr", {}, worded("th", "ui.label", { scope: "col" }), worded("th", "ui.pair", { scope: "col" })),
      ),
      sample,
    ),
    worded("p.lp-note", "finetune.sample_about"),
  );
  const element = h(
    "section.lp-invitation",
    { hidden: true },
    worded("h1", "finetune.title"),
    worded("p.lp-about", "finetune.invitation"),
    h("div.lp-row.lp-wrap", {}, quick, own),
    worded("p.lp-note", "finetune.quick_about"),
    lesson,
    h(
      "ol.lp-story",
      {},
      ["learn", "watch", "judge"].map((part) =>
        h("li", {}, worded("b", `finetune.story.${part}`), worded("span", `finetune.story.${part}_about`)),
      ),
    ),
    pageData.hosted ? worded("p.lp-note", "finetune.shared_machine") : null,
  );

  function tellSample() {
    const rows = channel.checked?.sample ?? [];
    lesson.hidden = !rows.length;
    sample.replaceChildren(
      ...rows.map(([one, other, label]) =>
        h("tr", {}, h("th", { scope: "row" }, show(label, 3)), h("td", {}, h("div", {}, one), h("div", {}, other))),
      ),
    );
  }
  channel.on("checked", tellSample);
  return element;
}
