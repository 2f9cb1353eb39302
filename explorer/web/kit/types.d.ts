// Types that JSDoc has no words for, and what the page finds in the window.

import type { Attributes, ClassAttributes, JSX, VNode } from "preact";

type Tag<Name> = Name extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Name] : HTMLElement;

/** The element that `h("button.quiet")` makes. */
export type ElementOf<Kind extends string> = Kind extends `${infer Name}.${string}` ? Tag<Name> : Tag<Kind>;

/** What `h` of preact_view.js takes: a component with its properties, or a tag with those of its element, if any. */
export interface Markup {
  <Properties>(component: Component<Properties>, properties: Properties & Attributes, ...children: Children[]): VNode<any>;
  <Kind extends string>(kind: Kind, properties: ElementProperties<Kind>, ...children: Children[]): VNode<any>;
  (kind: string | Component<{}>, ...children: Children[]): VNode<any>;
}

/** A function from properties to markup. Its second member has TypeScript infer those of a generic one, such as Tabs. */
export interface Component<Properties> {
  (properties: Properties): Children;
  displayName?: string;
}

/** What an element of a component is filled with. A plain object is no child: `h` takes it for properties. */
export type Children = VNode<any> | Children[] | string | number | boolean | null | undefined;

type TagOf<Kind> = Kind extends `${infer Name}.${string}` ? (Name extends "" ? "div" : Name) : Kind;
type ElementProperties<Kind> = (TagOf<Kind> extends keyof JSX.IntrinsicElements
  ? JSX.IntrinsicElements[TagOf<Kind>]
  : JSX.IntrinsicElements["div"]) &
  ClassAttributes<any> & { [data: `data-${string}`]: unknown };

type Part = string | number | Node | null | undefined;

/** What an element is filled with: text, other elements, lists of them; null is left out. */
export type Child = Part | Part[];

/** The functions of a server as `withDeadlineAndConsent` has them: where no answer comes, the answer is a problem (`GONE`). */
export type Asking<Server> = {
  [Name in keyof Server]: Server[Name] extends (request: any) => Promise<infer Answer>
    ? (request?: unknown, options?: { deadline?: number; alive?: () => boolean }) => Promise<Answer>
    : never;
};

/** What a function of a server answers. */
export type Answer<Server, Name extends keyof Server> = Server[Name] extends (request: any) => Promise<infer Found>
  ? Found
  : never;

/** What a function of a server is answered, or undefined where nobody waits for it any more. */
export type AnswerOf<Function> = Function extends (...given: any) => Promise<infer Answer> ? Answer | undefined : never;

/** What was wrong, as the page says it: the server's, or its own. */
export type Notice = { key: string; about?: string; values: object };

/** A button beside a problem that can be put right there. */
export type Remedy = { fits: (problem: Notice) => boolean; key: string; act: () => void };

/** The ends of an axis, a range, an interval. */
export type Span = [number, number];

/** Attributes of an SVG element. */
export type Look = Record<string, string | number | null | undefined>;

/** The part of a formula that is pointed at: what it came from, and where in it. */
export type PointedPart = { of: string; at: string };

/** What is pointed at: pairs, and where it is one, the cell by its items and the part of its formula. */
export type Pointed = { pairs: number[]; cell: [number, number] | null; part: PointedPart | null };

/** A row of a table of pairs: two sentences and a score, as they are written. */
export type Row = [string, string, string];

/** The element that Plotly draws into, with events of its own. */
export type PlotlyElement = HTMLElement & {
  layout: Record<string, any>;
  on(event: string, listener: (event: any) => void): void;
};

declare global {
  interface Window {
    lossprism: { page: Function; pageData: object; floats: Function; bytes: Function; kit: Function; isComplete: boolean };
    Plotly: {
      react(element: HTMLElement, data: object[], layout: object, config: object): Promise<PlotlyElement>;
      relayout(element: HTMLElement, changes: object): Promise<PlotlyElement>;
    };
  }
  interface Uint8ArrayConstructor {
    fromBase64?(text: string): Uint8Array<ArrayBuffer>;
  }
  interface HTMLElement {
    /** The pair that a line shows. */
    pair?: number;
  }
}
