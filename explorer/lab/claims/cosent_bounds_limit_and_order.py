"""Claims that bound CoSENT, take its limit, or order by it."""

import math

import torch

from lossprism.explorer.lab.claims.batches import S0_EXAMPLE, S1_EXAMPLE, batch_of_scored_pairs
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
    log_weights,
    loss_of,
    ordered,
    violations,
)
from lossprism.losses import max_violation

LOSS = r"\mathcal L"
SWEPT_SCALES = torch.logspace(-0.5, 4, 37, dtype=torch.float64)
# The λ at which the limit of S1 eq. 39 is compared.
LIMIT_SCALE = 1e6


def zero_loss(batch: ClaimBatch) -> Check:
    """Count violations where the loss is 0, and where it is below ln 2."""
    if not len(exponents(batch)):
        return Check(())
    loss, wrong = loss_of(batch), violations(batch)
    count = Side(r"N_{\text{viol}}", float(wrong))
    return Check(
        (
            Comparison(count, "=", ZERO, asserted=loss == 0),
            Comparison(Side(LOSS, loss), "=", ZERO, part="premise", tolerance=Tolerance(0.0, 0.0)),
            Comparison(count, "=", ZERO, part=CORRECTED, asserted=loss < math.log(2) * (1 - 1e-12)),
        ),
        (Side(LOSS, loss), Side(r"\ln 2", math.log(2))),
    )


def limit_of_scale(batch: ClaimBatch) -> Check:
    """Compare L/λ with the largest violation, and with the band of ln(1 + |P|)/λ around it."""
    pairs = len(exponents(batch))
    if not pairs:
        return Check(())
    limit = float(max_violation(batch.scores, batch.labels))
    width = math.log1p(pairs)
    scales = tuple(SWEPT_SCALES.tolist())
    values = tuple(loss_of(batch, one) / one for one in scales)

    def gap(scale: float) -> Side:
        return Side(
            r"\lvert\mathcal L/\lambda - \max^+\rvert", abs(loss_of(batch, scale) / scale - limit)
        )

    return Check(
        (
            Comparison(
                Side(
                    rf"\mathcal L/\lambda\ (\lambda = 10^{{{int(math.log10(LIMIT_SCALE))}}})",
                    loss_of(batch, LIMIT_SCALE) / LIMIT_SCALE,
                ),
                "=",
                Side(r"\max(s_{kl} - s_{ij})^+", limit),
                tolerance=Tolerance(0.0, 1.1 * width / LIMIT_SCALE),
            ),
            Comparison(
                gap(batch.scale),
                "≤",
                Side(r"\ln(1 + |P|)/\lambda", width / batch.scale),
                part=CORRECTED,
            ),
        ),
        (Side("|P|", float(pairs)), Side(r"\mathcal L/\lambda", loss_of(batch) / batch.scale)),
        Chart(
            "λ",
            "L/λ",
            (
                Curve("ratio", scales, values),
                Curve("limit", scales, (limit,) * len(scales)),
                Curve("limit_and_band", scales, tuple(limit + width / one for one in scales)),
            ),
            logarithmic_y=limit > 0,
        ),
    )


def hard_negatives(batch: ClaimBatch) -> Check:
    """Measure how constant the weights of the lower pairs are after division by e^{λs}, among pairs
    with the same pairs above them, and among all."""
    above = ordered(batch)
    lower = above.any(0)
    ratio = log_weights(batch).logsumexp(0) - batch.scale * batch.scores
    groups = [lower & (batch.labels == label) for label in batch.labels[lower].unique()]
    if not groups:
        return Check(())

    def spread(mask: torch.Tensor) -> Side:
        some = ratio[mask]
        return Side(
            r"\max_{k,l} \bigl\lvert\ln\tfrac{w_k}{w_l} - \lambda(s_k - s_l)\bigr\rvert",
            float(some.max() - some.min()),
        )

    loose = Tolerance(0.0, 1e-7 * max(1.0, batch.scale))
    alike = [Comparison(spread(group), "=", ZERO, tolerance=loose) for group in groups]
    if len(groups) == 1:
        return Check(tuple(alike))
    every = Comparison(spread(lower), "=", ZERO, within=False, tolerance=loose)
    return Check((*alike, every))


def upper_bound(batch: ClaimBatch) -> Check:
    """Compare L with log(1 + n e^{2λ}), for the number of violations and of ordered pairs."""
    pairs, wrong = len(exponents(batch)), violations(batch)
    if not pairs:
        return Check(())
    left = Side(LOSS, loss_of(batch))

    def bound(count: int) -> float:
        log_count = torch.tensor(float(count)).double().log()
        return float(log_one_plus_exp(log_count + 2 * batch.scale))

    return Check(
        (
            Comparison(left, "≤", Side(r"\log(1 + N_{\text{viol}}\,e^{2\lambda})", bound(wrong))),
            Comparison(ZERO, "≤", left, part="lower"),
            Comparison(left, "≤", Side(r"\log(1 + |P|\,e^{2\lambda})", bound(pairs)), CORRECTED),
        ),
        (Side(r"N_{\text{viol}}", float(wrong)), Side("|P|", float(pairs))),
    )


# In the right order, with almost no gap: no violation, and a loss far from 0.
NARROW_ORDER = batch_of_scored_pairs([0.51, 0.5, 0.49], [2, 1, 0])
# All in order by far.
WIDE_ORDER = batch_of_scored_pairs([0.9, -0.9], [1, 0])

CLAIMS = (
    Claim(
        name="S1-38",
        source="S1 eq. 38",
        formula=r"\mathcal L = 0 \;\Rightarrow\; \bigl(\operatorname{sim}(i,j) >"
        r" \operatorname{sim}(k,l) \Rightarrow s_{ij} > s_{kl}\bigr)",
        check=zero_loss,
        examples=(S1_EXAMPLE, S0_EXAMPLE, NARROW_ORDER, WIDE_ORDER),
        losses=("cosent",),
    ),
    Claim(
        name="S1-39",
        source="S1 eq. 39",
        formula=r"\lim_{\lambda\to\infty} \tfrac{1}{\lambda}\,\mathcal L"
        r" = \max_{\operatorname{sim}(i,j) > \operatorname{sim}(k,l)} (s_{kl} - s_{ij})^+",
        check=limit_of_scale,
        examples=(S1_EXAMPLE, S0_EXAMPLE),
        losses=("cosent", "max_violation"),
    ),
    Claim(
        name="S1-40",
        source="S1 eq. 40",
        formula=r"w_{kl} \propto e^{\lambda s_{kl}}",
        check=hard_negatives,
        examples=(S1_EXAMPLE, S0_EXAMPLE),
        losses=("cosent",),
    ),
    Claim(
        name="S1-41",
        source="S1 eq. 41",
        formula=r"0 \le \mathcal L \le \log(1 + N_{\text{viol}}\,e^{2\lambda})",
        check=upper_bound,
        examples=(S1_EXAMPLE, S0_EXAMPLE, NARROW_ORDER),
        losses=("cosent",),
    ),
)
