// The pairs of a file: which of its columns they are, and the batch of them that is shown.
import { clip, h, reword, worded } from "../../kit/dom.js";
import { labelled, numberField } from "../../kit/fields.js";
import { readingNotes, sent, tooLarge } from "../../kit/files.js";
import { pageData } from "../../kit/page_data.js";
import { newestOf } from "../../kit/request.js";
import { check, columnFields, encodingField, filePicker } from "../../kit/sidebar.js";
import { say } from "../../kit/words.js";

/** @typedef {import("../../kit/types").Answer<import("../../wire").ExploreServer, "read_file">} FileAnswer */
/** @typedef {Extract<FileAnswer, { columns: string[] }>} Offered what of a file can be read */
/** @typedef {import("../../wire").Draw} Draw */
/** @typedef {{ columns?: Record<string, string>, header?: boolean, encoding?: string, draw?: Draw }} Options how to read a file */

const DRAWING_MS = 250;

/**
 * @param {import("./state.js").Scene} channel
 * @param {import("../../kit/types").Asking<import("../../wire").ExploreServer>} server
 */
export function filePanel(channel, server) {
  const { limits } = pageData;
  const picker = filePicker({ id: "lp-file" }, readFile);
  const fileNote = h("p.lp-note");
  const drawBox = drawFields(draw);
  const columnBox = h("div.lp-columns");

  /** @type {File | null} */
  let file = null;
  let undecided = ""; // a file that was read, but whose columns or encoding the user has yet to choose
  const newest = newestOf();
  // What else could be read from the file: other columns, and other batches of its pairs.
  /** @type {[File, Offered, Options] | null} */
  let offered = null;

  /**
   * A file goes to the server once; then it goes by its digest, as long as it is held there.
   * @param {File} next
   * @param {Options} options
   */
  async function asked(next, options) {
    const known = offered?.[1].file;
    const request = known ? { name: next.name, file: known } : await sent(next);
    const answer = await channel.work(server, "read_file", { ...request, ...options });
    if (!answer?.send_file) return answer;
    return await channel.work(server, "read_file", { ...(await sent(next)), ...options });
  }

  /**
   * @param {File} next
   * @param {Options} options
   */
  async function readFile(next, options = {}) {
    const wrong = tooLarge(next, limits.bytes);
    if (wrong) {
      channel.warn(wrong);
      return;
    }
    if (file !== next) {
      fileNote.textContent = clip(next.name);
      columnBox.replaceChildren();
      drawBox.element.hidden = true;
      offered = null;
    }
    file = next;
    channel.setBusy(true);
    const answer = await newest(() => asked(next, options)); // unless other pairs are chosen meanwhile
    channel.setBusy(false);
    if (answer === undefined) return;
    if (answer?.columns) offer(next, answer, options);
    const fits = channel.check(answer);
    undecided = !fits && answer?.columns ? next.name : "";
    if (!fits || !answer?.rows) {
      words();
      return;
    }
    const { name, rows, teacher, guided, reading } = answer;
    channel.held = { name, file: answer.file, reading, ...options };
    channel.set({ data: { source: "table", rows, teacher, guided, file: name, reading } });
  }

  /** @param {Draw} wanted */
  function draw(wanted) {
    if (offered) readFile(offered[0], { ...offered[2], draw: wanted });
  }

  // What the file held is in the scene: who opens its link reads the same.
  function words() {
    const { file: name, rows, reading } = channel.scenario.data;
    const isHeld = channel.heldFile() !== null;
    drawBox.element.hidden = undecided !== "" || !isHeld;
    if (isHeld) drawBox.set(reading);
    if (undecided) {
      const open = offered?.[1].columns.length ? "ui.file_undecided" : "ui.encoding_undecided";
      fileNote.textContent = say(open, { name: undecided });
      return;
    }
    const { total, whole, encoding, draw: drawn, limited } = reading;
    const told = { name, total, encoding, used: rows.length };
    const before = reading.drawn ? "ui.file_drawn" : limited ? "ui.file_limited" : "ui.file_read";
    const read = drawn.size
      ? say(limited ? "ui.file_cut" : "ui.file_read", { ...told, used: whole })
      : say(before, told);
    const said = [total ? read : name];
    if (drawn.size && rows.length < whole) {
      const batch = { number: drawn.number + 1, count: rows.length, rows: reading.batch_rows };
      said.push(say(batch.rows ? "ui.batch_of_rows" : "ui.batch_is", batch));
      said.push(say(`sampler.${drawn.sampler}.how`, { seed: drawn.seed }));
    }
    if (isHeld) said.push(...readingNotes(offered?.[1].notes));
    fileNote.textContent = [...said, channel.madeOf()].filter(Boolean).join(" ");
  }

  /**
   * @param {File} of
   * @param {Offered} answer
   * @param {Options} options
   */
  function offer(of, answer, options) {
    offered = [of, answer, options];
    const chosen = { ...answer.chosen };
    /** @type {(role: string, column: string) => void} */
    const take = (role, column) => {
      chosen[role] = column;
      if (Object.values(chosen).every(Boolean)) readFile(of, { ...options, columns: chosen });
    };
    columnBox.replaceChildren(
      ...encodingField(answer, (encoding) => readFile(of, { encoding })),
      ...columnFields(answer, take),
    );
    if (!answer.columns.length) return;
    const again = { encoding: options.encoding };
    columnBox.append(check("ui.has_header", answer.header, (header) => readFile(of, { ...again, header })));
  }

  return {
    element: h("div.lp-panel", {}, picker, fileNote, drawBox.element, columnBox),
    words,
    relanguage() {
      if (offered) offer(...offered);
    },
  };
}

/**
 * The size of a batch, how it is drawn, and the way from one batch to the next.
 * @param {(draw: Draw) => void} change
 */
function drawFields(change) {
  const { ranges, samplers } = pageData.explore;
  /** @type {Draw} */
  let now = { sampler: "in_order", size: 0, seed: 0, number: 0 };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let moving;
  /** @param {Partial<Draw>} part */
  const redraw = (part) => {
    clearTimeout(moving);
    now = { ...now, number: 0, ...part };
    change(now);
  };
  /** @type {(name: "size" | "seed") => ReturnType<typeof numberField>} */
  const number = (name) =>
    numberField(
      { kind: "whole", low: ranges[name][0], high: ranges[name][1], default: name === "size" ? 64 : 0 },
      {
        key: `sampler.${name}`,
        logarithmic: name === "size",
        change: (value) => {
          clearTimeout(moving);
          moving = setTimeout(() => redraw({ [name]: value }), DRAWING_MS);
        },
      },
    );
  const size = number("size");
  const seed = number("seed");
  const sampler = h(
    "select",
    { id: "lp-sampler", onchange: () => redraw({ sampler: sampler.value }) },
    samplers.map((name) => worded("option", `sampler.${name}`, { value: name })),
  );
  /** @type {(key: string, by: number) => HTMLButtonElement} */
  const step = (key, by) =>
    worded("button.lp-button", key, { type: "button", onclick: () => redraw({ number: now.number + by }) });
  const previous = step("sampler.previous", -1);
  const next = step("sampler.next", 1);
  const place = h("span.lp-note");
  const labels = labelled("sampler.how", sampler);
  return {
    element: h(
      "div.lp-draw",
      { hidden: true },
      h("div.lp-row.lp-wrap", {}, previous, place, next),
      size.element,
      labels,
      seed.element,
    ),
    /** @param {import("../../wire").Reading} reading */
    set({ draw, batches, whole, batch_rows: rows }) {
      now = draw;
      size.set(rows || Math.min(draw.size, Math.max(whole, ranges.size[0])));
      const called = size.element.querySelector("[data-say^='sampler.size']");
      called?.setAttribute("data-say", rows ? "sampler.size.rows" : "sampler.size");
      reword(size.element);
      for (const option of sampler.options)
        option.hidden = option.disabled = rows > 0 && option.value === "group_by_label";
      seed.set(draw.seed);
      seed.element.hidden = draw.sampler === "in_order";
      sampler.value = draw.sampler;
      previous.disabled = draw.number === 0;
      next.disabled = batches < 2 && draw.sampler === "in_order";
      place.textContent = say("sampler.place", { number: draw.number + 1, batches });
    },
  };
}
