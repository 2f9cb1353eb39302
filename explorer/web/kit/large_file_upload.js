// A large file on its way to the server, piece by piece: the button that it is dropped on, how far it is,
// and a button that gives it up.
import { h, worded } from "./dom.js";
import { sentInPieces, tooLarge } from "./files.js";
import { filePicker } from "./sidebar_components.js";
import { say } from "./words.js";

/**
 * `take` hears of the file once it is there, by the name that the server has for it.
 * `note` says meanwhile what comes. An earlier problem is shown again where nothing arrives.
 * @param {Pick<import("./page_events_and_jobs.js").Bus, "problem" | "warn" | "fail"> & { server: { hand_in(piece: object):
 *   Promise<{ error?: import("../wire").Problem, file?: string }> } }} page
 * @param {{ id: string, kinds: string, most: number, note: HTMLElement,
 *   take: (file: string, name: string) => void }} options
 * @returns {HTMLElement[]}
 */
export function fileArrival(page, { id, kinds, most, note, take }) {
  const arriving = h("progress", { hidden: true, max: 1 });
  const giveUp = worded("button.lp-button", "ui.stop", {
    hidden: true,
    onclick: () => {
      sending = null;
    },
  });
  /** @type {File | null} */
  let sending = null;
  /** @param {File} file */
  async function send(file) {
    const refusal = tooLarge(file, most, "large_file_too_large");
    if (refusal) {
      page.warn(refusal);
      return;
    }
    sending = file;
    const wrong = page.problem;
    page.warn(null);
    if (wrong) page.fail(null);
    note.textContent = file.name;
    arriving.hidden = giveUp.hidden = false;
    const answer = await sentInPieces(file, {
      put: (piece) => page.server.hand_in(piece),
      report: (share) => {
        arriving.value = share;
      },
      isWanted: () => sending === file,
    });
    if (sending && sending !== file) return; // another file was chosen meanwhile
    arriving.hidden = giveUp.hidden = true;
    if (!answer || answer.error) page.fail(wrong);
    if (!answer) {
      note.textContent = say("large.not_sent", { name: file.name });
      return;
    }
    sending = null;
    if (answer.error) page.warn(answer.error);
    else take(answer.file ?? "", file.name);
  }
  return [...filePicker({ id, kinds }, send), arriving, giveUp];
}
