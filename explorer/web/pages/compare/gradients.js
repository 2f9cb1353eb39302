// The gradient of every pair under each side, as bars on one axis; how far any two agree; and where the two
// that are held against each other disagree most, in words.
import { floats } from "../../kit/arrays.js";
import { clip, h, reword, roomOf, worded } from "../../kit/dom.js";
import { show } from "../../kit/numbers.js";
import { pageData } from "../../kit/page_data.js";
import { check } from "../../kit/sidebar.js";
import { say } from "../../kit/words.js";
import { agreementTable } from "./agreement.js";
import { equalised, orderOf, reachOf } from "./bars.js";
import { chip, colourOf, letterOf } from "./legend.js";
import { stripChart } from "./strips.js";
import { downloads } from "./taking.js";

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").ComparePage} channel
 */
export default function gradients(root, channel) {
  const { bars: orders } = pageData.compare;
  const order = h(
    "select",
    { id: "lp-bars-order", onchange: () => channel.set({ bars: order.value }) },
    orders.map((name) => worded("option", `compare.bars.${name}`, { value: name })),
  );
  const equal = check("compare.equalised", true, (on) => channel.set({ equalised: on }));
  const equalBox = /** @type {HTMLInputElement} */ (equal.querySelector("input"));
  const told = h("p.lp-atom", { "aria-live": "polite" });
  const note = h("p.lp-note");
  const apart = h("ul.lp-remarks");
  const agreement = agreementTable(channel);
  const taking = downloads(channel, { name: "gradients", figure: picture, csv: asCsv });
  const chart = h("div.lp-strips");
  const strips = stripChart(chart, (place) => channel.point(place === null ? [] : [places[place]]));
  const svg = strips.element;
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

  function draw() {
    if (!room.width || !values.length) return;
    const reach = reachOf(values);
    strips.draw({
      width: Math.max(room.width, 160),
      count: places.length,
      label: say("compare.bars_label", { count: places.length, sides: values.length }),
      strips: values.map((one, place) => ({
        name: letterOf(place),
        colour: colourOf(place),
        heights: one ? places.map((pair) => one[pair] / reach) : [],
      })),
    });
    light();
  }

  function light() {
    const { pairs } = channel.pointed;
    const at = pairs.length ? places.indexOf(pairs[pairs.length - 1]) : -1;
    strips.light(at);
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
    const note = channel.store.state.equalised ? say("compare.equalised.about") : "";
    return { panels: [strips.taken()], title: say("compare.gradients"), note };
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
