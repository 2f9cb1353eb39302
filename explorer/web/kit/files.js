// Files in and out of the page: one that the user chose as base64, one to be saved, an SVG as PNG.
import { contextOf, h } from "./dom.js";

/**
 * @param {Blob} blob
 * @returns {Promise<string>}
 */
export function base64Of(blob) {
  return new Promise((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => fail(reader.error);
    reader.readAsDataURL(blob);
  });
}

/**
 * A file that is chosen, or dropped on the button that opens the chooser.
 * @param {HTMLInputElement} chooser
 * @param {HTMLElement} drop
 * @param {(file: File) => void} take
 */
export function onFile(chooser, drop, take) {
  /** @param {FileList | undefined | null} files */
  const first = (files) => {
    if (files?.[0]) take(files[0]);
  };
  chooser.addEventListener("change", () => {
    first(chooser.files);
    chooser.value = "";
  });
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("lp-over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("lp-over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("lp-over");
    first(event.dataTransfer?.files);
  });
}

/**
 * @param {string} name
 * @param {Blob} blob
 */
export function download(name, blob) {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000); // a busy browser begins late
}

/**
 * The browser turns a figure into pixels: the same drawing, so many pixels to a unit.
 * @param {string} svg
 * @param {number} ratio
 * @returns {Promise<Blob>}
 */
export async function rasterised(svg, ratio) {
  const picture = new Image();
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  picture.src = address;
  await picture.decode();
  const [width, height] = [picture.width, picture.height].map((side) => Math.round(side * ratio));
  const canvas = h("canvas", { width, height });
  contextOf(canvas).drawImage(picture, 0, 0, width, height);
  URL.revokeObjectURL(address);
  return new Promise((done) => {
    canvas.toBlob((blob) => done(/** @type {Blob} */ (blob)), "image/png");
  });
}
