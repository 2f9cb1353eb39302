"""A margin for the own key and one for the hardest negative of a large batch."""

from collections.abc import Mapping

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.contrastive.in_batch_symbols_and_counts import QUERY_SYMBOLS, in_all
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.kernels.query_key_losses_by_tiles import directions_and_logits
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.sentence_transformers_equivalent_record import Equivalent
from lossprism.losses.spec import Convention, LossSpec, Parameter
from lossprism.losses.symbols import each_query, query_by_key


def mega_batch_margin_definition(
    queries: Tensor, keys: Tensor, *, positive_margin: float = 0.8, negative_margin: float = 0.3
) -> Tensor:
    similarities = cosine_matrix(queries, keys)
    own = similarities.diagonal()
    itself = torch.eye(*similarities.shape, dtype=torch.bool, device=own.device)
    terms = similarities.masked_fill(itself, -torch.inf)
    hardest = terms.amax(dim=1)
    pull = (positive_margin - own).relu()
    push = (hardest - negative_margin).relu()
    per_query = pull + push
    loss = per_query.mean()
    return loss


def mega_batch_margin(
    queries: Tensor,
    keys: Tensor,
    *,
    positive_margin: float = 0.8,
    negative_margin: float = 0.3,
    gather: bool = False,
) -> Tensor:
    r"""mean_i( max(0, m⁺ − cos(q_i, k_i)) + max(0, max_{j≠i} cos(q_i, k_j) − m⁻) ).

    >>> queries, keys = torch.eye(2), torch.tensor([[0.6, 0.8], [0.0, 1.0]])
    >>> mega_batch_margin(queries, keys)  # (0.2 + 0 + 0 + 0.5) / 2
    tensor(0.3500)

    Args:
        queries, keys: [N, D] each; key i belongs to query i. Alone in its batch, a query has no
            negative.
        positive_margin: m⁺, the cosine from which the own key is near enough.
        negative_margin: m⁻, the cosine up to which the hardest negative is far enough.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    input_checks.plain_number(positive_margin=positive_margin, negative_margin=negative_margin)
    queries, keys = gathered(gather, queries, keys)
    queries, keys = input_checks.paired(
        input_checks.for_products(queries), queries=queries, keys=keys
    )
    arguments = (queries, keys, positive_margin, negative_margin)
    return with_gradient(_by_tiles, _dense, *arguments)


def _dense(queries, keys, positive_margin, negative_margin):
    return mega_batch_margin_definition(
        queries, keys, positive_margin=positive_margin, negative_margin=negative_margin
    )


def _by_tiles(needs_grad, queries, keys, positive_margin, negative_margin):
    count = len(queries)
    points, logits = directions_and_logits([*needs_grad[:2], False], queries, keys, 1.0)
    tiles = []
    for span, tile in logits.tiles():
        own = tile.diagonal(span.start).clone()
        tile.diagonal(span.start).fill_(-torch.inf)
        tiles.append((own, *tile.max(dim=1)))
    own, hardest, place = (torch.cat(parts) for parts in zip(*tiles, strict=True))
    pull, push = (positive_margin - own).relu_(), (hardest - negative_margin).relu_()
    loss = (pull + push).mean()
    if not any(needs_grad):
        return loss, ()
    assert points.gradient is not None
    looking, looked_for = points.units[:count], points.units[count:]
    near, far = pull.sign_()[:, None], push.sign_()[:, None]
    by_queries, by_keys = points.gradient[:count], points.gradient[count:]
    by_queries.addcmul_(looked_for[place], far).addcmul_(looked_for, near, value=-1)
    by_keys.index_add_(0, place, (looking * far).to(by_keys.dtype))
    by_keys.addcmul_(looking, near, value=-1)
    gradient, _ = points.pull_back(1 / count, 1.0)
    return loss, (*gradient.split(count), None, None)


def _collapse(
    tensors: dict[str, Tensor], positive_margin: float = 0.8, negative_margin: float = 0.3
) -> float:
    push = max(1 - negative_margin, 0.0) if len(tensors["keys"]) > 1 else 0.0
    return max(positive_margin - 1, 0.0) + push


def _floor(
    tensors: dict[str, Tensor], positive_margin: float = 0.8, negative_margin: float = 0.3
) -> float | None:
    """A simplex, where the margins ask for no more than it has."""
    count = len(tensors["keys"])
    own = max(positive_margin - 1, 0.0)
    if count == 1:
        return own
    return own if -1 / (count - 1) <= negative_margin else None


def _equivalent(*, positive_margin: float, negative_margin: float) -> Equivalent:
    return Equivalent(
        "MegaBatchMarginLoss",
        {"queries": "queries", "keys": "keys"},
        f"theirs = MegaBatchMarginLoss(None, {positive_margin!r}, {negative_margin!r}, False)\n"
        "loss = theirs.calculate_loss([[queries], [keys]])\n",
    )


def _with_copies(
    copies: Mapping[str, Tensor], positive_margin: float = 0.8, negative_margin: float = 0.3
) -> float:
    """A copy is as near as the own key, or at 1: what pulls one pushes the other."""
    return max(positive_margin - negative_margin, 0.0) * float((in_all(copies) > 0).double().mean())


MEGA_BATCH_MARGIN = LossSpec(
    function=mega_batch_margin,
    definition=mega_batch_margin_definition,
    title="Mega-batch margin",
    about="Pulls the positive above one margin and pushes the nearest negative below another.",
    steps={"own": "Cosine with the positive."},
    group="in_batch",
    formula=r"\frac1N \sum_i \Bigl([m^+ - \cos(q_i, k_i)]_+"
    r" + \bigl[\max_{j \ne i} \cos(q_i, k_j) - m^-\bigr]_+\Bigr)",
    symbols={
        **QUERY_SYMBOLS,
        "own": each_query("c_{ii}", "«similarities[r,r]»"),
        "itself": query_by_key("i = j", "«r» = «c»"),
        "terms": query_by_key(r"c_{ij}\ \text{where}\ j \ne i", "«similarities[r,c]»"),
        "hardest": each_query(r"\max_{j \ne i} c_{ij}", r"\max\bigl(«max terms[r]»\bigr)"),
        "pull": each_query(r"[m^+ - c_{ii}]_+", "[«positive_margin» - «own[r]»]_+", signed=False),
        "push": each_query(
            r"[\max_{j \ne i} c_{ij} - m^-]_+", "[«hardest[r]» - «negative_margin»]_+", signed=False
        ),
        "per_query": each_query(
            r"\ell_i",
            "«pull[r]» + «push[r]»",
            equals=r"[m^+ - c_{ii}]_+ + [\max_{j \ne i} c_{ij} - m^-]_+",
            signed=False,
        ),
    },
    parameters=(
        Parameter(
            "positive_margin", 0.8, "m^+", -1.0, 1.0, 0.01, role="margin", label="positive margin"
        ),
        Parameter(
            "negative_margin", 0.3, "m^-", -1.0, 1.0, 0.01, role="margin", label="negative margin"
        ),
    ),
    terms="terms",
    negatives=("terms",),
    with_copies=_with_copies,
    collapse=_collapse,
    collapse_formula=r"[m^+ - 1]_+ + [1 - m^-]_+",
    floor=_floor,
    floor_formula="0",
    references=("Wieting & Gimpel 2018 (ParaNMT)",),
    aliases=("MegaBatchMarginLoss",),
    equivalent=_equivalent,
    conventions=(
        Convention(
            "sentence-transformers 6.2 MegaBatchMarginLoss",
            {"positive_margin": 0.8, "negative_margin": 0.3},
            former=("sentence-transformers 6.2",),
        ),
    ),
)
