// The map as a chart: pairs as lines, sentences as points, some of them with their words.
import { endsOf } from "../../kit/axis.js";
import { palette, themeColour } from "../../kit/colours.js";
import { clip } from "../../kit/dom.js";
import { show as number } from "../../kit/number_format.js";
import { plotlyChart } from "../../kit/plotly.js";
import { hosted } from "../../kit/preact_view.js";
import { say } from "../../kit/words.js";

/** @typedef {import("./state.js").MapPage} MapPage */
/** @typedef {ReturnType<typeof plotlyChart>} Chart */

const WIDTHS = [0.6, 1.2, 2, 3.2, 5]; // of a line, by its share of the largest gradient
const MARGIN = { l: 8, r: 8, t: 8, b: 8 };
const SPARE = 0.08; // of the span beyond the outermost points
const LABEL_LETTERS = 28;
const HOVER_LETTERS = 60; // in a line
const LABEL_GAP = [0.2, 0.06]; // of the span between two labels, across and down
const LABEL_SHIFT = 4; // pixels from a point up to its label
const LEAST_HEIGHT = 320; // pixels
const NARROW = 620; // pixels
export const MAX_LINES = 1000; // more are a tangle, and slow where no graphics card draws them
const POINT = 8; // pixels across, of up to so many points; more are smaller
const LARGE_POINTS = 400;
const LEAST_POINT = 2;
const OUTLINED = 5; // pixels across, from which a point has an outline
const MANY_LABELS = 12;
const FEW_LABELS = 4;

/** @param {{ channel: MapPage, height: number, keep: (chart: Chart) => void }} properties */
export const MapPicture = ({ channel, height, keep }) =>
  hosted({
    make: (root) => {
      const chart = plotlyChart(
        (width) => figureOf(channel, width, Math.min(height, Math.max(width, LEAST_HEIGHT))),
        (plot) => {
          plot.on("plotly_click", ({ points: [hit] }) => {
            if (hit.data.meta === "pair") channel.set({ pair: hit.customdata });
            else if (hit.data.meta === "sentence") channel.markSentence(hit.customdata);
          });
        },
      );
      chart.box.dataset.batchText = "";
      root.append(chart.box);
      return chart;
    },
    update: (/** @type {any} */ chart) => {
      chart.box.setAttribute("aria-label", say("map.picture"));
      chart.draw();
      keep(chart);
    },
  });

/**
 * Text as Plotly takes it, which reads tags.
 * @param {string} text
 */
const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** @param {string} text */
const hoverText = (text) => plain(clip(text, 2 * HOVER_LETTERS));

/**
 * @param {MapPage} channel
 * @param {number} width
 * @param {number} height
 */
function figureOf(channel, width, height) {
  const { found, pair, hits } = channel;
  if (!found) return null;
  const { points, gradient } = channel.frame();
  const at = (/** @type {number} */ place) =>
    /** @type {[number, number]} */ ([points[2 * place], points[2 * place + 1]]);
  const heaviest = channel.heaviest();
  const drawn = heaviest.slice(0, MAX_LINES);
  const marked = pair === null ? [] : [segments([pair], found, at, themeColour("ink"), WIDTHS[4] + 2)];
  const everyone = found.sentences.map((_one, place) => place);
  const ends = pair === null ? [] : [found.first[pair], found.second[pair]];
  return {
    data: [
      ...marked,
      ...lineTraces(drawn, found, gradient, at),
      middles(drawn, found, gradient, at),
      dots(hits, found, at, "warn", 17),
      dots(ends, found, at, "ink", 14),
      dots(everyone, found, at, "side-1", pointSize(everyone.length)),
    ],
    layout: {
      margin: MARGIN,
      height,
      annotations: labels(found, at, [...ends, ...hits, ...heaviest.map((one) => found.first[one])], width),
      hovermode: "closest",
      hoverdistance: 12,
      dragmode: "pan",
      uirevision: `${found.uid} ${width}`, // a zoom is of one width: at another it would stretch the map
      ...axes(found.moments, width, height),
    },
  };
}

/**
 * Axes of one scale over the points of all moments, so that the picture holds still while they move.
 * @param {import("./state.js").Frame[]} moments
 * @param {number} width
 * @param {number} height
 */
function axes(moments, width, height) {
  const spans = [0, 1].map(
    (axis) => endsOf(moments.map(({ points }) => points.filter((_one, place) => place % 2 === axis))) ?? [0, 0],
  );
  const sides = [width - MARGIN.l - MARGIN.r, height - MARGIN.t - MARGIN.b];
  const unit =
    Math.max(...spans.map(([low, high], axis) => ((1 + 2 * SPARE) * (high - low)) / sides[axis])) || 1 / sides[0];
  const [x, y] = spans.map(([low, high], axis) => {
    const half = (unit * sides[axis]) / 2;
    return [(low + high) / 2 - half, (low + high) / 2 + half];
  });
  const quiet = { type: "linear", showgrid: false, showline: false, showticklabels: false };
  return { xaxis: { ...quiet, range: x }, yaxis: { ...quiet, range: y } };
}

/**
 * @param {number[]} pairs
 * @param {import("./state.js").FoundMap} found
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
const pointSize = (count) => Math.max(LEAST_POINT, POINT * Math.min(1, Math.sqrt(LARGE_POINTS / count)));

/**
 * A trace has lines of one width: one for each width and direction.
 * @param {number[]} pairs
 * @param {import("./state.js").FoundMap} found
 * @param {Float32Array} gradient
 * @param {(place: number) => [number, number]} at
 */
function lineTraces(pairs, found, gradient, at) {
  const largest = Math.max(0, ...pairs.map((pair) => Math.abs(gradient[pair])));
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (const pair of pairs) {
    const one = gradient[pair];
    const share = largest ? Math.abs(one) / largest : 0;
    const width = Math.min(WIDTHS.length - 1, Math.floor(share * WIDTHS.length));
    const key = `${Math.sign(one) || 0} ${width}`;
    const group = groups.get(key);
    if (group) group.push(pair);
    else groups.set(key, [pair]);
  }
  return [...groups].map(([key, group]) => {
    const [sign, width] = key.split(" ").map(Number);
    return segments(group, found, at, colourOf(sign), WIDTHS[width]);
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
 * @param {import("./state.js").FoundMap} found
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
      return `${texts}<br>${say("map.gradient", { value: number(gradient[pair], 3) })}`;
    }),
    marker: { size: 9, opacity: 0 },
  };
}

/**
 * @param {number[]} places of sentences
 * @param {import("./state.js").FoundMap} found
 * @param {(place: number) => [number, number]} at
 * @param {string} colour
 * @param {number} size
 */
const dots = (places, { sentences }, at, colour, size) => ({
  ...{ type: "scattergl", mode: "markers", meta: "sentence", hoverinfo: "text" },
  ...{ x: places.map((one) => at(one)[0]), y: places.map((one) => at(one)[1]) },
  customdata: places,
  hovertext: places.map((one) => hoverText(sentences[one])),
  marker: { size, color: themeColour(colour), line: { width: size < OUTLINED ? 0 : 1, color: themeColour("card") } },
});

/**
 * The words of some points that do not stand in each other's way, of `wished` the first ones first.
 * @param {import("./state.js").FoundMap} found
 * @param {(place: number) => [number, number]} at
 * @param {number[]} wished places of sentences
 * @param {number} width
 */
function labels({ sentences, moments }, at, wished, width) {
  const { xaxis, yaxis } = axes(moments, width, width);
  const spans = [xaxis.range[1] - xaxis.range[0], yaxis.range[1] - yaxis.range[0]];
  const most = width < NARROW ? FEW_LABELS : MANY_LABELS;
  const gaps = width < NARROW ? [3 * LABEL_GAP[0], LABEL_GAP[1]] : LABEL_GAP;
  /** @type {number[]} */
  const chosen = [];
  for (const place of new Set(wished)) {
    if (chosen.length === most) break;
    const [x, y] = at(place);
    const isFree = chosen.every((one) => {
      const [otherX, otherY] = at(one);
      return Math.abs(x - otherX) > gaps[0] * spans[0] || Math.abs(y - otherY) > gaps[1] * spans[1];
    });
    if (isFree) chosen.push(place);
  }
  // Above all points, and near an edge towards the middle, so that none of a label is hidden or cut off.
  return chosen.map((one) => {
    const [x, y] = at(one);
    const share = (x - xaxis.range[0]) / spans[0];
    return {
      ...{ x, y, showarrow: false, yanchor: "bottom", yshift: LABEL_SHIFT },
      xanchor: share < 1 / 3 ? "left" : share > 2 / 3 ? "right" : "center",
      text: plain(clip(sentences[one], LABEL_LETTERS)),
      font: { size: 12, color: themeColour("ink") },
      ...{ bgcolor: themeColour("card"), borderpad: 0, opacity: 0.9 },
    };
  });
}
