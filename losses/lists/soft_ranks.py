"""Differentiable ranks: 1 and a soft comparison with each other candidate."""

from torch import Tensor

from lossprism.losses.kernels import sigmoid
from lossprism.losses.symbols import candidate_by_candidate, list_by_candidate


def soft_ranks(differences: Tensor, pairs: Tensor) -> Tensor:
    """r̂_i = 1 + Σ_{j ≠ i} σ(d_ij) over the pairs that are there, [L, K]."""
    above = sigmoid(differences).masked_fill(~pairs, 0)
    above = above - above.diagonal(dim1=1, dim2=2).diag_embed()
    return 1 + above.sum(dim=2)


RANK_SYMBOLS = {
    "pairs": candidate_by_candidate(r"m_{l,i} m_{l,j}"),
    "differences": candidate_by_candidate(
        "d_{l,ij}",
        r"\frac{«scores[l,c]» - «scores[l,r]»}{«temperature»}",
        equals=r"(s_{l,j} - s_{l,i}) / \tau",
    ),
    "ranks": list_by_candidate(
        r"\hat r_{l,i}", equals=r"1 + \sum_{j \ne i} \sigma(d_{l,ij})", signed=False
    ),
}
