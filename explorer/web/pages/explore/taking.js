// What the server makes of the scene to be taken away: asked for, or saved as a file.
import { download } from "../../kit/files.js";
import { isDark } from "../../kit/theme.js";
import { language } from "../../kit/words.js";

/**
 * @param {import("./state.js").Scene} channel
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export function takingFrom(channel, server) {
  /** @param {string} what */
  async function ask(what) {
    const answer = await server.take({
      what,
      scenario: channel.scenario,
      language: language(),
      dark: isDark(),
    });
    return channel.check(answer) && answer?.text !== undefined ? answer : null;
  }

  /** @param {string} what */
  async function save(what) {
    const answer = await ask(what);
    if (!answer) return;
    if (answer.type === "application/zip") {
      download(answer.name, new Blob([Uint8Array.from(atob(answer.text), (byte) => byte.charCodeAt(0))]));
      return;
    }
    const mark = answer.type === "text/csv" ? "\ufeff" : ""; // spreadsheets read Chinese by it
    download(answer.name, new Blob([mark, answer.text], { type: answer.type }));
  }

  return { ask, save };
}
