// The files of the plan: what the server read of each, and what was wrong with it.
import { fileContent, tooLarge } from "../../kit/file_upload.js";
import { pageData } from "../../kit/page_data.js";
import { newestOf } from "../../kit/request_scheduling.js";

/** @typedef {import("./state.js").Answer<"hand_in">} FileAnswer */
/** @typedef {"file" | "held_out_file"} Entry a file to learn from, or one that is held out */
/** @typedef {Exclude<FileAnswer, { error: unknown }>} ReadFile */
/** @typedef {{ name: string, answer: ReadFile | null, failure: import("../../kit/types").Notice | null }} FileState */

const ENTRIES = /** @type {Entry[]} */ (["file", "held_out_file"]);
/** @type {FileState} */
const NONE = { name: "", answer: null, failure: null };

export class PlanFiles {
  /** @param {import("./state.js").FinetunePage} page */
  constructor(page) {
    this.page = page;
    /** @type {Record<Entry, FileState>} */
    this.states = { file: NONE, held_out_file: NONE };
    this.newest = { file: newestOf(), held_out_file: newestOf() };
  }

  /** @type {(entry: Entry, change: Partial<FileState>) => void} */
  put(entry, change) {
    this.states[entry] = { ...this.states[entry], ...change };
    this.page.publish("files");
  }

  /** @type {(entry: Entry, file: File) => Promise<void>} */
  async handIn(entry, file) {
    const refusal = tooLarge(file, pageData.limits.bytes);
    if (refusal) return this.put(entry, { failure: refusal });
    this.put(entry, { name: file.name });
    const answer = await this.read(entry, async () => this.page.server.hand_in(await fileContent(file)));
    if (answer.error) {
      await this.describe(entry); // the earlier file is still there
      return this.put(entry, { failure: answer.error });
    }
    this.page.setPlan({
      data:
        entry === "file"
          ? { source: "file", file: answer.file, name: answer.name, columns: [], encoding: "", alternatives: [] }
          : { held_out_file: answer.file, held_out_name: answer.name },
    });
    this.describe("held_out_file"); // it is read by the columns of the other
  }

  /**
   * What the server says of a file.
   * @param {Entry} entry
   * @param {() => Promise<FileAnswer>} ask
   */
  async read(entry, ask) {
    const answer = await this.newest[entry](ask);
    this.put(entry, {
      name: answer.error ? "" : answer.name,
      answer: answer.error ? null : answer,
      failure: answer.problem ?? null,
    });
    return answer;
  }

  /**
   * Read a file of the plan again: after a reload, or by other columns.
   * @param {Entry} entry
   */
  describe(entry) {
    const { [entry]: file, name, held_out_name: held, columns, encoding } = this.page.plan.data;
    const isHeld = entry === "held_out_file";
    const request = { file, name: isHeld ? held : name, columns, encoding, held_out: isHeld };
    return file ? this.read(entry, () => this.page.server.describe(request)) : null;
  }

  describeAll() {
    for (const entry of ENTRIES) this.describe(entry);
  }

  /** Leave the held-out file out. */
  leave() {
    this.page.setPlan({ data: { held_out_file: "", held_out_name: "" } });
    this.put("held_out_file", NONE);
  }

  /** @type {(role: string, column: string) => void} Have a column of the file to learn from play a role. */
  assign(role, column) {
    const { answer } = this.states.file;
    const columns = Object.entries({ ...answer?.chosen, ...this.page.plan.data.columns, [role]: column });
    this.page.setPlan({ data: { columns: Object.fromEntries(columns.filter(([, one]) => one)), alternatives: [] } });
    this.describeAll();
  }

  /** @param {string} encoding */
  reread(encoding) {
    this.page.setPlan({ data: { encoding, columns: [], alternatives: [] } });
    this.describeAll();
  }
}
