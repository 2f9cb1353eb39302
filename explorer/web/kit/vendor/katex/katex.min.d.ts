// What of KaTeX the page uses. Imported, the script leaves itself in `globalThis.katex`.
export interface Katex {
  render(formula: string, element: HTMLElement, options: object): void;
}

declare global {
  var katex: Katex;
}
