// Stands in the body after initial_theme.js: the language of the page is that of the address, else the one that the
// reader chose before, else the browser's. Its words are on their way before any module is.
(() => {
  const { served = "", folder = "", words = "", languages = "{}" } = document.body.dataset;
  const chosen = () => {
    const named = new URLSearchParams(location.search).get("lang");
    try {
      return named || localStorage.getItem("lossprism.language") || navigator.language || "en";
    } catch {
      return named || navigator.language || "en"; // private window
    }
  };
  const code = chosen().toLowerCase().slice(0, 2);
  const language = Object.hasOwn(JSON.parse(languages), code) ? code : "en";
  document.documentElement.lang = language;
  for (const part of ["shared", folder].filter((name) => name === "shared" || words.split(" ").includes(name))) {
    const link = document.createElement("link");
    Object.assign(link, { rel: "preload", as: "fetch", crossOrigin: "anonymous" });
    link.href = `${served}/words/${language}/${part}.json`;
    document.head.append(link);
  }
})();
