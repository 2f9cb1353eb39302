"""Shared parts of the losses over ordered pairs of pairs: symbols, λ, and |P|.

In every matrix the row is the pair j that should score lower and the column the pair i that should
score higher, so a cell is λ(s_j − s_i), row minus column.
"""

from torch import Tensor

from lossprism.losses.spec import Parameter, Symbol


def ordered_count(labels: Tensor) -> int:
    """|P|: how many pairs of pairs have y_i > y_j."""
    counts = labels.unique(return_counts=True)[1]
    return (len(labels) ** 2 - int(counts.square().sum())) // 2


def scaled_parts(scores: Tensor, *, scale: float) -> tuple[Tensor, Tensor]:
    """λ s_j and −λ s_i, of which a term is the sum."""
    scaled = scale * scores
    return scaled, -scaled


# Of libraries that compare no label below 0.
GRADED = {"graded": Symbol(r"y_i \ge 0", ("pair",), r"«labels[r]» \ge 0")}

LOG1P_OF_TERMS = r"\log\bigl(1 + «Σ exp terms»\bigr)"

SCALE = Parameter(
    "scale", 20.0, r"\lambda", 0.1, 1000.0, 0.1, logarithmic=True, role="scale", label="scale"
)

PAIR_SYMBOLS = {
    "scores": Symbol("s_i", ("pair",), stem="s"),
    "labels": Symbol("y_i", ("pair",), stem="y"),
    "scaled": Symbol(
        "a_i", ("pair",), r"«scale» \cdot «scores[r]»", equals=r"\lambda s_i", stem="a"
    ),
    "differences": Symbol(
        "d_{ji}",
        ("pair", "pair"),
        r"«scale»\,(«scores[r]» - «scores[c]»)",
        equals=r"\lambda s_j - \lambda s_i",
        indices=("j", "i"),
    ),
    "ordered": Symbol(r"y_j < y_i", ("pair", "pair"), r"«labels[r]» < «labels[c]»"),
    "terms": Symbol(
        "t_{ji}",
        ("pair", "pair"),
        r"«scale»\,(«scores[r]» - «scores[c]»)",
        equals=r"d_{ji}\ \text{where}\ y_j < y_i",
        indices=("j", "i"),
    ),
}
