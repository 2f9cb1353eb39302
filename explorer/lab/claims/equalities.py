"""Claims that two losses, or two forms of one, are equal or ordered."""

import math

import torch
from torch import Tensor

from lossprism.explorer.lab.claims.batches import (
    S0_EXAMPLE,
    S1_EXAMPLE,
    batch_of_scored_pairs,
    batch_of_sentence_vectors,
)
from lossprism.explorer.lab.claims.claim import (
    CORRECTED,
    Check,
    Claim,
    ClaimBatch,
    Comparison,
    Side,
    Tolerance,
)
from lossprism.explorer.lab.claims.ordered_pair_common import (
    exponents,
    log_one_plus_exp,
    loss_of,
    two_valued,
)
from lossprism.losses import info_nce, nt_xent, pairwise_logistic

# The largest exponent whose power is finite in float64, and the one that the claim is tried at.
LARGEST_EXPONENT = math.log(torch.finfo(torch.float64).max)
TRIED_EXPONENT = 2000.0
# The largest terms of a sum that are listed.
LISTED_TERMS = 3
# Of losses that a library function computes.
LIBRARY_TOLERANCE = Tolerance(1e-7, 1e-7)


def circle_without_margins(batch: ClaimBatch) -> Check:
    """Compare Circle loss over positive and negative pairs, with margins 0, with CoSENT."""
    scores, labels, scale, positive = batch.scores, batch.labels, batch.scale, batch.positive
    negatives = (scale * scores[~positive]).logsumexp(0)
    positives = (-scale * scores[positive]).logsumexp(0)
    product = negatives + positives
    circle = float(log_one_plus_exp(product))
    # Labels that are all equal leave CoSENT no pair of pairs, and Circle loss no negative.
    return Check(
        (
            Comparison(
                Side(r"\mathcal L_{\text{Circle}}(\Delta_p = \Delta_n = 0)", circle),
                "=",
                Side(r"\mathcal L_{\text{CoSENT}}", loss_of(batch)),
                within=two_valued(labels) and bool((positive == (labels == labels.max())).all()),
            ),
        )
    )


def _similarities(batch: ClaimBatch) -> Tensor:
    """The cosines of all first sentences with all second ones, divided by τ = 1/λ, [N, N]."""
    queries, keys = (torch.nn.functional.normalize(one, dim=1) for one in batch.vectors_of_pairs)
    return batch.scale * queries @ keys.T


def info_nce_as_sum(batch: ClaimBatch) -> Check:
    """Compare InfoNCE as softmax cross-entropy with S1 eq. 7, summed over the queries."""
    logits = _similarities(batch)
    others = ~torch.eye(len(batch), dtype=torch.bool)
    gaps = (logits - logits.diagonal()[:, None]).masked_fill(~others, -torch.inf)
    rows = log_one_plus_exp(gaps.logsumexp(1))
    mean = float(info_nce(*batch.vectors_of_pairs, temperature=1 / batch.scale))
    return Check(
        (
            Comparison(
                Side(r"-\sum_i \log \operatorname{softmax}_i", len(batch) * mean),
                "=",
                Side(
                    r"\sum_i \log(1 + \sum_{j \ne i} e^{(s_{ij} - s_{ii})/\tau})", float(rows.sum())
                ),
                tolerance=LIBRARY_TOLERANCE,
            ),
        )
    )


def nt_xent_name(batch: ClaimBatch) -> Check:
    """Compare S2's NT-Xent with that of SimCLR, and with InfoNCE with a temperature."""
    temperature = 1 / batch.scale
    printed = -float(_similarities(batch).log_softmax(1).diagonal().mean())
    simclr = float(nt_xent(*batch.vectors_of_pairs, temperature=temperature))
    ours = float(info_nce(*batch.vectors_of_pairs, temperature=temperature))
    left = Side(r"\mathcal L_{\text{S2}}", printed)
    return Check(
        (
            Comparison(
                left, "=", Side(r"\mathcal L_{\text{SimCLR}}", simclr), tolerance=LIBRARY_TOLERANCE
            ),
            Comparison(
                left,
                "=",
                Side(r"\mathcal L_{\text{InfoNCE}}", ours),
                part=CORRECTED,
                tolerance=LIBRARY_TOLERANCE,
            ),
        )
    )


def sum_of_logarithms(batch: ClaimBatch) -> Check:
    """Compare the sum of RankNet's terms with CoSENT's logarithm of a sum."""
    powers = exponents(batch)
    if not len(powers):
        return Check(())
    above = float(pairwise_logistic(batch.scores, batch.labels, scale=batch.scale))
    below = loss_of(batch)
    left = Side(r"\sum_k \log(1 + x_k)", above)
    right = Side(r"\log(1 + \sum_k x_k)", below)
    spread = float(powers.max() - powers.min())
    comparisons = [
        Comparison(right, "≤", left),
        Comparison(left, "=", right, part="equality", asserted=spread == 0),
    ]
    if len(powers) > 1:
        # The product of the two largest terms is part of what the product of all 1 + x has more.
        two = powers.topk(2).values.sum()
        least = float(log_one_plus_exp(two - below))
        bound = Side(r"\log\bigl(1 + x_1 x_2 / (1 + \sum_k x_k)\bigr)", least)
        gap = Side(r"\sum_k \log(1 + x_k) - \log(1 + \sum_k x_k)", above - below)
        comparisons.append(Comparison(bound, "≤", gap, part=CORRECTED))
    else:
        comparisons.append(Comparison(left, "=", right, part=CORRECTED))
    largest = powers.topk(min(LISTED_TERMS, len(powers))).values.exp()
    terms = (
        side
        for place, term in enumerate(largest.tolist(), 1)
        for side in (Side(f"x_{place}", term), Side(rf"\log(1 + x_{place})", math.log1p(term)))
    )
    return Check(tuple(comparisons), tuple(terms))


def shifted_logarithm(batch: ClaimBatch) -> Check:
    """Compare the stable form that S1 prints with the exact one, also with the scores stretched
    until the largest exponent M is 2,000."""
    powers = exponents(batch)
    if not len(powers):
        return Check(())
    largest = float(powers.max())
    tried = [powers]
    if largest > 0:
        tried.append(powers * (TRIED_EXPONENT / largest))
    comparisons = []
    for terms in tried:
        top = terms.max()
        rest = (terms - top).exp().sum()
        exact = float(log_one_plus_exp(terms.logsumexp(0)))
        printed = float(torch.log(1 + top.exp() * rest))
        corrected = float(top + torch.log((-top).exp() + rest))
        within = float(top) < LARGEST_EXPONENT - math.log(len(terms))
        right = Side(rf"\mathcal L\ (M = {float(top):.5g})", exact)
        comparisons += [
            Comparison(
                Side(r"\log(1 + e^M \sum e^{x - M})", printed),
                "=",
                right,
                within=within,
                tolerance=Tolerance(1e-9, 1e-12),
            ),
            Comparison(
                Side(r"M + \log(e^{-M} + \sum e^{x - M})", corrected),
                "=",
                right,
                part=CORRECTED,
                asserted=float(top) > -LARGEST_EXPONENT,
                tolerance=Tolerance(1e-12, 1e-12),
            ),
        ]
    return Check(tuple(comparisons))


# Two pairs that are as wrong as each other: both terms are 1.
EQUAL_TERMS = batch_of_scored_pairs([0.5, 0.5, 0.5], [1, 0, 0])
ONE_TERM = batch_of_scored_pairs([0.5, 0.5], [1, 0])
# Three queries, each its own key, at τ = 1.
ORTHOGONAL_QUERIES = batch_of_sentence_vectors(
    torch.eye(3).repeat(2, 1), [(0, 3), (1, 4), (2, 5)], [1, 1, 1], scale=1.0
)

CLAIMS = (
    Claim(
        name="S1-4",
        source="S1 eq. 4",
        formula=r"\mathcal L_{\text{Circle}}\big|_{\Delta_p = \Delta_n = 0}"
        r" = \log\Bigl(1 + \sum_{i \in \Omega_{pos},\, j \in \Omega_{neg}}"
        r" e^{\gamma(s_j - s_i)}\Bigr) = \mathcal L_{\text{CoSENT}}",
        check=circle_without_margins,
        examples=(S1_EXAMPLE, S0_EXAMPLE),
        losses=("circle", "cosent"),
    ),
    Claim(
        name="S1-7",
        source="S1 eq. 7",
        formula=r"\mathcal L_{\text{InfoNCE}} = \sum_i \log\Bigl(1 + \sum_{j \ne i}"
        r" e^{(s_{ij} - s_{ii})/\tau}\Bigr)",
        check=info_nce_as_sum,
        examples=(S1_EXAMPLE,),
        needs="vectors",
        losses=("info_nce",),
    ),
    Claim(
        name="S1-28",
        source="S1 eq. 28",
        formula=r"\sum_k \log(1 + x_k) \ge \log\Bigl(1 + \sum_k x_k\Bigr),\quad x_k > 0",
        check=sum_of_logarithms,
        examples=(S1_EXAMPLE, S0_EXAMPLE, EQUAL_TERMS, ONE_TERM),
        losses=("cosent", "pairwise_logistic"),
    ),
    Claim(
        name="S1-43",
        source="S1 eq. 43",
        formula=r"\mathcal L = \log\Bigl(1 + e^M \sum e^{\lambda(s_{kl} - s_{ij}) - M}\Bigr)",
        check=shifted_logarithm,
        examples=(S1_EXAMPLE, S0_EXAMPLE),
        losses=("cosent",),
    ),
    Claim(
        name="S2-ntxent",
        source="S2",
        formula=r"\mathcal L_{\text{NT-Xent}} = -\log"
        r" \frac{e^{\operatorname{sim}(q, k_{pos})/\tau}}"
        r"{\sum_{i=1}^N e^{\operatorname{sim}(q, k_i)/\tau}}",
        check=nt_xent_name,
        examples=(ORTHOGONAL_QUERIES,),
        needs="vectors",
        losses=("nt_xent", "info_nce"),
    ),
)
