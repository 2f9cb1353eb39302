"""InfoNCE: the own key against all keys of the batch, from one side or from both."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from losses import inputs
from losses.contrastive.in_batch import (
    QUERY_SYMBOLS,
    TEXTS,
    left_out_counts,
    mean_log,
    some,
    temperature_parameter,
)
from losses.forms import AgainstOthers
from losses.gather import gathered
from losses.geometry import cosine_matrix
from losses.kernels import log1p_sum_exp
from losses.kernels.gradient import with_gradient
from losses.kernels.tiled import (
    Directions,
    against_others,
    both_ways,
)
from losses.landmarks import least_in_batch
from losses.same_text import Absent, absent_by, same_text
from losses.spec import Convention, LossSpec, Parameter, Symbol
from losses.twins import Twin


def info_nce_definition(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    symmetric: bool = False,
    query_texts: Tensor | None = None,
    key_texts: Tensor | None = None,
    negative_texts: Tensor | None = None,
) -> Tensor:
    candidates = keys if negatives is None else torch.cat((keys, negatives))
    similarities = cosine_matrix(queries, candidates)
    logits = similarities / temperature
    positive = logits.diagonal()
    others = ~torch.eye(*logits.shape, dtype=torch.bool, device=logits.device)
    if query_texts is not None and key_texts is not None:
        texts = key_texts if negative_texts is None else torch.cat((key_texts, negative_texts))
        left_out = same_text(query_texts, key_texts, texts)
        others = others & ~left_out
    terms = (logits - positive[:, None]).masked_fill(~others, -torch.inf)
    per_query = log1p_sum_exp(terms, dim=1)
    loss = per_query.mean()
    if symmetric:
        backward = logits[:, : len(keys)].T - positive[:, None]
        if query_texts is not None and key_texts is not None:
            backward = backward.masked_fill(
                same_text(key_texts, query_texts, query_texts), -torch.inf
            )
        backward_terms = backward.masked_fill(
            torch.eye(len(keys), dtype=torch.bool, device=logits.device), -torch.inf
        )
        per_key = log1p_sum_exp(backward_terms, dim=1)
        loss = (loss + per_key.mean()) / 2
    return loss


def info_nce(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    symmetric: bool = False,
    query_texts: Tensor | None = None,
    key_texts: Tensor | None = None,
    negative_texts: Tensor | None = None,
    gather: bool = False,
) -> Tensor:
    r"""mean_i −log( exp(cos(q_i, k_i)/τ) / Σ_j exp(cos(q_i, k_j)/τ) ) (S1 eq. 5–7; S2).

    >>> queries, keys = torch.eye(2), torch.eye(2)
    >>> info_nce(queries, keys, temperature=1.0)  # log(1 + e^(0 − 1))
    tensor(0.3133)

    Args:
        queries, keys: [N, D] each; key i belongs to query i.
        negatives: [Q, D], further keys for every query.
        temperature: τ.
        symmetric: average with the same loss from keys to queries (in the batch only).
        query_texts, key_texts, negative_texts: [N], [N], [Q], the texts of the rows as numbers,
            equal for equal texts. A key of the query's text, or of its own key's, is then no
            negative (from keys to queries, a query of the key's text or of its own query's).
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    inputs.above_zero(temperature=temperature)
    inputs.must_be_texts(
        query_texts=(query_texts, queries),
        key_texts=(key_texts, keys),
        negative_texts=(negative_texts, negatives),
    )
    queries, keys, negatives = gathered(gather, queries, keys, negatives)
    texts = gathered(gather, query_texts, key_texts, negative_texts)
    least = inputs.for_products(queries)
    queries, keys, negatives = cast(
        "tuple[Tensor, Tensor, Tensor | None]",
        inputs.vectors(least, queries=queries, keys=keys, negatives=negatives),
    )
    inputs.must_be_paired(queries=queries, keys=keys)
    return with_gradient(
        _info_nce_by_tiles,
        _info_nce_densely,
        queries,
        keys,
        negatives,
        1 / temperature,
        symmetric,
        *texts,
    )


def _info_nce_densely(queries, keys, negatives, scale, symmetric, of_queries, of_keys, of_others):
    return info_nce_definition(
        queries,
        keys,
        negatives=negatives,
        temperature=1 / scale,
        symmetric=symmetric,
        query_texts=of_queries,
        key_texts=of_keys,
        negative_texts=of_others,
    )


def _info_nce_by_tiles(wanted, queries, keys, negatives, scale, symmetric, *texts):
    count = len(queries)
    parts = [part for part in (queries, keys, negatives) if part is not None]
    points = Directions(torch.cat(parts), wanted=any(wanted))
    sides = (wanted[0] or wanted[3], wanted[1] or wanted[2] or wanted[3])
    logits = points.between(slice(0, count), slice(count, None), scale, sides)
    left_out, left_out_back = _left_out(*texts)
    if symmetric:
        total, share = both_ways(logits, left_out, left_out_back), 0.5 / count
    else:
        (total, _), share = against_others(logits, left_out=left_out), 1 / count
    none = (None,) * (1 + len(texts))
    if not any(wanted):
        return total * share, ()
    gradient, by_scale = points.pull_back(share, scale)
    by_queries, by_keys, *by_negatives = gradient.split([len(part) for part in parts])
    return total * share, (by_queries, by_keys, *(by_negatives or [None]), by_scale, *none)


def _left_out(
    of_queries: Tensor | None, of_keys: Tensor | None, of_others: Tensor | None
) -> tuple[Absent | None, Absent | None]:
    """The keys that are no negatives of each query, and, query by query as well, those that it is
    no negative of."""
    if of_queries is None or of_keys is None:
        return None, None
    every = of_keys if of_others is None else torch.cat((of_keys, of_others))

    def back(span: slice) -> Tensor:
        return same_text(of_keys, of_queries, of_queries[span]).T

    return absent_by(of_queries, of_keys, every), back


def _keys_beside(given: dict[str, Tensor]) -> int:
    negatives = given.get("negatives")
    return 0 if negatives is None else len(negatives)


def _info_nce_collapse(given: dict[str, Tensor], symmetric: bool = False, **_: object) -> float:
    count = len(given["keys"])
    of_queries, of_keys = left_out_counts(given)
    forward = mean_log(count + _keys_beside(given), of_queries)
    return (forward + mean_log(count, of_keys)) / 2 if symmetric else forward


def _info_nce_floor(
    given: dict[str, Tensor], temperature: float = 0.05, symmetric: bool = False
) -> float | None:
    of_queries, of_keys = left_out_counts(given)
    if some(of_queries) or (symmetric and some(of_keys)):
        return None
    return least_in_batch(len(given["keys"]), _keys_beside(given), temperature, symmetric)


def _twin(*, temperature: float, symmetric: bool) -> Twin:
    kind = f"MultipleNegatives{'Symmetric' if symmetric else ''}RankingLoss"
    return Twin(
        kind,
        {"queries": "queries", "keys": "keys", "negatives": "negatives"},
        f"twin = {kind}(None, scale=1 / {temperature!r})\n"
        "loss = twin.compute_loss_from_embeddings([«given»], None)\n",
    )


INFO_NCE = LossSpec(
    function=info_nce,
    definition=info_nce_definition,
    title="InfoNCE",
    group="in_batch",
    formula=r"-\frac1N \sum_i \log \frac{e^{\cos(q_i, k_i)/\tau}}{\sum_j e^{\cos(q_i, k_j)/\tau}}",
    symbols={
        **QUERY_SYMBOLS,
        "backward": Symbol(
            r"b_{ij} = s_{ji} - s_{ii}", ("key", "query"), "«logits[c,r]» - «positive[r]»"
        ),
        "backward_terms": Symbol(
            r"b_{ij} = s_{ji} - s_{ii}\ \text{where}\ j \ne i",
            ("key", "query"),
            "«logits[c,r]» - «positive[r]»",
        ),
        "per_key": Symbol(
            r"\ell'_i = \log\Bigl(1 + \sum_{j \ne i} e^{b_{ij}}\Bigr)",
            ("key",),
            r"\log\bigl(1 + «Σ exp backward_terms[r]»\bigr)",
            signed=False,
        ),
        "loss": Symbol(
            r"\mathcal L = \frac1N \sum_i \ell_i"
            r"\ \text{or}\ \frac{1}{2N} \sum_i (\ell_i + \ell'_i)"
        ),
    },
    parameters=(temperature_parameter(0.05), Parameter("symmetric", False)),
    variants={
        "symmetric=true": r"-\frac{1}{2N} \sum_i \Bigl("
        r"\log \frac{e^{\cos(q_i, k_i)/\tau}}{\sum_j e^{\cos(q_i, k_j)/\tau}}"
        r" + \log \frac{e^{\cos(q_i, k_i)/\tau}}{\sum_j e^{\cos(q_j, k_i)/\tau}}\Bigr)",
    },
    reads={
        "queries": "queries",
        "keys": "keys",
        "negatives": "negatives",
        **TEXTS,
        "negative_texts": "negative_texts",
    },
    counted=r"j = i \lor \text{text}(k_j) \notin"
    r" \{\text{text}(q_i), \text{text}(k_i)\}",
    form=AgainstOthers(
        scale=lambda temperature, **_: 1 / temperature,
        symmetric=lambda symmetric, **_: symmetric,
    ),
    terms="terms",
    collapse=_info_nce_collapse,
    collapse_formula=r"\ln K",
    floor=_info_nce_floor,
    floor_formula=r"\ln\bigl(1 + (K - 1)\, e^{-\frac{K}{(K - 1)\tau}}\bigr)",
    references=("S1 eq. 5–7", "S2", "van den Oord et al. 2018"),
    twin=_twin,
    conventions=(
        Convention(
            "sentence-transformers MultipleNegativesRankingLoss",
            {"temperature": 0.05, "symmetric": False},
        ),
        Convention(
            "sentence-transformers MultipleNegativesSymmetricRankingLoss",
            {"temperature": 0.05, "symmetric": True},
        ),
        Convention("CLIP (initial temperature)", {"temperature": 0.07, "symmetric": True}),
    ),
)
