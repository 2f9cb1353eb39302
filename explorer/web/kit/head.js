// Stands in the head of every page: its styles, and the modules it will import, ahead of time, so
// that they do not wait for each other. `served` says which, by page. What describes the page to a
// system that installs it is looked for beside the first page, also below a path of the host's.
((served) => {
  document.querySelector("link[rel=manifest]")?.setAttribute("href", "manifest.json");
  const { styles, modules } = served[window.gradio_config.current_page];
  for (const [rel, names] of [
    ["stylesheet", styles],
    ["modulepreload", modules],
  ]) {
    for (const name of names) document.head.append(Object.assign(document.createElement("link"), { rel, href: name }));
  }
})(SERVED);
