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
   * has let go of them. `send(request)` puts the question.
   * @template {Request} Sent
   * @template Answer
   * @param {Sent} request
   * @param {(request: Sent & { rows?: string }) => Promise<Answer>} send
   * @returns {Promise<Answer>}
   */
  async ask(request, send) {
    const { scenario } = request;
    const { data } = scenario;
    const known = this.names.get(data.rows);
    const rows = known?.guided === data.guided ? known?.name : undefined;
    const without = { ...data, rows: [], guided: [] };
    const named = rows ? { ...request, scenario: { ...scenario, data: without }, rows } : request;
    const answer = await send(named);
    const reply = /** @type {{ rows?: string, send_rows?: true } | null | undefined} */ (answer);
    if (reply?.send_rows && rows) {
      this.names.delete(data.rows);
      return this.ask(request, send);
    }
    if (reply?.rows) this.names.set(data.rows, { name: reply.rows, guided: data.guided });
    return answer;
  }
}
