// Runs once for each component: waits until everything it needs is there, then builds it.
(function mount() {
  if (window.LossPrism && window.katex
    && ["table", "scale", "present", "drawing", "chart", "fields", "files", "gains", "grid", "studio"].every((part) => window.LossPrismParts?.[part])
    && window.LossPrismInstruments?.NAME) {
    window.LossPrism.mount("NAME", element, props, server);
  } else {
    setTimeout(mount, 5);
  }
})();
