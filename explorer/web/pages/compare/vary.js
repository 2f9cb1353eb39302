// One thing varied: a parameter, how the batch is cut, the type of the numbers, the batch itself, how far
// all vectors are one point. Each is worked out when it is in sight.
import { h, reword, worded } from "../../kit/dom.js";
import { tabbed } from "../../kit/sidebar.js";
import { collapseTool } from "./vary/collapse.js";
import { mechanicsTool } from "./vary/mechanics.js";
import { precisionTool } from "./vary/precision.js";
import { sweepTool } from "./vary/sweep.js";
import { whatIfTool } from "./vary/what_if.js";

const TOOLS = {
  sweep: sweepTool,
  mechanics: mechanicsTool,
  precision: precisionTool,
  what_if: whatIfTool,
  collapse: collapseTool,
};
/** @typedef {keyof typeof TOOLS} Name */
const NAMES = /** @type {Name[]} */ (Object.keys(TOOLS));

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ComparePage} channel
 * @param {import("../../kit/types").Asking<import("../../wire").CompareServer>} server
 */
export default function vary(root, channel, server) {
  const tools = NAMES.map((name) => ({ name, tool: TOOLS[name](channel, server) }));
  const panels = Object.fromEntries(tools.map(({ name, tool }) => [name, h("div.lp-vary-panel", {}, tool.element)]));
  const tabs = tabbed(
    {
      called: (name) => `compare.vary.${name}`,
      names: NAMES,
      tabId: "lp-vary",
      panels,
      panelId: "lp-vary-panel",
      label: "compare.vary",
    },
    (name) => channel.set({ vary: name }),
  );
  const asked = new URLSearchParams(location.hash.slice(1)).has("vary");
  const details = h(
    "details.lp-more.lp-vary",
    { open: asked || window.innerWidth > 760, ontoggle: look },
    worded("summary", "compare.vary"),
    tabs.element,
    Object.values(panels),
  );
  root.append(details);
  reword(root);

  let inSight = false;
  let shown = "";
  new IntersectionObserver(
    (seen) => {
      inSight = seen[seen.length - 1].isIntersecting;
      look();
    },
    { rootMargin: "200px" },
  ).observe(details);

  function look() {
    for (const { name, tool } of tools) tool.look(inSight && details.open && name === shown);
  }

  channel.on("state", () => {
    const { vary: chosen } = channel.store.state;
    if (chosen !== shown) {
      if (shown) details.open = true; // a question asks for it
      shown = chosen;
      tabs.set(chosen);
      look();
    }
    tools.find(({ name }) => name === shown)?.tool.update();
  });
  channel.on("compared", () => tools.find(({ name }) => name === shown)?.tool.update());
  channel.on("language", () => {
    for (const { tool } of tools) tool.reword();
  });
  channel.on("theme", () => {
    for (const { tool } of tools) tool.reword();
  });
}
