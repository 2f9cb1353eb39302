// Runs once for each component: waits until everything it needs is there, then builds it.
(function mount() {
  if (window.LossPrism && window.katex
<<<<<<< HEAD
    && ["table", "scale", "present", "drawing", "chart", "fields", "files", "grid", "studio"].every((part) => window.LossPrismParts?.[part])
=======
    && ["table", "scale", "present", "drawing", "chart", "fields", "files", "gains", "studio"].every((part) => window.LossPrismParts?.[part])
>>>>>>> main
    && window.LossPrismInstruments?.NAME) {
    window.LossPrism.mount("NAME", element, props, server);
  } else {
    setTimeout(mount, 5);
  }
})();
