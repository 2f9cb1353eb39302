// The gradient of every pair under each side, as bars on one axis; how far any two agree; and where the two
// that are held against each other disagree most, in words.
import { floats } from "../../kit/arrays.js";
import { clip, h, reword, roomOf, worded } from "../../kit/dom.js";
import { s } from "../../kit/drawing.js";
import { given } from "../../kit/given.js";
import { show } from "../../kit/numbers.js";
import { check } from "../../kit/sidebar.js";
import { say } from "../../kit/words.js";
import { agreementTable } from "./agreement.js";
import { barsPath, equalised, orderOf, placeAt, reachOf } from "./bars.js";
import { chip, colourOf, letterOf } from "./legend.js";
import { downloads } from "./taking.js";

const STRIP = 58;
const GAP = 6;
const LEFT = 26;

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ComparePage} channel
 */
export default function gradients(root, channel) {
  const { bars: orders } = given.compare;
  const order = h(
    "select",
    { id: "lp-bars-order", onchange: () => channel.set({ bars: order.value }) },
    orders.map((name) => worded("option", `compare.bars.${name}`, { value: name })),
  );
  const equal = check("compare.equalised", true, (on) => channel.set({ equalised: on }));
  const equalBox = /** @type {HTMLInputElement} */ (equal.querySelector("input"));
  const svg = s("svg", { role: "img", tabindex: 0 });
  const told = h("p.lp-atom", { "aria-live": "polite" });
  const note = h("p.lp-note");
  const apart = h("ul.lp-remarks");
  const agreement = agreementTable(channel);
  const taking = downloads(channel, { name: "gradients", figure: picture, csv: asCsv });
  const chart = h("div.lp-strips", {}, svg);
  root.append(
    h("div.lp-bar", {}, worded("h2", "compare.gradients"), taking.element),
    h("div.lp-row.lp-wrap", {}, h("label.lp-inline", {}, worded("span", "ui.sorted_by"), order), equal),
    h("div.lp-felt-by", {}, h("div", {}, chart, told, note, apart), agreement.element),
  );
  reword(root);
  const room = roomOf(chart, draw);

  /** @type {(Float32Array | null)[]} */
  let values = []; // as they are drawn, a strip for each side
  /** @type {(Float32Array | null)[]} */
  let plain = [];
  /** @type {number[]} */
  let places = [];
  /** @type {SVGElement[]} */
  let parts = [];
  const mark = s("rect", { fill: "var(--lp-pointed)", visibility: "hidden" });

  function take() {
    const { compared, batch } = channel;
    if (!compared || !batch) return;
    plain = compared.sides.map(({ gradient }) => (gradient === null ? null : floats(gradient)));
    arrange();
    note.textContent = [
      say(`compare.gradient.${compared.gradient}`),
      say("ui.gradient_sign"),
      channel.store.state.equalised ? say("compare.equalised.about") : say("compare.not_equalised.about"),
    ].join(" ");
    agreement.draw();
    tellApart();
  }

  function arrange() {
    const { equalised: isEqual, bars } = channel.store.state;
    const { batch, pair } = channel;
    if (!batch) return;
    values = plain.map((one) => (one && isEqual ? equalised(one) : one));
    places = orderOf(bars, { count: batch.labels.length, labels: batch.labels, base: values[pair[0]] });
    order.value = bars;
    equalBox.checked = isEqual;
    draw();
  }

  const tall = () => values.length * (STRIP + GAP) + 4;

  function draw() {
    if (!room.width || !values.length) return;
    const wide = Math.max(room.width, 160);
    for (const [name, value] of Object.entries({ width: wide, height: tall(), viewBox: `0 0 ${wide} ${tall()}` }))
      svg.setAttribute(name, String(value));
    const reach = reachOf(values);
    if (parts.length !== values.length) {
      parts = values.map((_one, place) => s("path", { fill: colourOf(place) }));
      svg.replaceChildren(
        mark,
        ...values.flatMap((_one, place) => [
          s(
            "text",
            { x: 2, y: middle(place) + 4, "font-size": 13, "font-weight": 700, fill: colourOf(place) },
            letterOf(place),
          ),
          s("line", { x1: LEFT, x2: "100%", y1: middle(place), y2: middle(place), stroke: "var(--lp-line)" }),
          parts[place],
        ]),
      );
    }
    const across = { left: LEFT, width: wide - LEFT, places };
    values.forEach((one, place) => {
      parts[place].setAttribute("d", one ? barsPath(one, across, middle(place), STRIP / 2, reach) : "");
    });
    const count = places.length;
    svg.setAttribute("aria-label", say("compare.bars_label", { count, sides: values.length }));
    light();
  }

  /** @param {number} place */
  const middle = (place) => 2 + place * (STRIP + GAP) + STRIP / 2;

  function light() {
    const { pairs } = channel.pointed;
    const at = pairs.length ? places.indexOf(pairs[pairs.length - 1]) : -1;
    mark.setAttribute("visibility", at < 0 ? "hidden" : "visible");
    const width = (room.width - LEFT) / Math.max(places.length, 1);
    if (at >= 0) {
      const box = { x: LEFT + at * width, y: 0, width: Math.max(width, 2), height: tall() };
      for (const [name, value] of Object.entries(box)) mark.setAttribute(name, String(value));
    }
    told.textContent = at < 0 ? say("compare.bars_hint") : saidOf(places[at]);
  }

  /** @param {number} pair */
  function saidOf(pair) {
    const { batch } = channel;
    const felt = plain.map((one, place) => (one ? `${letterOf(place)} ${show(one[pair], 3)}` : "")).filter(Boolean);
    const sentences = batch ? `“${clip(batch.first[pair], 60)}” · “${clip(batch.second[pair], 60)}”` : "";
    const label = batch?.labelled ? say("compare.labelled", { label: show(batch.labels[pair]) }) : "";
    return [say("compare.pair", { pair: channel.numberOf(pair) }), label, felt.join(", "), sentences]
      .filter(Boolean)
      .join(" · ");
  }

  // Where the two that are held against each other disagree most, with the sentences of that pair.
  function tellApart() {
    const { batch, pair } = channel;
    const two = channel.twoOf(...pair);
    if (!two || !batch) {
      apart.replaceChildren();
      return;
    }
    const lines = [];
    if (two.factor !== null) {
      const said = { first: letterOf(two.first), second: letterOf(two.second), factor: show(two.factor) };
      lines.push(h("li", {}, say("compare.factor", said)));
    }
    if (two.apart) {
      const { pair: at, told: sentences } = two.apart;
      const words = sentences.map(({ key, values: put }) => say(key, put)).join(" ");
      const line = h(
        "li.lp-apart-pair",
        { tabIndex: 0 },
        words,
        h("div.lp-two", {}, h("span", {}, batch.first[at]), h("span", {}, batch.second[at])),
      );
      for (const event of ["mouseenter", "focus"]) line.addEventListener(event, () => channel.point([at]));
      for (const event of ["mouseleave", "blur"]) line.addEventListener(event, () => channel.point());
      lines.push(line);
    } else if (two.factor === null) lines.push(h("li", {}, say("compare.not_apart")));
    apart.replaceChildren(
      h("li.lp-apart-head", {}, chip(pair[0]), " ", chip(pair[1]), " ", say("compare.apart_most")),
      ...lines,
    );
  }

  // ---- The hand ------------------------------------------------------------------------------

  svg.addEventListener("mousemove", (event) => {
    const box = svg.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    const at = placeAt(share * room.width, { left: LEFT, width: room.width - LEFT, places });
    channel.point(at === null ? [] : [at]);
  });
  svg.addEventListener("mouseleave", () => channel.point());
  svg.addEventListener("blur", () => channel.point());
  svg.addEventListener("keydown", (event) => {
    const by = Number(event.key === "ArrowRight") - Number(event.key === "ArrowLeft");
    if (!by || !places.length) return;
    event.preventDefault();
    const from = places.indexOf(channel.pointed.pairs[0]);
    channel.point([places[Math.max(0, Math.min(places.length - 1, from + by))]]);
  });

  // ---- Taking it away ------------------------------------------------------------------------

  /** @returns {import("./taking.js").Figure} */
  function picture() {
    mark.setAttribute("visibility", "hidden");
    const note = channel.store.state.equalised ? say("compare.equalised.about") : "";
    return { drawn: svg, wide: room.width, tall: tall(), title: say("compare.gradients"), note };
  }

  function asCsv() {
    const { batch } = channel;
    /** @type {(string | number)[][]} */
    const rows = [["pair", "sentence1", "sentence2", "label", ...plain.map((_one, place) => letterOf(place))]];
    for (const pair of places)
      rows.push([
        Number(channel.numberOf(pair)),
        batch?.first[pair] ?? "",
        batch?.second[pair] ?? "",
        batch?.labels[pair] ?? "",
        ...plain.map((one) => (one ? one[pair] : "")),
      ]);
    return rows;
  }

  channel.on("compared", take);
  channel.on("state", () => {
    if (channel.compared) take();
  });
  channel.on("pointed", light);
  channel.on("language", take);
}
