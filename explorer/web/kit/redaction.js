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
  // Absolute paths of two parts and more, those of a network and of a home folder; no address of the web.
  /(?<![\w.:/\\-])(?:file:\/\/|[A-Za-z]:|~|\\)?(?:[\\/][^\s\\/"':;,()<>|]+){2,}[\\/]?/g,
  /(?<![\w/\\])(?:[A-Za-z]:|~)[\\/][^\s"':;,()<>|]+/g,
];

/**
 * The text with a mark in place of each path, token, password and address of a person.
 * @param {string} text
 */
export function withoutSecrets(text) {
  return SECRETS.reduce((shown, pattern) => shown.replace(pattern, HIDDEN), text);
}
