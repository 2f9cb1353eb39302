// LaTeX to formulas. KaTeX is no module: imported, it leaves itself in `window.katex`, from where it
// is taken.
import "./vendor/katex/katex.min.js";
import { has, say } from "./translated_sentences.js";

const { katex } = globalThis;
Reflect.deleteProperty(globalThis, "katex");

/**
 * The few words inside formulas follow the language too.
 * @param {HTMLElement} element
 * @param {string} formula
 */
export function tex(element, formula, display = false) {
  const spoken = formula.replace(/\\text\{([^}]*)\}/g, (all, /** @type {string} */ words) =>
    has(`math.${words}`) ? `\\text{${say(`math.${words}`)}}` : all,
  );
  katex.render(spoken, element, {
    throwOnError: false,
    displayMode: display,
    // \htmlData says where a number comes from; no other command may reach the page.
    trust: (/** @type {{ command: string }} */ { command }) => command === "\\htmlData",
    strict: (/** @type {string} */ code) => (code === "htmlExtension" ? "ignore" : "warn"),
  });
}

/** @type {Map<string, string>} */
const plain = new Map();

/** @type {(formula: string) => string} A formula in plain characters, for a title: "\\tau^+" is "τ+". */
export function plainText(formula) {
  const known = plain.get(formula);
  if (known !== undefined) return known;
  const drawn = document.createElement("span");
  tex(drawn, formula);
  const text = (drawn.querySelector(".katex-html")?.textContent ?? "").replace(/[\u200b\s]/g, "");
  plain.set(formula, text);
  return text;
}
