// Cells as colours: what a matrix, a map of blocks and a thumbnail are drawn with. Plain arrays in;
// it knows nothing of what they mean.
import { hatching, palette, rampTable, rgbaWord } from "./colours.js";
import { contextOf, h, prefersReducedMotion } from "./dom.js";

/** @typedef {"diverging" | "sequential" | "mask"} Ramp */
/** @typedef {{ top: number, left: number, rows: number, columns: number }} View the cells in sight */
/**
 * `root`: the colour of a value is that of its root of this degree, so that shares of a hundredth differ to the eye.
 * @typedef {{ rows: number, columns: number, values: ArrayLike<number>, least: number, largest: number, ramp: Ramp,
 *   root?: 1 | 3 }} Cells
 */

const TWEEN_MS = 250;

/** @param {number} value */
const isBroken = (value) => Number.isNaN(value) || value === Infinity;

/** @type {(one: ArrayLike<number>, other: ArrayLike<number>) => boolean} */
function isAlike(one, other) {
  if (one.length !== other.length) return false;
  for (let i = 0; i < one.length; i += 1) if (one[i] !== other[i]) return false;
  return true;
}

/**
 * The pixels of rows × columns values: −∞ is left out, what is no number has a colour of its own.
 * @param {Cells} cells
 */
function raster({ rows, columns, values, least, largest, ramp, root = 1 }) {
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const table = rampTable(ramp);
  const broken = rgbaWord(palette().broken);
  const scale = largest > least ? 1 / (largest - least) : 0;
  for (let i = 0; i < pixels.length; i += 1) {
    const v = values[i];
    if (v === -Infinity) pixels[i] = 0;
    else if (isBroken(v)) pixels[i] = broken;
    else {
      const share = (v - least) * scale;
      pixels[i] = table[Math.max(0, Math.min(255, (255 * (root === 3 ? Math.cbrt(share) : share) + 0.5) | 0))];
    }
  }
  return image;
}

/** @type {(canvas: HTMLCanvasElement, image: ImageData) => void} */
function paste(canvas, image) {
  const { width, height } = image;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  contextOf(canvas).putImageData(image, 0, 0);
}

/** @type {(canvas: HTMLCanvasElement, cells: Cells) => void} A pixel for each cell: a thumbnail, a strip, a scale. */
export const paint = (canvas, cells) => paste(canvas, raster(cells));

/**
 * Least and largest finite value of what is in view; `fromZero` from 0 on.
 * @param {ArrayLike<number>} values
 * @param {number} columns
 * @param {View} view
 * @returns {[number, number]}
 */
export function rangeOf(values, columns, view, { fromZero = false } = {}) {
  let [least, largest] = [Infinity, -Infinity];
  for (let row = view.top; row < view.top + view.rows; row += 1) {
    const from = row * columns + view.left;
    for (let i = from; i < from + view.columns; i += 1) {
      const v = values[i];
      if (v < least && v > -Infinity) least = v;
      if (v > largest && v < Infinity) largest = v;
    }
  }
  if (least > largest) [least, largest] = [0, 0];
  return [fromZero ? 0 : least, largest];
}

/** @typedef {[number, number] | [number, number, number, number]} Place row and column, and how many of them */

/**
 * A canvas of cells with what lies over it: bands for a row and a column, a frame for a cell and for a
 * pinned one (with `pins`), and the rectangle that a hand drags. `thin`: the least width of a mark in
 * pixels.
 */
export class CellStage {
  /** @param {{ role: string, pins?: boolean, thin?: number }} options */
  constructor({ role, pins = false, thin = 2 }) {
    this.thin = thin;
    this.canvas = h("canvas", { tabIndex: 0, role });
    /** @type {Record<string, HTMLElement>} */
    this.overlays = {
      row: h("div.lp-band.lp-of-row", { hidden: true }),
      column: h("div.lp-band.lp-of-column", { hidden: true }),
      ...(pins ? { pin: h("div.lp-cell.lp-pin", { hidden: true }) } : {}),
      cell: h("div.lp-cell", { hidden: true }),
    };
    this.lasso = h("div.lp-lasso", { hidden: true });
    this.element = h("div.lp-stage", this.canvas, Object.values(this.overlays), this.lasso);
    this.offscreen = h("canvas");
    this.hatched = h("canvas");
    // What is hatched there, and how: while a slider moves it is the same.
    this.hatchedOf = { key: "", any: false, present: /** @type {ArrayLike<number>} */ ([]) };
    /** @type {View} */
    this.view = { top: 0, left: 0, rows: 1, columns: 1 };
    this.size = { width: 0, height: 0 };
  }

  /**
   * Draw the part `seen` of the cells on width × height pixels of the page, `ratio` of the screen's to
   * one. Where `present` is 0 they are hatched, so that this never depends on a colour. Answers whether
   * anything is hatched, and whether anything is crossed out because it is no number.
   * @param {Cells & { present: ArrayLike<number> | null }} cells
   * @param {View} seen
   * @param {{ width: number, height: number, ratio: number }} room
   */
  draw(cells, seen, { width, height, ratio }) {
    [this.view, this.size] = [seen, { width, height }];
    const { canvas, element } = this;
    const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide || canvas.height !== tall) {
      Object.assign(canvas, { width: wide, height: tall });
      for (const box of [canvas, element]) Object.assign(box.style, { width: `${width}px`, height: `${height}px` });
    }
    paint(this.offscreen, cells);
    const context = contextOf(canvas);
    context.imageSmoothingEnabled = false;
    context.clearRect(0, 0, wide, tall);
    context.drawImage(this.offscreen, seen.left, seen.top, seen.columns, seen.rows, 0, 0, wide, tall);
    const masked = this.#hatch(context, cells, ratio);
    return { masked, broken: cells.ramp !== "mask" && this.#cross(context, cells, ratio) };
  }

  /**
   * Lead over from what is drawn now to what is drawn next: it fades, or the next one `falls` over it from above.
   * @param {boolean} falls
   */
  tween(falls) {
    const { canvas } = this;
    if (prefersReducedMotion() || !canvas.width) return;
    const { width, height, style } = canvas;
    const before = h("canvas.lp-before", { width, height, style: style.cssText, "aria-hidden": "true" });
    contextOf(before).drawImage(canvas, 0, 0);
    canvas.after(before);
    const frames = falls ? { clipPath: ["inset(0)", "inset(100% 0 0)"] } : { opacity: [1, 0] };
    before.animate(frames, { duration: TWEEN_MS, easing: "ease-in-out" }).onfinish = () => before.remove();
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{ rows: number, columns: number, present: ArrayLike<number> | null }} cells
   * @param {number} ratio
   */
  #hatch(context, { rows, columns, present }, ratio) {
    if (!present) return false;
    const { width, height } = this.canvas;
    const key = [rows, columns, ...Object.values(this.view), width, height, ratio, palette().hatch].join();
    const isSame = key === this.hatchedOf.key && isAlike(present, this.hatchedOf.present);
    if (!isSame) this.hatchedOf = { key, present, any: this.#hatchAnew({ rows, columns, present }, ratio) };
    if (this.hatchedOf.any) context.drawImage(this.hatched, 0, 0);
    return this.hatchedOf.any;
  }

  /** @type {(cells: { rows: number, columns: number, present: ArrayLike<number> }, ratio: number) => boolean} */
  #hatchAnew({ rows, columns, present }, ratio) {
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    let any = false;
    for (let i = 0; i < pixels.length; i += 1) {
      if (present[i]) continue;
      pixels[i] = 0xff000000;
      any = true;
    }
    if (!any) return false;
    const { view, offscreen, hatched } = this;
    const { width, height } = this.canvas;
    Object.assign(hatched, { width, height });
    const over = contextOf(hatched);
    over.imageSmoothingEnabled = false;
    paste(offscreen, image);
    over.drawImage(offscreen, view.left, view.top, view.columns, view.rows, 0, 0, width, height);
    over.globalCompositeOperation = "source-in";
    over.fillStyle = hatching(over, ratio) ?? "";
    over.fillRect(0, 0, width, height);
    return true;
  }

  /**
   * What is no number is crossed out as well, where a cell has room for it.
   * @type {(context: CanvasRenderingContext2D, cells: Cells, ratio: number) => boolean}
   */
  #cross(context, { columns, values }, ratio) {
    const { view, canvas } = this;
    const [wide, tall] = [canvas.width / view.columns, canvas.height / view.rows];
    const hasRoom = Math.min(wide, tall) >= 7 * ratio;
    let any = false;
    context.strokeStyle = palette().sheet;
    context.lineWidth = 1.5 * ratio;
    context.beginPath();
    for (let row = 0; row < view.rows; row += 1) {
      for (let column = 0; column < view.columns; column += 1) {
        if (!isBroken(values[(view.top + row) * columns + view.left + column])) continue;
        any = true;
        if (!hasRoom) continue;
        const [x, y, arm] = [(column + 0.5) * wide, (row + 0.5) * tall, 0.25 * Math.min(wide, tall)];
        for (const lean of [-1, 1]) {
          context.moveTo(x - arm, y - lean * arm);
          context.lineTo(x + arm, y + lean * arm);
        }
      }
    }
    context.stroke();
    return any;
  }

  /**
   * What is marked, as [row, column, rows, columns] in cells; what is not named is not.
   * @param {Record<string, Place | null>} marked
   */
  mark(marked) {
    for (const [name, overlay] of Object.entries(this.overlays)) {
      const at = marked[name];
      if (at) this.#place(overlay, at);
      else overlay.hidden = true;
    }
  }

  /** @type {(overlay: HTMLElement, at: Place) => void} */
  #place(overlay, [row, column, rows = 1, columns = 1]) {
    const { view, size, thin } = this;
    const [tall, wide] = [size.height / view.rows, size.width / view.columns];
    const [top, left] = [Math.max(row, view.top), Math.max(column, view.left)];
    const bottom = Math.min(row + rows, view.top + view.rows);
    const right = Math.min(column + columns, view.left + view.columns);
    overlay.hidden = bottom <= top || right <= left;
    overlay.style.transform = `translate(${(left - view.left) * wide}px, ${(top - view.top) * tall}px)`;
    overlay.style.width = `${Math.max((right - left) * wide, thin)}px`;
    overlay.style.height = `${Math.max((bottom - top) * tall, thin)}px`;
  }

  /** @type {(side: string | null | undefined) => void} The bands of these sides are drawn with a stronger line. */
  strengthen(side) {
    for (const name of ["row", "column"]) this.overlays[name].classList.toggle("lp-strong", side === name);
  }
}
