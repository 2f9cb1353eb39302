"""AnglE: CoSENT on the angle difference of two vectors read as complex numbers."""

import math
from dataclasses import replace

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import cosine_and_pull, unit
from lossprism.losses.kernels import log1p_sum_exp, ordered_sum
from lossprism.losses.kernels.log_sum_over_ordered_pairs import accurate
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import Peer
from lossprism.losses.loss_term_structures import Separable
from lossprism.losses.minimum import least_over_levels
from lossprism.losses.ranking.ordered_pair_symbols import (
    LOG1P_OF_TERMS,
    PAIR_SYMBOLS,
    SCALE,
    ordered_count,
    scaled_parts,
)
from lossprism.losses.sentence_transformers_equivalent_record import of_pairs
from lossprism.losses.spec import Convention, LossSpec, Symbol
from lossprism.losses.symbols import each_pair, loss_symbol


def angle_definition(
    first: Tensor, second: Tensor, labels: Tensor, *, scale: float = 20.0
) -> Tensor:
    real_first, imaginary_first = unit(first).chunk(2, dim=1)
    real_second, imaginary_second = unit(second).chunk(2, dim=1)
    in_phase = (real_first * real_second + imaginary_first * imaginary_second).sum(dim=1)
    out_of_phase = (imaginary_first * real_second - real_first * imaginary_second).sum(dim=1)
    scores = (in_phase + out_of_phase).abs()
    scaled = scale * scores
    differences = scaled[:, None] - scaled[None, :]
    ordered = labels[:, None] < labels[None, :]
    terms = differences.masked_fill(~ordered, -torch.inf)
    loss = log1p_sum_exp(terms)
    return loss


def angle(
    first: Tensor, second: Tensor, labels: Tensor, *, scale: float = 20.0, gather: bool = False
) -> Tensor:
    r"""cosent with s_i = |Σ Re(z/w) + Im(z/w)|, z and w of unit length (Li & Li 2023, AnglE).

    The first half of each vector is the real part, the second half the imaginary part. The score
    is not symmetric in its arguments and reaches up to √2.

    >>> first = second = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> angle(first, second, torch.tensor([1, 0]))  # equal scores: log 2
    tensor(0.6931)

    Args:
        first, second: [N, D] each, D even.
        labels: [N].
        scale: λ.
        gather: as for `cosent`.
    """
    first, second, labels = gathered(gather, first, second, labels)
    first, second = input_checks.paired(first=first, second=second)
    if first.shape[1] % 2:
        raise ValueError(
            f"first has {first.shape[1]} dimensions; real and imaginary halves need an even number"
        )
    labels = input_checks.ordinal(labels, len(first))
    return with_gradient(_angle, _dense_angle, first, second, labels, scale)


def _dense_angle(first, second, labels, scale):
    return angle_definition(first, second, labels, scale=scale)


def _angle(needs_grad, first, second, labels, scale):
    # The real and the imaginary part of z/w make one product of z with w turned by 45°.
    differences, to_vectors = cosine_and_pull(first, second, _turned)
    scores = differences.abs()
    exact = scores.to(accurate(scores))
    loss, (_, slopes) = ordered_sum(needs_grad, labels, exact * scale)
    by_scale = slopes.dot(exact).to(scale) if needs_grad[3] else None
    slopes = (slopes * scale).to(scores) * differences.sign()
    return loss.to(scores), (*to_vectors(slopes), None, by_scale)


def angle_scores(first: Tensor, second: Tensor) -> Tensor:
    """|Σ Re(z/w) + Im(z/w)| of the rows of two [N, D], D even: [N]."""
    return cosine_and_pull(first, second, _turned)[0].abs()


def _turned(vectors: Tensor, back: bool) -> Tensor:
    """a + ib as (a − b, a + b), or back, as (a + b, b − a)."""
    real, imaginary = vectors.chunk(2, dim=1)
    if back:
        return torch.cat((real + imaginary, imaginary - real), dim=1)
    return torch.cat((real - imaginary, real + imaginary), dim=1)


ANGLE = LossSpec(
    function=angle,
    definition=angle_definition,
    title="AnglE",
    about="Compares pairs as CoSENT does, by an angle in the complex plane where cosine would "
    "saturate.",
    steps={"scores": "Both parts together are the score."},
    group="pair_scores",
    formula=r"\log\Bigl(1 + \sum_{y_i > y_j} e^{\lambda (s_j - s_i)}\Bigr),\quad"
    r" s_i = \Bigl|\sum_d \mathrm{Re}\tfrac{z_{id}}{w_{id}}"
    r" + \mathrm{Im}\tfrac{z_{id}}{w_{id}}\Bigr|",
    symbols={
        **PAIR_SYMBOLS,
        "first": Symbol("u_i", ("pair", "dimension"), stem="u"),
        "second": Symbol("v_i", ("pair", "dimension"), stem="v"),
        "real_first": Symbol(
            "a_i",
            ("pair", "dimension"),
            r"\frac{«first[r,c]»}{«first[r].norm(dim=-1)»}",
            equals=r"\mathrm{Re}\, z_i",
            stem="a",
        ),
        "imaginary_first": Symbol(
            "b_i",
            ("pair", "dimension"),
            r"\frac{«first[r, c + first.shape[1] // 2]»}{«first[r].norm(dim=-1)»}",
            equals=r"\mathrm{Im}\, z_i",
            stem="b",
        ),
        "real_second": Symbol(
            "c_i",
            ("pair", "dimension"),
            r"\frac{«second[r,c]»}{«second[r].norm(dim=-1)»}",
            equals=r"\mathrm{Re}\, w_i",
            stem="c",
        ),
        "imaginary_second": Symbol(
            "d_i",
            ("pair", "dimension"),
            r"\frac{«second[r, c + second.shape[1] // 2]»}{«second[r].norm(dim=-1)»}",
            equals=r"\mathrm{Im}\, w_i",
            stem="d",
        ),
        "in_phase": each_pair(
            r"\rho_i",
            "«Σ real_first[r] * real_second[r] + imaginary_first[r] * imaginary_second[r]»",
            equals=r"\sum (a c + b d)_i",
        ),
        "out_of_phase": each_pair(
            r"\kappa_i",
            "«Σ imaginary_first[r] * real_second[r] - real_first[r] * imaginary_second[r]»",
            equals=r"\sum (b c - a d)_i",
        ),
        "scores": each_pair(
            "s_i",
            r"|«in_phase[r]» + «out_of_phase[r]»|",
            equals=r"|\rho_i + \kappa_i|",
            stem="s",
            signed=False,
        ),
        "scaled": replace(PAIR_SYMBOLS["scaled"], signed=False),
        "loss": loss_symbol(r"\log\Bigl(1 + \sum_{j,i} e^{t_{ji}}\Bigr)", LOG1P_OF_TERMS),
    },
    parameters=(SCALE,),
    form=Separable(scaled_parts, scores="angles"),
    terms="terms",
    collapse=lambda tensors, **_: math.log1p(ordered_count(tensors["labels"])),
    collapse_formula=r"\ln(1 + |P|)",
    floor=lambda tensors, scale: least_over_levels(
        tensors["labels"], scale, lowest=0.0, highest=2**0.5
    ),
    floor_formula=r"\min_{0 \le s \le \sqrt2} \mathcal L",
    aliases=("AnglELoss", "angle-optimized embeddings"),
    references=("Li & Li 2023",),
    equivalent=of_pairs("AnglELoss"),
    conventions=(
        Convention(
            "sentence-transformers 6.2 AnglELoss",
            {"scale": 20.0},
            aliases=("SparseAnglELoss",),
            former=("sentence-transformers",),
        ),
        Convention(
            "AnglE 0.6.1 (function default)",
            {"scale": 1.0},
            former=("AnglE (function default)",),
            peers=(Peer("angle-emb", "angle_loss"),),
        ),
    ),
)
