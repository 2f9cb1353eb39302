// Components: functions from state to markup, drawn by preact. `h` has the notation of dom.js.
import { collecting } from "./listener_cleanup.js";
import { useLayoutEffect, useRef } from "./vendor/preact/hooks.js";
import { Component, createElement, Fragment, render } from "./vendor/preact/preact.js";
// This one draws a component again whenever a signal that it read changes.
import "./vendor/preact/signals.js";

// A page's state is no signal, so a component is also drawn again with the one that it stands in, which signals.js
// would leave out for one that read a signal, as each does that says a word.
Component.prototype.shouldComponentUpdate = undefined;

/**
 * Return an element ("button.quiet": a tag, and after each dot a class) or a component with its
 * properties, where it has any, and children. Strings become text, never HTML.
 * @type {import("./types").Markup}
 */
export const h = (/** @type {any} */ kind, /** @type {any[]} */ ...content) => {
  const properties = content[0]?.constructor === Object ? content.shift() : null;
  if (typeof kind !== "string" || !kind.includes(".")) return createElement(kind, properties, ...content);
  const [tag, ...classes] = kind.split(".");
  if (properties?.class) classes.push(properties.class);
  return createElement(tag || "div", { ...properties, class: classes.join(" ") }, ...content);
};

/**
 * Return children without an element around them.
 * @param {...import("./types").Children} children
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
 * Return an element that is filled by an instrument of the kit: `make` fills it once, and `update` gives the
 * instrument its data with each drawing. Their listeners to the page end with the component (`listener_cleanup.js`).
 * @template Instrument
 * @param {{ kind?: string, make: (root: HTMLElement) => Instrument, update?: (instrument: Instrument) => void }} host
 */
export const hosted = (host) => createElement(Host, /** @type {any} */ (host));

/** @param {{ kind?: string, make: (root: any) => unknown, update?: (instrument: unknown) => void }} properties */
function Host({ kind = "div", make, update }) {
  const root = useRef(null);
  /** @type {import("preact").RefObject<{ instrument: unknown } | null>} */
  const made = useRef(null);
  /** @type {import("preact").RefObject<(() => void)[]>} */
  const releases = useRef([]);
  useLayoutEffect(() => {
    collecting(releases.current ?? [], () => {
      made.current ??= { instrument: make(root.current) };
      update?.(made.current.instrument);
    });
  });
  useLayoutEffect(
    () => () => {
      for (const release of releases.current ?? []) release();
    },
    [],
  );
  return h(kind, { ref: root });
}
