// Where the formula of the loss comes from, and what its sources claim about it, once, at the end of the page.
import { h, setText } from "../../kit/dom.js";
import { citation, say } from "../../kit/translated_sentences.js";

const DIGITS = 6; // of 1/τ, which claims about a loss with a temperature call λ

/** @type {(root: HTMLElement, page: import("./state.js").ExplorePage) => void} */
export default function sources(root, page) {
  const line = h("p.lp-note.lp-references");
  const title = h("summary");
  const links = h("ul");
  const claims = h("details.lp-note.lp-references", title, links);
  root.append(line, claims);

  function draw() {
    const { references, claims: names } = page.spec;
    line.hidden = references.length === 0;
    const list = references.map((one) => citation(one, (short) => say(`cite.${short}`))).join("; ");
    setText(line, say("ui.references", { list }));
    claims.hidden = names.length === 0;
    setText(title, say("claims.about_formula", { count: names.length }));
    links.replaceChildren(...names.map((name) => h("li", claimLink(page, name))));
  }
  page.on("scenario", draw);
  page.on("language", draw);
}

/**
 * A claim, executed on the batch as it is when the link is followed.
 * @type {(page: import("./state.js").ExplorePage, name: string) => HTMLAnchorElement}
 */
function claimLink(page, name) {
  const link = h("a", `${name} · ${say(`claims.${name}.claim`)}`);
  const aim = () => {
    const query = new URLSearchParams({ claim: name });
    const { scale, temperature } = page.scenario.parameters;
    if (typeof scale === "number") query.set("scale", String(scale));
    else if (typeof temperature === "number") query.set("scale", String(Number((1 / temperature).toPrecision(DIGITS))));
    const scenarioLink = location.hash.slice(1);
    if (scenarioLink) query.set("scene", scenarioLink);
    link.href = new URL(`learn/claims${location.search}#${query}`, document.baseURI).href;
  };
  aim();
  for (const event of ["pointerdown", "focus"]) link.addEventListener(event, aim);
  return link;
}
