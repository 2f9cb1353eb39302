// Draws the figure and says what the cell under the pointer is about.
(() => {
  "use strict";
  const given = JSON.parse(document.getElementById("data").textContent);
  const [plot, card] = ["plot", "card"].map((name) => document.getElementById(name));
  const masked = new Set(given.masked);

  const element = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  function side([name, ...lines]) {
    const box = document.createElement("div");
    if (name) box.append(element("b", name), ...lines.map((line) => element("p", line)));
    return box;
  }

  function show({
    points: [
      {
        pointIndex: [row, column],
        z,
      },
    ],
  }) {
    const absent = masked.has(row * given.columns.length + column);
    const value = absent ? given.absent : Number.isFinite(z) ? String(Number(z.toPrecision(5))) : "NaN";
    card.replaceChildren(side(given.rows[row]), side(given.columns[column]), side([value]));
  }

  card.append(element("p", given.hint));
  const { data, layout } = given.figure;
  window.Plotly.newPlot(plot, data, layout, { responsive: true, displaylogo: false }).then(() =>
    plot.on("plotly_hover", show),
  );
})();
