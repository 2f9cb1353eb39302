// How the similarities of each label are spread.
(window.LossPrismInstruments ??= {}).large_histogram = (root, channel) => {
  "use strict";
  const { h, say, worded, show, grouped } = LossPrism;
  const canvas = h("canvas.lp-histogram", { role: "img" });
  const card = h("p.lp-note");
  root.append(worded("h2", "large.histogram"), canvas, card);

  let seen = null;
  let left = 0; // where the bars begin, right of the labels
  // From blue to orange with the label; neighbours also differ in their place in the stack.
  const colour = (group) => {
    const { groups } = seen;
    const colours = LossPrism.colours("diverging");
    const share = groups.length > 1 ? group / (groups.length - 1) : 0;
    return LossPrism.css(colours, share < 0.5 ? 10 + 110 * share : 135 + 110 * share);
  };
  const named = ([low, high]) => (low === high ? show(low, 3) : say("large.from_to", { low: show(low, 3), high: show(high, 3) }));

  // One ridge for each label, the lowest at the bottom, all on one scale.
  function draw() {
    if (!seen) return;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [root.clientWidth || 320, 40 + 34 * seen.groups.length];
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const bins = seen.edges.length - 1;
    const most = Math.max(1, ...seen.counts.flat());
    const style = getComputedStyle(root);
    const [ink, line] = [style.getPropertyValue("--lp-faint"), style.getPropertyValue("--lp-line")];
    context.font = "11px 'IBM Plex Sans', system-ui, sans-serif";
    left = 10 + Math.max(...seen.groups.map((group) => context.measureText(named(group)).width));
    const wide = (width - left - 6) / bins;
    context.textBaseline = "alphabetic";
    seen.groups.forEach((group, place) => {
      const base = height - 20 - 34 * place;
      context.fillStyle = colour(place);
      seen.counts[place].forEach((count, bin) => {
        const tall = (count / most) * 46;
        context.fillRect(left + bin * wide, base - tall, Math.max(wide - 0.5, 0.5), tall);
      });
      context.fillStyle = line;
      context.fillRect(left, base, width - left - 6, 1);
      context.fillStyle = ink;
      context.textAlign = "right";
      context.fillText(named(group), left - 6, base);
    });
    context.fillStyle = ink;
    for (const share of [0, 0.5, 1]) {
      context.textAlign = { 0: "left", 0.5: "center", 1: "right" }[share];
      context.fillText(show(seen.edges[0] + share * (seen.edges.at(-1) - seen.edges[0]), 2), left + share * (width - left - 6), height - 5);
    }
    canvas.setAttribute("aria-label", `${say("large.histogram")}: ${seen.groups.map((group, i) => (
      `${named(group)}: ${grouped(seen.counts[i].reduce((a, b) => a + b, 0))}`)).join("; ")}`);
    card.textContent = say("large.histogram_note");
  }

  canvas.addEventListener("mousemove", (event) => {
    if (!seen) return;
    const box = canvas.getBoundingClientRect();
    const bins = seen.edges.length - 1;
    const bin = Math.floor(((event.clientX - box.left - left) / (box.width - left - 6)) * bins);
    if (bin < 0 || bin >= bins) { card.textContent = say("large.histogram_note"); return; }
    const counts = seen.groups.map((group, i) => `${named(group)}: ${grouped(seen.counts[i][bin])}`).reverse().join(" · ");
    card.textContent = `${say("large.from_to", { low: show(seen.edges[bin], 3), high: show(seen.edges[bin + 1], 3) })} — ${counts}`;
  });
  canvas.addEventListener("mouseleave", () => { card.textContent = say("large.histogram_note"); });

  channel.on("details", () => { seen = channel.details.histogram; draw(); });
  channel.on("theme", draw);
  channel.on("language", draw);
  new ResizeObserver(draw).observe(root);
};
