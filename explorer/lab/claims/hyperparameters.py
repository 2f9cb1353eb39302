"""Claims about settings: λ, the learning rate's schedule, a margin."""

from dataclasses import replace

import torch
from torch import Tensor

from lossprism.explorer.lab.claims.batches import S1_EXAMPLE
from lossprism.explorer.lab.claims.claim import (
    CORRECTED,
    Chart,
    Check,
    Claim,
    ClaimBatch,
    Comparison,
    Curve,
    Side,
)
from lossprism.explorer.lab.claims.ordered_pair_common import exponents, weights
from lossprism.losses.kernels.stable_functions import effective_count

# S1 eq. 50: the range of α.
ALPHA = (10.0, 30.0)
SWEPT_SCALES = torch.logspace(0, 2.5, 26, dtype=torch.float64)
# Warm-up steps that the schedule of S1 eq. 51 is computed for.
WARMUPS = (10, 100, 1000)
# S4's margin, and the largest one that is drawn.
MARGIN, LARGEST_MARGIN = 2.0, 2.5


def scale_by_spread(batch: ClaimBatch) -> Check:
    """Compare λ with α/σ, and count the terms that carry the gradient over λ."""
    deviation = float(batch.scores.std(correction=0))
    if deviation == 0 or not len(exponents(batch)):
        return Check(())
    low, high = (one / deviation for one in ALPHA)
    here = Side(r"\lambda", batch.scale)
    scales = tuple(SWEPT_SCALES.tolist())
    numbers = tuple(effective_count(weights(replace(batch, scale=one))) for one in scales)
    return Check(
        (
            Comparison(Side(r"10/\sigma_s", low), "≤", here),
            Comparison(here, "≤", Side(r"30/\sigma_s", high)),
        ),
        (
            Side(r"\sigma_s", deviation),
            Side("n_{\\text{eff}}", effective_count(weights(batch))),
            Side("|P|", float(len(exponents(batch)))),
        ),
        Chart("λ", "n", (Curve("effective_terms", scales, numbers),), logarithmic_y=True),
    )


def rates(warmup: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return steps from 1 to four times the warm-up's T, and the learning rate at each by S1 eq. 51
    and by √T times it, in units of lr₀, [4T] each."""
    steps = torch.arange(1, 4 * warmup + 1, dtype=torch.float64)
    printed = (steps / warmup).clamp_max(1) / steps.clamp_min(warmup).sqrt()
    return steps, printed, printed * warmup**0.5


def schedule(_: ClaimBatch) -> Check:
    """Compute the peak of S1 eq. 51 in units of lr₀, and that of √T times it."""
    comparisons, curves = [], []
    for warmup in WARMUPS:
        steps, printed, corrected = rates(warmup)
        one = Side(r"\mathrm{lr}_0", 1.0)
        name = rf"\max_t \mathrm{{lr}}(t)\ (T = {warmup})"
        comparisons.append(Comparison(Side(name, float(printed.max())), "=", one))
        comparisons += [
            Comparison(
                Side(rf"\sqrt{{T}}\,{name}", float(corrected.max())), "=", one, part=CORRECTED
            ),
            Comparison(
                Side(rf"\arg\max_t\ (T = {warmup})", float(corrected.argmax()) + 1),
                "=",
                Side("T", float(warmup)),
                part=CORRECTED,
            ),
        ]
        if warmup == WARMUPS[1]:
            x = tuple(steps.tolist())
            curves = [
                Curve("printed", x, tuple(printed.tolist())),
                Curve("corrected", x, tuple(corrected.tolist())),
            ]
    return Check(
        tuple(comparisons), chart=Chart("t", "lr / lr₀", tuple(curves), logarithmic_x=False)
    )


def reach_of_margin(batch: ClaimBatch) -> Check:
    """Compare the largest distance of the batch's unit vectors with the margin of 2, and count the
    negatives that are still pushed over the margin."""
    distances = (2 - 2 * batch.scores).clamp_min(0).sqrt()
    apart = distances[~batch.positive]
    if not len(apart):
        return Check(())
    margins = torch.linspace(0, LARGEST_MARGIN, 51, dtype=torch.float64)
    shares = [float((apart < one).double().mean()) for one in margins]
    largest = Side(r"\max d", float(apart.max()))
    return Check(
        (Comparison(largest, "≤", Side("m", MARGIN)),),
        (Side(r"\#\{d < m\} / \#\text{neg}", float((apart < MARGIN).double().mean())),),
        Chart(
            "m",
            "%",
            (Curve("active", tuple(margins.tolist()), tuple(100 * one for one in shares)),),
            logarithmic_x=False,
        ),
    )


CLAIMS = (
    Claim(
        name="S1-50",
        source="S1 eq. 50",
        formula=r"\lambda = \frac{\alpha}{\sigma_s},\quad \alpha \in [10, 30]",
        check=scale_by_spread,
        examples=(S1_EXAMPLE,),
        losses=("cosent",),
        advice=True,
    ),
    Claim(
        name="S1-51",
        source="S1 eq. 51",
        formula=r"\mathrm{lr}(t) = \mathrm{lr}_0 \cdot \min\Bigl(1, \frac{t}{T}\Bigr) \cdot"
        r" \frac{1}{\sqrt{\max(t, T)}}",
        check=schedule,
        examples=(S1_EXAMPLE,),
        needs="nothing",
    ),
    Claim(
        name="S4-range",
        source="S4",
        formula=r"\max(0, m - D)^2,\quad m = 2,\quad D = \lVert u - v\rVert \le 2",
        check=reach_of_margin,
        examples=(S1_EXAMPLE,),
        needs="vectors",
        losses=("contrastive",),
        scaled=False,
    ),
)
