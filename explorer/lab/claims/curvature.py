"""Claims about second derivatives of CoSENT."""

from dataclasses import replace

import torch
from torch import Tensor

from lossprism.explorer.lab.claims.batches import S0_EXAMPLE, S1_EXAMPLE
from lossprism.explorer.lab.claims.claim import (
    CORRECTED,
    ZERO,
    Chart,
    Check,
    Claim,
    ClaimBatch,
    Comparison,
    Curve,
    Side,
    Tolerance,
)
from lossprism.explorer.lab.claims.ordered_pair_common import (
    exponents,
    log_one_plus_exp,
    ordered,
    weights,
)

SWEPT_SCALES = torch.logspace(-1, 2.5, 29, dtype=torch.float64)
# From float64 a second derivative comes with this share of error.
SECOND_DERIVATIVE_TOLERANCE = Tolerance(1e-6, 0.0)


def second_derivative(batch: ClaimBatch) -> Check:
    """Compare f″ of f(s) = log(1 + Σ e^{λ(a_k − s)}) with the printed and the corrected formula, at
    the pair where it is largest."""
    above = ordered(batch)
    sums = []  # of each pair that stands above others
    for pair in above.any(1).nonzero().flatten().tolist():
        terms = batch.scale * (batch.scores[above[pair]] - batch.scores[pair])
        sums.append((float(terms.logsumexp(0)), pair))
    if not sums:
        return Check(())
    # S/(1 + S)² is largest where S is nearest to 1.
    _, pair = min((abs(log_sum), place) for log_sum, place in sums)
    lower = batch.scores[above[pair]]
    score = batch.scores[pair].clone().requires_grad_()
    terms = batch.scale * (lower - score)
    value = log_one_plus_exp(terms.logsumexp(0))
    (slope,) = torch.autograd.grad(value, score, create_graph=True)
    (real,) = torch.autograd.grad(slope, score)
    total = terms.detach().exp()
    numerator = total.sum() * total.sum() - total.sum() ** 2
    printed = float(batch.scale**2 * numerator / (1 + total.sum()) ** 2)
    share = terms.detach().logsumexp(0).sigmoid()
    corrected = float(batch.scale**2 * share * (1 - share))
    left = Side(r"f''(s)", float(real))
    return Check(
        (
            Comparison(left, "=", Side(r"(18)", printed), tolerance=SECOND_DERIVATIVE_TOLERANCE),
            Comparison(
                left,
                "=",
                Side(r"\lambda^2\,S/(1 + S)^2", corrected),
                part=CORRECTED,
                tolerance=Tolerance(SECOND_DERIVATIVE_TOLERANCE.relative, 1e-9 * batch.scale**2),
            ),
            Comparison(
                ZERO,
                "≤",
                Side(r"\lambda_{\min}(H)", float(torch.linalg.eigvalsh(hessian(batch))[0])),
                part="convexity",
                tolerance=Tolerance(0.0, 1e-12 * batch.scale**2),
            ),
        ),
        (Side("S", float(total.sum())), Side(r"\lambda", batch.scale)),
    )


def hessian(batch: ClaimBatch) -> Tensor:
    """Return the second derivatives of CoSENT by the scores, [N, N]:
    λ²(diag(above + below) − W − Wᵀ − g gᵀ) for the weights W of the terms."""
    share = weights(batch)
    above, below = share.sum(1), share.sum(0)
    slope = below - above
    matrix = torch.diag(above + below) - share - share.T - torch.outer(slope, slope)
    return batch.scale**2 * matrix


def lipschitz(batch: ClaimBatch) -> Check:
    """Compare the largest curvature with the printed bound and the least one, at λ and over λ."""
    if not len(exponents(batch)):
        return Check(())

    def largest(scale: float, pairs: int = len(batch)) -> float:
        first = {name: getattr(batch, name)[:pairs] for name in ("scores", "labels")}
        at = hessian(replace(batch, scale=scale, **first))
        return float(torch.linalg.eigvalsh(at)[-1])

    here = Side(r"\lambda_{\max}(H)", largest(batch.scale))
    squared = batch.scale**2
    scales = tuple(SWEPT_SCALES.tolist())
    curves = (
        Curve("curvature", scales, tuple(map(largest, scales))),
        Curve("twice_scale", scales, tuple(2 * one**2 for one in scales)),
        Curve("printed_bound", scales, tuple(one**2 * len(batch) ** 2 for one in scales)),
    )
    return Check(
        (
            Comparison(here, "≤", Side(r"\lambda^2 N^2", squared * len(batch) ** 2)),
            Comparison(here, "≤", Side(r"2\lambda^2", 2 * squared), part=CORRECTED),
        ),
        # Of the first pairs alone, for the constant is said to grow with their number.
        tuple(
            Side(
                rf"\lambda_{{\max}}(H)/\lambda^2\ (N = {pairs})",
                largest(batch.scale, pairs) / squared,
            )
            for pairs in sorted({len(batch) // 4, len(batch) // 2, len(batch)})
            if pairs > 1
        ),
        Chart("λ", "λ_max(H)", curves, logarithmic_y=True),
    )


CLAIMS = (
    Claim(
        name="S1-18",
        source="S1 eq. 18",
        formula=r"f''(s) = \lambda^2\,\frac{\sum_k e^{\lambda(a_k - s)} \cdot"
        r" \sum_k e^{\lambda(a_k - s)} - \bigl(\sum_k e^{\lambda(a_k - s)}\bigr)^2}"
        r"{\bigl(1 + \sum_k e^{\lambda(a_k - s)}\bigr)^2} \ge 0",
        check=second_derivative,
        examples=(S1_EXAMPLE, S0_EXAMPLE),
        losses=("cosent",),
    ),
    Claim(
        name="S1-19",
        source="S1 eq. 19",
        formula=r"\lVert\nabla\mathcal L(s) - \nabla\mathcal L(s')\rVert"
        r" \le L\,\lVert s - s'\rVert,\quad L = O(\lambda^2 N^2)",
        check=lipschitz,
        examples=(S1_EXAMPLE, S0_EXAMPLE),
        losses=("cosent",),
    ),
)
