// What if a parameter were different: the loss, its gradient and its active terms along the range,
// with the two rules of thumb drawn in. Worked out when asked for.
(window.LossPrismInstruments ??= {}).sweep = (root, channel, server) => {
  "use strict";
  const { h, say, worded, show, percent, read } = LossPrism;
  const [TALL, LEFT, RIGHT, TOP, BOTTOM] = [168, 46, 18, 10, 22];
  const BAND = [0.1, 10];

  const choice = h("select", { id: "lp-sweep", onchange: () => { found = null; ask(); } });
  const choiceField = h("label.lp-inline", {}, worded("span", "sweep.parameter"), choice);
  const verdict = h("p.lp-sweep-verdict", { role: "status" });
  const key = h("p.lp-sweep-key");
  // The gradient spans decades, the loss sometimes; a share runs from 0 to 1.
  const panels = [
    { name: "loss", write: (v) => show(v, 3) },
    { name: "gradient", write: (v) => show(v, 3), logarithmic: true },
    { name: "active", write: percent, range: [0, 1] },
  ].map((panel) => {
    const said = h("span.lp-value");
    const chart = svg("svg", { role: "img", height: TALL, "aria-label": say(`sweep.${panel.name}`) });
    const box = h("div.lp-sweep-panel", {}, h("div.lp-sweep-head", {}, worded("span", `sweep.${panel.name}`), said), chart);
    return { ...panel, said, chart, box };
  });
  const charts = h("div.lp-sweep-panels", {}, panels.map(({ box }) => box));
  const details = h("details.lp-more", { ontoggle: ask }, worded("summary", "sweep.title"), choiceField, verdict, charts, key);
  root.append(details);

  let found = null;
  let foundFor = "";
  let asking = null;
  let reached = null; // the value under the pointer

  function svg(name, attributes = {}, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
    element.append(...children);
    return element;
  }

  // ---- Asking ------------------------------------------------------------------------------

  const numeric = () => channel.form.parameters.filter(({ kind }) => kind === "number");
  const nameOf = (name) => (LossPrism.has(`parameter.${name}`) ? say(`parameter.${name}`) : name);

  function offer() {
    const known = numeric();
    details.hidden = known.length === 0;
    const names = known.map(({ name }) => name);
    if (String(Array.from(choice.options, ({ value }) => value)) !== String(names)) {
      choice.replaceChildren(...names.map((name) => h("option", { value: name })));
    }
    for (const option of choice.options) option.textContent = nameOf(option.value);
    choiceField.hidden = known.length < 2;
  }

  // The curves stay while only their own parameter moves.
  function scene() {
    const { loss, convention, parameters } = channel.scenario;
    const others = Object.entries(parameters).filter(([name]) => name !== choice.value).sort();
    return JSON.stringify([channel.batch?.key, loss, convention, choice.value, others]);
  }

  function ask() {
    if (!details.open || details.hidden || !channel.batch || channel.problem) return;
    if (found && foundFor === scene()) { draw(); return; }
    clearTimeout(asking);
    asking = setTimeout(fetch, found ? 250 : 0);
  }

  async function fetch() {
    const asked = scene();
    charts.classList.add("lp-waiting");
    const answer = await server.sweep({ scenario: channel.scenario, parameter: choice.value });
    if (asked !== scene()) { ask(); return; }
    charts.classList.remove("lp-waiting");
    if (!answer || answer.error) {
      channel.warn(answer?.error ?? LossPrism.GONE);
      return;
    }
    found = answer;
    foundFor = asked;
    for (const { name } of panels) found[name] = found[name]?.map(read) ?? null;
    draw();
  }

  // ---- Drawing -----------------------------------------------------------------------------

  const straight = (low, high, logarithmic) => (logarithmic
    ? { to: (v) => Math.log(v / low) / Math.log(high / low), back: (t) => low * (high / low) ** t }
    : { to: (v) => (v - low) / (high - low), back: (t) => low + (high - low) * t });

  const along = () => straight(found.values[0], found.values.at(-1), found.logarithmic);

  // Least and largest height that is drawn, and whether by ratios.
  function reachOf({ name, logarithmic, range }) {
    if (range) return [...range, false];
    const known = found[name].filter(Number.isFinite);
    const decades = logarithmic || (Math.min(...known) > 0 && Math.max(...known) > 50 * Math.min(...known));
    if (decades) {
      const positive = [...known.filter((v) => v > 0), ...(logarithmic ? BAND : [])];
      const [low, high] = [Math.min(...positive), Math.max(...positive)].map(Math.log10);
      return [10 ** Math.max(-6, Math.floor(low)), 10 ** Math.ceil(high), true];
    }
    const low = Math.min(0, ...known);
    return [low, Math.max(low, ...known) || low + 1, false];
  }

  function ticks(low, high, logarithmic, most) {
    if (!logarithmic) {
      const rough = (high - low) / most;
      const size = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map((times) => times * size).find((one) => one >= rough);
      const first = Math.ceil(low / step - 1e-9);
      return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
    }
    const decades = [];
    for (let power = Math.ceil(Math.log10(low) - 1e-9); 10 ** power <= high * (1 + 1e-9); power += 1) decades.push(10 ** power);
    const every = Math.ceil(decades.length / most);
    return decades.filter((decade, i) => i % every === 0);
  }

  const valueNow = () => {
    const { name, default: usual } = numeric().find((one) => one.name === found.parameter) ?? {};
    return channel.scenario.parameters[name] ?? usual;
  };

  // The height of a curve at a value, straight between the points it was worked out at.
  function heightAt(heights, value) {
    const { values } = found;
    const right = Math.min(Math.max(values.findIndex((v) => v >= value), 1), values.length - 1);
    const share = (value - values[right - 1]) / (values[right] - values[right - 1]);
    return heights[right - 1] + (heights[right] - heights[right - 1]) * Math.max(0, Math.min(1, share));
  }

  function draw() {
    if (!found || foundFor !== scene()) return;
    for (const panel of panels) drawPanel(panel);
    judge();
  }

  function drawPanel(panel) {
    const heights = found[panel.name];
    panel.box.hidden = !heights;
    if (!heights) return;
    const wide = Math.max(panel.box.clientWidth, 200);
    const [low, high, logarithmic] = reachOf(panel);
    const [across, up] = [along(), straight(low, high, logarithmic)];
    const x = (v) => LEFT + (wide - LEFT - RIGHT) * across.to(v);
    const y = (v) => TALL - BOTTOM - (TALL - TOP - BOTTOM) * Math.max(0, Math.min(1, up.to(Math.max(v, low))));
    const [top, bottom] = [TOP, TALL - BOTTOM];
    const parts = [];
    const band = (kind, from, to, y1, y2) => {
      if (to > from) parts.push(svg("rect", { class: kind, x: from, y: y1, width: to - from, height: y2 - y1 }));
    };
    const inside = (v) => Math.max(found.values[0], Math.min(found.values.at(-1), v));
    for (const v of ticks(low, high, logarithmic, 4)) {
      parts.push(svg("line", { class: "lp-grid", x1: LEFT, x2: wide - RIGHT, y1: y(v), y2: y(v) }));
      parts.push(svg("text", { x: LEFT - 6, y: y(v) + 4, "text-anchor": "end" }, panel.write(v)));
    }
    if (found.advised) band("lp-advised", x(inside(found.advised[0])), x(inside(found.advised[1])), top, bottom);
    for (const [from, to] of found.within) band("lp-within", x(from), x(to), bottom - 3, bottom + 3);
    if (panel.name === "gradient") band("lp-norm-band", LEFT, wide - RIGHT, y(BAND[1]), y(BAND[0]));
    for (const v of ticks(found.values[0], found.values.at(-1), found.logarithmic, 6)) {
      parts.push(svg("line", { class: "lp-grid", x1: x(v), x2: x(v), y1: bottom, y2: bottom + 4 }));
      parts.push(svg("text", { x: x(v), y: TALL - 5, "text-anchor": "middle" }, show(v, 3)));
    }
    parts.push(svg("path", { class: "lp-curve", d: path(heights, x, y, logarithmic) }));
    const now = valueNow();
    const here = heightAt(heights, now);
    parts.push(svg("line", { class: "lp-here", x1: x(now), x2: x(now), y1: top, y2: bottom }));
    if (Number.isFinite(here)) parts.push(svg("circle", { class: "lp-here", cx: x(now), cy: y(here), r: 4.5 }));
    if (reached !== null) parts.push(svg("line", { class: "lp-reached", x1: x(reached), x2: x(reached), y1: top, y2: bottom }));
    panel.chart.setAttribute("width", wide);
    panel.chart.setAttribute("viewBox", `0 0 ${wide} ${TALL}`);
    panel.chart.replaceChildren(...parts);
    const at = reached ?? now;
    panel.said.textContent = say("sweep.at", { value: panel.write(heightAt(heights, at)), name: nameOf(found.parameter), at: show(at, 3) });
    panel.chart.setAttribute("aria-label", say("sweep.label", {
      what: say(`sweep.${panel.name}`), name: nameOf(found.parameter), from: panel.write(heights[0]), to: panel.write(heights.at(-1)),
    }));
  }

  // A line through the finite points, broken where there is none.
  function path(heights, x, y, logarithmic) {
    let pen = "M";
    return heights.map((height, place) => {
      if (!Number.isFinite(height) || (logarithmic && height <= 0)) { pen = "M"; return ""; }
      const drawn = `${pen}${x(found.values[place]).toFixed(1)} ${y(height).toFixed(1)}`;
      pen = "L";
      return drawn;
    }).join("");
  }

  // What the two rules say of this batch, and whether they agree.
  function judge() {
    const { advised, within } = found;
    const ranges = within.map(([low, high]) => say("sweep.range", { low: show(low, 3), high: show(high, 3) })).join(", ");
    const both = advised ? within.map(([low, high]) => [Math.max(low, advised[0]), Math.min(high, advised[1])]).find(([low, high]) => low <= high) : null;
    const name = nameOf(found.parameter);
    const range = ([low, high]) => ({ low: show(low, 3), high: show(high, 3) });
    if (!within.length) verdict.textContent = say("sweep.never", { name });
    else if (!advised) verdict.textContent = say("sweep.within", { name, ranges });
    else if (both) verdict.textContent = say("sweep.agree", { name, ...range(both) });
    else verdict.textContent = say("sweep.contradict", { ...range(advised), ranges });
    key.replaceChildren(...[["now", true], ["advised", advised], ["band", true]].filter(([, there]) => there)
      .map(([part]) => h("span", {}, h(`i.lp-key-${part}`), say(`sweep.key_${part}`))));
  }

  // ---- Pointing: the value under the pointer is told, a press takes it ----------------------

  let pressed = false;
  function valueUnder(event, chart) {
    const box = chart.getBoundingClientRect();
    const wide = chart.width.baseVal.value;
    const share = (((event.clientX - box.left) * wide) / box.width - LEFT) / (wide - LEFT - RIGHT);
    return Number(along().back(Math.max(0, Math.min(1, share))).toPrecision(3));
  }
  const choose = (value) => channel.set({ parameters: { ...channel.scenario.parameters, [found.parameter]: value } });
  for (const { chart } of panels) {
    chart.addEventListener("pointermove", (event) => {
      if (!found) return;
      reached = valueUnder(event, chart);
      if (pressed) choose(reached);
      draw();
    });
    chart.addEventListener("pointerleave", () => { reached = null; draw(); });
    chart.addEventListener("pointerdown", (event) => {
      if (!found || event.button !== 0) return;
      chart.setPointerCapture(event.pointerId);
      pressed = true;
      choose(valueUnder(event, chart));
    });
    for (const end of ["pointerup", "pointercancel"]) chart.addEventListener(end, () => { pressed = false; });
  }

  channel.on("scenario", () => { offer(); ask(); });
  channel.on("picture", () => { offer(); ask(); });
  channel.on("language", () => { offer(); draw(); });
  new ResizeObserver(draw).observe(root);
};
