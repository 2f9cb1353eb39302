// The heaviest terms of the sum, and the labels that look wrong.
(window.LossPrismInstruments ??= {}).terms = (root, channel) => {
  "use strict";
  const { h, say, worded, show, percent, clip } = LossPrism;
  const headline = h("p.lp-note");
  const terms = h("tbody");
  const doubts = h("tbody");
  const more = h("p.lp-note");
  const none = worded("p.lp-note", "ui.no_suspects");
  const head = (...keys) => h("thead", {}, h("tr", {}, keys.map((key) => worded("th", key, { scope: "col" }))));
  const doubtTable = h("table", {}, head("ui.pair", "ui.label", "ui.would_fit", "ui.contradicts"), doubts);
  root.append(
    worded("h2", "ui.heaviest"), headline,
    h("div.lp-scroll", {}, h("table", {}, head("ui.row", "ui.column", "ui.value", "ui.share"), terms)),
    worded("h2", "ui.suspects"), worded("p.lp-note", "ui.suspects_note"), none,
    h("div.lp-scroll", {}, doubtTable), more,
  );

  const SHOWN = 8;
  const lines = Array.from({ length: SHOWN }, () => {
    const cells = Array.from({ length: 4 }, () => h("td"));
    const line = h("tr", { hidden: true }, cells);
    line.addEventListener("mouseenter", () => channel.point(line.pairs ?? [], line.cell));
    line.addEventListener("mouseleave", () => channel.point());
    return { line, cells };
  });
  terms.append(...lines.map(({ line }) => line));

  function nameOf(item) {
    if (!item) return "";
    if (item.axis === "pair") {
      return `${channel.numberOf(item.pair)} · ${clip(channel.batch.first[item.pair] ?? "", 34)} | ${clip(channel.batch.second[item.pair] ?? "", 34)}`;
    }
    if (item.sentence >= 0) return `${channel.nameOf(item.axis, item.item, item.pair)} · ${clip(channel.batch.sentences[item.sentence], 44)}`;
    return `${say(`axis.one.${item.axis}`)} ${item.item + 1}`;
  }

  function put(cell, text) {
    if (cell.textContent !== text) cell.textContent = text;
  }

  function draw() {
    const { heaviest, figures } = channel.picture;
    lines.forEach(({ line, cells }, place) => {
      const term = heaviest[place];
      line.hidden = !term;
      if (!term) return;
      const [row, column] = term.items.slice(-2);
      line.pairs = [...new Set(term.items.map((item) => item.pair).filter((pair) => pair >= 0))];
      line.cell = term.items.length === 2 ? term.items.map((item) => item.item) : null;
      put(cells[0], nameOf(row));
      put(cells[1], nameOf(column));
      put(cells[2], show(term.value, 4));
      put(cells[3], percent(term.share));
    });
    const enough = heaviest.findIndex((term) => term.so_far >= 0.8) + 1;
    const count = enough || heaviest.length;
    headline.textContent = heaviest.length
      ? say("ui.heaviest_note", {
        count, terms: figures.terms, share: percent(heaviest[count - 1].so_far),
      }) : say("ui.no_terms");
  }

  // Suspects depend on the batch alone, so they are rebuilt only when it changes.
  let doubted = "";
  function drawSuspects() {
    const { suspects } = channel.picture;
    const key = JSON.stringify([suspects, channel.batch.key]);
    if (key === doubted) return;
    doubted = key;
    none.hidden = suspects.length > 0;
    doubtTable.hidden = suspects.length === 0;
    more.textContent = suspects.length > SHOWN ? say("ui.more_suspects", { count: suspects.length - SHOWN }) : "";
    doubts.replaceChildren(...suspects.slice(0, SHOWN).map(({ pair, rate, fitting }) => {
      const line = h("tr", {},
        h("td", {}, `${channel.numberOf(pair)} · ${clip(channel.batch.first[pair], 40)} | ${clip(channel.batch.second[pair], 40)}`),
        h("td", {}, show(channel.batch.labels[pair])), h("td", {}, show(fitting)),
        h("td", {}, percent(rate)));
      line.addEventListener("mouseenter", () => channel.point([pair]));
      line.addEventListener("mouseleave", () => channel.point());
      line.pairs = [pair];
      return line;
    }));
  }

  function mark() {
    const { pairs } = channel.pointed;
    for (const line of root.querySelectorAll("tbody tr")) {
      const lit = pairs.length > 0 && (line.pairs ?? []).length > 0
        && pairs.every((pair) => line.pairs.includes(pair));
      line.classList.toggle("lp-lit", lit);
    }
  }

  channel.on("picture", () => { draw(); drawSuspects(); });
  channel.on("pointed", mark);
  channel.on("language", () => { if (channel.picture) draw(); });
};
