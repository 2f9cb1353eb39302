// The widget of a notebook as anywidget runs it: a frame with a document of its own, which opens the view when its
// modules are there, and again when the notebook took the frame out of the page and put it back.

/**
 * What a widget in Python and its views share.
 * @typedef {{ get: (name: string) => any, set: (name: string, value: unknown) => void, save_changes: () => void,
 *   on: (event: string, listener: () => void) => void, off: (event: string, listener: () => void) => void }} Model
 */

/** @type {(given: { model: Model, el: HTMLElement }) => () => void} Draw a widget; what is returned ends it. */
function render({ model, el }) {
  const frame = document.createElement("iframe");
  let close = () => {};
  frame.addEventListener("opened", (event) => {
    close();
    close = /** @type {CustomEvent<(model: Model) => () => void>} */ (event).detail(model);
  });
  frame.title = model.get("title");
  frame.srcdoc = model.get("document");
  Object.assign(frame.style, { width: "100%", border: "0", display: "block" });
  el.append(frame);
  return () => close();
}

export default { render };
