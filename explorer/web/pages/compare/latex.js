// A formula whose parts say what they are (\\htmlData) as LaTeX that compiles anywhere.

/** Inks that stay apart in print and for every kind of sight. */
const INKS = { base: "0065A8", other: "C04A00", parameter: "5B35C8" };

/** @param {string} latex */
export const plain = (latex) => latex.replace(/\\htmlData\{[^}]*\}/g, "");

/**
 * Each part in its ink: \\textcolor in place of \\htmlData; what both share has the colour of the text.
 * @param {string} latex
 */
export const coloured = (latex) =>
  latex.replace(/\\htmlData\{([^}]*)\}/g, (_all, /** @type {string} */ said) => {
    const ink = /ink=(\w+)/.exec(said)?.[1] ?? "";
    const colour = ink in INKS ? `lp${ink}` : "black";
    return `\\textcolor{${colour}}`;
  });

/**
 * A document of these lines; `key` says what the inks mean.
 * @param {string[]} lines
 * @param {string} key
 */
export function latexOf(lines, key) {
  const colours = Object.entries(INKS).map(([ink, rgb]) => `\\definecolor{lp${ink}}{HTML}{${rgb}}`);
  return [
    "\\documentclass{article}",
    "\\usepackage{amsmath,amssymb,xcolor}",
    ...colours,
    `% ${key.replace(/[\r\n]/g, " ")}`,
    "\\begin{document}",
    ...lines.map((line) => `\\[ ${coloured(line)} \\]`),
    "\\end{document}",
    "",
  ].join("\n");
}
