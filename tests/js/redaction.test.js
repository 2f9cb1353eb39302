// What a link carries of pasted pairs names no path, no token, and nobody.
import assert from "node:assert/strict";
import test from "node:test";
import { shareable, withoutSecrets } from "../../explorer/web/kit/secret_redaction.js";

const SECRETS = [
  "hf_abcdefghijklmnop",
  "sk-proj-abcdef0123456789",
  "AKIAIOSFODNN7EXAMPLE",
  "ghp_abcdefghijklmnopqrstuvwxyz012345",
  "glpat-abcdefghijklmnopqrst",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
  "/home/alice/data/pairs.csv",
  "/Users/alice/model",
  "~/secret/model",
  "C:\\Users\\alice\\pairs.csv",
  "C:/alice",
  "\\\\server\\share\\pairs.csv",
  "file:///home/alice/a.txt",
  "alice@example.org",
  "alice@gpu-server",
];
const NAMED = [
  "Authorization: Bearer abc.DEF-123",
  "aws_secret_access_key = abc.DEF-123",
  '"api_key": "abc.DEF-123"',
  "password: abc.DEF-123",
  "username=abc.DEF-123",
  "HF_TOKEN=abc.DEF-123",
];

for (const secret of SECRETS)
  test(`left out of a pair: ${secret}`, () => {
    for (const text of [secret, `see ${secret} now\tother\t1`, `a,"${secret}",0`]) {
      const shown = withoutSecrets(text);
      assert(!shown.includes(secret) && !/alice|share/.test(shown), shown);
      assert.equal(shown.replace("…", secret), text);
    }
  });

for (const text of NAMED)
  test(`left out behind its name: ${text}`, () => assert(!withoutSecrets(text).includes("abc")));

test("other texts stay as they are", () => {
  for (const text of [
    "a cat\ta dog\t0.5",
    "and/or, 1/2, km/h",
    "https://example.org/a/b and www.example.org/a",
    "input/output speed\twhat is a token\t1",
    "猫/狗\t你好\t1",
    "sk-learn, hf_hub",
    "the ratio is 3:4\t10:30",
    "苹果/香蕉/梨，中文/英文/日文",
    "pâte/œuf/thé",
    "\\alpha\\beta \\frac{a}{b}\\cdot",
  ])
    assert.equal(withoutSecrets(text), text);
});

const SCENE = {
  loss: "cosent",
  data: {
    source: "table",
    encoder: "/models/own",
    file: "pairs.csv",
    rows: [["a cat", "a dog", "1"]],
    teacher: [["a cat", "a dog", "0.5"]],
    guided: [["a cat", "+/ab/cd/sk-zzzzzzzzzz"]],
    corrections: [["a cat", "a dog", "0"]],
    reading: { total: 1, reasons: [[1, "problem.no_number", [["value", "x"]]]] },
  },
};

test("a scene without secrets travels as it is, the folder of its model and its vectors too", () => {
  const { shared, isWhole } = shareable(SCENE);
  assert.deepEqual([shared, isWhole], [SCENE, true]);
});

for (const secret of SECRETS)
  test(`left out of a scene wherever its texts stand: ${secret}`, () => {
    const text = JSON.stringify(SCENE).replaceAll('"a cat"', JSON.stringify(`see ${secret}`));
    const odd = JSON.parse(text.replace('"x"', JSON.stringify(secret)));
    const { shared, isWhole } = shareable(odd);
    assert(!isWhole);
    assert(!JSON.stringify(shared).includes(JSON.stringify(secret).slice(1, -1)), JSON.stringify(shared));
    assert.equal(shared.data.rows[0][0], shared.data.corrections[0][0]); // they still name the same pair
    assert.equal(shared.data.guided[0][1], SCENE.data.guided[0][1]);
  });
