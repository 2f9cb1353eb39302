"""Shared parts of the losses over ordered pairs of pairs: symbols, λ, and |P|.

In every matrix the row is the pair j that should score lower and the column the pair i that should
score higher, so a cell is λ(s_j − s_i), row minus column.
"""

from torch import Tensor

from lossprism.losses.spec import Parameter
from lossprism.losses.symbols import each_pair, pair_by_pair


def ordered_count(labels: Tensor) -> int:
    """|P|: how many pairs of pairs have y_i > y_j."""
    counts = labels.unique(return_counts=True)[1]
    return (len(labels) ** 2 - int(counts.square().sum())) // 2


def scaled_parts(scores: Tensor, *, scale: float) -> tuple[Tensor, Tensor]:
    """λ s_j and −λ s_i, of which a term is the sum."""
    scaled = scale * scores
    return scaled, -scaled


# Of libraries that compare no label below 0.
GRADED = {"graded": each_pair(r"y_i \ge 0", r"«labels[r]» \ge 0")}

LOG1P_OF_TERMS = r"\log\bigl(1 + «Σ exp terms»\bigr)"

SCALE = Parameter(
    "scale", 20.0, r"\lambda", 0.1, 1000.0, 0.1, logarithmic=True, role="scale", label="scale"
)

PAIR_SYMBOLS = {
    "scores": each_pair("s_i", stem="s"),
    "labels": each_pair("y_i", stem="y"),
    "scaled": each_pair("a_i", r"«scale» \cdot «scores[r]»", equals=r"\lambda s_i", stem="a"),
    "differences": pair_by_pair(
        "d_{ji}",
        r"«scale»\,(«scores[r]» - «scores[c]»)",
        equals=r"\lambda s_j - \lambda s_i",
        indices=("j", "i"),
    ),
    "ordered": pair_by_pair(r"y_j < y_i", r"«labels[r]» < «labels[c]»"),
    "terms": pair_by_pair(
        "t_{ji}",
        r"«scale»\,(«scores[r]» - «scores[c]»)",
        equals=r"d_{ji}\ \text{where}\ y_j < y_i",
        indices=("j", "i"),
    ),
}
