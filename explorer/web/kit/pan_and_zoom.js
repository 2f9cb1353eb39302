// A picture that a hand moves and scales as it is, before it is drawn anew where the hand came to rest.
import { magnification } from "./dom.js";

/** @typedef {{ scale: number, x: number, y: number }} Moved */
/**
 * The edges of what is in sight, in shares of what was drawn, from its upper left corner.
 * @typedef {{ left: number, right: number, top: number, bottom: number }} Edges
 */

const STILL = { scale: 1, x: 0, y: 0 };

/** @param {TouchList} fingers */
const distance = ([a, b]) => Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY));

/**
 * Two fingers hold on to what is under them; one of them leaves the page to scroll. `drag` and `zoom` do the same for
 * other hands. What was moved stays so until `settle` is called.
 */
export class PanAndZoom {
  /**
   * `begin` says whether two fingers may take the picture; `rest` hears where they, or another hand, left it.
   * @param {HTMLElement} picture whose parent is the frame that it moves in
   * @param {{ begin: () => boolean, rest: (edges: Edges) => void }} hand
   */
  constructor(picture, hand) {
    this.picture = picture;
    this.hand = hand;
    /** @type {Moved} */
    this.moved = STILL;
    /** @type {{ distance: number, at: { x: number, y: number }, moved: Moved } | null} */
    this.held = null;
    picture.addEventListener("touchstart", (event) => this.#begin(event), { passive: false });
    picture.addEventListener("touchmove", (event) => this.#follow(event), { passive: false });
    picture.addEventListener("touchend", () => this.#end());
    picture.addEventListener("touchcancel", () => this.settle());
  }

  get #frame() {
    return /** @type {HTMLElement} */ (this.picture.parentElement);
  }

  get isHeld() {
    return this.held !== null;
  }

  settle() {
    this.held = null;
    this.#move(STILL);
  }

  /** Move the picture by so many pixels of the screen. @param {number} x @param {number} y */
  drag(x, y) {
    const size = magnification(this.#frame);
    this.#move({ ...this.moved, x: this.moved.x + x / size, y: this.moved.y + y / size });
  }

  /**
   * Scale the picture around a place of the screen.
   * @type {(factor: number, place: { clientX: number, clientY: number }) => void}
   */
  zoom(factor, place) {
    const at = this.#within(place);
    this.#scale(this.moved, factor, at, at);
  }

  /** Tell the hand where the picture was left. */
  rest() {
    const { offsetWidth, offsetHeight } = this.picture;
    const { scale, x, y } = this.moved;
    const [width, height] = [offsetWidth * scale, offsetHeight * scale];
    this.hand.rest({
      left: -x / width,
      right: (offsetWidth - x) / width,
      top: -y / height,
      bottom: (offsetHeight - y) / height,
    });
  }

  /** @param {TouchEvent} event */
  #begin(event) {
    if (event.touches.length !== 2 || !event.cancelable || !this.hand.begin()) {
      this.held = null;
      return;
    }
    event.preventDefault();
    this.held = { distance: distance(event.touches), at: this.#between(event.touches), moved: this.moved };
  }

  /** @param {TouchEvent} event */
  #follow(event) {
    if (!this.held || event.touches.length !== 2) return;
    event.preventDefault();
    const { moved, at, distance: before } = this.held;
    this.#scale(moved, distance(event.touches) / before, at, this.#between(event.touches));
  }

  #end() {
    if (!this.held) return;
    this.held = null;
    this.rest();
  }

  /** @param {TouchList} fingers */
  #between([a, b]) {
    return this.#within({ clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 });
  }

  /** @param {{ clientX: number, clientY: number }} place */
  #within({ clientX, clientY }) {
    const { left, top } = this.#frame.getBoundingClientRect();
    const size = magnification(this.#frame);
    return { x: (clientX - left) / size, y: (clientY - top) / size };
  }

  /**
   * Scale a picture, so that what was at one place of the frame comes to another.
   * @type {(moved: Moved, factor: number, from: { x: number, y: number }, to: { x: number, y: number }) => void}
   */
  #scale({ scale, x, y }, factor, from, to) {
    this.#move({ scale: scale * factor, x: to.x - (from.x - x) * factor, y: to.y - (from.y - y) * factor });
  }

  /** @param {Moved} moved */
  #move(moved) {
    this.moved = moved;
    const { scale, x, y } = moved;
    const { style } = this.picture;
    style.transform = scale === 1 && !x && !y ? "" : `translate(${x}px, ${y}px) scale(${scale})`;
    this.#frame.classList.toggle("lp-moved", Boolean(style.transform));
  }
}
