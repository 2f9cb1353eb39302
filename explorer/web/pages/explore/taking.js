// What the server makes of the scene to be taken away: asked for, or saved as a file.
import { saved } from "../../kit/files.js";
import { isDark } from "../../kit/theme.js";
import { language } from "../../kit/words.js";

/**
 * @param {import("./state.js").Scene} channel
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export function takingFrom(channel, server) {
  /** @param {string} what */
  async function ask(what) {
    const { file, columns, header, encoding } = channel.heldFile() ?? {};
    const answer = await server.take({
      what,
      file,
      columns,
      header,
      encoding,
      scenario: channel.scenario,
      language: language(),
      dark: isDark(),
    });
    return channel.check(answer) && answer?.text !== undefined ? answer : null;
  }

  /**
   * A figure with a `ratio` is saved as PNG, with so many pixels to a unit.
   * @param {string} what
   */
  async function save(what, ratio = 1) {
    const answer = await ask(what);
    if (answer) await saved(answer, ratio);
  }

  return { ask, save };
}
