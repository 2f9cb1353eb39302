// Elements of SVG.

/**
 * @param {string} tag of SVG
 * @param {import("./types").Look} [attributes] null, undefined and "" are left out
 * @param {...(Node | string)} children
 */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== "") element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}
