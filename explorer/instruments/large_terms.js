// The heaviest of all terms, whether there are a thousand or 10¹².
(window.LossPrismInstruments ??= {}).large_terms = (root, channel) => {
  "use strict";
  const { h, say, worded, show, percent, clip } = LossPrism;
  const grouped = (n) => n.toLocaleString(LossPrism.language());
  const words = ({ entry, side, first, second }) => [
    `#${grouped(entry + 1)} · ${clip(side ? { first, second }[side] : first, 60)}`, ...(side ? [] : [clip(second, 60)])];
  const label = (term) => `${show(term.row.label, 2)} · ${show(term.column.label, 2)}`;
  const table = LossPrism.table({
    key: "ui.heaviest", most: 10,
    columns: [
      { key: "ui.row", cell: (t) => words(t.row), by: (t) => t.row.entry, wide: true },
      { key: "ui.column", cell: (t) => words(t.column), by: (t) => t.column.entry, wide: true },
      { key: "large.labels", cell: label, by: (t) => t.column.label - t.row.label },
      { key: "ui.value", cell: (t) => show(t.value), by: (t) => LossPrism.read(t.value) },
      { key: "ui.share", cell: (t) => percent(t.share), by: (t) => t.share },
    ],
  });
  const note = h("p.lp-note");
  root.append(worded("h2", "ui.heaviest"), note, table.element);

  // A click shows the term in the map, with its neighbours.
  table.element.addEventListener("click", (event) => {
    const { row: term } = event.target.closest("tbody tr") ?? {};
    if (!term) return;
    const [rows, columns] = channel.answer.shape;
    const around = (middle, all) => [Math.max(0, middle - 20), Math.min(all, middle + 21)];
    channel.zoom([...around(term.cell[0], rows), ...around(term.cell[1], columns)]);
  });

  function draw() {
    const { heaviest } = channel.details;
    table.fill(heaviest);
    const carried = heaviest.reduce((sum, term) => sum + term.share, 0);
    note.textContent = heaviest.length ? say("large.heaviest_note", {
      count: heaviest.length, terms: grouped(channel.answer.figures.terms), share: percent(carried),
    }) : say("ui.no_terms");
  }

  channel.on("details", draw);
  channel.on("language", () => { if (channel.details) draw(); });
};
