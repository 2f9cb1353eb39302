// The pairs of a file: which of its columns they are, and the batch of them that is shown.
import { Select, useDraft } from "../../../kit/components.js";
import { clip } from "../../../kit/dom.js";
import { ColumnFields, EncodingField, HeaderField } from "../../../kit/file_reading_fields.js";
import { readingNotes } from "../../../kit/file_reading_results.js";
import { FilePicker, fileContent, tooLarge } from "../../../kit/file_upload.js";
import { isOwnVectors } from "../../../kit/model_names_as_shown.js";
import { pageData } from "../../../kit/page_data.js";
import { group, h } from "../../../kit/preact_view.js";
import { newestOf } from "../../../kit/request_scheduling.js";
import { Slider } from "../../../kit/slider.js";
import { say } from "../../../kit/translated_sentences.js";
import { useRef } from "../../../kit/vendor/preact/hooks.js";

/** @typedef {import("../state.js").ExplorePage} ExplorePage */
/** @typedef {import("../../../wire").ExploreServer} ExploreServer */
/** @typedef {import("../../../kit/types").Answer<ExploreServer, "read_file">} FileAnswer */
/** @typedef {Extract<FileAnswer, { columns: string[] }>} ReadableFile what of a file can be read */
/** @typedef {import("../../../wire").Draw} Draw */
/** @typedef {{ columns?: Record<string, string>, header?: boolean, encoding?: string, draw?: Draw }} Options how to read a file */

const DRAW_DELAY_MS = 250;

/** The file that was chosen last, and what of it the server offers to read. Publishes "file". */
export class FileReading {
  /**
   * @param {ExplorePage} page
   * @param {import("../../../kit/types").Asking<ExploreServer>} server
   */
  constructor(page, server) {
    this.page = page;
    this.server = server;
    this.newest = newestOf();
    /** @type {File | null} */
    this.file = null;
    this.isUndecided = false; // whether the user has yet to choose columns or an encoding
    /** @type {{ answer: ReadableFile, options: Options } | null} */
    this.offered = null;
  }

  /**
   * Read a file, in another way where `options` say so, and show its pairs.
   * @type {(next: File, options?: Options) => Promise<void>}
   */
  async read(next, options = {}) {
    const { page } = this;
    const wrong = tooLarge(next, pageData.limits.bytes);
    if (wrong) {
      page.warn(wrong);
      return;
    }
    if (this.file !== next) this.offered = null;
    this.file = next;
    page.setBusy(this, true);
    page.publish("file");
    const answer = await this.newest(() => this.#request(next, options)); // unless other pairs are chosen meanwhile
    page.setBusy(this, false);
    if (answer === undefined) return;
    if (answer.columns) this.offered = { answer, options };
    const isRead = page.check(answer);
    this.isUndecided = !isRead && Boolean(answer.columns);
    if (isRead && answer.rows) this.#show(answer, options);
    page.publish("file");
  }

  /** @type {(options: Options) => void} Read the same file with other options. */
  readAgain(options) {
    if (this.file) this.read(this.file, options);
  }

  /** @param {Draw} draw */
  draw(draw) {
    if (this.offered) this.readAgain({ ...this.offered.options, draw });
  }

  /**
   * A file goes to the server once; then it goes by its digest, as long as it is held there.
   * @param {File} next
   * @param {Options} options
   */
  async #request(next, options) {
    const { page, server } = this;
    const known = this.offered?.answer.file;
    const request = known ? { name: next.name, file: known } : await fileContent(next);
    const answer = await page.work(server, "read_file", { ...request, ...options });
    if (!answer?.send_file) return answer;
    return await page.work(server, "read_file", { ...(await fileContent(next)), ...options });
  }

  /** @type {(answer: Extract<FileAnswer, { rows: unknown }>, options: Options) => void} */
  #show({ name, rows, teacher, guided, own_vectors, reading, file }, options) {
    const { encoder: chosen } = this.page.scenario.data;
    const encoder = own_vectors || (isOwnVectors(chosen) ? pageData.limits.encoder : chosen);
    this.page.lastFile = { name, file, reading, ...options };
    this.page.set({ data: { source: "table", rows, teacher, guided, encoder, file: name, reading } });
  }
}

/** @typedef {{ page: ExplorePage, reading: FileReading }} Properties */

/** @param {Properties} properties */
export function FilePanel({ page, reading }) {
  page.observe("file", "scenario", "batch");
  const isDrawn = !reading.isUndecided && page.isBatchOfFile;
  return group(
    h(FilePicker, { id: "lp-file", take: (file) => reading.read(file) }),
    h("p.lp-note", noteOf(page, reading)),
    isDrawn ? h(DrawFields, { reading: page.scenario.data.reading, change: (draw) => reading.draw(draw) }) : null,
    reading.offered ? h(Columns, { reading, offered: reading.offered }) : null,
  );
}

/**
 * What was read of the file. What it held is in the scene: who opens its link reads the same.
 * @type {(page: ExplorePage, reading: FileReading) => string}
 */
function noteOf(page, { isUndecided, offered, file }) {
  const { file: name, rows, reading } = page.scenario.data;
  if (isUndecided && file)
    return say(offered?.answer.columns.length ? "ui.file_undecided" : "ui.encoding_undecided", { name: file.name });
  if (file && file.name !== name) return clip(file.name); // on its way
  const { total, whole, encoding, draw, limited, drawn } = reading;
  const counts = { name, total, encoding, used: draw.size ? whole : rows.length };
  const partly = limited ? (draw.size ? "ui.file_cut" : "ui.file_limited") : "ui.file_read";
  const sentences = [total ? say(drawn && !draw.size ? "ui.file_drawn" : partly, counts) : name];
  if (draw.size && rows.length < whole) {
    const batch = { number: draw.number + 1, count: rows.length, rows: reading.batch_rows };
    sentences.push(say(batch.rows ? "ui.batch_of_rows" : "ui.batch_is", batch));
    sentences.push(say(`sampler.${draw.sampler}.how`, { seed: draw.seed }));
  }
  if (page.isBatchOfFile) sentences.push(...readingNotes(offered?.answer.notes));
  return [...sentences, page.madeOf()].filter(Boolean).join(" ");
}

/** @param {{ reading: FileReading, offered: { answer: ReadableFile, options: Options } }} properties */
function Columns({ reading, offered: { answer, options } }) {
  const { columns, chosen, header, encoding, encodings } = answer;
  const roles = useDraft(chosen);
  return h(
    "div.lp-columns",
    h(EncodingField, { encoding, encodings, change: (next) => reading.readAgain({ encoding: next }) }),
    h(ColumnFields, {
      columns,
      roles: roles.now,
      change: (role, column) => {
        roles.now = { ...roles.now, [role]: column };
        if (Object.values(roles.now).every(Boolean)) reading.readAgain({ ...options, columns: roles.now });
      },
    }),
    columns.length
      ? h(HeaderField, {
          header,
          change: (next) => reading.readAgain({ encoding: options.encoding, header: next }),
        })
      : null,
  );
}

/**
 * The size of a batch, how it is drawn, and the way from one batch to the next.
 * @param {{ reading: import("../../../wire").Reading, change: (draw: Draw) => void }} properties
 */
function DrawFields({ reading: { draw, batches, whole, batch_rows: rows }, change }) {
  const { ranges, samplers } = pageData.explore;
  const moving = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  /** @param {Partial<Draw>} part */
  const redraw = (part) => {
    clearTimeout(moving.current);
    change({ ...draw, number: 0, ...part });
  };
  /** @param {Partial<Draw>} part */
  const redrawSoon = (part) => {
    clearTimeout(moving.current);
    moving.current = setTimeout(() => redraw(part), DRAW_DELAY_MS);
  };
  const inOrder = draw.sampler === "in_order";
  /** @type {(key: string, by: number, disabled: boolean) => import("preact").VNode} */
  const step = (key, by, disabled) =>
    h("button.lp-button", { disabled, onClick: () => redraw({ number: draw.number + by }) }, say(key));
  const size = rows ? "sampler.size.rows" : "sampler.size";
  const able = samplers.filter((name) => !rows || name !== "group_by_label");
  return h(
    "div.lp-draw",
    h(
      "div.lp-row.lp-wrap",
      step("sampler.previous", -1, draw.number === 0),
      h("span.lp-note", say("sampler.place", { number: draw.number + 1, batches })),
      step("sampler.next", 1, batches < 2 && inOrder),
    ),
    h(Slider, {
      key: size,
      title: size,
      logarithmic: true,
      entry: { kind: "whole", low: ranges.size[0], high: ranges.size[1], default: 64 },
      value: rows || Math.min(draw.size, Math.max(whole, ranges.size[0])),
      change: (chosen) => redrawSoon({ size: chosen }),
    }),
    h(Select, {
      id: "lp-sampler",
      name: say("sampler.how"),
      value: draw.sampler,
      options: able.map((name) => [name, say(`sampler.${name}`)]),
      change: (sampler) => redraw({ sampler: /** @type {Draw["sampler"]} */ (sampler) }),
    }),
    inOrder
      ? null
      : h(Slider, {
          title: "sampler.seed",
          entry: { kind: "whole", low: ranges.seed[0], high: ranges.seed[1], default: 0 },
          value: draw.seed,
          change: (seed) => redrawSoon({ seed }),
        }),
  );
}
