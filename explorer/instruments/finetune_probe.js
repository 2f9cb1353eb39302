// The probe batch at any recorded step: a scrubber, how its cosines are spread in each band of
// labels, and beside it the matrix, which listens to a scene of its own.
(window.LossPrismInstruments ??= {}).finetune_probe = (root, channel) => {
  "use strict";
  const { h, say, worded, show } = LossPrism;
  const { s, standalone } = LossPrism.drawing;
  const WIDEST = 520, ROW = 46, LEFT = 64, PLAY_MS = 450;
  let wide = WIDEST; // as much as there is room for, so that its words are as large as any
  const scene = LossPrism.channel("probe");
  const whole = document.getElementById("lp-probe");

  const track = h("input", { type: "range", min: 0, max: 0, step: 1, value: 0, id: "lp-finetune-scrub" });
  const play = h("button.lp-square", { type: "button", "data-title": "finetune.play", id: "lp-finetune-play", onclick: toggle }, "▶");
  const live = worded("button.lp-button", "finetune.follow", { type: "button", onclick: () => channel.studio.look(null) });
  const where = h("output.lp-note");
  const bands = s("svg", { role: "img" });
  const which = h("select", { id: "lp-finetune-facet", onchange: () => scene.set({ view: { step: which.value === "" ? null : Number(which.value) } }) });
  const wrong = h("p.lp-problem", { hidden: true });
  root.append(
    worded("h2", "finetune.probe"), worded("p.lp-note", "finetune.probe_about"),
    h("div.lp-row.lp-scrub.lp-slider", {}, play, track, live), where,
    worded("h3", "finetune.bands"), bands, worded("p.lp-note", "finetune.bands_about"),
    h("label.lp-field", {}, worded("span", "finetune.matrix_step"), which), wrong);
  LossPrism.reword(root);

  const steps = () => channel.studio?.trace()?.evaluations ?? [];
  // Which recorded evaluation is looked at: the chosen one, else the last.
  function placeNow() {
    const all = steps();
    const at = channel.at === null ? -1 : all.findIndex((one) => one.step === channel.at);
    return at < 0 ? all.length - 1 : at;
  }

  track.addEventListener("input", () => {
    const place = Number(track.value);
    const all = steps();
    channel.studio.look(place === all.length - 1 && channel.studio.isLive(channel.studio.trace().about) ? null : all[place].step);
  });

  let playing = null;
  function toggle() {
    if (playing) { stop(); return; }
    let place = placeNow() === steps().length - 1 ? -1 : placeNow();
    play.textContent = "❚❚";
    const next = () => {
      place += 1;
      if (place >= steps().length) { stop(); return; }
      channel.studio.look(steps()[place].step);
    };
    playing = setInterval(next, PLAY_MS);
    next();
  }
  function stop() {
    clearInterval(playing);
    playing = null;
    play.textContent = "▶";
  }

  // ---- The bands -----------------------------------------------------------------------------

  function ridge(counts, edges, base, least, largest, closed) {
    const most = Math.max(1, ...counts);
    const x = (v) => LEFT + ((v - least) / (largest - least || 1)) * (wide - LEFT - 8);
    const words = counts.map((count, i) => {
      if (edges[i] < least || edges[i + 1] > largest + 1e-9) return "";
      const y = (base - (ROW - 10) * (count / most)).toFixed(1);
      return `L${x(edges[i]).toFixed(1)} ${y}L${x(edges[i + 1]).toFixed(1)} ${y}`;
    });
    const text = `M${x(Math.max(edges[0], least)).toFixed(1)} ${base}${words.join("")}L${x(Math.min(edges.at(-1), largest)).toFixed(1)} ${base}`;
    return closed ? `${text}Z` : text;
  }

  // From the least to the largest similarity of all recorded steps, so that the axis stands still.
  function reach() {
    const filled = steps().flatMap(({ histogram }) => (histogram?.counts ?? []).flatMap((row) => row
      .flatMap((count, i) => (count ? [histogram.edges[i], histogram.edges[i + 1]] : []))));
    return filled.length ? [Math.min(...filled), Math.max(...filled)] : [0, 1];
  }

  function drawBands(record, first) {
    const ranges = scene.batch?.bands;
    const { edges, counts } = record.histogram ?? { edges: [0, 1], counts: [] };
    const height = counts.length * ROW + 24;
    wide = Math.min(root.clientWidth || WIDEST, WIDEST);
    bands.setAttribute("viewBox", `0 0 ${wide} ${height}`);
    const [least, largest] = reach();
    const table = LossPrism.colours("sequential");
    const name = ([low, high]) => (low === high ? show(low, 3) : `${show(low, 2)}–${show(high, 2)}`);
    const rows = counts.flatMap((row, band) => {
      const base = (counts.length - band) * ROW;
      const shade = LossPrism.css(table, 90 + (130 * band) / Math.max(1, counts.length - 1));
      const old = first.histogram?.counts[band];
      return [
        s("line", { x1: LEFT, x2: wide - 8, y1: base, y2: base, stroke: "var(--lp-line)" }),
        s("path", { d: ridge(row, edges, base, least, largest, true), fill: shade, opacity: 0.85 }),
        ...(old ? [s("path", { d: ridge(old, first.histogram.edges, base, least, largest, false), fill: "none", stroke: "var(--lp-faint)", "stroke-dasharray": "2 2" })] : []),
        s("text", { x: LEFT - 8, y: base - 4, "text-anchor": "end" }, ranges?.[band] ? name(ranges[band]) : String(band + 1)),
      ];
    });
    const ends = [least, (least + largest) / 2, largest].map((v, i) => s("text", {
      x: [LEFT, (LEFT + wide - 8) / 2, wide - 8][i], y: height - 6, "text-anchor": ["start", "middle", "end"][i],
    }, show(Number(v.toFixed(6)), 2)));
    const { kind } = channel.studio.trace().about;
    const names = [[10, "finetune.axis.label"], [height - 6, `finetune.axis.${kind}`]].map(([y, key]) => s("text", { x: LEFT - 8, y, "text-anchor": "end" }, say(key)));
    bands.replaceChildren(...rows, ...ends, ...names);
    bands.setAttribute("aria-label", say("finetune.bands_says", { step: record.step, count: counts.length }));
  }

  const bandsFile = ({ losses, origin }) => {
    const tall = Number(bands.getAttribute("viewBox").split(" ").at(-1));
    return standalone({ drawn: bands, wide, tall, title: say("finetune.bands"), caption: [...losses, origin, say("finetune.bands_about")] });
  };

  // ---- The matrix ------------------------------------------------------------------------------

  let looked = "";
  scene.remember = () => {}; // the address names the run, not the scene
  scene.server = {
    explore: ({ scenario, known }) => channel.studio.server.probe({ run: channel.shown[0], step: steps()[placeNow()].step, scenario, known }),
    look: async () => null,
    cancel: async () => null,
  };
  scene.on("picture", () => {
    const { steps: all, chosen } = scene.picture;
    const names = all.map((step) => step.name).join();
    if (which.dataset.names !== names) {
      which.dataset.names = names;
      which.replaceChildren(...all.map((step, i) => h("option", { value: i }, step.name)));
    }
    which.value = chosen;
  });
  scene.on("batch", () => { if (steps().length) drawBands(steps()[placeNow()], steps()[0]); });
  scene.on("problem", () => {
    const told = scene.problem ?? scene.notice;
    wrong.hidden = !told;
    if (told) wrong.textContent = say(told.key, told.values);
  });

  function draw() {
    const trace = channel.studio?.trace();
    const all = steps();
    whole.hidden = !all.length;
    if (!all.length) return;
    const place = placeNow();
    const record = all[place];
    track.max = all.length - 1;
    track.value = place;
    track.style.setProperty("--lp-fill", `${(100 * place) / Math.max(1, all.length - 1)}%`);
    where.textContent = say("finetune.at_step", { step: record.step });
    track.setAttribute("aria-label", say("finetune.scrub"));
    track.setAttribute("aria-valuetext", where.textContent);
    live.hidden = channel.at === null || !channel.studio.isLive(trace.about);
    const key = `${trace.about.id}:${record.step}`;
    if (key === looked) return;
    const { loss, convention, parameters } = trace.about.plan;
    if (looked.split(":")[0] !== trace.about.id) {
      scene.batch = null;
      scene.scenario = { ...structuredClone(LossPrism.defaults), loss, convention, parameters };
    }
    looked = key;
    drawBands(record, all[0]);
    scene.ask();
    channel.publish("figures");
  }

  // The matrix as the server draws it, with the words of the page on where it comes from.
  async function matrixFile({ origin }) {
    const answer = await channel.studio.ask("figure", {
      run: channel.shown[0], step: steps()[placeNow()].step, scenario: scene.scenario,
      language: LossPrism.language(), dark: LossPrism.isDark(), origin,
    });
    return answer?.text;
  }

  (channel.stills ??= []).push(
    { key: "finetune.bands", element: whole, file: bandsFile, step: () => steps()[placeNow()].step },
    { key: "finetune.matrix", element: whole, file: matrixFile, step: () => steps()[placeNow()].step });

  channel.on("run", draw);
  channel.on("at", draw);
  channel.on("shown", () => { stop(); looked = ""; draw(); });
  channel.on("theme", () => { looked = ""; draw(); });
  channel.on("language", () => { looked = ""; draw(); });
  draw();
};
