// Stands first in the body, so that a dark page is never drawn light: dark or light is what the address asks for,
// else what the reader chose before, else what the system says.
(() => {
  const asked = new URLSearchParams(location.search).get("__theme");
  let chosen = null;
  try {
    chosen = localStorage.getItem("lossprism.theme");
  } catch {
    /* private window */
  }
  const theme = asked === "dark" || asked === "light" ? asked : chosen;
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.body.classList.toggle("dark", dark);
})();
