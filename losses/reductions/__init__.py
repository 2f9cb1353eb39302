"""Reductions that the losses share: from many terms to one number, exactly.

`plain` works on terms that are there; the other files never build the N×N matrix.
"""

from losses.reductions.ordered import log1p_ordered_sum_exp
from losses.reductions.plain import log1p_sum_exp, log_sum_exp, mean_of, softplus

__all__ = ["log1p_ordered_sum_exp", "log1p_sum_exp", "log_sum_exp", "mean_of", "softplus"]
