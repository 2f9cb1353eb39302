// The gradient of every pair as bars, and the pairs that feel most in words.
import { floats } from "../../kit/arrays.js";
import { clip, contextOf, h, reword, roomOf, setText, walkable } from "../../kit/dom.js";
import { show } from "../../kit/numbers.js";
import { tabbed } from "../../kit/sidebar.js";
import { say } from "../../kit/words.js";

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").Scene} channel
 */
export default function bars(root, channel) {
  const LISTED = 10;
  const canvas = h("canvas.lp-bar-chart", { role: "img", tabIndex: 0 });
  const spoken = h("div.lp-spoken", { "aria-live": "polite" });
  const list = h("ol.lp-list");
  const title = h("h2");
  const note = h("p.lp-note");
  // Where a projection is not all there is, either can be drawn.
  const which = tabbed(
    {
      called: (name) => `ui.gradient_shown.${name}`,
      names: /** @type {("projected" | "score")[]} */ (["projected", "score"]),
      tabId: "lp-bars",
      label: "ui.gradient_shown",
    },
    (name) => {
      alone = name === "score";
      take();
    },
  );
  reword(which.element);
  root.append(title, which.element, note, canvas, spoken, list);

  let alone = false; // ∂L/∂s, where the gradient of a pair is another one
  let gradient = new Float32Array();
  /** @type {{ projected: Float32Array, score: Float32Array } | null} */
  let both = null;
  /** @type {number[]} */
  let order = [];
  /** @param {HTMLElement} line */
  const reach = ({ pair }) => channel.point(pair === undefined ? [] : [pair]);
  const lines = Array.from({ length: LISTED }, (_, place) => {
    const bar = h("i");
    const value = h("span.lp-value");
    const [first, second] = [h("span"), h("span")];
    const line = h(
      "li.lp-felt",
      { hidden: true, tabIndex: place ? -1 : 0 },
      h("div.lp-bar-box", {}, bar),
      value,
      h("div.lp-two", {}, first, second),
    );
    for (const event of ["mouseenter", "focus"]) line.addEventListener(event, () => reach(line));
    for (const event of ["mouseleave", "blur"]) line.addEventListener(event, () => channel.point());
    return { line, bar, value, first, second };
  });
  list.append(...lines.map(({ line }) => line));
  walkable(list);
  const room = roomOf(canvas, draw);

  /**
   * Bars stand in the order of the matrix's columns, or in entry order where those are no pairs.
   * @param {import("../../wire").Axis} axis
   */
  function displayOrder({ pairs }) {
    const whole = pairs.length === gradient.length && new Set(pairs).size === pairs.length;
    return whole && !pairs.includes(-1) ? pairs : Array.from(gradient.keys());
  }

  /**
   * Both gradients of a pair, where there are two.
   * @param {number} pair
   */
  function besides(pair) {
    if (!both) return "";
    const byScore = both.score[pair];
    const own = Number.isNaN(byScore)
      ? say("ui.gradient_by_score_none")
      : say("ui.gradient_by_score", { value: show(byScore, 3) });
    return `${say("ui.gradient_projected", { value: show(both.projected[pair], 3) })} · ${own}`;
  }

  function take() {
    const { picture, batch } = channel;
    if (!picture || !batch) return;
    const { gradient: felt, score_gradient: byScore } = picture.pairs;
    both = byScore === null ? null : { projected: floats(felt), score: floats(byScore) };
    which.element.hidden = !both;
    const shown = both && alone ? "score" : "projected";
    which.set(shown);
    gradient = both ? both[shown].map((g) => (Number.isNaN(g) ? 0 : g)) : floats(felt);
    const kind = picture.figures.projected ? shown : "score";
    setText(title, say(`ui.gradient_per_pair.${kind}`));
    setText(note, `${say(`ui.gradient_note.${kind}`)} ${say("ui.gradient_sign")}`);
    order = displayOrder(picture.shown.column_axis);
    draw();
    const ranked = Array.from(gradient.keys())
      .sort((a, b) => Math.abs(gradient[b]) - Math.abs(gradient[a]))
      .slice(0, LISTED);
    const most = Math.abs(gradient[ranked[0]]) || 1;
    lines.forEach(({ line, bar, value, first, second }, place) => {
      const pair = ranked[place];
      line.hidden = pair === undefined || !gradient[pair];
      if (line.hidden) return;
      const g = gradient[pair];
      bar.style.width = `${(50 * Math.abs(g)) / most}%`;
      bar.className = g > 0 ? "lp-up" : "lp-down";
      setText(value, show(g, 3));
      value.title = besides(pair);
      if (line.pair !== pair || first.textContent === "") {
        line.pair = pair;
        first.textContent = clip(batch.first[pair], 70);
        second.textContent = clip(batch.second[pair], 70);
        line.title = `${batch.first[pair]}\n${batch.second[pair]}`;
      }
    });
  }

  // The colours of the theme, read once: to read them would have the page's styles worked out.
  /** @type {Record<string, string> | null} */
  let inks = null;
  function readInks() {
    const style = getComputedStyle(document.body);
    return Object.fromEntries(
      ["up", "down", "line", "pointed"].map((ink) => [ink, style.getPropertyValue(`--lp-${ink}`)]),
    );
  }

  function draw() {
    const ratio = (window.devicePixelRatio || 1) * room.magnified;
    const [wide, tall] = [room.width, 120];
    const size = { width: Math.round(wide * ratio), height: Math.round(tall * ratio) };
    if (canvas.width !== size.width || canvas.height !== size.height) Object.assign(canvas, size);
    const context = contextOf(canvas);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    context.scale(ratio, ratio);
    let most = 0;
    for (const g of gradient) most = Math.max(most, Math.abs(g));
    inks ??= readInks();
    const { up, down, line, pointed: lit } = inks;
    const width = wide / Math.max(order.length, 1);
    context.fillStyle = line;
    context.fillRect(0, tall / 2 - 0.5, wide, 1);
    const pointed = new Set(channel.pointed.pairs);
    order.forEach((pair, place) => {
      const size = most ? (gradient[pair] / most) * (tall / 2 - 6) : 0;
      if (pointed.has(pair)) {
        context.fillStyle = lit;
        context.fillRect(place * width, 0, Math.max(width, 2), tall);
      }
      context.fillStyle = size > 0 ? up : down;
      context.fillRect(
        place * width + width * 0.12,
        tall / 2 - Math.max(size, 0),
        Math.max(width * 0.76, 0.6),
        Math.abs(size),
      );
    });
    canvas.setAttribute("aria-label", say("ui.bars_label", { count: order.length, most: show(most, 3) }));
  }

  function mark() {
    const { pairs } = channel.pointed;
    for (const { line } of lines) line.classList.toggle("lp-lit", line.pair !== undefined && pairs.includes(line.pair));
    draw();
  }

  canvas.addEventListener("mousemove", (event) => {
    const box = canvas.getBoundingClientRect();
    const place = Math.floor(((event.clientX - box.left) / box.width) * order.length);
    if (place in order) {
      channel.point([order[place]]);
      canvas.title = besides(order[place]);
    }
  });
  canvas.addEventListener("mouseleave", () => channel.point());
  // The left and right keys walk the bars.
  canvas.addEventListener("keydown", (event) => {
    const by = Number(event.key === "ArrowRight") - Number(event.key === "ArrowLeft");
    if (!by || !order.length) return;
    event.preventDefault();
    const from = order.indexOf(channel.pointed.pairs[0]);
    const pair = order[Math.max(0, Math.min(order.length - 1, from + by))];
    channel.point([pair]);
    spoken.textContent = say("ui.bar_says", {
      pair: channel.numberOf(pair),
      value: besides(pair) || show(gradient[pair]),
    });
  });
  canvas.addEventListener("blur", () => channel.point());
  channel.on("batch", () => {
    for (const { line, first } of lines) {
      line.pair = undefined;
      first.textContent = "";
    }
  });
  channel.on("picture", take);
  channel.on("language", () => {
    which.element.setAttribute("aria-label", say("ui.gradient_shown"));
    take();
  });
  channel.on("pointed", mark);
  channel.on("theme", () => {
    inks = null;
    draw();
  });
}
