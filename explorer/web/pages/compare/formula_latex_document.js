// A formula whose parts say what they are (\htmlData) as LaTeX that compiles anywhere.

/** @typedef {"base" | "other" | "parameter"} Ink */

/** @type {Record<Ink, string>} the colour of each kind of part in the palette */
export const PAPER_INKS = { base: "side-1", other: "side-2", parameter: "both" };
const PART = "\\htmlData{";

/** @param {string} latex */
export const plain = (latex) => latex.replace(/\\htmlData\{[^}]*\}/g, "");

/**
 * The formula with a mark around each outermost part that differs; what is inside it, and what both share, has none.
 * @type {(latex: string, mark: (ink: Ink, part: string) => string) => string}
 */
export function marked(latex, mark) {
  const start = latex.indexOf(PART);
  if (start < 0) return latex;
  const attributes = latex.slice(start + PART.length, latex.indexOf("}", start));
  const open = start + PART.length + attributes.length + 1;
  const close = closing(latex, open);
  const [part, after] = [latex.slice(open + 1, close), latex.slice(close + 1)];
  const ink = /** @type {Ink} */ (/ink=(\w+)/.exec(attributes)?.[1]);
  const drawn = Object.hasOwn(PAPER_INKS, ink) ? mark(ink, plain(part)) : `{${marked(part, mark)}}`;
  return latex.slice(0, start) + drawn + marked(after, mark);
}

/**
 * Where the brace that opens at a place is closed; \{ and \} are signs.
 * @type {(latex: string, open: number) => number}
 */
function closing(latex, open) {
  let depth = 0;
  for (let at = open; at < latex.length; at += 1) {
    if (latex[at] === "\\") at += 1;
    else if (latex[at] === "{") depth += 1;
    else if (latex[at] === "}" && --depth === 0) return at;
  }
  return latex.length;
}

/**
 * A document of these lines; `key` says what the marks mean. With `colours`, by their ink as #rrggbb, each outermost
 * part that differs has its colour; without, a brace below it names its side, and a parameter's value is underlined.
 * @type {(lines: string[], key: string, colours: Record<Ink, string> | null) => string}
 */
export function latexOf(lines, key, colours) {
  /** @type {(ink: Ink, part: string) => string} */
  const inked = (ink, part) => `{\\textcolor{lp${ink}}{${part}}}`;
  /** @type {(ink: Ink, part: string) => string} */
  const braced = (ink, part) =>
    ink === "parameter" ? `{\\underline{${part}}}` : `{\\underbrace{${part}}_{\\text{${ink}}}}`;
  return [
    "\\documentclass{article}",
    `\\usepackage{amsmath,amssymb,graphicx${colours ? ",xcolor" : ""}}`,
    // A formula that is wider than the page is made smaller.
    "\\newcommand{\\fitted}[1]{\\[\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{$\\displaystyle #1$}\\]}",
    ...Object.entries(colours ?? {}).map(
      ([ink, rgb]) => `\\definecolor{lp${ink}}{HTML}{${rgb.slice(1).toUpperCase()}}`,
    ),
    `% ${key.replace(/[\r\n]/g, " ")}`,
    "\\begin{document}",
    ...lines.map((line) => `\\fitted{${marked(line, colours ? inked : braced)}}`),
    "\\end{document}",
    "",
  ].join("\n");
}
