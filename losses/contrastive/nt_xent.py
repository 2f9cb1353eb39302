"""NT-Xent: InfoNCE over both views of everything, each view against all but itself."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from losses import inputs
from losses.contrastive.in_batch import (
    LOG1P_OF_ROW,
    temperature_parameter,
)
from losses.forms import AgainstOthers
from losses.gather import gathered
from losses.geometry import cosine_matrix
from losses.kernels import classes as large
from losses.kernels import few, log1p_sum_exp
from losses.kernels.classes import is_small
from losses.kernels.gradient import with_gradient
from losses.kernels.tiled import (
    Directions,
    against_others,
)
from losses.landmarks import simplex_gap, softplus_at
from losses.spec import Convention, LossSpec, Symbol
from losses.twins import Twin


def nt_xent_definition(first: Tensor, second: Tensor, *, temperature: float = 0.5) -> Tensor:
    views = torch.cat((first, second))
    similarities = cosine_matrix(views, views)
    logits = similarities / temperature
    place = torch.arange(len(views), device=views.device)
    partner = place.roll(len(first))
    positive = logits[place, partner]
    others = (place != place[:, None]) & (place != partner[:, None])
    terms = (logits - positive[:, None]).masked_fill(~others, -torch.inf)
    per_view = log1p_sum_exp(terms, dim=1)
    loss = per_view.mean()
    return loss


def nt_xent(
    first: Tensor, second: Tensor, *, temperature: float = 0.5, gather: bool = False
) -> Tensor:
    r"""InfoNCE over the 2N views z = [first; second], each against all but itself (SimCLR).

    What S2 calls NT-Xent is InfoNCE with a temperature: one direction, no other views.

    mean_i −log( exp(cos(z_i, z_p(i))/τ) / Σ_{k≠i} exp(cos(z_i, z_k)/τ) ).

    >>> first = second = torch.eye(2)
    >>> nt_xent(first, second, temperature=1.0)  # two others at cosine 0: log(1 + 2/e)
    tensor(0.5514)

    Args:
        first, second: [N, D] each, two views of the same N things.
        temperature: τ.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    inputs.above_zero(temperature=temperature)
    first, second = gathered(gather, first, second)
    first, second = inputs.paired(inputs.for_products(first), first=first, second=second)
    return with_gradient(_nt_xent_by_tiles, _nt_xent_densely, first, second, 1 / temperature)


def _nt_xent_densely(first, second, scale):
    return nt_xent_definition(first, second, temperature=1 / scale)


def _nt_xent_by_tiles(wanted, first, second, scale):
    points = Directions(torch.cat((first, second)), wanted=any(wanted))
    every = slice(0, None)
    logits = points.between(every, every, scale, (any(wanted), any(wanted)))
    count = 2 * len(first)
    place = torch.arange(count, device=first.device)
    total, _ = against_others(logits, place.roll(len(first)), absent=place)
    if not any(wanted):
        return total / count, ()
    gradient, by_scale = points.pull_back(1 / count, scale)
    return total / count, (*gradient.split(len(first)), by_scale)


def nt_xent_of_both_directions_definition(
    first: Tensor, second: Tensor, *, temperature: float = 0.1
) -> Tensor:
    """As google-research's SimCLR: the means of both directions are added, not averaged."""
    views = torch.cat((first, second))
    similarities = cosine_matrix(views, views)
    logits = similarities / temperature
    place = torch.arange(len(views), device=views.device)
    partner = place.roll(len(first))
    positive = logits[place, partner]
    others = (place != place[:, None]) & (place != partner[:, None])
    terms = (logits - positive[:, None]).masked_fill(~others, -torch.inf)
    per_view = log1p_sum_exp(terms, dim=1)
    loss = per_view.sum() / len(first)
    return loss


def nt_xent_of_both_directions(
    first: Tensor, second: Tensor, *, temperature: float = 0.1, gather: bool = False
) -> Tensor:
    """NT-Xent as google-research's code of SimCLR has it: twice `nt_xent`.

    >>> first = second = torch.eye(2)
    >>> nt_xent_of_both_directions(first, second, temperature=1.0)  # 2 · log(1 + 2/e)
    tensor(1.1029)

    Args:
        first, second: [N, D] each, two views of the same N things.
        temperature: τ.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    return 2 * nt_xent(first, second, temperature=temperature, gather=gather)


def nt_xent_of_classes_definition(
    embeddings: Tensor, classes: Tensor, *, temperature: float = 0.07
) -> Tensor:
    """With several positives (pytorch-metric-learning): one softmax for each positive pair,
    in whose denominator the other positives do not stand."""
    similarities = cosine_matrix(embeddings, embeddings)
    logits = similarities / temperature
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    anchor, partner = (alike & ~itself).nonzero(as_tuple=True)
    positive = logits[anchor, partner]
    terms = (logits[anchor] - positive[:, None]).masked_fill(alike[anchor], -torch.inf)
    per_pair = log1p_sum_exp(terms, dim=1)
    loss = per_pair.sum() / max(len(per_pair), 1)
    return loss


def nt_xent_of_classes(
    embeddings: Tensor, classes: Tensor, *, temperature: float = 0.07, gather: bool = False
) -> Tensor:
    r"""NT-Xent with several positives: the mean over all ordered pairs (i, p) of one class of
    −log( e^{s_ip} / (e^{s_ip} + Σ_{c_k ≠ c_i} e^{s_ik}) ), s = cos/τ.

    The other positives do not stand in the denominator (pytorch-metric-learning's NTXentLoss).
    Without any positive pair the loss is 0.

    >>> embeddings = torch.eye(3)
    >>> nt_xent_of_classes(embeddings, torch.tensor([0, 0, 1]))  # one negative each: log 2
    tensor(0.6931)

    Args:
        embeddings: [N, D].
        classes: [N], whole numbers.
        temperature: τ.
        gather: the batch is that of all processes of torch.distributed (`losses.gather`).
    """
    embeddings, classes = gathered(gather, embeddings, classes)
    inputs.above_zero(temperature=temperature)
    (embeddings,) = inputs.vectors(embeddings=embeddings)
    classes = inputs.class_numbers(classes, len(embeddings))

    exact = few if is_small(len(embeddings), embeddings) else large
    given = (embeddings, classes, temperature)
    return with_gradient(exact.several_positives, _of_classes_densely, *given)


def _of_classes_densely(embeddings, classes, temperature):
    return nt_xent_of_classes_definition(embeddings, classes, temperature=temperature)


def _nt_xent_floor(given: dict[str, Tensor], temperature: float = 0.5) -> float:
    count = len(given["first"])
    if count == 1:
        return 0.0
    exponent = math.log(2 * count - 2) - simplex_gap(count) / temperature
    return softplus_at(exponent)


def _twin(*, temperature: float) -> Twin:
    return Twin(
        "MultipleNegativesRankingLoss",
        {"first": "queries", "second": "keys"},
        "# Keys from both sides, and the mean of both directions.\n"
        'ways = ("query_to_doc", "query_to_query")\n'
        f"scale = 1 / {temperature!r}\n"
        "twin = MultipleNegativesRankingLoss(None, scale=scale, directions=ways)\n"
        "there = twin.compute_loss_from_embeddings([first, second], None)\n"
        "back = twin.compute_loss_from_embeddings([second, first], None)\n"
        "loss = (there + back) / 2\n",
    )


NT_XENT = LossSpec(
    function=nt_xent,
    definition=nt_xent_definition,
    title="NT-Xent",
    group="in_batch",
    formula=r"-\frac{1}{2N} \sum_i \log"
    r" \frac{e^{\cos(z_i, z_{p(i)})/\tau}}{\sum_{k \ne i} e^{\cos(z_i, z_k)/\tau}}",
    symbols={
        "first": Symbol("z_i", ("query", "dimension")),
        "second": Symbol("z_{N+i}", ("key", "dimension")),
        "views": Symbol("z_i", ("view", "dimension")),
        "similarities": Symbol(r"c_{ik} = \cos(z_i, z_k)", ("view", "view")),
        "logits": Symbol(
            r"s_{ik} = c_{ik} / \tau", ("view", "view"), r"«similarities[r,c]» / «temperature»"
        ),
        "place": Symbol("i", ("view",)),
        "partner": Symbol("p(i)", ("view",)),
        "positive": Symbol("s_{i\\,p(i)}", ("view",), "«logits[r,partner[r]]»"),
        "others": Symbol(r"k \ne i,\ k \ne p(i)", ("view", "view"), r"«c» \ne «r»"),
        "terms": Symbol(
            r"t_{ik} = s_{ik} - s_{i\,p(i)}\ \text{where}\ k \ne i, p(i)",
            ("view", "view"),
            r"«logits[r,c]» - «positive[r]»",
        ),
        "per_view": Symbol(
            r"\ell_i = \log\Bigl(1 + \sum_k e^{t_{ik}}\Bigr)", ("view",), LOG1P_OF_ROW, signed=False
        ),
        "loss": Symbol(
            r"\mathcal L = \frac{1}{2N} \sum_i \ell_i", live=r"\frac{«Σ per_view»}{«len(per_view)»}"
        ),
    },
    parameters=(temperature_parameter(0.5),),
    reads={"first": "queries", "second": "keys"},
    form=AgainstOthers(scale=lambda temperature: 1 / temperature, views=True),
    terms="terms",
    collapse=lambda given, **_: math.log(2 * len(given["first"]) - 1),
    collapse_formula=r"\ln(2N - 1)",
    floor=_nt_xent_floor,
    floor_formula=r"\ln\bigl(1 + (2N - 2)\, e^{-\frac{N}{(N - 1)\tau}}\bigr)",
    references=("Chen et al. 2020 (SimCLR)",),
    twin=_twin,
    conventions=(
        Convention(
            "SimCLR",
            {"temperature": 0.5},
            note="The paper's formula. google-research's code adds the two directions up, twice "
            "this number, and starts from τ = 0.1: it is a convention of its own.",
        ),
        Convention(
            "SimCLR, google-research's code (both directions added)",
            {"temperature": 0.1},
            nt_xent_of_both_directions_definition,
            formula=r"-\frac1N \sum_i \log"
            r" \frac{e^{\cos(z_i, z_{p(i)})/\tau}}{\sum_{k \ne i} e^{\cos(z_i, z_k)/\tau}}",
            symbols={
                "loss": Symbol(
                    r"\mathcal L = \frac1N \sum_i \ell_i",
                    live=r"\frac{«Σ per_view»}{«len(first)»}",
                )
            },
            function=nt_xent_of_both_directions,
        ),
        Convention(
            "pytorch-metric-learning (several positives)",
            {"temperature": 0.07},
            nt_xent_of_classes_definition,
            formula=r"-\frac{1}{|P|} \sum_{(i,p) \in P} \log \frac{e^{s_{ip}}}"
            r"{e^{s_{ip}} + \sum_{c_k \ne c_i} e^{s_{ik}}}",
            symbols={
                "embeddings": Symbol("z_i", ("sentence", "dimension")),
                "classes": Symbol("c_i", ("sentence",)),
                "similarities": Symbol(r"c_{ik} = \cos(z_i, z_k)", ("sentence", "sentence")),
                "logits": Symbol(
                    r"s_{ik} = c_{ik} / \tau",
                    ("sentence", "sentence"),
                    r"«similarities[r,c]» / «temperature»",
                ),
                "alike": Symbol(
                    "c_i = c_k", ("sentence", "sentence"), r"«classes[r]» = «classes[c]»"
                ),
                "itself": Symbol("i = k", ("sentence", "sentence"), "«r» = «c»"),
                "anchor": Symbol("i", ("triplet",)),
                "partner": Symbol("p", ("triplet",)),
                "positive": Symbol("s_{ip}", ("triplet",), "«logits[anchor[r],partner[r]]»"),
                "terms": Symbol(
                    r"t_{tk} = s_{ik} - s_{ip}\ \text{where}\ c_k \ne c_i",
                    ("triplet", "sentence"),
                    "«logits[anchor[r],c]» - «positive[r]»",
                ),
                "per_pair": Symbol(
                    r"\ell_t = \log\Bigl(1 + \sum_k e^{t_{tk}}\Bigr)",
                    ("triplet",),
                    LOG1P_OF_ROW,
                    signed=False,
                ),
                "loss": Symbol(
                    r"\mathcal L = \frac{1}{|P|} \sum_t \ell_t",
                    live=r"\frac{«Σ per_pair»}{«max(len(per_pair), 1)»}",
                ),
            },
            reads={"embeddings": "embeddings", "classes": "paired_classes"},
            function=nt_xent_of_classes,
        ),
    ),
)
