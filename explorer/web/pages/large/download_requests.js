// Files of what is in view: asked for until they are there, then saved or fetched.
import { figureLook } from "../../kit/figure_export_options.js";
import { download, saveAnswer } from "../../kit/file_downloads.js";
import { Requests, whileWorking } from "../../kit/request_scheduling.js";

/** @typedef {import("../../kit/types").Answer<import("../../wire").LargeServer, "take">} Answer */

export class DownloadRequests {
  /** @param {import("./state.js").LargePage} page */
  constructor(page) {
    this.page = page;
    this.wanted = { what: "", look: figureLook(), ratio: 1 };
    this.isWriting = false; // whether the server is at work on a file
    /** @type {Requests<{ ratio: number, answer: Answer }>} */
    this.requests = new Requests({
      ask: () => this.question(),
      take: (taken) => this.handOut(taken),
      again: ({ answer }) => whileWorking(answer),
      progress: ({ answer }) => {
        this.isWriting = true;
        page.show(answer.working ?? null);
      },
    });
  }

  /**
   * A file of what is in view; a picture with a `ratio` as PNG, with so many pixels to a unit.
   * @param {string} what
   * @param {ReturnType<typeof figureLook>} look of a figure
   */
  take(what, look = figureLook(), ratio = 1) {
    this.wanted = { what, look, ratio };
    this.requests.ask();
  }

  /** Whether there was something to stop; what nobody asks about any more ends by itself. */
  stop() {
    if (!this.isWriting) return false;
    this.isWriting = false;
    this.requests.drop();
    this.page.show(null);
    return true;
  }

  async question() {
    const { what, look, ratio } = this.wanted;
    const { request, window, facet, server } = this.page;
    const answer = await server.take({ ...request, what, window, facet, ...look });
    return { ratio, answer };
  }

  /**
   * Large tables are written on the server, and the browser fetches the file.
   * @param {{ ratio: number, answer: Answer }} taken
   */
  async handOut({ ratio, answer }) {
    if (this.isWriting) this.page.show(null);
    this.isWriting = false;
    if (answer.error) this.page.warn(answer.error);
    else if (answer.path) download(answer);
    else if (answer.text !== undefined) await saveAnswer(answer, ratio);
  }
}
