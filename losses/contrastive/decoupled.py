"""Decoupled contrastive loss (DCL): InfoNCE whose own pair does not stand in the denominator."""

import math
from dataclasses import replace

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.contrastive.in_batch_symbols_and_counts import (
    QUERY_SYMBOLS,
    temperature_parameter,
)
from lossprism.losses.contrastive.info_nce_minimum_and_collapse import keys_beside
from lossprism.losses.contrastive.nt_xent import NT_XENT, VIEWS
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.kernels import log_sum_exp
from lossprism.losses.kernels.block_softmax import Block, over_blocks
from lossprism.losses.kernels.query_key_losses_by_tiles import Directions
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import OF_PAIRS, Peer
from lossprism.losses.minimum import least_on_grid, simplex_gap
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import each_query, each_view, loss_symbol, query_by_key, view_by_view


def decoupled_definition(
    first: Tensor,
    second: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.1,
    weighted: bool = False,
    sigma: float = 0.5,
) -> Tensor:
    candidates = second if negatives is None else torch.cat((second, negatives))
    similarities = cosine_matrix(first, candidates)
    logits = similarities / temperature
    positive = logits.diagonal()
    others = ~torch.eye(*logits.shape, dtype=torch.bool, device=logits.device)
    terms = logits.masked_fill(~others, -torch.inf)
    partition = log_sum_exp(terms, dim=1)
    if weighted:
        shares = (similarities.diagonal() / sigma).softmax(dim=0)
        weights = 2 - len(first) * shares
        pull = weights * positive
    else:
        pull = positive
    per_query = (partition - pull).masked_fill(partition.isneginf(), 0)
    loss = per_query.mean()
    return loss


def decoupled(
    first: Tensor,
    second: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.1,
    weighted: bool = False,
    sigma: float = 0.5,
    gather: bool = False,
) -> Tensor:
    r"""mean_i( −cos(u_i, v_i)/τ + log Σ_{j≠i} exp(cos(u_i, v_j)/τ) ) (Yeh et al. 2022).

    A loss below 0 is normal. A row without a negative counts as 0.

    >>> first = second = torch.eye(3)
    >>> decoupled(first, second, temperature=1.0)  # −1 + log 2
    tensor(-0.3069)

    Args:
        first, second: [N, D] each; row i of both belongs together. The paper sums over both views
            and adds the loss with the two exchanged; one direction stands here, as in InfoNCE.
        negatives: [Q, D], further negatives for every row of first.
        temperature: τ.
        weighted: DCLW: the pull of pair i is multiplied by 2 − e^(cos_i/σ) / mean e^(cos/σ), which
            carries a gradient of its own.
        sigma: σ.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    input_checks.above_zero(temperature=temperature, sigma=sigma)
    input_checks.plain_number(sigma=sigma)
    first, second, negatives = gathered(gather, first, second, negatives)
    first, second, negatives = input_checks.with_negatives(
        input_checks.for_products(first), negatives, first=first, second=second
    )
    arguments = (first, second, negatives, 1 / temperature, weighted, sigma)
    return with_gradient(_decoupled_by_tiles, _dense_decoupled, *arguments)


def _dense_decoupled(first, second, negatives, scale, weighted, sigma):
    return decoupled_definition(
        first, second, negatives=negatives, temperature=1 / scale, weighted=weighted, sigma=sigma
    )


def _decoupled_by_tiles(needs_grad, first, second, negatives, scale, weighted, sigma):
    parts = [part for part in (first, second, negatives) if part is not None]
    points = Directions(torch.cat(parts), needs_grad=any(needs_grad))
    count, exact = len(first), torch.promote_types(first.dtype, torch.float32)
    of_first, of_second = slice(0, count), slice(count, 2 * count)
    own = (points.units[of_first].to(exact) * points.units[of_second]).sum(dim=1)
    value, _, _ = over_blocks(
        points,
        [Block(of_first, slice(count, None))],
        torch.zeros_like(own),
        scale,
        largest=math.inf if isinstance(scale, Tensor) else scale,
        shape=_as_they_are,
        needs_grad=any(needs_grad),
    )
    if len(points.units) == 2:  # one pair, and nothing to tell it from
        own.zero_()
    weights = slopes = torch.ones_like(own)
    if weighted:
        shares = (own / sigma).softmax(dim=0)
        weights = 2 - count * shares
        slopes = weights - count / sigma * shares * (own - shares.dot(own))
    pull = (weights * own).sum()
    loss = (value - scale * pull) / count
    if not any(needs_grad):
        return loss, ()
    assert points.gradient is not None
    if len(points.units) > 2:
        off = slopes.neg()[:, None]
        points.gradient[of_first].addcmul_(points.units[of_second], off)
        points.gradient[of_second].addcmul_(points.units[of_first], off)
    gradient, by_scale = points.pull_back(1 / count, scale)
    if by_scale is not None:  # it counts slopes · own where weights · own stand
        by_scale = by_scale + ((slopes * own).sum() - pull) / count
    by_first, by_second, *by_negatives = gradient.split([len(part) for part in parts])
    return loss, (by_first, by_second, *(by_negatives or [None]), by_scale, None, None)


def _as_they_are(gaps: Tensor, _rows: slice) -> tuple[Tensor, Tensor]:
    """log Σ itself; 0 where nothing is summed."""
    empty = gaps.isneginf()
    return gaps.masked_fill(empty, 0), (~empty).to(gaps.dtype)


def decoupled_of_lightly_definition(
    first: Tensor,
    second: Tensor,
    *,
    temperature: float = 0.1,
    weighted: bool = False,
    sigma: float = 0.5,
) -> Tensor:
    """lightly's form: over the 2N views, the negatives of both sides in one sum, weights
    detached."""
    views = torch.cat((first, second))
    similarities = cosine_matrix(views, views)
    logits = similarities / temperature
    place = torch.arange(len(views), device=views.device)
    partner = place.roll(len(first))
    positive = logits[place, partner]
    others = (place != place[:, None]) & (place != partner[:, None])
    terms = logits.masked_fill(~others, -torch.inf)
    partition = log_sum_exp(terms, dim=1)
    if weighted:
        own = similarities[place, partner].detach()
        shares = (own[: len(first)] / sigma).softmax(dim=0).repeat(2)
        weights = 2 - len(first) * shares
        pull = weights * positive
    else:
        pull = positive
    per_view = (partition - pull).masked_fill(partition.isneginf(), 0)
    loss = per_view.mean()
    return loss


def _of_lightly_collapse(tensors: dict[str, Tensor], **_: object) -> float:
    count = len(tensors["first"])
    return math.log(2 * count - 2) if count > 1 else 0.0


def _of_lightly_floor(tensors: dict[str, Tensor], temperature: float = 0.1, **_: object) -> float:
    """Return the value with both views at the corners of one simplex: by Jensen's inequality the
    least."""
    count = len(tensors["first"])
    if count == 1:
        return 0.0
    return math.log(2 * count - 2) - simplex_gap(count) / temperature


def _decoupled_collapse(tensors: dict[str, Tensor], **_: object) -> float:
    count, beside = len(tensors["first"]), keys_beside(tensors)
    return math.log(count - 1 + beside) if count + beside > 1 else 0.0


def _decoupled_floor(tensors: dict[str, Tensor], temperature: float = 0.1, **_: object) -> float:
    """Return InfoNCE's minimum: a simplex, tilted from further negatives. Weights average to at
    least 1."""
    count, beside = len(tensors["first"]), keys_beside(tensors)
    if count + beside == 1:
        return 0.0
    if beside == 0:
        return math.log(count - 1) - simplex_gap(count) / temperature
    if count == 1:
        return math.log(beside) - 2 / temperature

    def value_at(a: Tensor, b: Tensor) -> Tensor:
        within = math.log(count - 1) - simplex_gap(count) * a.cos() * b.cos() / temperature
        outside = math.log(beside) + (-a.sin() - (a - b).cos()) / temperature
        return torch.logaddexp(within, outside)

    return least_on_grid(value_at, (0, math.pi / 2), (0, math.pi / 2))


OF_LIGHTLY = Convention(
    "lightly 1.6.0",
    {"temperature": 0.1},
    decoupled_of_lightly_definition,
    formula=r"\frac{1}{2N} \sum_i \Bigl(-w_i\, s_{i\,p(i)}"
    r" + \log \sum_{k \ne i, p(i)} e^{s_{ik}}\Bigr)",
    symbols={
        **{name: NT_XENT.symbols[name] for name in VIEWS},
        "terms": view_by_view(r"s_{ik}\ \text{where}\ k \ne i, p(i)", "«logits[r,c]»"),
        "partition": each_view(
            r"\log \sum_{k \ne i, p(i)} e^{s_{ik}}", r"\log\bigl(«Σ exp terms[r]»\bigr)"
        ),
        "own": each_view(r"c_{i\,p(i)}", "«similarities[r,partner[r]]»"),
        "shares": each_view("p_i", signed=False),
        "weights": each_view("w_i", r"2 - «len(first)» \cdot «shares[r]»", equals="2 - N p_i"),
        "pull": each_view(
            r"w_i s_{i\,p(i)}",
            {"weighted": r"«weights[r]» \cdot «positive[r]»", "": "«positive[r]»"},
        ),
        "per_view": each_view(r"\ell_i", "«partition[r]» - «pull[r]»"),
        "loss": loss_symbol(r"\frac{1}{2N} \sum_i \ell_i", r"\frac{«Σ per_view»}{«len(per_view)»}"),
    },
    reads={"first": "queries", "second": "keys"},
    note="As in the paper: both views of each pair against those of both sides, 2N − 2 negatives "
    "each; DCLW's weights are constants. Earlier versions added the logarithms of two sums, one "
    "for each side.",
    collapse=_of_lightly_collapse,
    collapse_formula=r"\ln(2N - 2)",
    floor=_of_lightly_floor,
    floor_formula=r"\ln(2N - 2) - \frac{N}{(N - 1)\tau}",
    peers=(Peer("lightly", "DCLLoss", OF_PAIRS),),
)

DECOUPLED = LossSpec(
    function=decoupled,
    definition=decoupled_definition,
    title="Decoupled contrastive (DCL)",
    about="Leaves the positive pair out of InfoNCE's denominator.",
    steps={
        "partition": "All negatives, summed in the exponential.",
        "weights": "A pair that is near already is pulled less.",
    },
    group="in_batch",
    formula=r"\frac1N \sum_i \Bigl(-\frac{\cos(q_i, k_i)}{\tau}"
    r" + \log \sum_{j \ne i} e^{\cos(q_i, k_j)/\tau}\Bigr)",
    variants={
        "weighted=true": r"\frac1N \sum_i \Bigl(-w_i\,\frac{\cos(q_i, k_i)}{\tau}"
        r" + \log \sum_{j \ne i} e^{\cos(q_i, k_j)/\tau}\Bigr)"
    },
    symbols={
        **QUERY_SYMBOLS,
        "first": Symbol("q_i", ("query", "dimension"), stem="q"),
        "second": Symbol("k_j", ("key", "dimension")),
        "terms": query_by_key(r"s_{ij}\ \text{where}\ j \ne i", "«logits[r,c]»"),
        "partition": each_query(
            r"\log \sum_{j \ne i} e^{s_{ij}}", r"\log\bigl(«Σ exp terms[r]»\bigr)"
        ),
        "shares": each_query(
            r"p_i",
            r"\frac{e^{«similarities[r,r] / sigma»}}{«Σ exp similarities.diagonal() / sigma»}",
            signed=False,
        ),
        "weights": each_query("w_i", r"2 - «len(first)» \cdot «shares[r]»", equals="2 - N p_i"),
        "pull": each_query(
            r"w_i s_{ii}", {"weighted": r"«weights[r]» \cdot «positive[r]»", "": "«positive[r]»"}
        ),
        "per_query": each_query(
            r"\ell_i",
            "«partition[r]» - «pull[r]»",
            equals=r"\log \sum_{j \ne i} e^{s_{ij}} - w_i s_{ii}",
        ),
    },
    parameters=(
        temperature_parameter(0.1),
        Parameter("weighted", False, label="weighted by similarity"),
        Parameter(
            "sigma", 0.5, r"\sigma", 0.05, 5.0, 0.05, logarithmic=True, label="width of the weights"
        ),
    ),
    reads={"first": "queries", "second": "keys", "negatives": "negatives"},
    terms="terms",
    negatives=("terms",),
    collapse=_decoupled_collapse,
    collapse_formula=r"\ln(K - 1)",
    floor=_decoupled_floor,
    floor_formula=r"\ln(K - 1) - \frac{K}{(K - 1)\tau}",
    references=("Yeh et al. 2022 (DCL)",),
    aliases=("DCL", "DCLW", "DCLLoss", "DCLWLoss", "Decoupled Contrastive Learning"),
    note="The positive pair is not in the denominator, so a loss below 0 is normal.",
    conventions=(
        OF_LIGHTLY,
        replace(
            OF_LIGHTLY,
            name="lightly 1.6.0 DCLWLoss",
            parameters={"temperature": 0.1, "weighted": True},
            note="",
            peers=(Peer("lightly", "DCLWLoss", OF_PAIRS),),
        ),
    ),
)
