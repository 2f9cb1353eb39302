// The rows of a scenario, and the vectors that a guide gave their sentences, travel once; then they go by the
// name that the server gave them.

/** @typedef {{ scenario: import("../wire").Scenario }} Request */

export class SentRows {
  constructor() {
    /** @type {WeakMap<object, { name: string, guided: object }>} */
    this.names = new WeakMap(); // changed rows are another array
  }

  /**
   * Ask with the rows, or with their name where they have one; again with the rows where the server
   * has let go of them. `ask(request)` puts the question.
   * @template {Request} Asked
   * @template Answer
   * @param {Asked} request
   * @param {(request: Asked & { rows?: string }) => Promise<Answer>} ask
   * @returns {Promise<Answer>}
   */
  async asked(request, ask) {
    const { scenario } = request;
    const { data } = scenario;
    const known = this.names.get(data.rows);
    const rows = known?.guided === data.guided ? known?.name : undefined;
    const without = { ...data, rows: [], guided: [] };
    const named = rows ? { ...request, scenario: { ...scenario, data: without }, rows } : request;
    const answer = await ask(named);
    const held = /** @type {{ rows?: string, send_rows?: true } | null | undefined} */ (answer);
    if (held?.send_rows && rows) {
      this.names.delete(data.rows);
      return this.asked(request, ask);
    }
    if (held?.rows) this.names.set(data.rows, { name: held.rows, guided: data.guided });
    return answer;
  }
}
