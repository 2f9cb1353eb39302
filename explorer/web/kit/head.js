// Stands in the head of every page: its styles, and the modules it will import, ahead of time, so
// that they do not wait for each other. `served` says which, by page.
((served) => {
  const { styles, modules } = served[window.gradio_config.current_page];
  for (const [rel, names] of [
    ["stylesheet", styles],
    ["modulepreload", modules],
  ]) {
    for (const name of names) document.head.append(Object.assign(document.createElement("link"), { rel, href: name }));
  }
})(SERVED);
