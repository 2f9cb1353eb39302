// The rows of a scene travel once, with the vectors that a guide gave their sentences.
import assert from "node:assert/strict";
import test from "node:test";
import { SentRows } from "../../explorer/web/kit/rows_sent_to_server_once.js";

const ROWS = [["a", "b", "1"]];
const GUIDED = [["a", "AACAPw=="]];
const OTHERS = [];

// A server that names what was sent by how often it was asked.
function served() {
  const asked = [];
  const sent = new SentRows();
  const ask = (rows, guided, answer) =>
    sent.ask({ scenario: { data: { rows, guided } } }, async (request) => {
      asked.push([request.scenario.data.rows.length, request.scenario.data.guided.length, request.rows]);
      return answer?.(request) ?? { rows: request.rows ? undefined : `name ${asked.length}` };
    });
  return { asked, ask };
}

test("rows and vectors are sent once and then go by a name", async () => {
  const { asked, ask } = served();
  await ask(ROWS, GUIDED);
  await ask(ROWS, GUIDED);
  assert.deepEqual(asked, [
    [1, 1, undefined],
    [0, 0, "name 1"],
  ]);
});

test("the same rows with another guide are sent again", async () => {
  const { asked, ask } = served();
  await ask(ROWS, GUIDED);
  await ask(ROWS, OTHERS);
  await ask(ROWS, OTHERS);
  assert.deepEqual(asked, [
    [1, 1, undefined],
    [1, 0, undefined],
    [0, 0, "name 2"],
  ]);
});

test("both are sent again where the server has let go of them", async () => {
  const { asked, ask } = served();
  await ask(ROWS, GUIDED);
  await ask(ROWS, GUIDED, ({ rows }) => (rows ? { send_rows: true } : null));
  assert.deepEqual(
    asked.map(([rows, guided]) => [rows, guided]),
    [
      [1, 1],
      [0, 0],
      [1, 1],
    ],
  );
});
