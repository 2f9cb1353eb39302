// Says what the cell under the pointer, or the one that keys have chosen, is about: a module, which
// stands in the figure's own file.

/** @typedef {{ name: string, words: string[], cells: string[] }} Facet */
/** @typedef {{ name: string, numbers: string[] }} Items */
/** @typedef {{ step: string, absent: string, rows: string[][], columns: string[][], facets: Facet[], lookup: Items[] }} FigureData */

const data = await unpacked();
const [rows, columns] = [data.rows.length, data.columns.length];
const card = find("#card", HTMLElement);
const figure = find("#figure", HTMLElement);
const svg = find("#figure svg", SVGSVGElement);
const box = find("#figure .frame", SVGRectElement).getBBox();
const [wide, tall] = [box.width / columns, box.height / rows];
const [across, down, cell] = ["pointed line", "pointed line", "pointed"].map(mark);
// Of the characters that stand for words of cells.
const FIRST_CODE = 32;
// Rows and columns that a key moves by.
/** @type {Record<string, [number, number]>} */
const STEPS = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-10, 0],
  PageDown: [10, 0],
  Home: [0, -columns],
  End: [0, columns],
};
let [row, column, kept] = [-1, -1, false];

figure.addEventListener("pointermove", (event) => {
  const found = kept ? null : under(event);
  if (found) choose(found[0], found[1]);
});
figure.addEventListener("click", (event) => {
  const found = under(event);
  if (!found) return;
  keep(!(kept && found[0] === row && found[1] === column));
  choose(found[0], found[1]);
});
figure.addEventListener("keydown", (event) => {
  if (event.key === "Escape") keep(false);
  const step = STEPS[event.key];
  if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  if (row < 0) choose(0, 0);
  else choose(row + step[0], column + step[1]);
});
// Keys reach the figure from here on: its data take a moment to unpack.
figure.tabIndex = 0;
if (data.lookup.length) card.before(lookup());

/** @returns {Promise<FigureData>} */
async function unpacked() {
  const packed = atob(find("#data", HTMLScriptElement).text);
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

/**
 * @template {Element} T
 * @param {string} selector
 * @param {new () => T} kind
 */
function find(selector, kind) {
  const found = document.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(selector);
  return found;
}

/** @param {string} tag @param {string} text */
function element(tag, text) {
  return Object.assign(document.createElement(tag), { textContent: text });
}

/** @param {string} kind */
function mark(kind) {
  const rectangle = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  rectangle.setAttribute("class", kind);
  return svg.appendChild(rectangle);
}

/** @param {Element} rectangle @param {number[]} place */
function put(rectangle, place) {
  for (const [at, name] of ["x", "y", "width", "height"].entries()) rectangle.setAttribute(name, String(place[at]));
}

/** Mark the nearest cell to a row and column, and say what it is about.
 * @param {number} atRow @param {number} atColumn */
function choose(atRow, atColumn) {
  row = Math.min(Math.max(atRow, 0), rows - 1);
  column = Math.min(Math.max(atColumn, 0), columns - 1);
  const [x, y] = [box.x + column * wide, box.y + row * tall];
  put(across, [box.x, y, box.width, tall]);
  put(down, [x, box.y, wide, box.height]);
  put(cell, [x, y, wide, tall]);
  const isAbsent = wordOf(data.facets[0]) === data.absent;
  const values = data.facets.map((facet) => `${facet.name}: ${wordOf(facet)}`);
  const parts = [data.rows[row], data.columns[column], [data.step, ...(isAbsent ? [data.absent] : values)]];
  card.replaceChildren(...parts.filter((words) => words.length).map(part));
}

/** Its word for the chosen cell. @param {Facet} facet */
function wordOf({ words, cells }) {
  return words[cells[row].charCodeAt(column) - FIRST_CODE];
}

/** @param {string[]} words */
function part([name, ...lines]) {
  const found = document.createElement("div");
  found.append(element("b", name), ...lines.map((line) => element("p", line)));
  return found;
}

/** @param {boolean} on */
function keep(on) {
  kept = on;
  card.classList.toggle("kept", on);
}

/** The row and column at a pointer, null outside the matrix. @param {MouseEvent} event */
function under({ clientX, clientY }) {
  const place = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM()?.inverse());
  const [below, right] = [Math.floor((place.y - box.y) / tall), Math.floor((place.x - box.x) / wide)];
  return below >= 0 && below < rows && right >= 0 && right < columns ? [below, right] : null;
}

/** Two fields that choose a row and a column by their numbers. */
function lookup() {
  const form = document.createElement("form");
  form.id = "lookup";
  const fields = data.lookup.map(({ name }, at) => {
    const field = Object.assign(document.createElement("input"), { inputMode: "numeric" });
    const label = element("label", `${at ? "→" : "↓"} ${name} `);
    label.append(field);
    form.append(label);
    return field;
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    const [atRow, atColumn] = data.lookup.map(({ numbers }, at) => numbers.indexOf(fields[at].value.trim()));
    choose(atRow < 0 ? row : atRow, atColumn < 0 ? column : atColumn);
  });
  return form;
}

export {};
