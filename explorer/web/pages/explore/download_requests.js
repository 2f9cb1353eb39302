// What the server makes of the scenario to be taken away: asked for, or saved as a file.
import { figureLook } from "../../kit/figure_export_options.js";
import { saveAnswer } from "../../kit/file_downloads.js";

/**
 * @param {import("./state.js").ExplorePage} page
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export function takeawayRequests(page, server) {
  /**
   * @param {string} what
   * @param {ReturnType<typeof figureLook>} look of a figure
   */
  async function ask(what, look = figureLook()) {
    const answer = await server.take({ what, scenario: page.scenario, ...page.fileEntries(), ...look });
    return page.check(answer) && answer.text !== undefined ? answer : null;
  }

  /**
   * A figure with a `ratio` is saved as PNG, with so many pixels to a unit.
   * @param {string} what
   * @param {ReturnType<typeof figureLook>} [look] of a figure
   */
  async function save(what, look, ratio = 1) {
    const answer = await ask(what, look);
    if (answer) await saveAnswer(answer, ratio);
  }

  return { ask, save };
}
