// Stands in the HTML of every page, before Gradio's scripts. Gradio's sign of loading (6.31) asks for frame after frame
// and does not cease when it is gone: a page at rest would be drawn sixty times a second for nothing. Until our parts
// begin all frames are asked for here; whoever has kept hold of this gets one a second from then on.
(() => {
  const frame = window.requestAnimationFrame.bind(window);
  /** @param {FrameRequestCallback} callback */
  const asked = (callback) =>
    window.requestAnimationFrame === asked ? frame(callback) : window.setTimeout(() => frame(callback), 1000);
  /** @param {typeof frame} one */
  const take = (one) => Object.assign(window, { requestAnimationFrame: one });
  take(asked);
  document.addEventListener("lossprism", () => take(frame), { once: true });
})();
