// Draws the figure and says what the cell under the pointer is about.
(() => {
  "use strict";

  /** @param {string} name */
  function find(name) {
    const found = document.getElementById(name);
    if (!found) throw new Error(name);
    return found;
  }
  const given = JSON.parse(find("data").textContent ?? "");
  const card = find("card");

  /** @type {(tag: string, text: string) => HTMLElement} */
  const element = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  /** @param {string[]} words */
  function side([name, ...lines]) {
    const box = document.createElement("div");
    if (name) box.append(element("b", name), ...lines.map((line) => element("p", line)));
    return box;
  }

  /** @param {{ points: { pointIndex: [number, number] }[] }} hover */
  function show({
    points: [
      {
        pointIndex: [row, column],
      },
    ],
  }) {
    card.replaceChildren(side(given.rows[row]), side(given.columns[column]), side([given.values[row][column]]));
  }

  const hand = matchMedia("(hover: hover) and (pointer: fine)").matches ? "point" : "touch";
  card.append(element("p", given.hint[hand]));
  const { data, layout } = given.figure;
  window.Plotly.newPlot(find("plot"), data, layout, { responsive: true, displaylogo: false }).then((drawn) =>
    drawn.on("plotly_hover", show),
  );
})();
