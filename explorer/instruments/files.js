// Files in and out of the page: one that the user chose as base64, one to be saved, an SVG as PNG.
(window.LossPrismParts ??= {}).files = () => {
  "use strict";

  function encoded(blob) {
    return new Promise((done, fail) => {
      const reader = new FileReader();
      reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
      reader.onerror = () => fail(reader.error);
      reader.readAsDataURL(blob);
    });
  }

  // A file that is chosen, or dropped on the button that opens the chooser.
  function offered(chooser, drop, take) {
    const first = (files) => { if (files[0]) take(files[0]); };
    chooser.addEventListener("change", () => { first(chooser.files); chooser.value = ""; });
    drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("lp-over"); });
    drop.addEventListener("dragleave", () => drop.classList.remove("lp-over"));
    drop.addEventListener("drop", (event) => {
      event.preventDefault();
      drop.classList.remove("lp-over");
      first(event.dataTransfer.files);
    });
  }

  function download(name, blob) {
    const address = URL.createObjectURL(blob);
    LossPrism.h("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000); // a busy browser begins late
  }

  // The browser turns a figure into pixels: the same drawing, so many pixels to a unit.
  async function rasterised(svg, ratio) {
    const picture = new Image();
    const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    picture.src = address;
    await picture.decode();
    const [width, height] = [picture.width, picture.height].map((side) => Math.round(side * ratio));
    const canvas = LossPrism.h("canvas", { width, height });
    canvas.getContext("2d").drawImage(picture, 0, 0, width, height);
    URL.revokeObjectURL(address);
    return new Promise((done) => { canvas.toBlob(done, "image/png"); });
  }

  return { encoded, offered, download, rasterised };
};
