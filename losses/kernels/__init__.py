"""Exact fast forms of the losses: from many terms to one number and its gradient.

`stable_functions` works on terms in memory, `small_batch_losses` on matrices so small that building
them is fastest; the other files never build the N×N matrix of a large batch.
"""

from lossprism.losses.kernels.log_sum_over_ordered_pairs import (
    log1p_ordered_sum_exp,
    ordered_sum,
    ordered_sum_of_levels,
)
from lossprism.losses.kernels.ordered_hinge_and_logistic_sums import (
    hinge_sum,
    largest_violation,
    logistic_sum,
)
from lossprism.losses.kernels.stable_functions import (
    log1p_sum_exp,
    log_add_exp,
    log_sum_exp,
    mean_of,
    sigmoid,
    softplus,
)

__all__ = [
    "hinge_sum",
    "largest_violation",
    "log1p_ordered_sum_exp",
    "log1p_sum_exp",
    "log_add_exp",
    "log_sum_exp",
    "logistic_sum",
    "mean_of",
    "ordered_sum",
    "ordered_sum_of_levels",
    "sigmoid",
    "softplus",
]
