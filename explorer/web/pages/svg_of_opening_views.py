"""Figures of pages that open with no scenario of Explore: what the page shows first."""

import base64
import functools
import math
from collections.abc import Callable, Sequence
from typing import Unpack

import numpy as np
import torch

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.resolved_scenario import resolve
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export.figure.appearance import PALETTES, Look, palette_of
from lossprism.explorer.export.figure.cells import Cells
from lossprism.explorer.export.figure.chart import chart_figure
from lossprism.explorer.export.figure.chart_sent_by_page import (
    Chart,
    Colour,
    Panel,
    PlotAxis,
    Trace,
)
from lossprism.explorer.export.figure.svg_elements import png
from lossprism.explorer.lab.claims.batches import claim_batch
from lossprism.explorer.lab.claims.claim_lookup import claims
from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.landscape.loss_over_two_scores import comparisons, surface
from lossprism.explorer.lab.map.sentence_map import map_of_scenario
from lossprism.explorer.lab.sphere.film import film
from lossprism.explorer.lab.sphere.presets import PRESETS
from lossprism.explorer.lab.sphere.starting_points import placed
from lossprism.explorer.locale import language_of, say, spelled, title_word
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.number_format import percent
from lossprism.explorer.web.pages.claims.state_entries import OPENING as FIRST_CLAIM
from lossprism.explorer.web.pages.claims.state_entries import SCALE
from lossprism.explorer.web.pages.landscape.state_entries import FIRST as FIRST_LANDSCAPES
from lossprism.explorer.web.pages.large.remark_and_download_requests import drawn_figure
from lossprism.explorer.web.pages.large.request_handlers import read_query, start_opening
from lossprism.explorer.web.pages.sphere.state_entries import TURN
from lossprism.losses import LOSSES

PANEL_SIDE, GRID_POINTS, DOT_RADIUS = 360.0, 81, 5.0
MAP_SIZE = 720.0, 460.0
FAR_SIDE_OPACITY = 0.35  # opacity of points behind the sphere
MAX_LINE_WIDTH = 5.0  # pixels, of the line with the largest gradient
HEIGHT_LEVELS = 14  # of heights
CURVES = ("side_1", "side_2", "side_3", "side_4", "faint")


Shape = dict[str, str | float]


def _in_turn(draw: Callable[..., str]) -> Callable[..., str]:
    @functools.wraps(draw)
    def drawn(**look: Unpack[Look]) -> str:
        with jobs.heavy_work_turn():
            return draw(**look)

    return drawn


def large(**look: Unpack[Look]) -> str:
    """Draw the map of all terms of the random pairs."""
    query = read_query({})
    session = jobs.result_within(lambda: start_opening(query), jobs.step)
    return drawn_figure(query, session, "map_svg", look)


@_in_turn
def sphere(**look: Unpack[Look]) -> str:
    """Draw the points of the first film before and after its steps."""
    language, preset = language_of(look.get("language")), PRESETS[0]
    steps = preset.steps.count
    batch = placed(preset.start).batch
    frames = film(resolve(preset.sides[0].applied_to(Scenario())), batch, preset.steps).frames
    titles = [say(language, "sphere.step", step=at, steps=steps) for at in (0, steps)]
    panels = [
        _sphere_panel(title, frame)
        for title, frame in zip(titles, (frames[0], frames[-1]), strict=True)
    ]
    caption = [say(language, f"sphere.watch.{preset.name}")]
    return chart_figure(Chart(say(language, "sphere.heading"), caption, [], panels, 2), **look)


def _sphere_panel(title: str, points: torch.Tensor) -> Panel:
    """Return points [S, 3] as seen from where the page looks at them."""
    around, down = (math.radians(one) for one in TURN)
    x, y, z = points.double().T
    right, away = (
        math.cos(around) * x - math.sin(around) * y,
        math.sin(around) * x + math.cos(around) * y,
    )
    up, near = (
        math.cos(down) * z + math.sin(down) * away,
        math.sin(down) * z - math.cos(down) * away,
    )
    middle, radius = PANEL_SIDE / 2, PANEL_SIDE / 2 - 2 * DOT_RADIUS
    line = {"stroke": "line", "stroke-width": 1.0}
    shapes = [_shape("circle", cx=middle, cy=middle, r=radius, **line)]
    for place in near.argsort().tolist():  # the nearest last
        at = {"cx": middle + radius * float(right[place]), "cy": middle - radius * float(up[place])}
        opacity = 1.0 if near[place] >= 0 else FAR_SIDE_OPACITY
        shapes.append(_shape("circle", r=DOT_RADIUS, fill="side_1", opacity=opacity, **at))
    return _panel(title, PANEL_SIDE, PANEL_SIDE, shapes)


def _panel(title: str, wide: float, tall: float, shapes: list[Shape]) -> Panel:
    return Panel(title, wide, tall, None, [], [], shapes)


@_in_turn
def landscape(**look: Unpack[Look]) -> str:
    """Draw the heights of both losses from above, with the comparisons of the batch."""
    language = language_of(look.get("language"))
    batch = make_batch(Scenario().data, Scenario().rules)
    panels = []
    for one in FIRST_LANDSCAPES:
        side = Side(one["loss"], one["convention"], tuple(one["parameters"].items()))
        resolved = resolve(side.applied_to(Scenario()))
        axis = torch.linspace(-1, 1, GRID_POINTS, dtype=torch.float64)
        negatives, positives = torch.meshgrid(axis.flip(0), axis, indexing="ij")
        points = torch.stack([positives.flatten(), negatives.flatten()], dim=1)
        heights = surface(resolved, points).values.view(GRID_POINTS, GRID_POINTS).cpu().numpy()
        dots = comparisons(batch, resolved.spec).tolist()
        title = spelled(language, "loss", title_word(LOSSES[side.loss]))
        panels.append(_landscape_panel(title, heights, dots, language, look))
    return chart_figure(
        Chart(say(language, "page.landscape"), [say(language, "landscape.about")], [], panels, 2),
        **look,
    )


def _landscape_panel(
    title: str, heights: np.ndarray, dots: Sequence[Sequence[float]], language: str, look: Look
) -> Panel:
    """Return heights [rows, columns] in even steps of the pale half of the ramp, with dots (s_p,
    s_n) and the names of both axes."""
    low, high = float(heights.min()), float(heights.max())
    steps = np.floor((heights - low) / (high - low or 1) * HEIGHT_LEVELS) / HEIGHT_LEVELS
    ramp = (PALETTES[palette_of(look)], steps, np.zeros_like(steps, bool), "sequential", 0.0, 2.0)
    picture = base64.b64encode(png(Cells(*ramp, called="").colours())).decode()

    def place(score: float) -> float:
        return (1 + score) / 2 * PANEL_SIDE

    box = {"x": 0.0, "y": 0.0, "width": PANEL_SIDE, "height": PANEL_SIDE}
    shapes = [_shape("image", href=f"data:image/png;base64,{picture}", **box)]
    shapes += [
        _shape("circle", cx=place(positive), cy=place(-negative), r=2.0, fill="up")
        for positive, negative in dots
        if max(abs(positive), abs(negative)) <= 1
    ]
    style = {"text-anchor": "middle", "font-size": 12.0}
    name = say(language, "landscape.positive") + " →"
    shapes.append(
        _shape("text", x=PANEL_SIDE / 2, y=PANEL_SIDE - 8, text=name, fill="ink", **style)
    )
    name = "↑ " + say(language, "landscape.negative")
    style["text-anchor"] = "start"
    shapes.append(_shape("text", x=8.0, y=18.0, text=name, fill="ink", **style))
    return _panel(title, PANEL_SIDE, PANEL_SIDE, shapes)


def _shape(tag: str, **values: str | float) -> Shape:
    return {"tag": tag, "stroke-dasharray": "", **values}


@_in_turn
def sentences(**look: Unpack[Look]) -> str:
    """Draw the sentences as points and the pairs as lines, as wide as their gradients are large."""
    language = language_of(look.get("language"))
    sentence_map = map_of_scenario(Scenario(), "pca")
    [frame] = sentence_map.frames
    points, largest = frame.points, float(np.abs(frame.gradient).max()) or 1.0
    unit = min(one / span for one, span in zip(MAP_SIZE, 1.1 * np.ptp(points, axis=0), strict=True))
    middle = (points.min(0) + points.max(0)) / 2
    places = np.array(MAP_SIZE) / 2 + (points - middle) * (unit, -unit)
    shapes = [
        _shape(
            "line",
            x1=float(places[one, 0]),
            y1=float(places[one, 1]),
            x2=float(places[other, 0]),
            y2=float(places[other, 1]),
            stroke="down" if gradient < 0 else "up" if gradient > 0 else "line",
            **{"stroke-width": max(abs(float(gradient)) / largest * MAX_LINE_WIDTH, 0.6)},
        )
        for one, other, gradient in zip(
            sentence_map.first, sentence_map.second, frame.gradient, strict=True
        )
    ]
    shapes += [_shape("circle", cx=x, cy=y, r=4.0, fill="side_1") for x, y in places.tolist()]
    kept = sum(sentence_map.projection.shares or ())
    caption = [
        say(language, "sentence_map.kept", share=percent(kept)),
        say(language, "sentence_map.width"),
    ]
    legend = [
        (say(language, f"sentence_map.{name}"), Colour(colour), "")
        for name, colour in (("pull", "down"), ("push", "up"))
    ]
    panel = _panel("", *MAP_SIZE, shapes)
    return chart_figure(
        Chart(say(language, "page.sentence_map"), caption, legend, [panel], 1), **look
    )


@_in_turn
def claim(**look: Unpack[Look]) -> str:
    """Draw the curves of the first claim on the batch."""
    language = language_of(look.get("language"))
    chart = claims()[FIRST_CLAIM].check(claim_batch(resolve(Scenario()).batch, SCALE)).chart
    assert chart is not None
    traces = [
        Trace("lines", list(one.x), list(one.y), Colour(colour), 2.5)
        for one, colour in zip(chart.curves, CURVES, strict=False)
    ]
    legend = [
        (say(language, f"claims.curve.{one.name}"), trace.colour, "")
        for one, trace in zip(chart.curves, traces, strict=True)
    ]
    axes = (
        _logarithmic_axis(chart.x, [x for one in traces for x in one.x]),
        _logarithmic_axis(chart.y, [y for one in traces for y in one.y]),
    )
    panel = Panel("", 2 * PANEL_SIDE, PANEL_SIDE, axes, traces, [], [])
    title = say(language, f"claims.{FIRST_CLAIM}.claim")
    caption = [say(language, "page.about.claims")]
    return chart_figure(Chart(title, caption, legend, [panel], 1), **look)


def _logarithmic_axis(title: str, values: Sequence[float]) -> PlotAxis:
    return PlotAxis(math.log10(min(values)), math.log10(max(values)), True, title)


FIGURES: dict[str, Callable[..., str]] = {
    "large": large,
    "learn/sphere": sphere,
    "learn/landscape": landscape,
    "learn/map": sentences,
    "learn/claims": claim,
}
