"""Shared parts of the losses on in-batch negatives: symbols, τ, queries against keys, and
candidates excluded for their text.

In every matrix the row is the query (or the view as anchor) and the column the key.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from lossprism.losses.duplicate_text_masks import same_text_count
from lossprism.losses.spec import Parameter, Symbol
from lossprism.losses.symbols import each_query, loss_symbol, query_by_key


def temperature_parameter(default: float) -> Parameter:
    return Parameter(
        "temperature",
        default,
        r"\tau",
        0.005,
        2.0,
        0.005,
        logarithmic=True,
        role="temperature",
        label="temperature",
    )


def gaps(similarities: Tensor, temperature: float, positive: Tensor, where: Tensor) -> Tensor:
    """Return s_ij/τ − s_ii of cells [N, K] that count, −∞ elsewhere; `positive` is s_ii [N]."""
    return (similarities / temperature - positive[:, None]).masked_fill(~where, -torch.inf)


def left_out_counts(tensors: dict[str, Tensor]) -> tuple[Tensor | None, Tensor | None]:
    """Count the keys excluded from the negatives of each query [N], and the queries from those of
    each key [N]; None without texts."""
    of_queries, of_keys = tensors.get("query_texts"), tensors.get("key_texts")
    if of_queries is None or of_keys is None:
        return None, None
    of_others = tensors.get("negative_texts")
    every = of_keys if of_others is None else torch.cat((of_keys, of_others))
    return (
        same_text_count(of_queries, of_keys, every) - 1,
        same_text_count(of_keys, of_queries, of_queries) - 1,
    )


def some(left_out: Tensor | None) -> bool:
    """Return whether anything is left out."""
    return left_out is not None and bool(left_out.any())


def mean_log(count: int, left_out: Tensor | None) -> float:
    """Return mean_i ln(count − left_out_i): InfoNCE at collapse."""
    if left_out is None:
        return math.log(count)
    return float((count - left_out).double().log().mean())


def mean_log1p(copies: Mapping[str, Tensor], **_: object) -> float:
    """Return mean_i ln(1 + copies_i): the least cost of one softmax over all these steps."""
    return float(in_all(copies).log1p().mean())


def in_all(copies: Mapping[str, Tensor]) -> Tensor:
    """Count the duplicates of each row over all steps, float64 [R]."""
    return torch.stack(tuple(copies.values())).sum(dim=0, dtype=torch.float64)


def mean_count(count: int, left_out: Tensor | None) -> float:
    """Return mean_i (count − left_out_i)."""
    return count if left_out is None else float((count - left_out).double().mean())


# Where several matrices stand in one softmax.
ALL_TERMS = Symbol(r"t_{ij}\ \text{in every direction}", ("query", "term"))
LOG1P_OF_ALL = r"\log\bigl(1 + «Σ exp all_terms[r]»\bigr)"
LOG1P_OF_ROW = r"\log\bigl(1 + «Σ exp terms[r]»\bigr)"

# What a loss of queries and keys reads that is to know which of them hold the same text.
TEXTS = {"query_texts": "query_texts", "key_texts": "key_texts"}

TEXT_SYMBOLS = {
    "query_texts": each_query(r"\text{text}(q_i)"),
    "key_texts": Symbol(r"\text{text}(k_j)", ("key",)),
    "negative_texts": Symbol(r"\text{text}(n_j)", ("key",)),
}

QUERY_SYMBOLS = {
    "queries": Symbol("q_i", ("query", "dimension"), stem="q"),
    "keys": Symbol("k_j", ("key", "dimension")),
    "negatives": Symbol("n_j", ("key", "dimension")),
    "candidates": Symbol("k_j", ("key", "dimension")),
    "similarities": query_by_key("c_{ij}", equals=r"\cos(q_i, k_j)"),
    "logits": query_by_key(
        "s_{ij}", r"«similarities[r,c]» / «temperature»", equals=r"c_{ij} / \tau"
    ),
    **TEXT_SYMBOLS,
    "texts": Symbol(r"\text{text}(k_j)", ("key",)),
    "left_out": query_by_key(r"\text{text}(k_j) \in \{\text{text}(q_i), \text{text}(k_i)\}"),
    "positive": each_query(r"s_{ii}", "«logits[r,r]»"),
    "others": query_by_key(r"j \ne i", r"«c» \ne «r»"),
    "terms": query_by_key(
        "t_{ij}", r"«logits[r,c]» - «positive[r]»", equals=r"s_{ij} - s_{ii}\ \text{where}\ j \ne i"
    ),
    "per_query": each_query(
        r"\ell_i",
        LOG1P_OF_ROW,
        equals=r"\log\Bigl(1 + \sum_{j \ne i} e^{t_{ij}}\Bigr)",
        signed=False,
    ),
    "loss": loss_symbol(r"\frac1N \sum_i \ell_i", r"\frac{«Σ per_query»}{«len(per_query)»}"),
}
