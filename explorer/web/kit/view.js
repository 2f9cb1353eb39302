// Components: functions from state to markup, drawn by preact. `h` has the notation of dom.js.
import { useLayoutEffect, useRef } from "./vendor/preact/hooks.js";
import { createElement, Fragment, render } from "./vendor/preact/preact.js";
// This one draws a component again whenever a signal that it read changes.
import "./vendor/preact/signals.js";

/**
 * Return an element ("button.quiet": a tag, and after each dot a class) or a component with its
 * properties and children. Strings become text, never HTML.
 * @type {import("./types").Markup}
 */
export const h = (/** @type {any} */ kind, /** @type {any} */ properties, /** @type {any[]} */ ...children) => {
  if (typeof kind !== "string" || !kind.includes(".")) return createElement(kind, properties, ...children);
  const [tag, ...classes] = kind.split(".");
  if (properties?.class) classes.push(properties.class);
  return createElement(tag || "div", { ...properties, class: classes.join(" ") }, ...children);
};

/**
 * Return children without an element around them.
 * @param {...import("preact").ComponentChildren} children
 */
export const group = (...children) => createElement(Fragment, null, ...children);

/**
 * Draw a component as the content of an element, again whenever what it reads changes.
 * @template Properties
 * @param {Element} root
 * @param {import("preact").FunctionComponent<Properties>} component
 * @param {Properties & import("preact").Attributes} properties
 */
export const show = (root, component, properties) => render(createElement(component, properties), root);

/**
 * An element that is filled by an instrument of the kit: `make` fills it once, and `update` gives the
 * instrument its data with each drawing.
 * @template Instrument
 * @param {{ kind?: string, make: (root: HTMLElement) => Instrument, update?: (instrument: Instrument) => void }} properties
 */
export function Hosted({ kind = "div", make, update }) {
  /** @type {import("preact").RefObject<any>} */
  const root = useRef(null);
  /** @type {import("preact").RefObject<any>} */
  const instrument = useRef(null);
  useLayoutEffect(() => {
    instrument.current ??= { made: make(root.current) };
    update?.(instrument.current.made);
  });
  return h(kind, { ref: root });
}
