// Texts as a link may carry them: without paths, access tokens, passwords and addresses of people.

const HIDDEN = "…";
const SECRETS = [
  // Tokens of Hugging Face, OpenAI and the like, AWS, GitHub, GitLab, Slack, Google; and JSON web tokens.
  /\b(?:hf_|sk-|pk-|gh[opsur]_|github_pat_|glpat-|xox[abprs]-|AIza|wandb_)[\w-]{8,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{12,}\b/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  /(?<=\bBearer\s+)[^\s"',;]+/gi,
  /(?<=(?<![a-z])(?:api[ _-]?key|access[ _-]?key(?:[ _-]?id)?|secret(?:[ _-]?access)?(?:[ _-]?key)?|token|passw(?:or)?d|user(?:name)?)["']?\s*[=:]\s*["']?)[^\s"',;]+/gi,
  // Users of a machine or of a mailbox.
  /[\w.+-]+@[\w-]+(?:\.[\w-]+)*/g,
  // Absolute paths of two parts and more, those of a network and of a home folder; no address of the web, no
  // words with strokes between them (苹果/香蕉/梨), and no formula (\\alpha\\beta).
  /(?<![\p{L}\p{N}_.:/\\-])(?:(?:file:\/\/|[A-Za-z]:|~|\\)[\\/]|\/)[^\s\\/"':;,()<>|]+(?:[\\/][^\s\\/"':;,()<>|]+)+[\\/]?/gu,
  /(?<![\w/\\])(?:[A-Za-z]:|~)[\\/][^\s"':;,()<>|]+/g,
];

/**
 * The text with a mark in place of each path, token, password and address of a person.
 * @param {string} text
 */
export function withoutSecrets(text) {
  return SECRETS.reduce((shown, pattern) => shown.replace(pattern, HIDDEN), text);
}

/**
 * The same of every text in a value, however deep it stands.
 * @template Value
 * @param {Value} value
 * @returns {Value}
 */
function eachWithoutSecrets(value) {
  if (typeof value === "string") return /** @type {any} */ (withoutSecrets(value));
  if (Array.isArray(value)) return /** @type {any} */ (value.map(eachWithoutSecrets));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([name, one]) => [name, eachWithoutSecrets(one)]);
  return Object.fromEntries(entries);
}

/**
 * The data of a scenario as a link may carry them: the texts of the rows are without secrets. What they name to be
 * opened, such as the folder of a model, stays. A link has only what differs from the usual.
 * @template {Partial<import("../wire").Scenario["data"]>} Data
 * @param {Data} data
 * @returns {Data}
 */
export function shareableData(data) {
  const { rows, teacher, guided, corrections, reading, file } = data;
  const texts = eachWithoutSecrets({ rows, teacher, corrections, file });
  const vectors = guided?.map(([sentence, vector]) => [withoutSecrets(sentence), vector]);
  const shownReading = reading && { ...reading, reasons: eachWithoutSecrets(reading.reasons) };
  return JSON.parse(JSON.stringify({ ...data, ...texts, guided: vectors, reading: shownReading }));
}

/**
 * The scenario as a link may carry it, and whether that is all of it.
 * @template {Pick<import("../wire").Scenario, "data">} Scenario
 * @param {Scenario} scenario
 */
export function shareable(scenario) {
  const data = shareableData(scenario.data);
  const isWhole = JSON.stringify(data) === JSON.stringify(scenario.data);
  return { shared: /** @type {Scenario} */ ({ ...scenario, data }), isWhole };
}
