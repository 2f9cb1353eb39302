"""Claims of S1's worked example: four vectors, their cosines, the loss and a gradient."""

import torch

from lossprism.explorer.lab.claims.batches import S1_EXAMPLE, batch_of_scored_pairs
from lossprism.explorer.lab.claims.claim import (
    CORRECTED,
    Check,
    Claim,
    ClaimBatch,
    Comparison,
    Side,
    Tolerance,
)
from lossprism.explorer.lab.claims.gradients import score_gradient
from lossprism.explorer.lab.claims.ordered_pair_common import exponents, loss_of

# The source rounds vectors and results to three digits.
THREE_DIGITS = Tolerance(0.0, 0.0015)
# S1 eq. 49: the weight that it takes, and the vector that it prints.
PRINTED_WEIGHT = 0.5
PRINTED_VECTOR = (0.236, 0.236, -0.472)


def final_loss(batch: ClaimBatch) -> Check:
    """Compare the cosines and losses of the printed vectors and of the printed cosines with the
    printed results."""
    first, second = batch.vectors_of_pairs
    dots = (first * second).sum(1)
    printed, (result,) = batch.printed["cosines"], batch.printed["loss"]
    names = [f"{int(i) + 1}{int(j) + 1}" for i, j in zip(batch.first, batch.second, strict=True)]
    by_dots, by_printed = (
        loss_of(batch_of_scored_pairs(scores, batch.labels, batch.scale))
        for scores in (dots, torch.tensor(printed).double())
    )
    terms = torch.cat([torch.zeros(1).double(), exponents(batch)])
    target = Side(r"(48)", result)
    comparisons = [
        Comparison(Side(r"\mathcal L(\cos)", loss_of(batch)), "=", target, tolerance=THREE_DIGITS),
        Comparison(
            Side(r"\mathcal L_{(47)}", by_printed),
            "=",
            target,
            part="printed_scores",
            tolerance=THREE_DIGITS,
        ),
        *(
            Comparison(
                Side(rf"\langle u_{name[0]}, u_{name[1]}\rangle", float(dot)),
                "=",
                Side(rf"s_{{{name}}}\ (47)", in_print),
                part="cosines",
                tolerance=THREE_DIGITS,
            )
            for name, dot, in_print in zip(names, dots, printed, strict=True)
        ),
        Comparison(
            Side(
                r"\operatorname{logsumexp}(0, \lambda(s_{kl} - s_{ij}))", float(terms.logsumexp(0))
            ),
            "=",
            Side(r"\mathcal L(\cos)", loss_of(batch)),
            part=CORRECTED,
        ),
    ]
    facts = [
        Side(rf"\cos(u_{name[0]}, u_{name[1]})", float(score))
        for name, score in zip(names, batch.scores, strict=True)
    ]
    return Check(
        tuple(comparisons), (*facts, Side(r"\mathcal L(\langle\cdot,\cdot\rangle)", by_dots))
    )


def gradient_of_pair(batch: ClaimBatch) -> Check:
    """Compare ∂cos(u₁, u₂)/∂u₁ with the printed vector, and the weight of the pair with 0.5."""
    unit = batch.unit_vectors
    first = unit[0].clone().requires_grad_()
    cosine = torch.nn.functional.cosine_similarity(first, unit[1], dim=0)
    (real,) = torch.autograd.grad(cosine, first)
    weight = -float(score_gradient(batch)[0]) / batch.scale
    as_printed = batch_of_scored_pairs(batch.printed["cosines"], batch.labels, batch.scale)
    by_printed = -float(score_gradient(as_printed)[0]) / batch.scale
    vector = [
        Comparison(
            Side(rf"(\partial\cos/\partial u_1)_{place + 1}", float(value)),
            "=",
            Side(r"(49)", in_print),
            tolerance=THREE_DIGITS,
        )
        for place, (value, in_print) in enumerate(zip(real, PRINTED_VECTOR, strict=True))
    ]
    close = Tolerance(0.0, 0.01)
    target = Side(r"(49)", PRINTED_WEIGHT)
    return Check(
        (
            *vector,
            Comparison(Side(r"w_{12}^{\cos}", weight), "=", target, part="weight", tolerance=close),
            Comparison(
                Side(r"w_{12}^{(47)}", by_printed),
                "=",
                target,
                part="printed_scores",
                tolerance=close,
            ),
        )
    )


CLAIMS = (
    Claim(
        name="S1-48",
        source="S1 eq. 46–48",
        formula=r"\mathcal L = \log(1 + e^{20(0.816 - 0.816)} + e^{20(0.577 - 0.816)} + \cdots)"
        r" \approx 0.698",
        check=final_loss,
        examples=(S1_EXAMPLE,),
        needs="nothing",
        losses=("cosent",),
    ),
    Claim(
        name="S1-49",
        source="S1 eq. 49",
        formula=r"\frac{\partial\mathcal L}{\partial u_1} = -20 \times 0.5 \times"
        r" (u_2 - 0.816\,u_1) \approx -10 \times [0.236, 0.236, -0.472]",
        check=gradient_of_pair,
        examples=(S1_EXAMPLE,),
        needs="nothing",
        losses=("cosent",),
    ),
)
