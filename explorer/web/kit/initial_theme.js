// Stands first in the body, so that a dark page is never drawn light: dark or light is what the address asks for (as
// the hub does), else what the reader chose before, else what the system says, now and later.
(() => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => {
    const theme = new URLSearchParams(location.search).get("__theme");
    if (theme === "dark" || theme === "light") return theme;
    try {
      return localStorage.getItem("lossprism.theme");
    } catch {
      return null; // private window
    }
  };
  const show = () => {
    const theme = chosen();
    document.body.classList.toggle("dark", theme ? theme === "dark" : system.matches);
  };
  show();
  system.addEventListener("change", show);
})();
