"""GISTEmbed: in-batch negatives without those that a guide, a second encoder, finds too near."""

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.contrastive.in_batch_symbols_and_counts import (
    ALL_TERMS,
    LOG1P_OF_ALL,
    QUERY_SYMBOLS,
    gaps,
    mean_log,
    mean_log1p,
    temperature_parameter,
)
from lossprism.losses.definition_chosen_by_options import Choice, composed, foldable
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import cosine_matrix, dot_matrix, unit
from lossprism.losses.kernels import log1p_sum_exp
from lossprism.losses.kernels.block_softmax import Block, mean_over_queries
from lossprism.losses.kernels.tile_sizes import rows_at_once
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import GUIDED, SENTENCE_TRANSFORMERS, Peer
from lossprism.losses.masks import others_of_row
from lossprism.losses.minimum import Bound
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import each_query, query_by_key

KINDS = ("absolute", "relative")
CONTRASTED = ("keys", "queries", "keys of keys")
T = TypeVar("T")
CELLS = 2**18  # of cosines at a time, where only how many are kept is asked


def gist_definition(
    queries: Tensor,
    keys: Tensor,
    *,
    guide_queries: Tensor,
    guide_keys: Tensor,
    negatives: Tensor | None = None,
    guide_negatives: Tensor | None = None,
    temperature: float = 0.01,
    margin: float = 0.0,
    margin_kind: str = "absolute",
    contrasted: Sequence[str] = CONTRASTED,
) -> Tensor:
    candidates = keys if negatives is None else torch.cat((keys, negatives))
    guides = guide_keys if guide_negatives is None else torch.cat((guide_keys, guide_negatives))
    similarities = cosine_matrix(queries, candidates)
    logits = similarities / temperature
    positive = logits.diagonal()
    guided = cosine_matrix(guide_queries, guides)
    bound = bound_of(guided.diagonal(), margin, margin_kind)
    others = others_of_row(guided) & (guided <= bound[:, None])
    terms = (logits - positive[:, None]).masked_fill(~others, -torch.inf)
    among_queries = cosine_matrix(queries, queries)
    guided_queries = cosine_matrix(guide_queries, guide_queries)
    query_terms = gaps(among_queries, temperature, positive, stands(guided_queries, bound))
    among_keys = cosine_matrix(keys, keys)
    guided_keys = cosine_matrix(guide_keys, guide_keys)
    key_terms = gaps(among_keys, temperature, positive, stands(guided_keys, bound))
    all_terms = torch.cat(of_sides(contrasted, (terms, query_terms, key_terms)), dim=1)
    per_query = log1p_sum_exp(all_terms, dim=1)
    loss = per_query.mean()
    return loss


@foldable
def of_sides(contrasted: Sequence[str], blocks: Sequence[T]) -> tuple[T, ...]:
    """Return the contrasted blocks, from blocks in the order of `CONTRASTED`."""
    named = zip(CONTRASTED, blocks, strict=True)
    return tuple(block for name, block in named if name in contrasted)


def stands(guided: Tensor, bound: Tensor) -> Tensor:
    """Return the other candidates [N, N] no nearer to the guide than each row's bound [N]."""
    return others_of_row(guided) & (guided <= bound[:, None])


@composed(gist_definition)
def gist_by_options(
    queries: Tensor,
    keys: Tensor,
    *,
    guide_queries: Tensor,
    guide_keys: Tensor,
    negatives: Tensor | None = None,
    guide_negatives: Tensor | None = None,
    temperature: float = 0.01,
    margin: float = 0.0,
    margin_kind: str = "absolute",
    contrast_anchors: bool = True,
    contrast_positives: bool = True,
) -> Choice:
    """Choose the candidates beside the keys in the softmax, for the options of `losses.gist`."""
    contrast = (True, contrast_anchors, contrast_positives)
    arguments = {
        "queries": queries,
        "keys": keys,
        "guide_queries": guide_queries,
        "guide_keys": guide_keys,
        "negatives": negatives,
        "guide_negatives": guide_negatives,
        "temperature": temperature,
        "margin": margin,
        "margin_kind": margin_kind,
        "contrasted": tuple(itertools.compress(CONTRASTED, contrast)),
    }
    return gist_definition, arguments


def bound_of(own: Tensor, margin: float, kind: str) -> Tensor:
    """Return the guide's similarity above which a candidate is left out, [N], from that of each
    row's own pair. A tolerance for rounding keeps duplicate texts."""
    own = own.detach()
    less = margin * own.abs() if kind == "relative" else margin
    return own - less + 8 * torch.finfo(own.dtype).eps


def gist(
    queries: Tensor,
    keys: Tensor,
    *,
    guide_queries: Tensor,
    guide_keys: Tensor,
    negatives: Tensor | None = None,
    guide_negatives: Tensor | None = None,
    temperature: float = 0.01,
    margin: float = 0.0,
    margin_kind: str = "absolute",
    contrast_anchors: bool = True,
    contrast_positives: bool = True,
    gather: bool = False,
) -> Tensor:
    r"""InfoNCE of queries at keys and queries, and keys at keys, without what a guide holds for
    positives: candidates nearer to it than the own pair (GISTEmbed).

    >>> queries, keys = torch.eye(2), torch.eye(2)
    >>> guide = {"guide_queries": queries, "guide_keys": keys}
    >>> gist(queries, keys, **guide, temperature=1.0)  # log(1 + 3 e^(0 − 1))
    tensor(0.7437)
    >>> gist(queries, keys, **guide, margin=1.5)  # all of them too near
    tensor(0.)

    Args:
        queries, keys: [N, D] each; key i belongs to query i.
        guide_queries, guide_keys: [N, G] each, the guide's vectors of the same; constants.
        negatives: [Q, D], further keys for every query.
        guide_negatives: [Q, G], the guide's vectors of these.
        temperature: τ.
        margin: m; a candidate is left out whose similarity to the guide is above that of the own
            pair less the margin. The own pair always stays.
        margin_kind: "absolute", own − m; "relative", own − m·|own|.
        contrast_anchors: whether queries are negatives of queries.
        contrast_positives: whether keys are negatives of keys.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    input_checks.above_zero(temperature=temperature)
    input_checks.one_of(KINDS, margin_kind=margin_kind)
    input_checks.plain_number(margin=margin)
    if (negatives is None) != (guide_negatives is None):
        missing, arguments = "guide_negatives", "negatives"
        if negatives is None:
            missing, arguments = arguments, missing
        raise ValueError(f"{missing} is missing: it goes together with {arguments}")
    queries, keys, negatives = gathered(gather, queries, keys, negatives)
    queries, keys, negatives = input_checks.with_negatives(
        input_checks.for_products(queries), negatives, queries=queries, keys=keys
    )
    names = ("guide_queries", "guide_keys", "guide_negatives")
    guides = gathered(gather, guide_queries, guide_keys, guide_negatives)
    of_guide: dict[str, Tensor | None] = dict(zip(names, guides, strict=True))
    guides = input_checks.vectors(**of_guide)
    for name, guide, of in zip(names, guides, (queries, keys, negatives), strict=True):
        if guide is not None and of is not None and len(guide) != len(of):
            raise ValueError(
                f"{name} has {len(guide)} rows; one for each of the {len(of)} {name[6:]} is needed"
            )
    still = (None if guide is None else guide.detach() for guide in guides)
    settings = (margin, margin_kind, contrast_anchors, contrast_positives)
    arguments = (queries, keys, negatives, 1 / temperature, *still, *settings)
    return with_gradient(_gist_by_tiles, _dense_gist, *arguments)


def _dense_gist(
    queries, keys, negatives, scale, of_queries, of_keys, of_negatives, margin, kind, qq, kk
):
    return gist_by_options(
        queries,
        keys,
        guide_queries=of_queries,
        guide_keys=of_keys,
        negatives=negatives,
        guide_negatives=of_negatives,
        temperature=1 / scale,
        margin=margin,
        margin_kind=kind,
        contrast_anchors=qq,
        contrast_positives=kk,
    )


def _gist_by_tiles(
    needs_grad,
    queries,
    keys,
    negatives,
    scale,
    of_queries,
    of_keys,
    of_negatives,
    margin,
    kind,
    qq,
    kk,
):
    count = len(queries)
    at_queries, at_keys = slice(0, count), slice(count, 2 * count)
    guide_queries, guide_keys = unit(of_queries), unit(of_keys)
    bound = bound_of((guide_queries * guide_keys).sum(dim=1), margin, kind)

    def too_near(rows: Tensor, columns: Tensor) -> Callable[[slice], Tensor]:
        return lambda span: rows[span] @ columns.T > bound[span, None]

    blocks = [Block(at_queries, at_keys, absent=too_near(guide_queries, guide_keys))]
    if qq:
        blocks.append(Block(at_queries, at_queries, absent=too_near(guide_queries, guide_queries)))
    if kk:
        blocks.append(Block(at_keys, at_keys, absent=too_near(guide_keys, guide_keys)))
    if of_negatives is not None:
        beyond = slice(2 * count, None)
        absent = too_near(guide_queries, unit(of_negatives))
        blocks.append(Block(at_queries, beyond, diagonal=False, absent=absent))
    value, gradient = mean_over_queries(
        queries, keys, negatives, scale, blocks, needs_grad=any(needs_grad)
    )
    return value, (*gradient, *(None,) * 7) if gradient else ()


def _gist_collapse(
    tensors: dict[str, Tensor],
    margin: float = 0.0,
    margin_kind: str = "absolute",
    contrast_anchors: bool = True,
    contrast_positives: bool = True,
    **_: object,
) -> float:
    """The guide keeps its mask, whatever the model gives."""
    looks, partners = (unit(tensors[name].double()) for name in ("guide_queries", "guide_keys"))
    away = tensors.get("guide_negatives")
    away = None if away is None else unit(away.double())
    counts = torch.zeros(len(looks), dtype=torch.float64, device=looks.device)
    step = rows_at_once(CELLS, len(looks), looks)
    for start in range(0, len(looks), step):
        here = slice(start, start + step)
        guided = dot_matrix(looks[here], partners)
        bound = bound_of(guided.diagonal(start), margin, margin_kind)[:, None]
        own = [guided]
        if contrast_anchors:
            own.append(dot_matrix(looks[here], looks))
        if contrast_positives:
            own.append(dot_matrix(partners[here], partners))
        for cosines in own:
            # 1 where it is kept: numbers are added up faster than truths.
            kept = cosines.le_(bound)
            kept.diagonal(start).zero_()
            counts[here] += kept.sum(dim=1)
        if away is not None:
            counts[here] += dot_matrix(looks[here], away).le_(bound).sum(dim=1)
    return mean_log(1, -counts)


GIST = LossSpec(
    function=gist,
    definition=gist_by_options,
    title="GISTEmbed",
    about="Drops from InfoNCE the negatives that a guide finds nearer than the positive.",
    steps={
        "bound": "What is nearer than this to the guide is left out.",
        "guide_keys": "The guide's vectors of the keys.",
        "guide_negatives": "The guide's vectors of the negatives.",
        "guide_queries": (
            "The guide's vectors of the queries: a second encoder's, or the batch's own, held "
            "still."
        ),
        "guided": "What the guide thinks of every query and key.",
        "guided_keys": "The guide on keys.",
        "guided_queries": "The guide on queries.",
        "guides": "Vectors of the guide for everything that a row may choose from.",
        "key_terms": "Other keys that the guide lets stand.",
        "others": "Wrong keys, but for those that the guide finds too near.",
        "query_terms": "Other queries that the guide lets stand.",
    },
    group="in_batch",
    formula=r"-\frac1N \sum_i \log \frac{e^{s_{ii}}}{e^{s_{ii}}"
    r" + \sum_{j \ne i} m_{ij}\, e^{s_{ij}} + \sum_{j \ne i} m_{ij}\, e^{s(q_i, q_j)}"
    r" + \sum_{j \ne i} m_{ij}\, e^{s(k_i, k_j)} + \sum_n m_{in}\, e^{s_{in}}}",
    symbols={
        **QUERY_SYMBOLS,
        "all_terms": ALL_TERMS,
        "per_query": dataclasses.replace(QUERY_SYMBOLS["per_query"], live=LOG1P_OF_ALL),
        "guide_queries": Symbol(r"\hat q_i", ("query", "guide_dimension"), stem=r"\hat q"),
        "guide_keys": Symbol(r"\hat k_j", ("key", "guide_dimension")),
        "guide_negatives": Symbol(r"\hat n_j", ("key", "guide_dimension")),
        "guides": Symbol(r"\hat k_j", ("key", "guide_dimension")),
        "guided": query_by_key(r"g_{ij} = \cos(\hat q_i, \hat k_j)"),
        "bound": each_query(
            r"g_{ii} - m",
            {
                "margin_kind == 'relative'": r"«guided[r,r]» - «margin» \cdot |«guided[r,r]»|",
                "": "«guided[r,r]» - «margin»",
            },
        ),
        "others": query_by_key(
            r"j \ne i,\ g_{ij} \le g_{ii} - m", r"«r» \ne «c»,\ «guided[r,c]» \le «bound[r]»"
        ),
        "terms": query_by_key(
            "t_{ij}",
            r"«logits[r,c]» - «positive[r]»",
            equals=r"s_{ij} - s_{ii}\ \text{where}\ j \ne i,\ g_{ij} \le g_{ii} - m",
        ),
        "among_queries": Symbol(r"\cos(q_i, q_j)", ("query", "query")),
        "guided_queries": Symbol(r"\cos(\hat q_i, \hat q_j)", ("query", "query")),
        "query_terms": Symbol(
            r"\cos(q_i, q_j)/\tau - s_{ii}\ \text{where}\ j \ne i",
            ("query", "query"),
            "«among_queries[r,c]» / «temperature» - «positive[r]»",
        ),
        "among_keys": query_by_key(r"\cos(k_i, k_j)"),
        "guided_keys": query_by_key(r"\cos(\hat k_i, \hat k_j)"),
        "key_terms": query_by_key(
            r"\cos(k_i, k_j)/\tau - s_{ii}\ \text{where}\ j \ne i",
            "«among_keys[r,c]» / «temperature» - «positive[r]»",
        ),
    },
    parameters=(
        temperature_parameter(0.01),
        Parameter("margin", 0.0, "m", -0.5, 1.0, 0.01, role="margin", label="margin"),
        Parameter("margin_kind", "absolute", choices=KINDS, label="kind of margin"),
        Parameter("contrast_anchors", True, label="queries against queries"),
        Parameter("contrast_positives", True, label="keys against keys"),
    ),
    terms="terms",
    negatives=("terms", "query_terms", "key_terms"),
    with_copies=mean_log1p,
    collapse=_gist_collapse,
    collapse_formula=r"\overline{\ln K_i}",
    floor=lambda tensors, **_: Bound(0.0),  # of what a guide leaves over nobody knows more
    floor_formula=r"\ge 0",
    references=("Solatorio 2024 (GISTEmbed)",),
    aliases=("GISTEmbedLoss", "CachedGISTEmbedLoss", "GIST", "guided in-sample selection"),
    conventions=(
        Convention(
            "sentence-transformers 6.2",
            {"temperature": 0.01},
            peers=(Peer(SENTENCE_TRANSFORMERS, "GISTEmbedLoss", GUIDED),),
        ),
        Convention(
            "sentence-transformers 6.2, relative margin of 5 %",
            {"temperature": 0.01, "margin": 0.05, "margin_kind": "relative"},
            peers=(
                Peer(
                    SENTENCE_TRANSFORMERS,
                    "GISTEmbedLoss",
                    GUIDED,
                    {"margin_strategy": "relative", "margin": 0.05},
                ),
            ),
        ),
    ),
)
