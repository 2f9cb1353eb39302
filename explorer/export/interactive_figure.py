"""Interactive figures: one self-contained HTML file, for a slide or a handout.

It holds the page's matrix, drawn by plotly from the same cells and colours as the SVG; hovering
over a cell shows its sentences and value. The user's texts are data in it and shown as text; the
file itself forbids every request to elsewhere.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

import numpy as np

from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export.caption import caption, title_of
from lossprism.explorer.export.exploration_arrays import picture
from lossprism.explorer.export.figure.appearance import FONTS, MATH
from lossprism.explorer.export.figure.axes import Axis
from lossprism.explorer.export.figure.cells import Cells, cells_of
from lossprism.explorer.export.figure.files import read_scenario, save
from lossprism.explorer.export.figure.formula import Run
from lossprism.explorer.export.figure.matrix import matrix_figure
from lossprism.explorer.export.figure.svg_elements import Pen, clean
from lossprism.explorer.export.palette import Palette, ramp_table
from lossprism.explorer.locale import catalogue, say
from lossprism.explorer.runtime.number_format import display_number

HERE = Path(__file__).resolve().parent
SAFE = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)
# Beyond so many rows or columns only some are named beside the matrix.
MAX_TICKS = 32
# Of the 256 shades of a ramp plotly gets every fifth, and puts straight lines between them.
SHADES_APART = 5


def interactive_figure(
    exploration: Exploration, *, language: str = "en", dark: bool = False
) -> str:
    """Return the step and facet that `scenario.view` chooses, as an HTML document."""
    made = picture(exploration)
    shown, step = made.shown, made.steps[made.chosen]
    pen = Pen.of(language=language, dark=dark)
    if shown.rows * shown.columns == 0 or step.value is not None:  # nothing to point at
        drawn = matrix_figure(exploration, language=language, dark=dark)
        return _document(exploration, pen, f"<main>{drawn}</main>")
    cells = cells_of(exploration, shown, pen.palette)
    rows = Axis(exploration, shown.row_axis, shown.all_rows, language)
    columns = Axis(exploration, shown.column_axis, shown.all_columns, language)
    formula = exploration.spec.formula_at(**exploration.parameters)
    head = [f"<h1>{escape(clean(title_of(exploration, language)))}</h1>"]
    if formula:
        whole = _html(pen.formula(r"\mathcal L = " + formula))
        head.append(f"<p class='formula'>{whole}</p>")
    named = _html(pen.formula(shown.latex)) if shown.latex else escape(shown.name)
    head.append(f"<p class='formula'>{named} · {escape(pen.say(cells.called))}</p>")
    legend = [f"<p>{escape(clean(sentence))}</p>" for sentence in caption(exploration, language)]
    data = {
        "figure": json.loads(_drawn(cells, rows, columns, pen.palette)),
        "rows": [_side(rows, place) for place in range(cells.rows)] if cells.rows > 1 else [[]],
        "columns": [_side(columns, place) for place in range(cells.columns)],
        "values": _values(cells, pen.say("ui.takes_no_part")),
        "hint": {"point": pen.say("interactive.hint"), "touch": pen.say("interactive.hint.touch")},
    }
    from plotly.offline import get_plotlyjs  # takes its time, and only this file needs it

    plain = json.dumps(data).replace("<", "\\u003c")
    script = (HERE / "interactive_figure.js").read_text(encoding="utf-8")
    body = [
        f"<main>{''.join(head)}<div id='plot'></div><div id='card' aria-live='polite'></div>",
        f"<footer>{''.join(legend)}</footer></main>",
        f"<script type='application/json' id='data'>{plain}</script>",
        f"<script>{get_plotlyjs()}</script>",
        f"<script>{script}</script>",
    ]
    return _document(exploration, pen, "\n".join(body))


def write_interactive(
    source: Scenario | str | Path, out: str | Path, *, language: str = "en", dark: bool = False
) -> Path:
    """Explore a scenario and write its interactive figure to an .html file.

    `source` is as for `figure.write_figure`.

    Raises:
        Problem: if there is no such scenario, or the file cannot be written.
    """
    drawn = interactive_figure(explore(read_scenario(source)), language=language, dark=dark)
    save(drawn, Path(out))
    return Path(out)


def _values(cells: Cells, absent: str) -> list[list[str]]:
    """Return the hover text of every cell."""
    out = (cells.masked | cells.absent).tolist()
    rows = zip(cells.values.tolist(), out, strict=True)
    return [
        [absent if gone else display_number(value) for value, gone in zip(*row, strict=True)]
        for row in rows
    ]


def _drawn(cells: Cells, rows: Axis, columns: Axis, palette: Palette) -> str:
    """Return the matrix as plotly's JSON."""
    import plotly.graph_objects as go

    values = np.where(np.isfinite(cells.values), cells.values, np.nan)
    values[cells.masked] = np.nan
    matrix = go.Heatmap(
        z=values,
        zmin=cells.least,
        zmax=cells.largest,
        colorscale=_colour_scale(cells),
        hoverinfo="none",
        xgap=1 if cells.columns <= MAX_TICKS else 0,
        ygap=1 if 1 < cells.rows <= MAX_TICKS else 0,
        colorbar={"outlinewidth": 0, "thickness": 14},
    )
    down = {**_axis(rows), "autorange": "reversed", "scaleanchor": "x", "constrain": "domain"}
    if cells.rows == 1:
        down = {"visible": False}
    layout = go.Layout(
        template="none",
        xaxis={**_axis(columns), "constrain": "domain"},
        yaxis=down,
        height=180 if cells.rows == 1 else 620,
        margin={"l": 70, "r": 20, "t": 16, "b": 60},
        font={"family": FONTS, "color": palette.ink},
        paper_bgcolor=palette.sheet,
        plot_bgcolor=palette.sheet,
    )
    return str(go.Figure(matrix, layout).to_json())


def _colour_scale(cells: Cells) -> list[list[float | str]]:
    """Return the ramp in plotly's form: the part of the range for each colour."""
    colours = [f"rgb{tuple(colour)}" for colour in ramp_table(cells.stops)[::SHADES_APART].tolist()]
    ends = len(colours) - 1
    return [[(place / ends) ** cells.root, colour] for place, colour in enumerate(colours)]


def _axis(axis: Axis) -> dict[str, object]:
    every = -(-len(axis) // MAX_TICKS)
    places = list(range(0, len(axis), every))
    return {
        "title": {"text": axis.title()},
        "tickvals": places,
        "ticktext": [axis.number(place) for place in places],
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
    }


def _side(axis: Axis, place: int) -> list[str]:
    """Describe a row or column: its name, its sentences, its label."""
    known = catalogue(axis.language)
    name = known.get(f"axis.one.{axis.name}", axis.name)
    lines = [f"{name} {axis.number(place)}".strip()]
    pairs = axis.exploration.batch.pairs
    pair = axis.pairs[place] if place < len(axis.pairs) else -1
    sentence = axis.sentences[place] if place < len(axis.sentences) else -1
    if sentence >= 0:
        lines.append(pairs.sentences[sentence])
    elif pair >= 0:
        values = {"label": axis.label(place), "score": display_number(float(axis.scores[pair]))}
        lines += [pairs.first[pair], pairs.second[pair]]
        lines.append(say(axis.language, "ui.pair_facts", **values))
    return [clean(line) for line in lines]


def _html(formula: list[Run]) -> str:
    """Return a formula as text with raised and lowered parts."""
    out = []
    for run in formula:
        style = f"font-size:{run.size:.2g}em;position:relative;top:{-run.rise:.2g}em"
        style += ";font-style:italic" if run.italic else ""
        out.append(f"<span style='{style}'>{escape(run.text)}</span>")
    return "".join(out)


def _document(e: Exploration, pen: Pen, body: str) -> str:
    palette = pen.palette
    style = (
        f"body{{margin:0;background:{palette.sheet};color:{palette.ink};"
        f"font:15px/1.45 {FONTS}}}"
        "main{max-width:980px;margin:0 auto;padding:18px 22px}h1{font-size:25px;margin:0}"
        f".formula{{font-family:{MATH};font-size:17px;margin:4px 0;white-space:pre-wrap}}"
        f"#card{{min-height:118px;border:1px solid {palette.line};border-radius:8px;"
        "padding:10px 14px;display:flex;gap:26px;overflow-wrap:anywhere}"
        "#card>div{flex:1 1 0;min-width:0}#card p,footer p{margin:2px 0}"
        f"#card b{{color:{palette.accent}}}"
        f"footer{{color:{palette.faint};font-size:13px;margin-top:12px}}"
    )
    return "\n".join(
        [
            "<!doctype html>",
            f"<html lang='{pen.language}'><head><meta charset='utf-8'>",
            f'<meta http-equiv="Content-Security-Policy" content="{SAFE}">',
            "<meta name='viewport' content='width=device-width, initial-scale=1'>",
            f"<title>{escape(clean(title_of(e, pen.language)))}</title>",
            f"<style>{style}</style></head><body>",
            body,
            "</body></html>",
            "",
        ]
    )
