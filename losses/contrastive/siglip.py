"""SigLIP: one binary decision for every cell of queries × keys."""

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.contrastive.in_batch_symbols_and_counts import (
    QUERY_SYMBOLS,
    TEXT_SYMBOLS,
    TEXTS,
    left_out_counts,
    mean_count,
    some,
)
from lossprism.losses.duplicate_text_masks import absent_by, same_text
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.kernels import softplus
from lossprism.losses.kernels.query_key_losses_by_tiles import (
    against_threshold,
    directions_and_logits,
)
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import OF_PAIRS, Peer
from lossprism.losses.loss_term_structures import Decisions
from lossprism.losses.minimum import least_binary, softplus_at
from lossprism.losses.spec import Convention, LossSpec, Parameter
from lossprism.losses.symbols import loss_symbol, query_by_key


def decisions(queries, keys, scale, threshold, query_texts=None, key_texts=None):
    """1/N of the sum over all cells of log(1 + e^{±(scale · cosine − threshold)}).

    The sign is − on the diagonal, where a key is the query's own, and + elsewhere; there the keys
    of the query's or the own key's text are left out, if texts are known.
    """
    arguments = (queries, keys, scale, threshold, query_texts, key_texts)
    return with_gradient(_decisions_by_tiles, _dense_decisions, *arguments)


def _dense_decisions(queries, keys, scale, threshold, of_queries, of_keys):
    return siglip_definition(
        queries, keys, scale=scale, bias=-threshold, query_texts=of_queries, key_texts=of_keys
    )


def _decisions_by_tiles(needs_grad, queries, keys, scale, threshold, of_queries, of_keys):
    count = len(queries)
    points, logits = directions_and_logits(needs_grad, queries, keys, scale)
    left_out = None if of_queries is None else absent_by(of_queries, of_keys, of_keys)
    total, by_threshold = against_threshold(logits, threshold, left_out)
    if not any(needs_grad):
        return total / count, ()
    gradient, by_scale = points.pull_back(1 / count, scale)
    by_vectors = gradient.split(count)
    return total / count, (*by_vectors, by_scale, by_threshold / count, None, None)


def siglip_definition(
    queries: Tensor,
    keys: Tensor,
    *,
    scale: float = 10.0,
    bias: float = -10.0,
    query_texts: Tensor | None = None,
    key_texts: Tensor | None = None,
) -> Tensor:
    similarities = cosine_matrix(queries, keys)
    logits = scale * similarities + bias
    signs = 2 * torch.eye(*logits.shape, dtype=logits.dtype, device=logits.device) - 1
    terms = softplus(-signs * logits)
    if query_texts is not None and key_texts is not None:
        left_out = same_text(query_texts, key_texts, key_texts)
        counted = ~left_out | (signs > 0)
        terms = terms.masked_fill(~counted, 0)
    loss = terms.sum() / len(queries)
    return loss


def siglip_over_cells_definition(
    queries: Tensor,
    keys: Tensor,
    *,
    scale: float = 10.0,
    bias: float = -10.0,
    query_texts: Tensor | None = None,
    key_texts: Tensor | None = None,
) -> Tensor:
    """Averaged over all N² cells, which makes it N times smaller; those left out count as 0."""
    similarities = cosine_matrix(queries, keys)
    logits = scale * similarities + bias
    signs = 2 * torch.eye(*logits.shape, dtype=logits.dtype, device=logits.device) - 1
    terms = softplus(-signs * logits)
    if query_texts is not None and key_texts is not None:
        left_out = same_text(query_texts, key_texts, key_texts)
        counted = ~left_out | (signs > 0)
        terms = terms.masked_fill(~counted, 0)
    loss = terms.mean()
    return loss


def siglip(
    queries: Tensor,
    keys: Tensor,
    *,
    scale: float = 10.0,
    bias: float = -10.0,
    query_texts: Tensor | None = None,
    key_texts: Tensor | None = None,
    gather: bool = False,
) -> Tensor:
    r"""1/N Σ_ij log(1 + exp(−z_ij (t·cos(q_i, k_j) + b))), z = 1 for own keys, −1 for others.

    >>> siglip(torch.eye(1), torch.eye(1), scale=1.0, bias=0.0)  # log(1 + e^−1)
    tensor(0.3133)

    Args:
        queries, keys: [N, D] each; key i belongs to query i.
        scale: t.
        bias: b, which starts low because most pairs are not positive (Zhai et al. 2023).
        query_texts, key_texts: [N] each, the texts of the rows as numbers, equal for equal texts.
            Where another key has the query's text, or its own key's, there is no term.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    input_checks.one_number(scale=scale, bias=bias)
    input_checks.must_be_texts(query_texts=(query_texts, queries), key_texts=(key_texts, keys))
    queries, keys, *texts = gathered(gather, queries, keys, query_texts, key_texts)
    queries, keys = input_checks.paired(
        input_checks.for_products(queries), queries=queries, keys=keys
    )
    return decisions(queries, keys, scale, -bias, *texts)


def _siglip_collapse(tensors: dict[str, Tensor], scale: float = 10.0, bias: float = -10.0) -> float:
    logit = scale + bias
    others = mean_count(len(tensors["keys"]) - 1, left_out_counts(tensors)[0])
    return softplus_at(-logit) + others * softplus_at(logit)


def _siglip_floor(
    tensors: dict[str, Tensor], scale: float = 10.0, bias: float = -10.0
) -> float | None:
    if some(left_out_counts(tensors)[0]):
        return None
    return least_binary(len(tensors["keys"]), scale, -bias)


def _least_over_cells(tensors: dict[str, Tensor], scale: float, bias: float) -> float | None:
    least = _siglip_floor(tensors, scale, bias)
    return None if least is None else least / len(tensors["keys"])


COUNTED = r"j = i \lor \text{text}(k_j) \notin \{\text{text}(q_i), \text{text}(k_i)\}"

SIGLIP = LossSpec(
    function=siglip,
    definition=siglip_definition,
    title="SigLIP",
    about="Decides for each query and key on their own whether they belong together.",
    steps={
        "logits": "Scaled and shifted: above 0 means “they belong together”.",
        "terms": "A yes-or-no decision for every cell.",
    },
    group="in_batch",
    formula=r"\frac1N \sum_{i,j} \log\bigl(1 + e^{-z_{ij} (t \cos(q_i, k_j) + b)}\bigr)",
    symbols={
        **{name: QUERY_SYMBOLS[name] for name in ("queries", "keys", "similarities", "left_out")},
        **{name: TEXT_SYMBOLS[name] for name in TEXTS},
        "counted": query_by_key(COUNTED),
        "logits": query_by_key(
            "s_{ij}", r"«scale» \cdot «similarities[r,c]» + «bias»", equals=r"t\, c_{ij} + b"
        ),
        "signs": query_by_key("z_{ij}", equals=r"\pm 1"),
        "terms": query_by_key(
            "t_{ij}",
            r"\log\bigl(1 + e^{-(«signs[r,c]») \cdot («logits[r,c]»)}\bigr)",
            equals=r"\log\bigl(1 + e^{-z_{ij} s_{ij}}\bigr)",
            signed=False,
        ),
        "loss": loss_symbol(r"\frac1N \sum_{i,j} t_{ij}", r"\frac{«Σ terms»}{«len(queries)»}"),
    },
    parameters=(
        Parameter(
            "scale", 10.0, "t", 0.1, 200.0, 0.1, logarithmic=True, role="sharpness", label="scale"
        ),
        Parameter("bias", -10.0, "b", -30.0, 10.0, 0.1, label="bias"),
    ),
    counted=COUNTED,
    form=Decisions(scale=lambda scale, **_: scale, bias=lambda bias, **_: bias),
    terms="logits",
    negatives=("logits",),
    collapse=_siglip_collapse,
    collapse_formula=r"\ln\bigl(1 + e^{-(t + b)}\bigr) + (N - 1) \ln\bigl(1 + e^{t + b}\bigr)",
    floor=_siglip_floor,
    floor_formula=r"\min_{\lVert q \rVert = \lVert k \rVert = 1} \mathcal L",
    aliases=("SigLipLoss", "sigmoid loss", "sigmoid contrastive"),
    references=("Zhai et al. 2023",),
    conventions=(
        Convention(
            "open_clip 3.3.0 (initial values)",
            {"scale": 10.0, "bias": -10.0},
            learned={"scale": 1000.0, "bias": -500.0},
            aliases=("SigLipLoss",),
            former=("open_clip (initial values)",),
            peers=(
                Peer("open-clip-torch", "SigLipLoss", OF_PAIRS, {"scale": 10.0, "bias": -10.0}),
            ),
        ),
        Convention(
            "averaged over cells (big_vision issue 179, unreleased)",
            {"scale": 10.0, "bias": -10.0},
            siglip_over_cells_definition,
            formula=r"\frac1{N^2} \sum_{i,j}"
            r" \log\bigl(1 + e^{-z_{ij} (t \cos(q_i, k_j) + b)}\bigr)",
            symbols={
                "loss": loss_symbol(r"\overline{t_{ij}}", r"\frac{«Σ terms»}{«len(queries)»^2}")
            },
            collapse=lambda tensors, **chosen: (
                _siglip_collapse(tensors, **chosen) / len(tensors["keys"])
            ),
            collapse_formula=r"\tfrac1N \ln\bigl(1 + e^{-(t + b)}\bigr)"
            r" + \tfrac{N - 1}{N} \ln\bigl(1 + e^{t + b}\bigr)",
            floor=_least_over_cells,
            floor_formula=r"\min_{\lVert q \rVert = \lVert k \rVert = 1} \mathcal L",
            note="SigLIP with a mean in place of the sum, as issue 179 of "
            "google-research/big_vision asks; no library computes it. The code in issue 115 "
            "divides by N once more; the project's own trainer (179d020) sums each row, as "
            "SigLIP does.",
            former=("averaged over cells (big_vision #115)",),
            printed=True,
        ),
    ),
)
