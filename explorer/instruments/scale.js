// Floor, collapse value and the loss itself on one line, from the least to the largest; nothing
// where only the loss is known.
(window.LossPrismParts ??= {}).scale = (figures) => {
  "use strict";
  const { h, say, show, read } = LossPrism;
  const [at, floor, collapse] = [figures.loss, figures.floor, figures.collapse].map(read);
  const known = [at, floor, collapse].filter((value) => Number.isFinite(value));
  if (known.length < 2) return [];
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const where = (value) => `${high > low ? 4 + (92 * (value - low)) / (high - low) : 50}%`;
  const mark = (kind, value, key) => (Number.isFinite(value)
    ? h(`i.${kind}`, { style: `left:${where(value)}`, title: `${say(key)} ${show(value)}` }) : null);
  // What lies beyond collapse ends the line, so it is written there, and said in words.
  const beyond = collapse > 0 && at > 1.0001 * collapse;
  // The names stand below their marks, as far as one does not push the other away.
  return [
    h("div.lp-ruler", {}, mark("lp-floor", floor, "figure.floor"),
      mark("lp-collapse", collapse, "figure.collapse"), mark("lp-now", at, "figure.loss")),
    h("div.lp-legends", {},
      h("span.lp-floor", { style: Number.isFinite(collapse) ? `flex-basis: calc(${where(collapse)} - 50px)` : "" },
        Number.isFinite(floor) ? `${say("figure.floor")} ${show(floor, 3)}` : ""),
      Number.isFinite(collapse) ? h("span.lp-collapse", {}, `${say("figure.collapse")} ${show(collapse, 4)}`) : null,
      beyond ? h("span.lp-end", {}, show(at, 4)) : null),
    beyond ? h("p.lp-beyond", {}, say("figure.beyond_collapse")) : null,
  ].filter(Boolean);
};
