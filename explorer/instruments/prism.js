// What every instrument shares: one channel of state, words, formulas, colours, packed arrays.
// An instrument is a function (element, channel, server) in window.LossPrismInstruments; it draws
// what the channel publishes and never learns what it draws. The scripts may load in any order. Text of the user's enters the page through textContent alone.
(() => {
  "use strict";
  const { catalogues, counts, losses, examples, defaults, limits, pages } = window.LossPrismData;
  const channels = new Map();

  // ---- Words -------------------------------------------------------------------------------

  const stored = (name) => {
    try { return localStorage.getItem(`lossprism.${name}`); } catch { return null; }
  };
  const store = (name, value) => {
    try { localStorage.setItem(`lossprism.${name}`, value); } catch { /* private window */ }
  };
  const asked = new URLSearchParams(location.search).get("lang");
  const spoken = asked || stored("language") || navigator.language || "en";
  let language = spoken.toLowerCase().startsWith("zh") ? "zh" : "en";

  // 1,048,576, in both languages; made once, for toLocaleString makes one at every call.
  const thousands = new Intl.NumberFormat("en");
  const grouped = (number) => thousands.format(number);

  const has = (key) => key in catalogues[language];
  // {count:row|rows} is the first word where the value is 1, else the second.
  function say(key, values = {}) {
    const sentence = (catalogues[language][key] ?? key).replace(/\{(\w+):([^|}]*)\|([^}]*)\}/g,
      (all, name, one, many) => (String(values[name]) === "1" ? one : many));
    return sentence.replace(/\{(\w+)\}/g, (all, name) => (name in values ? spelled(name, values[name]) : all));
  }

  // As `spelled` of explorer/locale: counts are grouped, and a value may have words of its own.
  function spelled(name, value) {
    if (Array.isArray(value)) return value.map((one) => spelled(name, one)).join(say("ui.between"));
    if (value?.key) return has(value.key) ? say(value.key) : value.otherwise;
    return counts.includes(name) && Number.isInteger(value) ? grouped(value) : value;
  }

  // What a finger does has other words than what a pointer does.
  const hint = (pointing, touching) => say(matchMedia("(hover: none)").matches ? touching : pointing);

  function speak(next) {
    language = next;
    store("language", next);
    document.documentElement.lang = next;
    for (const channel of channels.values()) channel.publish("language");
  }

  // ---- The address -------------------------------------------------------------------------

  // This page with such a scene behind it. Gradio's <base> would lead a mere "#…" to the first page.
  const addressOf = (scene) => location.pathname + location.search + (scene && `#${scene}`);

  // ---- Numbers -----------------------------------------------------------------------------

  const WORDS = { inf: Infinity, "-inf": -Infinity, nan: NaN };
  const read = (value) => (typeof value === "string" ? WORDS[value] : value);

  function show(value, digits = 4) {
    value = read(value);
    if (value === null || value === undefined) return "—";
    if (Number.isNaN(value)) return "NaN";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const size = Math.abs(value);
    if (size === 0) return "0";
    const text = size >= 1e5 || size < 1e-4
      ? value.toExponential(Math.max(digits - 2, 1)).replace("e+", "e")
      : String(Number(value.toPrecision(digits)));
    return text.replace(/-/g, "−");
  }

  // A mean and its deviation, both to the second digit of the deviation.
  function showWithin(mean, deviation) {
    if (!deviation) return show(mean, 3) + (deviation === 0 ? "\u00a0±\u00a00" : "");
    const places = Math.min(Math.max(1 - Math.floor(Math.log10(deviation)), 0), 6);
    return [mean, deviation].map((v) => v.toFixed(places).replace("-", "−")).join("\u00a0±\u00a0");
  }

  const percent = (share) => {
    const value = 100 * share;
    if (value > 0 && value < 0.01) return `${show(value, 2)}%`;
    return `${value >= 10 || value === 0 ? value.toFixed(0) : value.toPrecision(2)}%`;
  };

  // Numbers beside each other with as many digits as tell them apart.
  function apart(values, shares = false) {
    for (let digits = 3; ; digits += 1) {
      const texts = values.map((v) => (shares ? `${show(100 * v, digits)}%` : show(v, digits)));
      if (new Set(texts).size === values.length || digits === 8) return texts;
    }
  }

  // The same number for a formula: a power of ten is written out, a negative one is bracketed.
  function texNumber(value) {
    const text = show(value, 4).replace(/−/g, "-");
    if (text === "∞") return "\\infty";
    if (text === "-∞") return "-\\infty";
    const [mantissa, exponent] = text.split("e");
    const plain = exponent ? `${mantissa}\\cdot 10^{${exponent}}` : mantissa;
    return plain.startsWith("-") ? `(${plain})` : plain;
  }

  // The few words inside formulas follow the language too.
  function tex(element, formula, display = false) {
    const spoken = formula.replace(/\\text\{([^}]*)\}/g, (all, words) => (
      has(`math.${words}`) ? `\\text{${say(`math.${words}`)}}` : all));
    window.katex.render(spoken, element, {
      throwOnError: false, displayMode: display,
      // \htmlData says where a number comes from; no other command may reach the page.
      trust: ({ command }) => command === "\\htmlData",
      strict: (code) => (code === "htmlExtension" ? "ignore" : "warn"),
    });
  }

  // ---- Packed arrays -----------------------------------------------------------------------

  function bytes(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text); // ten times faster, where known
    const raw = atob(text);
    const out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i += 1) out[i] = raw.charCodeAt(i);
    return out;
  }
  const floats = (text) => (text ? new Float32Array(bytes(text).buffer) : null);

  // ---- Elements ----------------------------------------------------------------------------

  // h("button.quiet", {onclick}, "text", child): an element; strings become text, never HTML.
  function h(kind, attributes = {}, ...children) {
    const [tag, ...classes] = kind.split(".");
    const element = document.createElement(tag || "div");
    if (classes.length) element.className = classes.join(" ");
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name in element && name !== "list") element[name] = value;
      else element.setAttribute(name, value === true ? "" : value);
    }
    if (element.dataset.title) entitle(element);
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
  }

  // What shows a mere sign is called by a title, which follows the language too.
  function entitle(element) {
    element.title = say(element.dataset.title);
    element.setAttribute("aria-label", element.title);
  }

  // One stop of the tab key for all lines of a box; the up and down keys walk them.
  function walkable(box) {
    box.addEventListener("keydown", (event) => {
      const way = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      if (!way || event.target.parentElement !== box) return;
      event.preventDefault();
      const next = event.target[way];
      if (!next || next.hidden) return;
      event.target.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }

  // An element whose text follows the language.
  const worded = (kind, key, attributes = {}) => h(kind, { "data-say": key, ...attributes }, say(key));
  function reword(root) {
    for (const element of root.querySelectorAll("[data-say]")) {
      element.textContent = say(element.dataset.say);
    }
    root.querySelectorAll("[data-title]").forEach(entitle);
  }

  // ---- Colours -----------------------------------------------------------------------------

  // Both ramps are safe for colour-blind readers: blue to orange through the page's own ground,
  // and one hue that only grows darker (lighter on a dark page).
  const RAMPS = {
    light: {
      diverging: ["#0b4f8a", "#4b8fc4", "#a9cce6", "#f6f5f2", "#f6c79b", "#dd7f2d", "#8f4207"],
      sequential: ["#f3f2f7", "#c9c8e6", "#8f8fd0", "#5a55b8", "#2c2478"],
      mask: ["#efeeea", "#4d5a70"],
      broken: "#c3127a", hatch: "rgba(60,60,70,.28)", ground: "#ffffff",
    },
    dark: {
      diverging: ["#8cc8ff", "#3f8bd0", "#1f4a74", "#1b1c21", "#6e3f14", "#cf7a2c", "#ffc48a"],
      sequential: ["#1d1d26", "#36346b", "#5f5bb5", "#9d9be6", "#e9e8ff"],
      mask: ["#22242b", "#93a1ba"],
      broken: "#ff5fb7", hatch: "rgba(220,220,235,.20)", ground: "#16171b",
    },
  };
  const isDark = () => document.body.classList.contains("dark");
  const palette = () => RAMPS[isDark() ? "dark" : "light"];
  const channelsOf = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

  const tables = new Map();
  // 256 colours of a ramp as little-endian RGBA words, ready for an ImageData buffer.
  function colours(ramp) {
    const stops = palette()[ramp];
    const key = stops.join();
    if (!tables.has(key)) {
      const table = new Uint32Array(256);
      for (let i = 0; i < 256; i += 1) {
        const place = (i / 255) * (stops.length - 1);
        const left = Math.min(Math.floor(place), stops.length - 2);
        const [a, b] = [channelsOf(stops[left]), channelsOf(stops[left + 1])];
        const [r, g, bl] = a.map((from, k) => Math.round(from + (b[k] - from) * (place - left)));
        table[i] = (255 << 24) | (bl << 16) | (g << 8) | r;
      }
      tables.set(key, table);
    }
    return tables.get(key);
  }
  // What is absent is hatched: lines of one width at any pixel ratio.
  function hatch(context, ratio) {
    const side = Math.round(6 * ratio);
    const tile = h("canvas", { width: side, height: side });
    const line = tile.getContext("2d");
    line.strokeStyle = palette().hatch;
    line.lineWidth = ratio;
    line.beginPath();
    for (const shift of [-side, 0, side]) {
      line.moveTo(shift, side);
      line.lineTo(shift + side, 0);
    }
    line.stroke();
    return context.createPattern(tile, "repeat");
  }

  const word = (hex) => {
    const [r, g, b] = channelsOf(hex);
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  };
  const css = (table, i) => {
    const value = table[Math.max(0, Math.min(255, Math.round(i)))];
    return `rgb(${value & 255},${(value >> 8) & 255},${(value >> 16) & 255})`;
  };

  // ---- The server --------------------------------------------------------------------------

  // What is said when no answer comes.
  const GONE = { key: "ui.server_gone", values: {} };
  const RETRY_MS = 2000;

  // No answer is null, whether the server failed or the connection is gone.
  const calm = (server) => new Proxy(server ?? {}, {
    get(functions, name) {
      const call = functions[name];
      return async (...given) => {
        try { return await call(...given); } catch { return null; }
      };
    },
  });

  // Jobs are followed and cancelled by name; nobody should guess another's.
  const TAB = crypto.getRandomValues(new Uint32Array(4)).join("");
  let jobs = 0;
  const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

  // Presenting enlarges the page as a whole: so many pixels of the screen to one of its own. Older
  // browsers have to lay out the page to tell.
  const magnified = (element) => element.currentCSSZoom
    ?? (element.getBoundingClientRect().width / element.offsetWidth || 1);

  // How wide an element is and how far it is magnified, as it was last laid out: to ask while
  // drawing would have the page laid out for every picture. Out of sight it keeps its last width.
  function room(element, changed) {
    const known = { width: 0, magnified: 1 };
    new ResizeObserver(() => {
      const now = { width: element.clientWidth, magnified: magnified(element) };
      if (!now.width || (now.width === known.width && now.magnified === known.magnified)) return;
      Object.assign(known, now);
      changed();
    }).observe(element);
    return known;
  }

  function setTheme(dark) {
    document.body.classList.toggle("dark", dark);
    store("theme", dark ? "dark" : "light");
  }

  // ---- Channel -----------------------------------------------------------------------------

  // What the instruments of one page tell each other: topics, and who listens to them. A page
  // puts its state on its own bus; `told` are the topics that one who joins late must hear.
  class Bus {
    constructor(told = ["state", "problem"]) {
      this.told = told;
      this.listeners = new Map();
      this.published = new Set();
      this.problem = null;
      this.notice = null;
      this.jobs = new Map();
      this.progress = null;
    }

    on(topic, listener) {
      if (!this.listeners.has(topic)) this.listeners.set(topic, new Set());
      this.listeners.get(topic).add(listener);
    }

    // Let an instrument listen, and tell it at once what was published before it came.
    join(build) {
      const before = new Map([...this.listeners].map(([topic, all]) => [topic, new Set(all)]));
      build();
      for (const topic of this.told) {
        if (!this.published.has(topic)) continue;
        for (const listener of this.listeners.get(topic) ?? []) {
          if (!before.get(topic)?.has(listener)) listener(this);
        }
      }
    }

    publish(topic) {
      this.published.add(topic);
      for (const listener of this.listeners.get(topic) ?? []) listener(this);
    }

    fail(error) {
      this.problem = error;
      this.publish("problem");
    }

    // A notice does not make the picture stale, and goes with the next change.
    warn(notice) {
      if (this.notice === notice) return;
      this.notice = notice;
      this.publish("problem");
    }

    setBusy(busy) {
      if (this.busy === busy) return;
      this.busy = busy;
      this.publish("busy");
    }

    // A question that may take long. Meanwhile `progress` says how far it has come, and cancel()
    // ends it; `server` needs the functions of `JOBS` for that. Undefined is the answer to a
    // question that was cancelled.
    async work(server, name, request) {
      const job = `${TAB}.${(jobs += 1)}`;
      this.jobs.set(job, { server, since: Date.now() });
      this.follow();
      const answer = await server[name]({ ...request, job });
      const wanted = this.jobs.delete(job);
      if (!this.jobs.size) this.tell(null);
      return wanted ? answer : undefined;
    }

    async follow() {
      if (this.following) return;
      this.following = true;
      for (; this.jobs.size; await pause(250)) {
        for (const [job, { server, since }] of [...this.jobs]) {
          if (Date.now() - since < 300) continue;
          const answer = await server.look(job);
          if (!answer?.job?.what || !this.jobs.has(job)) continue;
          this.tell(answer.job);
          break;
        }
      }
      this.following = false;
    }

    tell(progress) {
      if (this.progress === progress) return;
      this.progress = progress;
      this.publish("progress");
    }

    // The server stops between two batches; what it finished before is kept there.
    cancel() {
      for (const [job, { server }] of this.jobs) server.cancel(job);
      this.jobs.clear();
      this.tell(null);
    }
  }

  // What makes a scene another one for the Back button.
  function placeOf({ loss, convention, data }) {
    const { source, example, file, encoder, cross_encoder: cross } = data;
    const which = { example, table: file }[source];
    return JSON.stringify([loss, convention, source, which, encoder, cross]);
  }

  // One scene: the scenario, the batch it names, the latest picture, and what is pointed at.
  class Channel extends Bus {
    constructor() {
      super(["scenario", "skipped", "batch", "picture", "problem"]);
      this.scenario = structuredClone(defaults);
      this.batch = null;
      this.picture = null;
      this.skipped = [];
      this.pointed = { pairs: [], cell: null, part: null };
      this.server = null;
      // Buttons beside a problem that can be put right there: {fits(problem), key, act}.
      this.remedies = [];
      this.asked = 0;
      this.answered = 0;
      this.awaited = new Set();
      this.waiting = false;
      this.tables = new WeakMap();
      this.remembered = 0;
      this.visits = 0;
    }

    get flying() { return this.awaited.size; }

    get spec() { return losses[this.scenario.loss]; }
    // Formula and parameters of the loss in the chosen convention.
    get form() { return this.spec.conventions[this.scenario.convention] ?? this.spec.conventions[""]; }

    // The formula at the parameters in force: some choices have one of their own.
    get formula() {
      const { formula, variants, parameters } = this.form;
      for (const { name, default: usual } of parameters) {
        const at = `${name}=${this.scenario.parameters[name] ?? usual}`;
        if (at in variants) return variants[at];
      }
      return formula;
    }

    async connect(server) {
      this.server = server;
      this.remedies.push({
        fits: ({ key }) => this.problem && key === "problem.cancelled", key: "ui.go_on", act: () => this.ask(),
      });
      window.addEventListener("popstate", () => this.revisit());
      await this.revisit();
      if (this.asked) return;
      this.publish("scenario");
      this.ask();
    }

    // The scene of this entry of the browser's history: in its link, or, where it is too large for
    // one, in what the browser keeps beside the address. That keeps hidden rows too.
    async revisit() {
      const visit = (this.visits += 1);
      const [kept, link] = [history.state?.lossprism, location.hash.slice(1)];
      if (link && link === this.link) return;
      const usual = this.asked ? defaults : null;
      const scenario = link ? await this.read(link) : structuredClone(kept ?? usual);
      if (!scenario || visit !== this.visits) return;
      if (link && kept) Object.assign(scenario.data, kept.data);
      this.show(scenario);
      this.link = link;
      this.place = placeOf(scenario);
    }

    // The scene in the text of a link or of a scene file; what is wrong with it is said.
    async read(text) {
      const opened = await this.server.open_link(text);
      this.check(opened);
      return opened?.scenario;
    }

    async openScene(text) {
      const scenario = await this.read(text);
      if (scenario) this.show(scenario);
    }

    show(scenario) {
      this.forget();
      this.warn(null);
      this.scenario = scenario;
      this.publish("scenario");
      this.ask();
    }

    // Change part of the scenario: set({view: {order: "score"}}). Whole values are replaced,
    // the named parts of data, rules and view are merged.
    set(change, { announce = true } = {}) {
      for (const [key, value] of Object.entries(change)) {
        const merged = ["data", "rules", "view"].includes(key);
        this.scenario[key] = merged ? { ...this.scenario[key], ...value } : value;
      }
      this.warn(null);
      if (announce) this.publish("scenario");
      this.ask();
    }

    // Rows of one's own, whatever file they may have come from.
    setRows(rows) {
      const { file, reading } = defaults.data;
      this.set({ data: { source: "table", rows, file, reading } });
    }

    setParameter(name, value) {
      this.warn(null);
      this.scenario.parameters = { ...this.scenario.parameters, [name]: value };
      this.ask();
    }

    choose(loss, convention = "") {
      this.set({ loss, convention, parameters: {}, view: { step: null, pinned: null } });
    }

    // Whether an answer came and is no refusal; else it is said what is wrong.
    check(answer) {
      if (!answer) this.take({ error: GONE });
      else if (answer.error) this.warn(answer.error);
      return Boolean(answer && !answer.error);
    }

    // Two questions may be under way; an answer older than the last drawn one is dropped.
    async ask() {
      if (!this.server) return;
      clearTimeout(this.retrying);
      this.remember();
      const { data } = this.scenario;
      if (this.progress && data !== this.askedFor) this.drop();
      if (this.flying >= 2) { this.waiting = true; return; }
      this.waiting = false;
      this.askedFor = data;
      const turn = (this.asked += 1);
      this.awaited.add(turn);
      const late = setTimeout(() => this.setBusy(this.awaited.has(turn)), 250);
      // After an error the batch is told anew, and with it what was left out.
      const known = this.problem ? "" : this.batch?.key ?? "";
      let answer = await this.question(known);
      if (answer?.send_rows) {
        this.tables = new WeakMap();
        answer = await this.question(known);
      }
      clearTimeout(late);
      this.awaited.delete(turn);
      if (turn > this.answered) {
        this.answered = turn;
        this.take(answer ?? { error: GONE });
      }
      if (this.flying === 0) this.setBusy(false);
      if (this.waiting) this.ask();
    }

    // Rows travel once; then they go by the name that the server gave them. Changed rows are
    // another array.
    async question(known) {
      const { scenario } = this;
      const { data } = scenario;
      const rows = this.tables.get(data.rows);
      const asked = rows ? { scenario: { ...scenario, data: { ...data, rows: [] } }, rows } : { scenario };
      const answer = await this.work(this.server, "explore", { ...asked, known });
      if (answer?.rows) this.tables.set(data.rows, answer.rows);
      return answer;
    }

    // Wait no longer for what is under way.
    drop() {
      super.cancel();
      this.answered = this.asked;
      this.awaited.clear();
      this.setBusy(false);
    }

    cancel() {
      const asking = this.flying > 0;
      const cancelled = { key: "problem.cancelled", values: {} };
      this.drop();
      this.waiting = false;
      if (asking) this.fail(cancelled);
      else this.warn(cancelled);
    }

    take(answer) {
      if (answer.skipped) {
        this.skipped = answer.skipped;
        this.limited = answer.limited;
        this.publish("skipped");
      }
      if (answer.error) {
        this.fail(answer.error);
        if (answer.error === GONE) this.retrying = setTimeout(() => this.ask(), RETRY_MS);
        return;
      }
      if (this.problem) { this.problem = null; this.publish("problem"); }
      if (answer.batch) {
        this.batch = answer.batch;
        this.numbers = this.rowNumbers();
        this.publish("batch");
      }
      this.picture = answer.picture;
      this.publish("picture");
      this.drawn = (this.drawn ?? 0) + 1;
    }

    // What a person calls each pair: the number of its row, where rows in between were left out.
    rowNumbers() {
      const { source, rows } = this.scenario.data;
      const all = this.batch.labels.map((label, pair) => pair + 1);
      if (source !== "table") return all;
      const skipped = new Set(this.skipped.map(({ row }) => row));
      const used = rows.map((cells, i) => i + 1)
        .filter((row) => !skipped.has(row) && rows[row - 1].some((cell) => cell.trim() !== ""));
      return used.length === all.length ? used : all;
    }

    numberOf(pair) { return this.numbers?.[pair] ?? pair + 1; }

    // What a row or column is called: by its pair where it has one of its own.
    nameOf(axis, item, pair) {
      const paired = ["pair", "level_pair", "query", "key", "view"].includes(axis);
      return paired && pair >= 0 ? this.numberOf(pair) : item + 1;
    }

    // The address follows the scene once it has been still for a moment. Another loss or other
    // data begin a new entry of the history, so that Back returns to the one before; a slider
    // changes the entry it is in.
    remember() {
      this.forget();
      const turn = this.remembered;
      this.linking = setTimeout(async () => {
        const { link } = (await this.server.link(this.scenario)) ?? {};
        if (turn !== this.remembered) return;
        this.tooLong = link?.length > limits.link;
        this.link = this.tooLong || !link ? "" : link;
        if (this.link) store("scene", this.link);
        const { source, rows, file, reading } = this.scenario.data;
        const hidden = source !== "table" && rows.length ? { data: { rows, file, reading } } : null;
        const kept = structuredClone(this.link ? hidden : this.scenario);
        const place = placeOf(this.scenario);
        const write = this.place && this.place !== place ? "pushState" : "replaceState";
        this.place = place;
        history[write]({ ...history.state, lossprism: kept }, "", addressOf(this.link));
        this.linking = null;
      }, 400);
    }

    forget() {
      clearTimeout(this.linking);
      this.linking = null;
      this.remembered += 1;
    }

    // Point at pairs and, from a matrix, at a cell of it; from a formula, at the part of it that
    // came from a step or a parameter `of` and its row, column or cell `at`. Empty: at nothing.
    point(pairs = [], cell = null, part = null) {
      const next = { pairs, cell, part };
      if (JSON.stringify(next) === JSON.stringify(this.pointed)) return;
      this.pointed = next;
      this.publish("pointed");
    }

    // The place of the last step of this name before another step, −1 if there is none.
    stepNamed(name, before = this.picture.steps.length) {
      return this.picture.steps.slice(0, before).findLastIndex((step) => step.name === name);
    }

    goTo(step) { this.set({ view: { step } }, { announce: false }); }
  }

  // What a loss is called; one of the user's own has no other name than its own, and one that this
  // server does not know, but a run of before does, that by which it is known.
  const titleOf = (loss) => (has(`loss.${loss}.title`) ? say(`loss.${loss}.title`) : losses[loss]?.title ?? loss);

  // Scenes of their own: that of the Explore page, and the probe batch of a training run.
  const SCENES = new Set(["main", "probe"]);
  function channel(name = "main") {
    if (!channels.has(name)) channels.set(name, SCENES.has(name) ? new Channel() : new Bus());
    return channels.get(name);
  }

  // The pair's two sentences, shortened for a label.
  function clip(text, most = 60) {
    const letters = Array.from(text);
    return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
  }

  window.LossPrism = {
    catalogues, losses, examples, defaults, limits, pages,
    titleOf, stored, store, walkable, say, hint, has, speak, reword, worded, language: () => language,
    show, showWithin, percent, apart, tex, texNumber, read, bytes, floats, h, clip,
    get table() { return window.LossPrismParts.table; },
    get live() { return window.LossPrismParts.live; },
    get scale() { return window.LossPrismParts.scale; },
    get drawing() { return window.LossPrismParts.drawing(); },
    get chart() { return window.LossPrismParts.chart; },
    get fields() { return window.LossPrismParts.fields(); },
    get files() { return window.LossPrismParts.files(); },
    get grid() { return window.LossPrismParts.grid; },
    GONE, addressOf, palette, colours, css, word, hatch, isDark, setTheme, magnified, room, grouped, channel,
    mount(name, element, props, server) {
      const scene = channel(props.channel || "main");
      const root = element.querySelector(".lp");
      scene.join(() => window.LossPrismInstruments[name](root, scene, calm(server)));
      scene.on("language", () => reword(root));
    },
  };

  // Arrow keys walk along a row of tabs; Enter opens the one that is reached.
  document.addEventListener("keydown", (event) => {
    const tab = event.target.closest?.(".lp [role=tab]");
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!tab || !way) return;
    event.preventDefault();
    const tabs = Array.from(tab.parentElement.querySelectorAll("[role=tab]:enabled"));
    tabs.at((tabs.indexOf(tab) + way) % tabs.length).focus();
  });

  // The scroll bars follow the theme; a rule with :has() would be tried at every change of the page.
  function shade() {
    document.documentElement.style.colorScheme = isDark() ? "dark" : "light";
    for (const scene of channels.values()) scene.publish("theme");
  }

  document.documentElement.lang = language;
  // Gradio may add the scripts of the head when the document has long been read.
  function begin() {
    const theme = stored("theme");
    if (theme && !new URLSearchParams(location.search).has("__theme")) setTheme(theme === "dark");
    new MutationObserver(shade).observe(document.body, { attributes: true, attributeFilter: ["class"] });
    shade();
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
