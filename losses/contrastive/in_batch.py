"""What the losses on in-batch negatives share: their symbols, τ, and queries against keys.

In every matrix the row is the query (or the view that looks) and the column the key.
"""

from __future__ import annotations

import torch

from losses.kernels.tiled import (
    Directions,
)
from losses.spec import Parameter, Symbol


def directions_and_logits(wanted, queries, keys, scale):
    """The vectors as directions, and the logits of queries with keys."""
    count = len(queries)
    points = Directions(torch.cat((queries, keys)), wanted=any(wanted))
    sides = (wanted[0] or wanted[2], wanted[1] or wanted[2])
    return points, points.between(slice(0, count), slice(count, None), scale, sides)


def temperature_parameter(default: float) -> Parameter:
    return Parameter(
        "temperature", default, r"\tau", 0.005, 2.0, 0.005, logarithmic=True, role="temperature"
    )


LOG1P_OF_ROW = r"\log\bigl(1 + «Σ exp terms[r]»\bigr)"

QUERY_SYMBOLS = {
    "queries": Symbol("q_i", ("query", "dimension")),
    "keys": Symbol("k_j", ("key", "dimension")),
    "negatives": Symbol("n_j", ("key", "dimension")),
    "candidates": Symbol("k_j", ("key", "dimension")),
    "similarities": Symbol(r"c_{ij} = \cos(q_i, k_j)", ("query", "key")),
    "logits": Symbol(
        r"s_{ij} = c_{ij} / \tau", ("query", "key"), r"«similarities[r,c]» / «temperature»"
    ),
    "positive": Symbol(r"s_{ii}", ("query",), "«logits[r,r]»"),
    "others": Symbol(r"j \ne i", ("query", "key"), r"«c» \ne «r»"),
    "terms": Symbol(
        r"t_{ij} = s_{ij} - s_{ii}\ \text{where}\ j \ne i",
        ("query", "key"),
        r"«logits[r,c]» - «positive[r]»",
    ),
    "per_query": Symbol(
        r"\ell_i = \log\Bigl(1 + \sum_{j \ne i} e^{t_{ij}}\Bigr)",
        ("query",),
        LOG1P_OF_ROW,
        signed=False,
    ),
    "loss": Symbol(r"\mathcal L = \frac1N \sum_i \ell_i"),
}
