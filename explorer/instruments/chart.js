// A line chart as an SVG: sharp at any pixel ratio, in the page's colours, read with the pointer,
// with the arrow keys, or as a table. A series is { name, colour, dash, faint, x, y, quiet }: `x` rises,
// `colour` is a variable of the style sheet, and a quiet one is drawn but not read.
(window.LossPrismParts ??= {}).chart = (options) => {
  "use strict";
  const { key, logarithmic = false, band = null, low = null, high = null, height: usual = 190, point = () => {}, choose = () => {} } = options;
  const { h, say, worded, show } = LossPrism;
  const { s, standalone } = LossPrism.drawing;
  const LEFT = 46, RIGHT = 10, TOP = 8, BOTTOM = 22, WIDE = 460;
  const EXPORTED = [720, 320], FAINT = 0.32;
  const dashes = ["", "5 3", "1.5 3", "9 3 2 3"];

  const paths = s("g");
  const axes = s("g", { "font-size": 11, fill: "var(--lp-faint)" });
  const bandBox = s("rect", { fill: "var(--lp-floor)", opacity: 0.13, visibility: "hidden" });
  const cross = s("line", { stroke: "var(--lp-faint)", "stroke-dasharray": "2 2", visibility: "hidden" });
  const dots = s("g");
  const svg = s("svg", { role: "img", tabindex: 0, width: WIDE, height: usual, style: "font-family: inherit" }, bandBox, axes, paths, cross, dots);
  const legend = h("div.lp-chart-legend");
  const spoken = h("div.lp-spoken", { "aria-live": "polite" });
  const tableButton = worded("button.lp-quiet", "ui.as_table", { type: "button", "aria-pressed": "false", onclick: toggle });
  const tableBox = h("div.lp-chart-table", { hidden: true });
  const title = worded("h3", key, { id: `lp-chart-${key.replace(/\W/g, "-")}` });
  const element = h("figure.lp-chart", {}, h("div.lp-chart-head", {}, title, tableButton), svg, legend, tableBox, spoken);

  let series = [];
  let span = [0, 1];
  let reach = [0, 1];
  let at = null; // the step that is read
  let [width, height] = [WIDE, usual];

  const warp = (v) => (logarithmic ? Math.log10(Math.max(v, 1e-12)) : v);
  const toX = (x) => LEFT + ((x - span[0]) / (span[1] - span[0] || 1)) * (width - LEFT - RIGHT);
  const toY = (y) => TOP + (1 - (warp(y) - reach[0]) / (reach[1] - reach[0] || 1)) * (height - TOP - BOTTOM);

  // Round numbers between two ends, about so many.
  function ticks(from, to, count) {
    const rough = (to - from) / count || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((m) => m * power >= rough * 0.999) * power;
    const first = Math.ceil(from / step - 1e-9) * step;
    return Array.from({ length: Math.floor((to - first) / step + 1e-9) + 1 }, (_, i) => Number((first + i * step).toPrecision(12)));
  }

  // One number alone gives no scale.
  function scaled(from, to, count) {
    const found = ticks(from, to, count);
    return found.length > 1 ? found : ticks(from, to, 2 * count);
  }

  function scale() {
    const all = series.filter((one) => one.x.length);
    let [least, largest] = [Infinity, -Infinity];
    for (const { y } of all) {
      for (const v of y) {
        if (!Number.isFinite(v) || (logarithmic && v <= 0)) continue;
        if (v < least) least = v;
        if (v > largest) largest = v;
      }
    }
    if (least > largest) [least, largest] = [low ?? (logarithmic ? 0.1 : 0), high ?? (logarithmic ? 10 : 1)];
    if (band) [least, largest] = [Math.min(least, band[0]), Math.max(largest, band[1])];
    let [bottom, top] = [warp(low === null ? least : Math.min(low, least)), warp(high === null ? largest : Math.max(high, largest))];
    if (top - bottom < 1e-9) [bottom, top] = [bottom - 0.5 * (Math.abs(bottom) || 1), top + 0.5 * (Math.abs(top) || 1)];
    const air = 0.05 * (top - bottom);
    reach = [low !== null && low <= least ? bottom : bottom - air, high !== null && high >= largest ? top : top + air];
  }

  // At most two points for each pixel: the least and the largest of those that fall into it.
  function outline({ x, y }) {
    const words = [];
    const every = Math.max(1, Math.ceil(x.length / (2 * width)));
    let pen = "M";
    const add = (i) => {
      if (!Number.isFinite(y[i]) || (logarithmic && y[i] <= 0)) { pen = "M"; return; }
      words.push(`${pen}${toX(x[i]).toFixed(1)} ${toY(y[i]).toFixed(1)}`);
      pen = "L";
    };
    for (let from = 0; from < x.length; from += every) {
      if (every === 1) { add(from); continue; }
      let [least, largest] = [from, from];
      for (let i = from; i < Math.min(from + every, x.length); i += 1) {
        if (y[i] < y[least]) least = i;
        if (y[i] > y[largest]) largest = i;
      }
      add(Math.min(least, largest));
      if (least !== largest) add(Math.max(least, largest));
    }
    if (words.length === 1) words.push("h0"); // a single point is a dot
    return words.join("");
  }

  function drawAxes() {
    const across = ticks(span[0], span[1], Math.max(2, Math.floor(width / 90)));
    const up = logarithmic
      ? ticks(Math.ceil(reach[0] - 1e-9), Math.floor(reach[1] + 1e-9), 4).filter(Number.isInteger).map((power) => 10 ** power)
      : scaled(reach[0], reach[1], height > 120 ? 4 : 3);
    axes.replaceChildren(
      ...up.flatMap((v) => [
        s("line", { x1: LEFT, x2: width - RIGHT, y1: toY(v), y2: toY(v), stroke: "var(--lp-line)" }),
        s("text", { x: LEFT - 6, y: toY(v) + 4, "text-anchor": "end" }, show(v, 3))]),
      s("text", { x: LEFT - 10, y: height - 6, "text-anchor": "end" }, say("finetune.axis.step")),
      ...across.map((v) => s("text", { x: Math.min(toX(v), width - 14), y: height - 6, "text-anchor": "middle" }, String(v))));
    bandBox.setAttribute("visibility", band ? "visible" : "hidden");
    if (!band) return;
    const [top, bottom] = [toY(band[1]), toY(band[0])];
    for (const [name, value] of Object.entries({ x: LEFT, y: top, width: width - LEFT - RIGHT, height: bottom - top })) bandBox.setAttribute(name, value);
  }

  function draw() {
    scale();
    svg.setAttribute("width", width);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawAxes();
    while (paths.childNodes.length > series.length) paths.lastChild.remove();
    series.forEach((one, place) => {
      const path = paths.childNodes[place] ?? paths.appendChild(s("path", { fill: "none", "stroke-linejoin": "round", "stroke-linecap": "round" }));
      path.setAttribute("d", outline(one));
      path.setAttribute("stroke", `var(--lp-${one.colour})`);
      path.setAttribute("stroke-width", one.x.length === 1 ? 6 : one.faint ? 1 : 2);
      path.setAttribute("opacity", one.faint ? FAINT : 1);
      path.setAttribute("stroke-dasharray", dashes[one.dash ?? 0]);
    });
    read();
    summarise();
    if (!tableBox.hidden) fillTable();
  }

  const told = () => series.filter((one) => !one.quiet);

  // The last point of a series at or before a step; −1 before its first.
  function place({ x }, step) {
    let [from, to] = [0, x.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (x[middle] <= step) from = middle + 1;
      else to = middle;
    }
    return from - 1;
  }

  // The values at the step that is read, or the last ones.
  function read() {
    cross.setAttribute("visibility", at === null ? "hidden" : "visible");
    dots.replaceChildren();
    if (at !== null) {
      for (const [name, value] of Object.entries({ x1: toX(at), x2: toX(at), y1: TOP, y2: height - BOTTOM })) cross.setAttribute(name, value);
    }
    for (const one of told()) {
      const i = at === null ? -1 : place(one, at);
      if (i >= 0 && Number.isFinite(one.y[i])) dots.append(s("circle", { cx: toX(one.x[i]), cy: toY(one.y[i]), r: 3, fill: `var(--lp-${one.colour})` }));
    }
    legend.replaceChildren(...(at === null ? [] : [h("span.lp-chart-step", {}, say("finetune.at_step", { step: at }))]),
      ...entries().map(({ name, value, colour, opacity, dashes: dashed }) => h("span", {}, s("svg", { width: 22, height: 8, "aria-hidden": "true" },
        s("line", { x1: 0, x2: 22, y1: 4, y2: 4, stroke: colour, "stroke-width": 2, "stroke-opacity": opacity, "stroke-dasharray": dashed })), ` ${name} `, value ? h("b", {}, value) : "")));
  }

  // Each series that is read, with its value at the step that is read, or its last; and of those
  // that are only drawn, what has a name of its own.
  function entries() {
    const look = ({ name, colour, dash, faint }) => ({ name, colour: `var(--lp-${colour})`, dashes: dashes[dash ?? 0], opacity: faint ? FAINT : 1 });
    const read = told().map((one) => {
      const i = at === null ? one.x.length - 1 : place(one, at);
      return { ...look(one), value: i >= 0 ? show(one.y[i], 4) : "—" };
    });
    const names = new Set(read.map(({ name }) => name));
    return [...read, ...series.filter(({ quiet, name }) => quiet && !names.has(name)).map(look)];
  }

  function summarise() {
    const parts = told().filter((one) => one.x.length).map(({ name, x, y }) => say("finetune.chart_says", {
      name, first: show(y[0], 3), from: x[0], last: show(y.at(-1), 3), to: x.at(-1),
    }));
    svg.setAttribute("aria-label", `${say(key)}. ${parts.join(" ")}`);
  }

  // ---- Reading it --------------------------------------------------------------------------

  function nearest(clientX) {
    const box = svg.getBoundingClientRect();
    const across = (clientX - box.left) * (width / box.width); // the page may be enlarged
    const wanted = span[0] + ((across - LEFT) / (width - LEFT - RIGHT)) * (span[1] - span[0]);
    const [one] = told().filter(({ x }) => x.length);
    if (!one) return null;
    const i = Math.max(0, place(one, wanted));
    const next = one.x[i + 1];
    return next !== undefined && next - wanted < wanted - one.x[i] ? next : one.x[i];
  }
  svg.addEventListener("pointermove", (event) => point(nearest(event.clientX)));
  svg.addEventListener("click", (event) => choose(nearest(event.clientX)));
  svg.addEventListener("pointerleave", () => point(null));
  svg.addEventListener("blur", () => point(null));
  svg.addEventListener("keydown", (event) => {
    const [one] = told().filter(({ x }) => x.length);
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity }[event.key];
    if (!by || !one) return;
    event.preventDefault();
    const from = at === null ? one.x.length - 1 : place(one, at);
    const i = Math.max(0, Math.min(one.x.length - 1, from + by));
    point(one.x[i]);
    spoken.textContent = Array.from(legend.children, (entry) => entry.textContent).join(", ");
  });

  function toggle() {
    tableBox.hidden = !tableBox.hidden;
    tableButton.setAttribute("aria-pressed", String(!tableBox.hidden));
    if (!tableBox.hidden) fillTable();
  }

  let table = null;
  let tableOf = "";
  function fillTable() {
    const shown = told();
    const names = shown.map(({ name }) => name);
    if (tableOf !== String(names)) {
      tableOf = String(names);
      const columns = [{ key: "finetune.step", cell: (step) => String(step), by: (step) => step }];
      names.forEach((name, i) => {
        const value = (step) => { const one = told()[i]; const found = one ? place(one, step) : -1; return found >= 0 ? one.y[found] : NaN; };
        columns.push({ key: name, cell: (step) => show(value(step), 4), by: value });
      });
      table = LossPrism.table({ columns, key, most: 8 });
      tableBox.replaceChildren(table.element);
    }
    const steps = shown[0]?.x ?? [];
    const every = Math.max(1, Math.ceil(steps.length / 200));
    table.fill(Array.from(steps).filter((step, i) => i % every === 0 || i === steps.length - 1));
  }

  // ---- Taking it away ----------------------------------------------------------------------

  // The drawing as a file, larger than on the page, the values last read beside the names.
  function file({ losses, origin }) {
    const here = [width, height];
    [width, height] = EXPORTED;
    draw();
    const legend = entries().map(({ name, value = "", ...look }) => ({ ...look, name: `${name} ${value}`.trim() }));
    const text = standalone({ drawn: svg, wide: width, tall: height, title: say(key), legend, caption: [...losses, origin] });
    [width, height] = here;
    draw();
    return text;
  }

  new ResizeObserver(([{ contentRect }]) => {
    const next = Math.round(contentRect.width);
    if (next > 0 && next !== width) { width = next; draw(); }
  }).observe(element);

  return {
    element,
    key,
    file,
    // Draw these series over the steps from `from` to `to`.
    draw(next, from, to) {
      series = next;
      span = [from, Math.max(to, from + 1)];
      draw();
    },
    // Read the values at this step; null for the last ones.
    at(step) {
      if (step === at) return;
      at = step;
      read();
    },
  };
};
