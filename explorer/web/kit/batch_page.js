// The state of a page that shows one batch: a pair pointed at in one picture is marked in all, and a
// slow request is shown as busy.
import { Bus } from "./bus.js";

const LATE_MS = 250;

export class BatchPage extends Bus {
  /** @param {string[]} topics */
  constructor(topics) {
    super(topics);
    /** @type {import("./types").Pointed} */
    this.pointed = { pairs: [], cell: null, part: null };
    /**
     * Buttons beside a problem that can be put right there.
     * @type {import("./problem.js").Remedy[]}
     */
    this.remedies = [];
    this.drawn = 0; // pictures, so far
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.late = undefined;
    this.heard = 0; // of the newest answer, its turn
  }

  /**
   * Point at pairs and, from a matrix, at a cell of it; from a formula, at the part of it that
   * came from a step or a parameter `of` and its row, column or cell `at`. Empty: at nothing.
   * @type {(pairs?: number[], cell?: [number, number] | null, part?: import("./types").PointedPart | null) => void}
   */
  point(pairs = [], cell = null, part = null) {
    /** @type {import("./types").Pointed} */
    const next = { pairs, cell, part };
    if (JSON.stringify(next) === JSON.stringify(this.pointed)) return;
    this.pointed = next;
    this.publish("pointed");
  }

  /**
   * Show work that takes a moment as under way until there is an answer.
   * @param {{ flying: number, taken: number }} requests
   */
  tellBusy(requests) {
    if (!requests.flying || requests.taken !== this.heard) {
      clearTimeout(this.late);
      this.late = undefined;
      this.heard = requests.taken;
      this.setBusy(requests, false);
    }
    if (requests.flying && !this.late) {
      this.late = setTimeout(() => {
        this.late = undefined;
        this.setBusy(requests, requests.flying > 0);
      }, LATE_MS);
    }
  }
}
