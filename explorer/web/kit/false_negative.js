// Which cells stand for a negative that is none: what the row looks for stands in another pair as well.

/** @typedef {import("../wire").Axis} Axis */
/** @typedef {import("../wire").ExploredBatch} ExploredBatch */
/** A batch without `planted` hides no answers.
 * @typedef {Pick<ExploredBatch, "first" | "second" | "sentences"> & Partial<Pick<ExploredBatch, "planted">>} Batch */

// The axes whose places look for the other sentence of their pair, and those among which they look.
const LOOKING = ["query", "key", "view"];
const LOOKED_AMONG = [...LOOKING, "negative"];

/** @type {(text: string) => string} As texts are compared everywhere, blanks of any kind and number as one. */
const plain = (text) => text.normalize("NFC").trim().split(/\s+/).join(" ");

/**
 * What the column of a cell is to its row beyond being another pair's: the row's own text once more
 * ("own"), that of what it looks for ("wanted"), or an answer that an example hides there ("hidden"). Null
 * of the row's own pair, and where nothing is looked for.
 * @param {Batch} batch
 * @param {{ row_axis: Axis, column_axis: Axis }} shown
 * @param {number} row
 * @param {number} column
 * @returns {"own" | "wanted" | "hidden" | null}
 */
export function falseNegative(batch, { row_axis, column_axis }, row, column) {
  if (!LOOKING.includes(row_axis.name) || !LOOKED_AMONG.includes(column_axis.name)) return null;
  const [pair, other] = [row_axis.pairs[row] ?? -1, column_axis.pairs[column] ?? -1];
  const [looking, candidate] = [row_axis.sentences[row] ?? -1, column_axis.sentences[column] ?? -1];
  if (pair < 0 || looking < 0 || candidate < 0 || pair === other) return null;
  const { first, second, sentences, planted = [] } = batch;
  const text = plain(sentences[candidate]);
  if (!text) return null; // of a random batch
  const own = plain(sentences[looking]);
  if (text === own) return "own";
  const sides = [plain(first[pair]), plain(second[pair])];
  if (sides.includes(text)) return "wanted";
  const answer = (/** @type {number} */ answered, /** @type {number} */ asked) =>
    planted.some(({ kind, pair, other }) => kind === "hidden" && pair === answered && other === asked);
  const isQuery = own === sides[0];
  const isKey = other >= 0 && text === plain(second[other]);
  if (isQuery ? isKey && answer(other, pair) : !isKey && answer(pair, other)) return "hidden";
  return null;
}
