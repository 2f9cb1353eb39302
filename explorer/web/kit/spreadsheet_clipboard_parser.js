// The text that a spreadsheet copies to the clipboard.

/**
 * The cells of tab-separated lines. A cell that holds a tab, a line end or a quote is quoted; a quote inside an
 * unquoted cell is a quote.
 * @type {(text: string) => string[][]}
 */
export function cellsOfText(text) {
  const lines = [[""]];
  let isQuoted = false;
  const clean = text.replace(/\r\n?/g, "\n").replace(/\n$/, "");
  for (let i = 0; i < clean.length; i += 1) {
    const letter = clean[i];
    const line = lines[lines.length - 1];
    if (isQuoted) {
      if (letter === '"' && clean[i + 1] === '"') {
        line[line.length - 1] += '"';
        i += 1;
      } else if (letter === '"') isQuoted = false;
      else line[line.length - 1] += letter;
    } else if (letter === '"' && line.at(-1) === "" && closes(clean, i)) isQuoted = true;
    else if (letter === "\t") line.push("");
    else if (letter === "\n") lines.push([""]);
    else line[line.length - 1] += letter;
  }
  return lines;
}

/** @type {(text: string, at: number) => boolean} */
const closes = (text, at) => /^"(?:[^"]|"")*"(?:[\t\n]|$)/.test(text.slice(at));
