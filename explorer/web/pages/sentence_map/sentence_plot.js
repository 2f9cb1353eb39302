// The map as a chart: pairs as lines, sentences as points, some of them with their words.
import { finiteRange } from "../../kit/axis_range.js";
import { palette, themeColour } from "../../kit/colours.js";
import { clip, h } from "../../kit/dom.js";
import { show as number } from "../../kit/number_format.js";
import { plotlyChart } from "../../kit/plotly.js";
import { hosted } from "../../kit/preact_view.js";
import { say } from "../../kit/translated_sentences.js";
import { mapGestures } from "./gestures.js";

/** @typedef {import("./state.js").MapPage} MapPage */
/** @typedef {ReturnType<typeof plotlyChart>} Chart */
/** @typedef {{ x: [number, number], y: [number, number] }} Part of the plane, from the lower left to the upper right */

const LINE_WIDTHS_PX = [0.6, 1.2, 2, 3.2, 5]; // of a line, by its share of the largest gradient
const MARGIN = { l: 0, r: 0, t: 0, b: 0 };
const MAX_SPANS_IN_SIGHT = 2; // times the span of all points
const MIN_SPANS_IN_SIGHT = 1 / 2000;
const SPARE_SHARE = 0.08; // of the span beyond the outermost points
const LABEL_LETTERS = 28;
const HOVER_LETTERS = 60; // in a line
const LABEL_GAP = [0.2, 0.06]; // of the span between two labels, across and down
const LABEL_SHIFT_PX = 4; // pixels from a point up to its label
const MIN_HEIGHT_PX = 320; // pixels
const NARROW_WIDTH_PX = 620; // pixels
export const MAX_LINES = 1000; // more are a tangle, and slow where no graphics card draws them
const POINT_PX = 8; // pixels across, of up to so many points; more are smaller
const LARGE_POINTS = 400;
const MIN_POINT_PX = 2;
const OUTLINED_FROM_PX = 5; // pixels across, from which a point has an outline
const MAX_LABELS = 12;
const MAX_LABELS_NARROW = 4;

/** @param {{ page: MapPage, height: number, keep: (chart: Chart) => void }} properties */
export const MapPicture = ({ page, height, keep }) =>
  hosted({
    make: (root) => {
      const words = h("div.lp-map-labels");
      /** @param {number} width */
      const sizeAt = (width) => [width, Math.min(height, Math.max(width, MIN_HEIGHT_PX))];
      /** @param {import("./state.js").SentenceMap} map @param {number} width */
      const partAt = (map, width) =>
        page.sight ? partAround(page.sight, sizeAt(width)) : wholeOf(map.moments, sizeAt(width));
      const chart = plotlyChart(
        (width) => page.map && figureOf(page, page.map, sizeAt(width)[1], partAt(page.map, width)),
        (plot) => {
          plot.on("plotly_click", ({ points: [hit], event }) => {
            if (isDragged()) return;
            const [pair] = hit.data.meta === "pair" ? [hit.customdata] : page.pairsOf([hit.customdata]);
            if (pair === undefined) return;
            if (adds(event)) page.toggle(pair);
            else page.mark([pair], false);
          });
          const label = () => {
            const { map } = page;
            const width = chart.box.clientWidth;
            if (map) words.replaceChildren(...labels(page, map, partAt(map, width), width));
          };
          plot.on("plotly_afterplot", label);
          label();
        },
      );
      const { buttons, isDragged, adds } = mapGestures(chart.box, {
        rest: async (edges) => {
          const { map } = page;
          if (!map) return;
          const width = chart.box.clientWidth;
          const whole = wholeOf(map.moments, sizeAt(width));
          page.see(edges ? sightBetween(edges, partAt(map, width), whole) : []);
          const { x, y } = partAt(map, width);
          await chart.change({ "xaxis.range": x, "yaxis.range": y });
        },
        box: ({ left, right, top, bottom }) => {
          const { map } = page;
          if (!map) return;
          const { x, y } = partAt(map, chart.box.clientWidth);
          const at = placesOf(page);
          const inside = map.sentences.flatMap((_one, place) => {
            const across = (at(place)[0] - x[0]) / (x[1] - x[0]);
            const down = (y[1] - at(place)[1]) / (y[1] - y[0]);
            return across >= left && across <= right && down >= top && down <= bottom ? [place] : [];
          });
          page.mark(page.pairsOf(inside), true);
        },
      });
      chart.box.dataset.batchText = "";
      chart.box.append(words);
      root.append(chart.box, buttons);
      return chart;
    },
    update: (/** @type {any} */ chart) => {
      chart.box.setAttribute("aria-label", say("sentence_map.picture"));
      chart.draw();
      keep(chart);
    },
  });

/**
 * The middle of what is between these edges, and how far it reaches across: no farther and no nearer than there is
 * something to see.
 * @type {(edges: import("../../kit/pan_and_zoom.js").Edges, part: Part, whole: Part) => number[]}
 */
function sightBetween({ left, right, top, bottom }, { x, y }, whole) {
  const [wide, tall, all] = [x[1] - x[0], y[1] - y[0], whole.x[1] - whole.x[0]];
  const across = Math.max(MIN_SPANS_IN_SIGHT * all, Math.min(MAX_SPANS_IN_SIGHT * all, (right - left) * wide));
  return [x[0] + ((left + right) / 2) * wide, y[1] - ((top + bottom) / 2) * tall, across];
}

/** @type {(sight: [number, number, number], size: number[]) => Part} Of a size in pixels. */
function partAround([x, y, across], [width, height]) {
  const [wide, tall] = [across / 2, (across * height) / width / 2];
  return { x: [x - wide, x + wide], y: [y - tall, y + tall] };
}

/** @type {(text: string) => string} Text as Plotly takes it, which reads tags. */
const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** @param {string} text */
const hoverText = (text) => plain(clip(text, 2 * HOVER_LETTERS));

/**
 * @param {MapPage} page
 * @param {import("./state.js").SentenceMap} map
 * @param {number} height in pixels
 * @param {Part} part in sight
 */
function figureOf(page, map, height, { x, y }) {
  const { gradient, pairs, hits } = page;
  const at = placesOf(page);
  const drawn = page.heaviest().slice(0, MAX_LINES);
  const marked = pairs.length ? [segments(pairs, map, at, themeColour("ink"), LINE_WIDTHS_PX[4] + 2)] : [];
  const allPlaces = map.sentences.map((_one, place) => place);
  const quiet = {
    type: "linear",
    fixedrange: true,
    showgrid: false,
    showline: false,
    showticklabels: false,
    showspikes: false,
  };
  return {
    data: [
      ...marked,
      ...lineTraces(drawn, map, gradient, at),
      middles(drawn, map, gradient, at),
      dots(hits, map, at, "warn", 17),
      dots(endsOfPairs(pairs, map), map, at, "ink", 14),
      dots(allPlaces, map, at, "side-1", pointSize(allPlaces.length)),
    ],
    layout: {
      margin: MARGIN,
      height,
      hovermode: "closest",
      hoverdistance: 12,
      dragmode: false, // a hand moves the picture
      xaxis: { ...quiet, range: x },
      yaxis: { ...quiet, range: y },
    },
  };
}

/** @type {(pairs: number[], map: import("./state.js").SentenceMap) => number[]} The sentences of these pairs. */
const endsOfPairs = (pairs, { first, second }) => [...new Set(pairs.flatMap((pair) => [first[pair], second[pair]]))];

/** @type {(page: MapPage) => (place: number) => [number, number]} Where a sentence is at the moment in sight. */
function placesOf(page) {
  const { points } = page.frame();
  return (place) => [points[2 * place], points[2 * place + 1]];
}

/**
 * The part of the plane with the points of all moments, at one scale, so that the picture holds still while they move.
 * @param {import("./state.js").Frame[]} moments
 * @param {number[]} size in pixels
 * @returns {Part}
 */
function wholeOf(moments, size) {
  const spans = [0, 1].map(
    (axis) => finiteRange(moments.map(({ points }) => points.filter((_one, place) => place % 2 === axis))) ?? [0, 0],
  );
  const unit =
    Math.max(...spans.map(([low, high], axis) => ((1 + 2 * SPARE_SHARE) * (high - low)) / size[axis])) || 1 / size[0];
  const [x, y] = spans.map(([low, high], axis) => {
    const half = (unit * size[axis]) / 2;
    return /** @type {[number, number]} */ ([(low + high) / 2 - half, (low + high) / 2 + half]);
  });
  return { x, y };
}

/**
 * @param {number[]} pairs
 * @param {import("./state.js").SentenceMap} map
 * @param {(place: number) => [number, number]} at
 * @param {string} color
 * @param {number} width
 */
function segments(pairs, { first, second }, at, color, width) {
  /** @type {{ x: (number | null)[], y: (number | null)[] }} */
  const line = { x: [], y: [] };
  for (const pair of pairs) {
    const [a, b] = [at(first[pair]), at(second[pair])];
    line.x.push(a[0], b[0], null);
    line.y.push(a[1], b[1], null);
  }
  return { type: "scattergl", mode: "lines", hoverinfo: "skip", ...line, line: { color, width } };
}

/**
 * How large the points of a map are, in pixels: many points have to leave their neighbours in sight.
 * @param {number} count
 */
const pointSize = (count) => Math.max(MIN_POINT_PX, POINT_PX * Math.min(1, Math.sqrt(LARGE_POINTS / count)));

/**
 * A trace has lines of one width: one for each width and direction.
 * @param {number[]} pairs
 * @param {import("./state.js").SentenceMap} map
 * @param {Float32Array} gradient
 * @param {(place: number) => [number, number]} at
 */
function lineTraces(pairs, map, gradient, at) {
  const largest = Math.max(0, ...pairs.map((pair) => Math.abs(gradient[pair])));
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (const pair of pairs) {
    const one = gradient[pair];
    const share = largest ? Math.abs(one) / largest : 0;
    const width = Math.min(LINE_WIDTHS_PX.length - 1, Math.floor(share * LINE_WIDTHS_PX.length));
    const key = `${Math.sign(one) || 0} ${width}`;
    const group = groups.get(key);
    if (group) group.push(pair);
    else groups.set(key, [pair]);
  }
  return [...groups].map(([key, group]) => {
    const [sign, width] = key.split(" ").map(Number);
    return segments(group, map, at, colourOf(sign), LINE_WIDTHS_PX[width]);
  });
}

/**
 * The colour of a pair that is pulled together (below 0), pushed apart, or left alone.
 * @param {number} sign of its gradient
 */
export function colourOf(sign) {
  const { diverging } = palette();
  if (!sign) return themeColour("line");
  return sign < 0 ? diverging[0] : diverging[diverging.length - 1];
}

/**
 * What a hand reaches of a line: its middle.
 * @param {number[]} pairs
 * @param {import("./state.js").SentenceMap} map
 * @param {Float32Array} gradient
 * @param {(place: number) => [number, number]} at
 */
function middles(pairs, { sentences, first, second }, gradient, at) {
  const both = pairs.map((pair) => [at(first[pair]), at(second[pair])]);
  return {
    ...{ type: "scattergl", mode: "markers", meta: "pair", hoverinfo: "text" },
    ...{ x: both.map(([a, b]) => (a[0] + b[0]) / 2), y: both.map(([a, b]) => (a[1] + b[1]) / 2) },
    customdata: pairs,
    hovertext: pairs.map((pair) => {
      const texts = [sentences[first[pair]], sentences[second[pair]]].map(hoverText).join("<br>");
      return `${texts}<br>${say("sentence_map.gradient", { value: number(gradient[pair], 3) })}`;
    }),
    marker: { size: 9, opacity: 0 },
  };
}

/**
 * @param {number[]} places of sentences
 * @param {import("./state.js").SentenceMap} map
 * @param {(place: number) => [number, number]} at
 * @param {string} colour
 * @param {number} size
 */
const dots = (places, { sentences }, at, colour, size) => ({
  ...{ type: "scattergl", mode: "markers", meta: "sentence", hoverinfo: "text" },
  ...{ x: places.map((one) => at(one)[0]), y: places.map((one) => at(one)[1]) },
  customdata: places,
  hovertext: places.map((one) => hoverText(sentences[one])),
  marker: {
    size,
    color: themeColour(colour),
    line: { width: size < OUTLINED_FROM_PX ? 0 : 1, color: themeColour("card") },
  },
});

/**
 * The words of some points in sight that do not stand in each other's way: of what is marked or found, then of the
 * pairs with the largest gradients.
 * @param {MapPage} page
 * @param {import("./state.js").SentenceMap} map
 * @param {Part} part in sight
 * @param {number} width in pixels
 */
function labels(page, map, part, width) {
  const { pairs, hits } = page;
  const at = placesOf(page);
  const most = width < NARROW_WIDTH_PX ? MAX_LABELS_NARROW : MAX_LABELS;
  const gaps = width < NARROW_WIDTH_PX ? [3 * LABEL_GAP[0], LABEL_GAP[1]] : LABEL_GAP;
  /** @type {{ across: number, up: number, text: string }[]} */
  const chosen = [];
  for (const place of new Set([...endsOfPairs(pairs, map), ...hits, ...page.heaviest().map((one) => map.first[one])])) {
    if (chosen.length === most) break;
    const [x, y] = at(place);
    const across = (x - part.x[0]) / (part.x[1] - part.x[0]);
    const up = (y - part.y[0]) / (part.y[1] - part.y[0]);
    const isInSight = across > 0 && across < 1 && up > 0 && up < 1;
    const isFree = chosen.every((one) => Math.abs(across - one.across) > gaps[0] || Math.abs(up - one.up) > gaps[1]);
    if (isInSight && isFree) chosen.push({ across, up, text: clip(map.sentences[place], LABEL_LETTERS) });
  }
  // Above all points, and near an edge towards the middle, so that none of a label is hidden or cut off.
  return chosen.map(({ across, up, text }) => {
    const side = across < 1 / 3 ? 0 : across > 2 / 3 ? 1 : 0.5;
    const label = h("span", text);
    Object.assign(label.style, {
      left: `${100 * across}%`,
      bottom: `calc(${100 * up}% + ${LABEL_SHIFT_PX}px)`,
      transform: `translateX(${-100 * side}%)`,
    });
    return label;
  });
}
