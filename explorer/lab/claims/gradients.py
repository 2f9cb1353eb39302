"""Claims about gradients: by scores, by vectors, and on the sphere."""

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lossprism.explorer.core.remarks import GRADIENT_BAND
from lossprism.explorer.lab.claims.batches import S0_EXAMPLE, S1_EXAMPLE
from lossprism.explorer.lab.claims.claim import (
    CORRECTED,
    MAIN,
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
from lossprism.explorer.lab.claims.ordered_pair_common import exponents, loss_of, ordered, weights
from lossprism.losses import cosent

# The ε of S1 eq. 44.
EPSILON = 1e-8
# The λ at which the norm is measured.
SWEPT_SCALES = torch.logspace(-1, 2.5, 36, dtype=torch.float64)
# Of gradients by autograd.
AUTOGRAD_TOLERANCE = Tolerance(1e-7, 1e-9)
NORM_TOLERANCE = Tolerance(1e-9, 1e-7)


def score_gradient(batch: ClaimBatch) -> Tensor:
    """Return ∂L/∂s of CoSENT by autograd, [N]."""
    scores = batch.scores.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(cosent(scores, batch.labels, scale=batch.scale), scores)
    return gradient


def by_scores(batch: ClaimBatch) -> Check:
    """Compare the gradient by each score with S1 eq. 12 (its normaliser over all terms), with the
    normaliser of eq. 14, and with both parts."""
    real, share = score_gradient(batch), batch.scale * weights(batch)
    by_12 = -share.sum(1)
    lower = ordered(batch).any(0)
    comparisons = [
        _agree(real, by_12, mask, is_lower=is_lower)
        for is_lower, mask in ((False, ~lower), (True, lower))
        if bool(mask.any())
    ]
    total = float(weights(batch).sum())
    if len(exponents(batch)):
        # Eq. 14 divides by the sum of all terms without the 1.
        left, loss = Side(r"\sum w_{ij,kl}", total), loss_of(batch)
        comparisons += [
            Comparison(
                left,
                "=",
                Side(r"\sum p_{ij,kl}\ (14)", 1.0),
                part="normaliser",
                tolerance=Tolerance(1e-9, 0.0),
            ),
            Comparison(left, "=", Side(r"1 - e^{-\mathcal L}", -math.expm1(-loss)), "weights"),
        ]
    comparisons.append(_agree(real, share.sum(0) - share.sum(1), torch.ones_like(lower), CORRECTED))
    return Check(tuple(comparisons))


def _agree(
    real: Tensor, printed: Tensor, mask: Tensor, part: str = MAIN, is_lower: bool = False
) -> Comparison:
    """Compare the gradient of the pair where both differ most, of those in the mask."""
    places = mask.nonzero().flatten()
    place = int(places[(real - printed).abs()[places].argmax()])
    return Comparison(
        Side(rf"\partial\mathcal L / \partial s_{{{place + 1}}}", float(real[place])),
        "=",
        Side(
            r"(12)" if part == MAIN else r"\lambda\,(\textstyle\sum_{above} w - \sum_{below} w)",
            float(printed[place]),
        ),
        part=part,
        within=not is_lower,
        tolerance=AUTOGRAD_TOLERANCE,
    )


def cosine_gradient(batch: ClaimBatch) -> Check:
    """Compare ∂cos/∂u by autograd with v − cos·u, for the unit vectors of each pair."""
    unit = batch.unit_vectors
    first, second = unit[batch.first].clone().requires_grad_(), unit[batch.second]
    cosines = torch.nn.functional.cosine_similarity(first, second)
    (real,) = torch.autograd.grad(cosines.sum(), first)
    printed = second - cosines.detach()[:, None] * first.detach()
    # A zero vector has no direction, and stays zero when it is normalised.
    some = (first.norm(dim=1) > 0) & (second.norm(dim=1) > 0)
    return Check((_vanishes(r"\partial\cos/\partial u - (v - \cos u)", (real - printed)[some]),))


def _vanishes(latex: str, difference: Tensor, **rest: Any) -> Comparison:
    """Compare the largest number of a difference with 0."""
    largest = float(difference.abs().max()) if difference.numel() else 0.0
    return Comparison(Side(rf"\max\,\lvert {latex}\rvert", largest), "=", ZERO, **rest)


def by_vectors(batch: ClaimBatch) -> Check:
    """Compare ∂L/∂u of each sentence with S1 eq. 17, and with both parts of ∂L/∂s."""
    unit = batch.unit_vectors
    real = _vector_gradient(unit, batch)
    share = batch.scale * weights(batch)
    printed = _chained(unit, batch, -share.sum(1))
    corrected = _chained(unit, batch, share.sum(0) - share.sum(1))
    lower = ordered(batch).any(0)
    touched = torch.zeros(len(unit), dtype=torch.bool)
    touched[batch.first[lower]] = touched[batch.second[lower]] = True
    used = torch.zeros(len(unit), dtype=torch.bool)
    used[batch.first] = used[batch.second] = True
    comparisons = []
    for within, mask in ((True, used & ~touched), (False, touched)):
        if bool(mask.any()):
            latex = r"\partial\mathcal L/\partial u_i - (17)"
            gap = (real - printed)[mask]
            comparisons.append(_vanishes(latex, gap, within=within, tolerance=NORM_TOLERANCE))
    latex = (
        r"\partial\mathcal L/\partial u_i - \sum_j \tfrac{\partial\mathcal L}{\partial s_{ij}}"
        r"(u_j - s_{ij} u_i)"
    )
    comparisons.append(_vanishes(latex, real - corrected, part=CORRECTED, tolerance=NORM_TOLERANCE))
    return Check(tuple(comparisons))


def _vector_gradient(vectors: Tensor, batch: ClaimBatch) -> Tensor:
    """The gradient of CoSENT of the cosines of these vectors, [S, D]."""
    vectors = vectors.clone().requires_grad_()
    scores = torch.nn.functional.cosine_similarity(vectors[batch.first], vectors[batch.second])
    (real,) = torch.autograd.grad(cosent(scores, batch.labels, scale=batch.scale), vectors)
    return real


def _chained(unit: Tensor, batch: ClaimBatch, by_score: Tensor) -> Tensor:
    """The gradient by unit vectors from that by scores: Σ_j g_ij (u_j − s_ij u_i)."""
    first, second = unit[batch.first], unit[batch.second]
    cosines = (first * second).sum(1, keepdim=True)
    pull = by_score[:, None]
    chained = torch.zeros_like(unit)
    chained.index_add_(0, batch.first, pull * (second - cosines * first))
    return chained.index_add_(0, batch.second, pull * (first - cosines * second))


def on_sphere(batch: ClaimBatch) -> Check:
    """Compare the gradient of dot products projected on the sphere with that of cosines."""
    unit = batch.unit_vectors
    free = unit.clone().requires_grad_()
    dots = (free[batch.first] * free[batch.second]).sum(1)
    (plain,) = torch.autograd.grad(cosent(dots, batch.labels, scale=batch.scale), free)
    projected = plain - (plain * unit).sum(1, keepdim=True) * unit
    gap = projected - _vector_gradient(unit, batch)
    latex = r"\nabla\mathcal L - \langle\nabla\mathcal L, u\rangle u - \nabla_{\cos}"
    return Check((_vanishes(latex, gap, tolerance=NORM_TOLERANCE),))


def metric(batch: ClaimBatch) -> Check:
    """Compute the eigenvalues of δ − u uᵀ for the first vector, and its square."""
    unit = batch.unit_vectors[batch.first[0]]
    printed = torch.eye(len(unit), dtype=unit.dtype) - torch.outer(unit, unit)
    values = torch.linalg.eigvalsh(printed)
    along = float((printed @ unit).norm())
    return Check(
        (
            # A metric is positive definite.
            Comparison(Side(r"\lambda_{\min}(g)", float(values[0].round(decimals=12))), ">", ZERO),
            _vanishes(r"g^2 - g", printed @ printed - printed, part=CORRECTED),
            Comparison(Side(r"\lVert g\,u\rVert", along), "=", ZERO, CORRECTED),
        ),
        (Side(r"\lambda_{\max}(g)", float(values[-1])),),
    )


def cosine_with_epsilon(batch: ClaimBatch) -> Check:
    """Compute cosines of the batch with a zero vector in it, with ε and without."""
    first, second = batch.vectors_of_pairs
    zero = torch.zeros_like(first[:1])
    first, second = torch.cat([first, zero]), torch.cat([second, second[:1]])
    dots, lengths = (first * second).sum(1), first.norm(dim=1) * second.norm(dim=1)
    with_it, without = dots / lengths.clamp_min(EPSILON), dots / lengths
    some = lengths > EPSILON
    return Check(
        (
            Comparison(Side(r"\cos(0, v)\ (\epsilon = 10^{-8})", float(with_it[-1])), "=", ZERO),
            _vanishes(r"\cos_\epsilon - \cos", (with_it - without)[some]),
        ),
        (Side(r"\cos(0, v)\ (\epsilon = 0)", float(without[-1])),),
    )


def gradient_norm(batch: ClaimBatch) -> Check:
    """Measure the norm of the gradient by all vectors at λ, and over λ."""
    if not len(exponents(batch)):
        return Check(())
    unit = batch.unit_vectors

    def norm(scale: float) -> float:
        return float(_vector_gradient(unit, replace(batch, scale=scale)).norm())

    here = Side(r"\sqrt{\sum_i \lVert\nabla_{u_i}\mathcal L\rVert^2}", norm(batch.scale))
    scales = SWEPT_SCALES.tolist()
    norms = [norm(scale) for scale in scales]
    low, high = GRADIENT_BAND
    inside = [scale for scale, value in zip(scales, norms, strict=True) if low <= value <= high]
    facts = [Side(r"\lambda", batch.scale)]
    if inside:
        facts += [Side(r"\lambda_{\min}", min(inside)), Side(r"\lambda_{\max}", max(inside))]
    return Check(
        (Comparison(Side("", low), "≤", here), Comparison(here, "≤", Side("", high))),
        tuple(facts),
        Chart(
            "λ",
            "‖∇L‖",
            (Curve("norm", tuple(scales), tuple(norms)),),
            logarithmic_y=True,
            band=GRADIENT_BAND,
        ),
    )


CLAIMS = (
    Claim(
        name="S1-12",
        source="S1 eq. 12–14",
        formula=r"\frac{\partial\mathcal L}{\partial s_{ij}} = -\lambda"
        r"\sum_{kl:\,\operatorname{sim}(i,j) > \operatorname{sim}(k,l)} p_{ij,kl}",
        check=by_scores,
        examples=(S1_EXAMPLE, S0_EXAMPLE),
        losses=("cosent",),
    ),
    Claim(
        name="S1-16",
        source="S1 eq. 16",
        formula=r"\frac{\partial \cos(u, v)}{\partial u} = v - \cos(u, v)\,u,"
        r"\quad \lVert u\rVert = \lVert v\rVert = 1",
        check=cosine_gradient,
        examples=(S1_EXAMPLE,),
        needs="vectors",
        losses=("cosent", "cosine_mse"),
        scaled=False,
    ),
    Claim(
        name="S1-17",
        source="S1 eq. 17",
        formula=r"\frac{\partial\mathcal L}{\partial u_i} = -\lambda \sum_j p_{ij}"
        r"\,(u_j - s_{ij} u_i)",
        check=by_vectors,
        examples=(S1_EXAMPLE,),
        needs="vectors",
        losses=("cosent",),
    ),
    Claim(
        name="S1-31",
        source="S1 eq. 31",
        formula=r"\operatorname{grad}\mathcal L = \nabla\mathcal L"
        r" - \langle\nabla\mathcal L, u\rangle\,u",
        check=on_sphere,
        examples=(S1_EXAMPLE,),
        needs="vectors",
        losses=("cosent",),
    ),
    Claim(
        name="S1-32",
        source="S1 eq. 32",
        formula=r"g_{ij} = \delta_{ij} - u_i u_j",
        check=metric,
        examples=(S1_EXAMPLE,),
        needs="vectors",
        scaled=False,
    ),
    Claim(
        name="S1-44",
        source="S1 eq. 44",
        formula=r"\cos(u, v) = \frac{\langle u, v\rangle}"
        r"{\max(\lVert u\rVert\,\lVert v\rVert,\ \epsilon)},\quad \epsilon = 10^{-8}",
        check=cosine_with_epsilon,
        examples=(S1_EXAMPLE,),
        needs="vectors",
        losses=("cosent", "cosine_mse"),
        scaled=False,
    ),
    Claim(
        name="S1-45",
        source="S1 eq. 45",
        formula=r"0.1 \le \sqrt{\textstyle\sum_i \lVert\nabla_{u_i}\mathcal L\rVert^2} \le 10",
        check=gradient_norm,
        examples=(S1_EXAMPLE,),
        needs="vectors",
        losses=("cosent",),
        advice=True,
    ),
)
