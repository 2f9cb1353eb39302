// LaTeX to formulas. KaTeX is no module: imported, it leaves itself in `window.katex`, from where it
// is taken.
import "./vendor/katex/katex.min.js";
import { parameterValue } from "./parameter_value_or_default.js";
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

/**
 * Some choices have a formula of their own; candidates that are left out are named below it.
 * @type {(form: import("../wire").Form, chosen: Record<string, import("../wire").Setting>, twins: string) => string}
 */
export function formulaOf({ formula, variants, parameters, counted }, chosen, twins) {
  const at = parameters.map((one) => variants[`${one.name}=${parameterValue(one, chosen)}`]).find(Boolean);
  const whole = `\\mathcal L = ${at ?? formula}`;
  return counted && twins === "leave_out" ? `\\begin{gathered}${whole}\\\\[2pt] ${counted}\\end{gathered}` : whole;
}
