// What every instrument shares: one channel of state, words, formulas, colours, packed arrays.
// An instrument is a function (element, channel, server) in window.LossPrismInstruments; it draws
// what the channel publishes and never learns what it draws. The scripts may load in any order. Text of the user's enters the page through textContent alone.
(() => {
  "use strict";
  const { catalogues, losses, examples, defaults, limits, pages } = window.LossPrismData;
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

  const has = (key) => key in catalogues[language];
  // {count:row|rows} is the first word where the value is 1, else the second.
  function say(key, values = {}) {
    const sentence = (catalogues[language][key] ?? key).replace(/\{(\w+):([^|}]*)\|([^}]*)\}/g,
      (all, name, one, many) => (String(values[name]) === "1" ? one : many));
    return sentence.replace(/\{(\w+)\}/g, (all, name) => (name in values ? values[name] : all));
  }

  function speak(next) {
    language = next;
    store("language", next);
    document.documentElement.lang = next;
    for (const channel of channels.values()) channel.publish("language");
  }

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

  const percent = (share) => {
    const value = 100 * share;
    if (value > 0 && value < 0.01) return "< 0.01%";
    return `${value >= 10 || value === 0 ? value.toFixed(0) : value.toPrecision(2)}%`;
  };

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
    window.katex.render(spoken, element, { throwOnError: false, displayMode: display });
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
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
  }

  // An element whose text follows the language.
  const worded = (kind, key, attributes = {}) => h(kind, { "data-say": key, ...attributes }, say(key));
  function reword(root) {
    for (const element of root.querySelectorAll("[data-say]")) {
      element.textContent = say(element.dataset.say);
    }
    for (const element of root.querySelectorAll("[data-title]")) {
      element.title = say(element.dataset.title);
      element.setAttribute("aria-label", element.title);
    }
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
  const word = (hex) => {
    const [r, g, b] = channelsOf(hex);
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  };
  const css = (table, i) => {
    const value = table[Math.max(0, Math.min(255, Math.round(i)))];
    return `rgb(${value & 255},${(value >> 8) & 255},${(value >> 16) & 255})`;
  };

  // What is said when no answer comes.
  const GONE = { key: "ui.server_gone", values: {} };

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
  }

  // One scene: the scenario, the batch it names, the latest picture, and what is pointed at.
  class Channel extends Bus {
    constructor() {
      super(["scenario", "skipped", "batch", "picture", "problem"]);
      this.scenario = structuredClone(defaults);
      this.batch = null;
      this.picture = null;
      this.skipped = [];
      this.pointed = { pairs: [], cell: null };
      this.server = null;
      this.asked = 0;
      this.answered = 0;
      this.flying = 0;
      this.waiting = false;
    }

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
      window.addEventListener("hashchange", () => this.open(location.hash.slice(1)));
      await this.open(location.hash.slice(1));
      if (this.link) return;
      this.publish("scenario");
      this.ask();
    }

    // Take the scene out of a link, unless it is the one that is shown.
    async open(link) {
      if (!link || link === this.link) return;
      if (await this.openScene(link)) this.link = link;
    }

    // Take the scene out of the text of a link or of a scene file.
    async openScene(text) {
      const opened = await this.server.open_link(text);
      if (!opened?.scenario) {
        this.warn(opened?.error ?? GONE);
        return false;
      }
      this.warn(null);
      this.scenario = opened.scenario;
      this.publish("scenario");
      this.ask();
      return true;
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

    setParameter(name, value) {
      this.warn(null);
      this.scenario.parameters = { ...this.scenario.parameters, [name]: value };
      this.ask();
    }

    choose(loss, convention = "") {
      this.set({ loss, convention, parameters: {}, view: { step: null, pinned: null } });
    }

    // Two questions may be under way; an answer older than the last drawn one is dropped.
    async ask() {
      if (!this.server) return;
      if (this.flying >= 2) { this.waiting = true; return; }
      this.waiting = false;
      this.flying += 1;
      const turn = (this.asked += 1);
      const late = setTimeout(() => this.setBusy(true), 250);
      let answer;
      try {
        // After an error the batch is told anew, and with it what was left out.
        const known = this.problem ? "" : this.batch?.key ?? "";
        answer = await this.server.explore({ scenario: this.scenario, known });
      } catch { // the connection is gone
        answer = null;
      }
      clearTimeout(late);
      this.flying -= 1;
      if (turn > this.answered) {
        this.answered = turn;
        this.take(answer ?? { error: GONE });
      }
      if (this.flying === 0) this.setBusy(false);
      if (this.waiting) this.ask();
    }

    take(answer) {
      if (answer.skipped) {
        this.skipped = answer.skipped;
        this.limited = answer.limited;
        this.publish("skipped");
      }
      if (answer.error) { this.fail(answer.error); return; }
      if (this.problem) { this.problem = null; this.publish("problem"); }
      if (answer.batch) {
        this.batch = answer.batch;
        this.numbers = this.rowNumbers();
        this.publish("batch");
      }
      this.picture = answer.picture;
      this.publish("picture");
      this.drawn = (this.drawn ?? 0) + 1;
      this.remember();
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

    // The link follows the scene once it has been still for a moment.
    remember() {
      clearTimeout(this.linking);
      this.linking = setTimeout(async () => {
        const { link } = (await this.server.link(this.scenario)) ?? {};
        this.tooLong = link?.length > limits.link;
        if (!link || this.tooLong) return;
        this.link = link;
        store("scene", link);
        history.replaceState(history.state, "", `#${link}`);
      }, 400);
    }

    // Point at pairs and, from a matrix, at a cell of it; empty to point at nothing.
    point(pairs = [], cell = null) {
      const { pairs: before, cell: last } = this.pointed;
      if (String(before) === String(pairs) && String(last) === String(cell)) return;
      this.pointed = { pairs, cell };
      this.publish("pointed");
    }
  }

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
    stored, store, say, has, speak, reword, worded, language: () => language,
    show, percent, tex, texNumber, read, bytes, floats, h, clip,
    get table() { return window.LossPrismParts.table; },
    get chart() { return window.LossPrismParts.chart; },
    get fields() { return window.LossPrismParts.fields(); },
    get files() { return window.LossPrismParts.files(); },
    GONE, palette, colours, css, word, isDark, setTheme, channel,
    mount(name, element, props, server) {
      const scene = channel(props.channel || "main");
      const root = element.querySelector(".lp");
      scene.join(() => window.LossPrismInstruments[name](root, scene, server));
      scene.on("language", () => reword(root));
    },
  };

  document.documentElement.lang = language;
  // Gradio may add the scripts of the head when the document has long been read.
  function begin() {
    const theme = stored("theme");
    if (theme && !new URLSearchParams(location.search).has("__theme")) setTheme(theme === "dark");
    new MutationObserver(() => {
      for (const scene of channels.values()) scene.publish("theme");
    }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
