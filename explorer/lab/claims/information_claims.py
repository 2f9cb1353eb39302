"""Claims about information: bounds by a loss, on distributions whose information is known."""

import functools
import math
from dataclasses import replace

import torch
from torch import Tensor

from lossprism.explorer.lab.claims.batches import S0_EXAMPLE, S1_EXAMPLE, batch_of_scored_pairs
from lossprism.explorer.lab.claims.claim import (
    CORRECTED,
    Chart,
    Check,
    Claim,
    ClaimBatch,
    Comparison,
    Curve,
    Side,
    Tolerance,
)
from lossprism.explorer.lab.claims.confidence_interval import Estimate, estimate_of
from lossprism.explorer.lab.claims.ordered_pair_common import exponents, loss_of, ordered
from lossprism.losses import info_nce

# Gaussian pairs: numbers of a vector, information in nats, keys K, seeds and draws of each.
DIMENSIONS = 8
NATS = (2.0, 6.0)
KEY_COUNTS = tuple(2**power for power in range(1, 13))
SEEDS, DRAWS, QUERIES = 8, 4096, 256
# A batch whose log K is above the information by this reaches it within this share.
MIN_MARGIN_NATS, BOUND_TOLERANCE = 2.0, 0.15


def correlation_for(information: float) -> float:
    """Return the correlation of each of DIMENSIONS coordinates at which the pair has so many
    nats."""
    return math.sqrt(1 - math.exp(-2 * information / DIMENSIONS))


@functools.cache
def info_nce_bound(information: float, keys: int, sharpness: float = 1.0) -> Estimate:
    """Estimate log K − L of Gaussian pairs over SEEDS seeds with the logarithm of their density
    ratio as critic, which is the best one; another `sharpness` multiplies it."""
    rho = correlation_for(information)
    spread = 1 - rho**2
    bounds = []
    for seed in range(SEEDS):
        generator = torch.Generator().manual_seed(seed)
        first, noise = torch.randn(2, DRAWS, DIMENSIONS, generator=generator)
        second = rho * first + math.sqrt(spread) * noise
        groups, queries = DRAWS // keys, min(keys, QUERIES)
        x, y = (one.reshape(groups, keys, DIMENSIONS) for one in (first, second))
        # What depends on x alone cancels in the softmax.
        critic = rho / spread * x[:, :queries] @ y.mT
        critic -= rho**2 / (2 * spread) * (y**2).sum(-1)[:, None, :]
        critic *= sharpness
        own = critic.diagonal(dim1=1, dim2=2)
        bounds.append(math.log(keys) - float((critic.logsumexp(2) - own).double().mean()))
    return estimate_of(bounds)


def gaussian_pairs(_: ClaimBatch) -> Check:
    """Compare log K − L with the information of Gaussian pairs, for K from 2 to 4,096."""
    comparisons = []
    for information in NATS:
        truth = Side("I", information)
        for keys in KEY_COUNTS:
            estimate = info_nce_bound(information, keys)
            reached = Side(rf"\log K - \mathcal L\ (K = {keys})", estimate.mean)
            room = max(estimate.high - estimate.mean, BOUND_TOLERANCE * information)
            comparisons.append(
                Comparison(
                    reached,
                    "=",
                    truth,
                    within=math.log(keys) >= information + MIN_MARGIN_NATS,
                    tolerance=Tolerance(0.0, room),
                )
            )
    for keys in KEY_COUNTS:
        less, more = (info_nce_bound(one, keys) for one in NATS)
        # A larger estimate is a smaller loss.
        comparisons.append(
            Comparison(
                Side(rf"\log K - \mathcal L\ (I = {NATS[0]:g},\ K = {keys})", less.high),
                "<",
                Side(rf"\log K - \mathcal L\ (I = {NATS[1]:g})", more.low),
                part="order",
            )
        )
    return Check(tuple(comparisons), chart=_bound_chart())


def _bound_chart() -> Chart:
    keys = tuple(map(float, KEY_COUNTS))
    estimates = [
        Curve(
            f"estimate_{information:g}",
            keys,
            tuple(info_nce_bound(information, one).mean for one in KEY_COUNTS),
        )
        for information in NATS
    ]
    truths = [Curve(f"information_{one:g}", keys, (one,) * len(keys)) for one in NATS]
    ceiling = Curve("ceiling", keys, tuple(math.log(one) for one in KEY_COUNTS))
    return Chart("K", "nat", (*estimates, *truths, ceiling))


def lower_bound(batch: ClaimBatch) -> Check:
    """Compare log K − L with the information of Gaussian pairs, and with log K on the batch."""
    bounds = [
        Comparison(
            Side(rf"\log K - \mathcal L\ (K = {keys})", info_nce_bound(one, keys).low),
            "≤",
            Side("I", one),
        )
        for one in NATS
        for keys in KEY_COUNTS
    ]
    ceiling = math.log(len(batch))
    loss = float(info_nce(*batch.vectors_of_pairs, temperature=1 / batch.scale))
    here = Comparison(
        Side(r"\log K - \mathcal L", ceiling - loss),
        "≤",
        Side(rf"\log K\ (K = {len(batch)})", ceiling),
        part="ceiling",
    )
    return Check((*bounds, here), chart=_bound_chart())


# Of the counterexample: how far the second vector is turned, and the noise of the first pair.
ROTATION, NOISE, STRENGTH = math.pi / 2, 0.1, 0.9
COUNTED_DRAWS = 2048


def cosine_and_information(_: ClaimBatch) -> Check:
    """Compare two Gaussian pairs: one around a common mean, independent; one turned by 90°,
    dependent."""
    alike, turned = [], []
    rotation = rotation_by(ROTATION)
    for seed in range(SEEDS):
        generator = torch.Generator().manual_seed(seed)
        draws = torch.randn(4, COUNTED_DRAWS, DIMENSIONS, generator=generator, dtype=torch.float64)
        mean = torch.ones(DIMENSIONS, dtype=torch.float64) / math.sqrt(DIMENSIONS)
        alike.append(_cosine(mean + NOISE * draws[0], mean + NOISE * draws[1]))
        second = STRENGTH * draws[2] @ rotation.T + math.sqrt(1 - STRENGTH**2) * draws[3]
        turned.append(_cosine(draws[2], second))
    near, far = estimate_of(alike), estimate_of(turned)
    independent = gaussian_information(torch.zeros(DIMENSIONS, DIMENSIONS).double())
    dependent = gaussian_information(STRENGTH * rotation)
    straight = gaussian_information(STRENGTH * rotation_by(0.0))
    return Check(
        (
            Comparison(
                Side("I(u_i; u_j)", independent),
                ">",
                Side("I(u_k; u_l)", dependent),
                asserted=near.low > far.high,
            ),
            Comparison(Side(r"I(u; R\,v)", dependent), "=", Side("I(u; v)", straight), CORRECTED),
        ),
        (
            Side(r"\overline{\cos}(u_i, u_j)", near.mean),
            Side(r"\overline{\cos}(u_k, u_l)", far.mean),
        ),
    )


def rotation_by(angle: float) -> Tensor:
    """A turn by the angle in each of DIMENSIONS/2 planes, [DIMENSIONS, DIMENSIONS]."""
    plane = torch.tensor(
        [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
    ).double()
    return torch.block_diag(*[plane] * (DIMENSIONS // 2))


def _cosine(first: Tensor, second: Tensor) -> float:
    return float(torch.nn.functional.cosine_similarity(first, second).mean())


def gaussian_information(cross: Tensor) -> float:
    """The information in nats of two standard Gaussian vectors with this cross-covariance."""
    one = torch.eye(len(cross), dtype=cross.dtype)
    return -float(torch.logdet(one - cross @ cross.T)) / 2


def divergence(batch: ClaimBatch) -> Check:
    """Compare KL(p‖q) of S1 eq. 20–22 with CoSENT, and CoSENT with a cross-entropy."""
    above = ordered(batch)
    if not bool(above.any()):
        return Check(())
    counts = above.sum(1)[above.any(1)]
    lower = above[above.any(1)].double()

    def total(scale: float) -> float:
        log_q = (scale * batch.scores).log_softmax(0)
        return float((lower / counts[:, None] * (-counts.double().log()[:, None] - log_q)).sum())

    scales = tuple(SWEPT_SCALES.tolist())
    curves = (
        Curve("divergence", scales, tuple(map(total, scales))),
        Curve("loss", scales, tuple(loss_of(batch, one) for one in scales)),
    )
    terms = torch.cat([torch.zeros(1).double(), exponents(batch)])
    loss = Side(r"\mathcal L", loss_of(batch))
    return Check(
        (
            Comparison(Side(r"\operatorname{KL}(p\,\|\,q)", total(batch.scale)), "≤", loss),
            Comparison(
                Side(
                    r"-\log \operatorname{softmax}_0\,[0, \lambda(s_{kl} - s_{ij})]",
                    -float(terms.log_softmax(0)[0]),
                ),
                "=",
                loss,
                part=CORRECTED,
            ),
        ),
        chart=Chart("λ", "KL, L", curves),
    )


# λ that the divergence and the loss are drawn over.
SWEPT_SCALES = torch.logspace(-1, 2, 31, dtype=torch.float64)

# A score with a known relation to a label ±1: its distance from 0 in standard deviations.
LABEL_SHIFT = 1.0
SCORE_GRID = torch.linspace(-14, 14, 8001, dtype=torch.float64)


def label_information(batch: ClaimBatch) -> Check:
    """Compute S1 eq. 23 when all scores are equal, without information about the labels, and the
    bound by a classifier's cross-entropy on a score of known information."""
    blind = replace(batch, scores=torch.zeros_like(batch.scores))
    if not len(exponents(blind)):
        return Check(())
    shares = batch.labels.unique(return_counts=True)[1].double() / len(batch)
    entropy = -float((shares * shares.log()).sum())
    bound = entropy - loss_of(blind) / batch.scale
    density = torch.exp(-((SCORE_GRID - LABEL_SHIFT) ** 2) / 2) / math.sqrt(2 * math.pi)
    step = float(SCORE_GRID[1] - SCORE_GRID[0])
    known, classified = (
        math.log(2)
        + float((density * torch.nn.functional.logsigmoid(slope * SCORE_GRID)).sum()) * step
        for slope in (2 * LABEL_SHIFT, batch.scale)
    )
    return Check(
        (
            Comparison(Side(r"H(y) - \mathcal L/\lambda", bound), "≤", Side(r"I\ (s = c)", 0.0)),
            Comparison(
                Side(r"H(y) - \mathbb E[-\log q_\lambda(y \mid s)]", classified),
                "≤",
                Side("I(y; s)", known),
                part=CORRECTED,
                tolerance=Tolerance(1e-9, 1e-9 + 1e-12 * batch.scale),
            ),
        ),
        (Side("H(y)", entropy), Side(r"\mathcal L/\lambda", loss_of(blind) / batch.scale)),
    )


# Sixteen pairs with 0/1 labels, as many of each.
SIXTEEN_LABELS = batch_of_scored_pairs([0.0] * 16, [0.0, 1.0] * 8)

CLAIMS = (
    Claim(
        name="S1-9",
        source="S1 eq. 9",
        formula=r"I(u; x) \ge \log K - \mathcal L_{\text{InfoNCE}}",
        check=lower_bound,
        examples=(S1_EXAMPLE,),
        needs="vectors",
        losses=("info_nce",),
    ),
    Claim(
        name="S1-10",
        source="S1 eq. 10",
        formula=r"\cos(u_i, u_j) > \cos(u_k, u_l) \;\Rightarrow\; I(u_i; u_j) > I(u_k; u_l)",
        check=cosine_and_information,
        examples=(S1_EXAMPLE,),
        needs="nothing",
        losses=("cosent",),
    ),
    Claim(
        name="S1-22",
        source="S1 eq. 20–22",
        formula=r"\operatorname{KL}(p\,\|\,q) = \sum_{ij,kl} p_{ij,kl}"
        r" \log\frac{p_{ij,kl}}{q_{ij,kl}} \le \mathcal L_{\text{CoSENT}}",
        check=divergence,
        examples=(S1_EXAMPLE, S0_EXAMPLE),
        losses=("cosent",),
    ),
    Claim(
        name="S1-23",
        source="S1 eq. 23",
        formula=r"I(u; \operatorname{sim}) \ge H(\operatorname{sim})"
        r" - \mathcal L_{\text{CoSENT}}/\lambda",
        check=label_information,
        examples=(SIXTEEN_LABELS, S1_EXAMPLE, S0_EXAMPLE),
        losses=("cosent",),
    ),
    Claim(
        name="S2-mi",
        source="S2",
        formula=r"\min \mathcal L_{\text{InfoNCE}} \;\Leftrightarrow\; \max I(q; k_{pos})",
        check=gaussian_pairs,
        examples=(S1_EXAMPLE,),
        needs="nothing",
        losses=("info_nce",),
    ),
)
