// Runs in the head of every page once Gradio's styles are there: the page's own come after them, which they overrule.
// Its HTML has them fetched ahead of time. What describes the page to a system that installs it is looked for beside
// the first page, also below a path of the host's.
(() => {
  document.querySelector("link[rel=manifest]")?.setAttribute("href", "manifest.json");
  for (const ahead of document.querySelectorAll("link[rel=preload][as=style]")) {
    const href = /** @type {HTMLLinkElement} */ (ahead).href;
    document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href }));
  }
})();
