"""InfoNCE as short definitions: one direction, both, several in one softmax, a softmax for each."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lossprism.losses.contrastive.in_batch_symbols_and_counts import gaps
from lossprism.losses.contrastive.info_nce_directions_and_negatives import (
    BOTH_WAYS,
    Ways,
    flat_negatives,
    in_directions,
    ways_of,
)
from lossprism.losses.definition_chosen_by_options import Choice, composed
from lossprism.losses.geometry import cosine_matrix, dot_matrix
from lossprism.losses.hardness_logit_biases import (
    EVERYBODY,
    hardness_in_batch,
    hardness_of_all,
    hardness_of_given,
    own_weight,
)
from lossprism.losses.joined_mask_and_bias_rules import Rule, Rules
from lossprism.losses.kernels import log1p_sum_exp
from lossprism.losses.masks import (
    OTHERS,
    below_own,
    given_only,
    not_own,
    others_of_row,
    own_pair,
    owned_only,
    query_texts_differ,
    rows_differ,
    texts_differ,
)

SIMILARITY = {"cosine": cosine_matrix, "dot": dot_matrix}
HARDNESS = {"all": hardness_of_all, "hard": hardness_of_given, "in_batch": hardness_in_batch}


def info_nce_definition(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    similarity: Callable = cosine_matrix,
    where: Rule = OTHERS,
    bias: Rule | None = None,
) -> Tensor:
    candidates = keys if negatives is None else torch.cat((keys, negatives))
    similarities = similarity(queries, candidates)
    logits = similarities / temperature
    positive = logits.diagonal()
    own = similarities.diagonal()
    others = where(similarities, own=own)
    hardened = logits if bias is None else logits + bias(similarities)
    terms = (hardened - positive[:, None]).masked_fill(~others, -torch.inf)
    per_query = log1p_sum_exp(terms, dim=1)
    loss = per_query.mean()
    return loss


def info_nce_symmetric_definition(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    similarity: Callable = cosine_matrix,
    where: Rule = OTHERS,
    where_back: Rule = OTHERS,
    bias: Rule | None = None,
) -> Tensor:
    candidates = keys if negatives is None else torch.cat((keys, negatives))
    similarities = similarity(queries, candidates)
    logits = similarities / temperature
    positive = logits.diagonal()
    own = similarities.diagonal()
    others = where(similarities, own=own)
    hardened = logits if bias is None else logits + bias(similarities)
    terms = (hardened - positive[:, None]).masked_fill(~others, -torch.inf)
    per_query = log1p_sum_exp(terms, dim=1)
    back = similarities[:, : len(keys)].T
    other_queries = where_back(back, own=own)
    backward_terms = gaps(back, temperature, positive, other_queries)
    per_key = log1p_sum_exp(backward_terms, dim=1)
    loss = (per_query.mean() + per_key.mean()) / 2
    return loss


def info_nce_joint_definition(
    queries: Tensor,
    keys: Tensor,
    *,
    directions: Ways,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    similarity: Callable = cosine_matrix,
    where: Rule = OTHERS,
    where_back: Rule = OTHERS,
    where_queries: Rule = OTHERS,
    where_keys: Rule = OTHERS,
    bias: Rule | None = None,
) -> Tensor:
    candidates = keys if negatives is None else torch.cat((keys, negatives))
    similarities = similarity(queries, candidates)
    logits = similarities / temperature
    positive = logits.diagonal()
    own = similarities.diagonal()
    others = where(similarities, own=own)
    hardened = logits if bias is None else logits + bias(similarities)
    terms = (hardened - positive[:, None]).masked_fill(~others, -torch.inf)
    back = similarities[:, : len(keys)].T
    backward_terms = gaps(back, temperature, positive, where_back(back, own=own))
    among_queries = similarity(queries, queries)
    query_terms = gaps(among_queries, temperature, positive, where_queries(among_queries, own=own))
    among_keys = similarity(keys, candidates)
    key_terms = gaps(among_keys, temperature, positive, where_keys(among_keys, own=own))
    softmaxes = in_directions(directions, (terms, backward_terms, query_terms, key_terms))
    all_terms = torch.cat(softmaxes, dim=1)
    per_row = log1p_sum_exp(all_terms, dim=1)
    loss = per_row.mean()
    return loss


def info_nce_per_direction_definition(
    queries: Tensor,
    keys: Tensor,
    *,
    directions: Ways,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    similarity: Callable = cosine_matrix,
    where: Rule = OTHERS,
    where_back: Rule = OTHERS,
    where_queries: Rule = OTHERS,
    where_keys: Rule = OTHERS,
    bias: Rule | None = None,
) -> Tensor:
    candidates = keys if negatives is None else torch.cat((keys, negatives))
    similarities = similarity(queries, candidates)
    logits = similarities / temperature
    positive = logits.diagonal()
    own = similarities.diagonal()
    others = where(similarities, own=own)
    hardened = logits if bias is None else logits + bias(similarities)
    terms = (hardened - positive[:, None]).masked_fill(~others, -torch.inf)
    back = similarities[:, : len(keys)].T
    backward_terms = gaps(back, temperature, positive, where_back(back, own=own))
    among_queries = similarity(queries, queries)
    query_terms = gaps(among_queries, temperature, positive, where_queries(among_queries, own=own))
    among_keys = similarity(keys, candidates)
    key_terms = gaps(among_keys, temperature, positive, where_keys(among_keys, own=own))
    softmaxes = in_directions(directions, (terms, backward_terms, query_terms, key_terms))
    loss = torch.stack([log1p_sum_exp(block, dim=1).mean() for block in softmaxes]).mean()
    return loss


@composed(
    info_nce_definition,
    info_nce_symmetric_definition,
    info_nce_joint_definition,
    info_nce_per_direction_definition,
)
def info_nce_by_options(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    negative_owners: Tensor | None = None,
    own_negatives: Tensor | None = None,
    temperature: float = 0.05,
    symmetric: bool = False,
    similarity: str = "cosine",
    directions: Ways = "query_to_key",
    partition: str = "joint",
    in_batch: bool = True,
    mask_above: float | None = None,
    hardness: float = 0.0,
    hardness_on: str = "in_batch",
    log_weight: float = 0.0,
    negatives_seen: str = "by_all",
    same_text: Tensor | None = None,
    query_texts: Tensor | None = None,
    key_texts: Tensor | None = None,
    negative_texts: Tensor | None = None,
) -> Choice:
    """Choose the definition of InfoNCE for the options of `losses.info_nce`."""
    ways = BOTH_WAYS if symmetric else ways_of(directions)
    joint = partition == "joint" and not symmetric
    negatives, owners, exclusive = _columns(negatives, negative_owners, own_negatives)
    masks = _Masks(
        mask_above=mask_above,
        same_text=same_text,
        query_texts=query_texts,
        key_texts=key_texts,
        negative_texts=negative_texts,
        owners=owners,
        exclusive=owners if negatives_seen == "by_own" else exclusive,
    )
    arguments = {
        "queries": queries,
        "keys": keys,
        "negatives": negatives,
        "temperature": temperature,
        "similarity": SIMILARITY[similarity],
        "bias": _bias(hardness, hardness_on, log_weight, owners),
        "where": masks.of_keys(in_batch),
    }
    if ways == ("query_to_key",):
        return info_nce_definition, arguments
    if ways == BOTH_WAYS and not joint:
        arguments["where_back"] = masks.of_queries()
        return info_nce_symmetric_definition, arguments
    # Seen from both sides in one softmax, the own pair stands there a second time.
    twice = joint and set(BOTH_WAYS) <= set(ways)
    arguments |= {
        "directions": ways,
        "where_back": masks.of_queries(with_own=twice),
        "where_queries": masks.of_queries(),
        "where_keys": masks.among_keys(),
    }
    return (info_nce_joint_definition if joint else info_nce_per_direction_definition), arguments


@composed(info_nce_joint_definition)
def info_nce_of_swift_by_options(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.1,
    mask_above: float | None = 0.1,
) -> Choice:
    """Choose ms-swift's form: queries at keys and at queries masked, keys at keys never."""
    below = OTHERS
    if mask_above is not None:
        below = Rules("&", (others_of_row, partial(below_own, mask_above=mask_above)))
    arguments = {
        "queries": queries,
        "keys": keys,
        "negatives": negatives,
        "temperature": temperature,
        "directions": ("query_to_key", "query_to_query", "key_to_key"),
        "where": below,
        "where_queries": below,
        "where_keys": OTHERS,
    }
    return info_nce_joint_definition, arguments


def _columns(
    negatives: Tensor | None, owners: Tensor | None, own: Tensor | None
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Return all negatives [Q, D], the owner of each hard negative [Q], and its only viewer
    [Q]."""
    negatives, owners = flat_negatives(negatives, owners)
    if own is None:
        return negatives, owners, None
    own, own_owners = flat_negatives(own, None)
    assert own is not None
    assert own_owners is not None
    if negatives is None:
        return own, own_owners, own_owners
    unknown = own_owners.new_full((len(negatives),), EVERYBODY)
    owners = torch.cat((unknown if owners is None else owners, own_owners))
    exclusive = torch.cat((torch.full_like(unknown, -1), own_owners))
    return torch.cat((negatives, own)), owners, exclusive


def _bias(hardness: float, on: str, log_weight: float, owners: Tensor | None) -> Rule | None:
    rules: list[Rule] = []
    of_owners = {} if owners is None else {"negative_owners": owners}
    if hardness:
        settings: dict[str, Any] = {"hardness": hardness} | ({} if on == "all" else of_owners)
        rules.append(partial(HARDNESS[on], **settings))
    if log_weight:
        rules.append(partial(own_weight, log_weight=log_weight, **of_owners))
    return Rules("+", tuple(rules)) if rules else None


@dataclass(frozen=True)
class _Masks:
    """Inputs that may exclude a candidate, None for those that do not; makes the rule of each
    direction."""

    mask_above: float | None
    same_text: Tensor | None
    query_texts: Tensor | None
    key_texts: Tensor | None
    negative_texts: Tensor | None
    owners: Tensor | None
    exclusive: Tensor | None

    def of_keys(self, in_batch: bool) -> Rule:
        """Return the rule of keys and negatives as candidates of queries."""
        rules = [others_of_row, *self._by_texts(texts_differ), *self._everywhere()]
        return Rules("&", (*rules, *self._seen(), *(() if in_batch else (given_only,))))

    def of_queries(self, *, with_own: bool = False) -> Rule:
        """Return the rule of queries as candidates of keys, or of queries."""
        rules = (others_of_row, *self._by_texts(query_texts_differ), *self._everywhere())
        rule = Rules("&", rules)
        return Rules("|", (rule, own_pair)) if with_own else rule

    def among_keys(self) -> Rule:
        """Return the rule of keys and negatives as candidates of keys."""
        rules = [others_of_row, *self._by_texts(texts_differ), *self._everywhere()]
        if self.owners is not None:
            rules.append(partial(not_own, negative_owners=self.owners))
        return Rules("&", (*rules, *self._seen()))

    def _by_texts(self, rule: Rule) -> list[Rule]:
        if self.query_texts is None or self.key_texts is None:
            return []
        texts = {"query_texts": self.query_texts, "key_texts": self.key_texts}
        if rule is not query_texts_differ and self.negative_texts is not None:
            texts["negative_texts"] = self.negative_texts
        return [partial(rule, **texts)]

    def _everywhere(self) -> list[Rule]:
        rules: list[Rule] = []
        if self.same_text is not None:
            rules.append(partial(rows_differ, same_text=self.same_text))
        if self.mask_above is not None:
            rules.append(partial(below_own, mask_above=self.mask_above))
        return rules

    def _seen(self) -> list[Rule]:
        if self.exclusive is None:
            return []
        return [partial(owned_only, negative_owners=self.exclusive)]
