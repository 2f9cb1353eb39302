"""Geometry and sums as a reader would write them, for exported code.

The functions of `losses.geometry` and `losses.kernels` support lengths whose squares underflow or
overflow, autocast, rows in which every term is masked, and derivatives of every order; in a program
that computes one loss of ordinary vectors that hides the formula. These give the same numbers for
lengths between 1e-12 and 1e150.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn.functional import normalize

from lossprism.losses import geometry, kernels


def unit(vectors: Tensor) -> Tensor:
    """Divide each row [..., D] by its length."""
    return normalize(vectors, dim=-1)


def cosine(first: Tensor, second: Tensor) -> Tensor:
    """Return cos(u_i, v_i) of the rows of two [N, D]: [N]."""
    return (normalize(first, dim=-1) * normalize(second, dim=-1)).sum(dim=-1)


def dot_matrix(rows: Tensor, columns: Tensor) -> Tensor:
    """Return u_i·v_j of every row [N, D] with every column [K, D]: [N, K]."""
    return rows @ columns.T


def cosine_matrix(rows: Tensor, columns: Tensor) -> Tensor:
    """Return cos(u_i, v_j) of every row [N, D] with every column [K, D]: [N, K]."""
    return normalize(rows, dim=-1) @ normalize(columns, dim=-1).T


def distance_of_rows(first: Tensor, second: Tensor, kind: str = "euclidean") -> Tensor:
    """Return d(u_i, v_i) of the rows of two [N, D]: [N]."""
    if kind == "cosine":
        return 1 - cosine(first, second)
    lengths = (first - second).norm(dim=-1)
    return lengths.square() if kind == "squared_euclidean" else lengths


def distance_matrix(rows: Tensor, columns: Tensor, kind: str = "euclidean") -> Tensor:
    """Return d(u_i, v_j) of every row [N, D] with every column [K, D]: [N, K]."""
    if kind == "cosine":
        return 1 - cosine_matrix(rows, columns)
    lengths = torch.cdist(rows, columns, compute_mode="donot_use_mm_for_euclid_dist")
    return lengths.square() if kind == "squared_euclidean" else lengths


def log1p_sum_exp(terms: Tensor, dim: int | None = None) -> Tensor:
    """Return log(1 + Σ exp(terms)) along `dim`, or over all terms."""
    total = terms.flatten().logsumexp(dim=0) if dim is None else terms.logsumexp(dim=dim)
    return torch.logaddexp(total, torch.zeros_like(total))


# By the function of ours the one that stands for it; one of torch's is called by its full name.
PLAIN_FORMS: Mapping[Callable, Callable] = {
    geometry.unit: unit,
    geometry.cosine: cosine,
    geometry.dot_matrix: dot_matrix,
    geometry.cosine_matrix: cosine_matrix,
    geometry.distance: distance_of_rows,
    geometry.distance_matrix: distance_matrix,
    kernels.log1p_sum_exp: log1p_sum_exp,
    kernels.log_sum_exp: torch.logsumexp,
    kernels.log_add_exp: torch.logaddexp,
}
