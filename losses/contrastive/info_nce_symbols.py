"""Symbols of the steps of InfoNCE beyond those of every in-batch loss."""

from __future__ import annotations

from lossprism.losses.contrastive.in_batch_symbols_and_counts import ALL_TERMS, LOG1P_OF_ALL
from lossprism.losses.spec import Symbol
from lossprism.losses.symbols import each_query, query_by_key

EXTENDED_SYMBOLS = {
    "negative_owners": Symbol(r"o_n", ("key",)),
    "same_text": each_query(r"\text{text}_i"),
    "own": each_query("c_{ii}", "«similarities[r,r]»"),
    "hardened": query_by_key(r"\tilde s_{ij}"),
    "others": query_by_key(r"j \in \mathcal N_i"),
    "other_queries": Symbol(r"j \in \mathcal N'_i", ("key", "query")),
    "all_terms": ALL_TERMS,
    "per_row": each_query(
        r"\ell_i", LOG1P_OF_ALL, equals=r"\log\Bigl(1 + \sum_j e^{t_{ij}}\Bigr)", signed=False
    ),
    "back": Symbol(r"c'_{ij}", ("key", "query"), "«similarities[c,r]»"),
    "among_queries": Symbol(r"s(q_i, q_j)", ("query", "query")),
    "query_terms": Symbol(
        r"s(q_i, q_j)/\tau - s_{ii}\ \text{where}\ j \ne i",
        ("query", "query"),
        "«among_queries[r,c]» / «temperature» - «positive[r]»",
    ),
    "among_keys": query_by_key(r"s(k_i, k_j)"),
    "key_terms": query_by_key(
        r"s(k_i, k_j)/\tau - s_{ii}\ \text{where}\ j \ne i",
        "«among_keys[r,c]» / «temperature» - «positive[r]»",
    ),
}
