// The title of the page says what is open, so that tabs, bookmarks and the browser's history can be distinguished.

/** @type {(open: string) => void} Begin the title with this; "" leaves the name of the app alone. */
export function entitle(open) {
  const title = [open, "LossPrism"].filter(Boolean).join(" · ");
  if (document.title !== title) document.title = title;
}
