"""Results of the claims' trainings, as `scripts/measure_claims.py` measured and kept them."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lossprism.explorer.lab.claims.claim import (
    Chart,
    Check,
    ClaimBatch,
    Comparison,
    Curve,
    Sample,
    Side,
    Tolerance,
)
from lossprism.explorer.runtime.json_reading import read_json

FILE = Path(__file__).with_name("measured_trainings.json")


def measured(name: str, _: ClaimBatch) -> Check:
    """Return what the runs of a claim showed, nothing for one that was not measured. Verdicts are
    not in the file: they follow from its numbers."""
    return _checks().get(name, Check(()))


@functools.cache
def _checks() -> dict[str, Check]:
    return {name: _check(one) for name, one in read_json(FILE.read_text("utf-8")).items()}


def _check(one: Mapping[str, Any]) -> Check:
    chart = one["chart"]
    if chart:
        curves = (
            Curve(**{**curve, "x": tuple(curve["x"]), "y": tuple(curve["y"])})
            for curve in chart["curves"]
        )
        chart = Chart(**{**chart, "curves": tuple(curves)})
    return Check(
        tuple(map(_comparison, one["comparisons"])),
        tuple(Side(**fact) for fact in one["facts"]),
        chart,
        Sample(**one["sample"]),
    )


def _comparison(one: Mapping[str, Any]) -> Comparison:
    sides = {name: Side(**one[name]) for name in ("left", "right")}
    return Comparison(**{**one, **sides, "tolerance": Tolerance(**one["tolerance"])})
