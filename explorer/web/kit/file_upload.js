// Files that go to the server, whole or piece by piece: the button that one is dropped on, how far it is, and a button
// that gives it up.
import { h, worded } from "./dom.js";
import { hosted } from "./preact_view.js";
import { problem } from "./server.js";
import { say } from "./translated_sentences.js";

const FILES = ".csv,.tsv,.txt,.jsonl,.json,.parquet,.pq,.arrow,.feather,.ipc,.npz,.npy,.safetensors";
const PIECE = 2 ** 21; // bytes of a file that travel at a time

/** @type {(blob: Blob) => Promise<string>} */
function base64Of(blob) {
  return new Promise((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => fail(reader.error);
    reader.readAsDataURL(blob);
  });
}

/**
 * Why a file is not sent: it has more than so many bytes. Else null.
 * @param {File} file
 * @param {number} most
 * @param {string} key of the problem
 */
export const tooLarge = ({ name, size }, most, key = "file_too_large") =>
  size > most ? problem(key, { name, most: most / 2 ** 20 }) : null;

/** @type {(file: File) => Promise<{ name: string; content: string; }>} A file as it is sent whole. */
export const fileContent = async (file) => ({ name: file.name, content: await base64Of(file) });

/**
 * A file that goes over piece by piece, as `put` sends each: the answer to the last piece, or to the first
 * that was refused; null where `isWanted` says that nobody waits for it any more. What was sent of a file
 * that does not arrive is forgotten there. `report` hears how much of it is there.
 * @template {{ error?: import("../wire").Problem }} Answer
 * @param {File} file
 * @param {{ put: (request: object) => Promise<Answer>, report: (share: number) => void,
 *   isWanted: () => boolean }} way
 * @returns {Promise<Answer | null>}
 */
async function sentInPieces(file, { put, report, isWanted }) {
  const token = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  for (let start = 0; ; start += PIECE) {
    report(start / Math.max(file.size, 1));
    const last = start + PIECE >= file.size;
    const content = await base64Of(file.slice(start, start + PIECE));
    const answer = await put({ name: file.name, token, start, content, last });
    if (isWanted() && !answer.error && !last) continue;
    if (!isWanted() || answer.error) await put({ token, forget: true });
    return isWanted() ? answer : null;
  }
}

/**
 * A button that a file is dropped on, or that opens the chooser.
 * @param {{ id: string, title?: string, kinds?: string }} options
 * @param {(file: File) => void} take
 */
function filePicker({ id, title = "ui.drop_file", kinds = "ui.file_kinds" }, take) {
  const chooser = h("input", { type: "file", id, accept: FILES, hidden: true });
  const drop = h("button.lp-drop", { onclick: () => chooser.click() }, worded("b", title), worded("span", kinds));
  /** @param {FileList | undefined | null} files */
  const takeFirst = (files) => {
    if (files?.[0]) take(files[0]);
  };
  chooser.addEventListener("change", () => {
    takeFirst(chooser.files);
    chooser.value = "";
  });
  /** @type {(event: DragEvent, isOver: boolean) => void} */
  const hover = (event, isOver) => {
    event.preventDefault();
    drop.classList.toggle("lp-over", isOver);
  };
  drop.addEventListener("dragover", (event) => hover(event, true));
  drop.addEventListener("dragleave", (event) => hover(event, false));
  drop.addEventListener("drop", (event) => {
    hover(event, false);
    takeFirst(event.dataTransfer?.files);
  });
  return [chooser, drop];
}

/**
 * `take` hears of the file once it is there, by the name that the server has for it.
 * `note` says meanwhile what comes. An earlier problem is shown again where nothing arrives.
 * @param {Pick<import("./page_topics_notices_and_jobs.js").PageEvents, "problem" | "warn" | "fail"> & { server: { hand_in(piece: object):
 *   Promise<{ error?: import("../wire").Problem, file?: string }> } }} page
 * @param {{ id: string, kinds: string, most: number, note: HTMLElement,
 *   take: (file: string, name: string) => void }} options
 * @returns {HTMLElement[]}
 */
function fileArrival(page, { id, kinds, most, note, take }) {
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

/**
 * A button that a file is dropped on, or that opens the chooser.
 * @param {{ id: string, title?: string, take: (file: File) => void }} properties
 */
export const FilePicker = ({ id, title, take }) =>
  hosted({ make: (root) => root.append(...filePicker({ id, title }, take)) });

/**
 * A large file on its way to the server, with a line below it.
 * @param {{ page: Parameters<typeof fileArrival>[0], note: string } & Omit<Parameters<typeof fileArrival>[1], "note">} properties
 */
export const FileArrival = ({ page, note, ...options }) =>
  hosted({
    make: (root) => {
      const line = h("p.lp-note");
      root.append(...fileArrival(page, { ...options, note: line }), line);
      return line;
    },
    update: (line) => {
      line.textContent = note;
    },
  });
