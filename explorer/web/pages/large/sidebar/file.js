// A file of pairs: how it was read, and which of its columns they are.
import { TextField, useDraft } from "../../../kit/components.js";
import { ColumnFields, EncodingField, HeaderField } from "../../../kit/file_reading_fields.js";
import { SkippedRows, withLabels } from "../../../kit/file_reading_results.js";
import { FileArrival } from "../../../kit/file_upload.js";
import { grouped } from "../../../kit/number_format.js";
import { pageData } from "../../../kit/page_data.js";
import { group, h } from "../../../kit/preact_view.js";
import { agree } from "../../../kit/reader_consent.js";
import { Requests, whileWorking } from "../../../kit/request_scheduling.js";
import { language, say } from "../../../kit/translated_sentences.js";

/** @typedef {import("../state.js").LargePage} LargePage */
/** @typedef {import("../state.js").Answer<"describe_file">} Answer */
/** @typedef {Extract<Answer, { columns: string[] }>} Described */
/** @typedef {{ name: string, file: Described }} Found */

const ROLES = ["first", "second", "score", "similarity"];

/** What the server says of the file that is looked at. Publishes "file". */
export class FileDescription {
  /** @param {LargePage} page */
  constructor(page) {
    this.page = page;
    this.key = ""; // of the file that is described, and how it is read
    /** @type {Found | null} */
    this.found = null;
    /** @type {Requests<{ name: string, answer: Answer }>} */
    this.requests = new Requests({
      most: 2,
      ask: async () => {
        const { source } = page.request;
        return { name: source.name ?? "", answer: await page.server.describe_file({ source }) };
      },
      again: ({ answer }) => whileWorking(answer),
      take: (found) => this.#take(found),
    });
  }

  ask() {
    const { source } = this.page.request;
    const key = JSON.stringify([source.file, source.columns, source.header, source.encoding, language()]);
    if (source.kind !== "file" || key === this.key) return;
    this.key = key;
    this.requests.ask();
  }

  /** @param {{ name: string, answer: Answer }} found */
  #take({ name, answer }) {
    if (answer.error) this.key = ""; // the blocks show the problem
    if (answer.columns) this.found = { name, file: answer };
    this.page.publish("file");
  }
}

/** @typedef {{ page: LargePage, description: FileDescription }} Properties */

/** @param {Properties} properties */
export function FilePanel({ page, description }) {
  page.observe("file");
  const { encoder } = pageData.large;
  const { source } = page.request;
  const draft = useDraft(source.encoder ?? encoder);
  const chosen = () => draft.now.trim() || encoder;
  const { found } = description;
  return group(
    h(FileArrival, {
      page,
      id: "lp-large-file",
      kinds: "large.file_kinds",
      most: pageData.large.bytes,
      note: found ? noteOf(found) : "",
      take: (file, name) => page.change({ source: { kind: "file", file, name, columns: {}, encoder: chosen() } }),
    }),
    found ? h(Columns, { page, file: found.file }) : null,
    h("p.lp-note", say("large.encoder_note")),
    h(TextField, {
      name: say("ui.encoder"),
      id: "lp-large-encoder",
      value: draft.now,
      example: encoder,
      change: (name) => {
        draft.now = name;
      },
    }),
    h(
      "button.lp-button",
      {
        onClick: () => {
          agree(draft.now);
          page.change({ source: { encoder: chosen() } });
        },
      },
      say("ui.use_encoder"),
    ),
  );
}

/** @param {Found} found */
function noteOf({ name, file }) {
  if (file.undecided) return say(file.columns.length ? "ui.file_undecided" : "ui.encoding_undecided", { name });
  const counts = { name, used: grouped(file.used), total: grouped(file.total) };
  return withLabels(say(file.limited ? "large.file_limited" : "large.file_read", counts), file);
}

/** @param {{ page: LargePage, file: Described }} properties */
function Columns({ page, file }) {
  const vectors = Object.keys(file.chosen).filter((role) => role.startsWith("vectors_"));
  const names = "anchor" in file.chosen ? Object.keys(file.chosen) : [...ROLES, ...vectors];
  const draft = useDraft(Object.fromEntries(names.map((role) => [role, file.chosen[role] ?? ""])));
  /** @param {import("../state.js").SourceChange} source */
  const set = (source) => page.change({ source });
  return h(
    "div.lp-columns",
    h(EncodingField, { ...file, change: (encoding) => set({ encoding, header: null, columns: {} }) }),
    file.columns.length
      ? group(
          h(ColumnFields, {
            columns: file.columns,
            roles: draft.now,
            none: say("large.no_column"),
            change: (role, column) => {
              draft.now = { ...draft.now, [role]: column };
              set({ columns: { ...draft.now } });
            },
          }),
          h(HeaderField, { header: file.header, change: (header) => set({ header, columns: {} }) }),
        )
      : null,
    h(SkippedRows, { count: file.skipped, reasons: file.reasons }),
  );
}
