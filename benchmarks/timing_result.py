"""Results of the losses' benchmark, and their rows in a table."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

BUSY = 10  # times the time of the smallest size, from which on time grows with the data


@dataclass(frozen=True)
class Result:
    """Result of a rival on a case at one size. Errors are NaN without a reference."""

    case: str
    size: int
    who: str
    milliseconds: float
    saved_bytes: int
    peak_bytes: int
    error: float


def growth(results: list[Result]) -> dict[tuple[str, str], tuple[float, int, int]]:
    """The exponent of N in the time of each case and rival, fitted over its sizes that take
    `BUSY` times as long as its smallest: below, a call takes what it takes without any data."""
    series: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for one in results:
        series.setdefault((one.case, one.who), []).append((one.size, one.milliseconds))
    found = {}
    for name, points in series.items():
        busy = [(size, taken) for size, taken in points if taken >= BUSY * points[0][1]]
        if len(busy) > 1:
            x = [math.log(size) for size, _ in busy]
            y = [math.log(taken) for _, taken in busy]
            slope = statistics.linear_regression(x, y).slope
            found[name] = (slope, busy[0][0], busy[-1][0])
    return found


HEADS = (
    "loss",
    "N",
    "ours ms",
    "definition ms",
    "peer ms",
    "ours to the faster",
    "saved MB",
    "peak MB",
    "error",
)


def row(results: list[Result]) -> list[str]:
    """Return a row of the table: ours, the definition and the fastest peer."""
    ours = results[0]
    definition = next((one for one in results if one.who == "definition"), None)
    peer = min(
        (one for one in results[1:] if one.who != "definition"),
        key=lambda one: one.milliseconds,
        default=None,
    )
    others = [one for one in (definition, peer) if one]
    fastest = min((one.milliseconds for one in others), default=math.nan)
    three = (ours, definition, peer)
    known = {"sentence-transformers": "ST", "pytorch-metric-learning": "PML"}

    def triple(write: Callable[[Result], str]) -> str:
        return " / ".join(write(one) if one else "–" for one in three)

    return [
        ours.case,
        str(ours.size),
        digits(ours.milliseconds),
        digits(definition.milliseconds) if definition else "–",
        f"{digits(peer.milliseconds)} {known.get(peer.who, peer.who)}" if peer else "–",
        f"{ours.milliseconds / fastest:.2f}" if others else "–",
        triple(lambda one: digits(one.saved_bytes / 1e6)),
        triple(lambda one: digits(one.peak_bytes / 1e6)),
        triple(lambda one: f"{one.error:.0e}"),
    ]


def digits(value: float) -> str:
    """Three that count."""
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(places, 4)}f}"
