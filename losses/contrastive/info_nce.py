"""InfoNCE: the own key against all keys of the batch, from one side or from both."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.contrastive.in_batch_symbols_and_counts import (
    QUERY_SYMBOLS,
    mean_log1p,
    temperature_parameter,
)
from lossprism.losses.contrastive.info_nce_by_blocks import InBatch, Plan, by_blocks, gradients
from lossprism.losses.contrastive.info_nce_definitions import (
    info_nce_by_options,
    info_nce_of_swift_by_options,
)
from lossprism.losses.contrastive.info_nce_directions_and_negatives import (
    BOTH_WAYS,
    DIRECTIONS,
    HARDENED,
    PARTITIONS,
    SEEN,
    SIMILARITIES,
    Ways,
    flat_negatives,
    gathered_owners,
    ways_of,
)
from lossprism.losses.contrastive.info_nce_minimum_and_collapse import (
    info_nce_collapse,
    info_nce_floor,
    info_nce_with_copies,
    ways_taken,
)
from lossprism.losses.contrastive.info_nce_symbols import EXTENDED_SYMBOLS
from lossprism.losses.duplicate_text_masks import Absent, absent_by, all_differ
from lossprism.losses.duplicate_text_masks import same_text as holds_same_text
from lossprism.losses.gather import gathered
from lossprism.losses.kernels import small_batch_losses
from lossprism.losses.kernels.query_key_losses_by_tiles import Directions, against_others, both_ways
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import (
    OF_PAIRS,
    OWNED,
    QUERIED,
    SENTENCE_TRANSFORMERS,
    Peer,
)
from lossprism.losses.loss_term_structures import AgainstOthers
from lossprism.losses.sentence_transformers_equivalent_record import Equivalent
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import loss_symbol

SMALL_BATCH_PAIRS = 256  # pairs, up to which one matrix is faster than tiles


def info_nce(
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
    gather: bool = False,
) -> Tensor:
    r"""mean_i −log( exp(cos(q_i, k_i)/τ) / Σ_j exp(cos(q_i, k_j)/τ) ) (S1 eq. 5–7; S2).

    >>> queries, keys = torch.eye(2), torch.eye(2)
    >>> info_nce(queries, keys, temperature=1.0)  # log(1 + e^(0 − 1))
    tensor(0.3133)
    >>> info_nce(queries, keys, temperature=1.0, directions=("query_to_key", "query_to_query"))
    tensor(0.5514)

    What else stands in the sum, as the recipes of today's models have it (GTE, Qwen3-Embedding,
    EmbeddingGemma, LLaVE): the own pair always does, so a row of which all else is masked has
    the loss 0.

    Args:
        queries, keys: [N, D] each; key i belongs to query i.
        negatives: [Q, D], further keys for every query; or [N, K, D], K hard negatives of each
            query, which the others see as well.
        negative_owners: [Q], the number of the query whose own hard negative each is, −1 for none.
        own_negatives: [N, K, D], hard negatives that each query sees alone.
        temperature: τ.
        symmetric: short for both ways between queries and keys, `per_direction`.
        similarity: "cosine", or "dot" for the product of the vectors as they are.
        directions: some of "query_to_key", "key_to_query", "query_to_query", "key_to_key", as
            names or as one text with commas: to whom row i is compared. Queries look at queries,
            and keys at keys, without the own; keys at keys see `negatives` too, but for their own.
        partition: "joint": one sum for all directions, in which the own pair stands once for each
            way between queries and keys (GTE); "per_direction": a loss for each, and their mean.
        in_batch: False takes the given negatives only, and no other key of the batch.
        mask_above: a cell whose similarity exceeds that of its row's own pair by more than this is
            left out; no gradient passes through that comparison.
        hardness: α ≥ 0; α times its similarity, as a constant, is added to the logit of a negative
            of queries at keys.
        hardness_on: which negatives: "in_batch", the other keys; "hard", the given ones; "all".
            Where it is known whose they are, only its own are hard to a query, and those of others
            are in the batch.
        log_weight: added to the logits of the query's own hard negatives.
        negatives_seen: "by_all": `negatives` stand in the sum of every query; "by_own": one whose
            owner is known stands in that of its own query alone, as `own_negatives` do.
        same_text: [N], whole numbers; rows of the same are no negatives of each other.
        query_texts, key_texts, negative_texts: [N], [N], [Q], the texts of the rows as numbers,
            equal for equal texts. What has the text of the row's query, or of its own key, is then
            no negative.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    input_checks.above_zero(temperature=temperature)
    input_checks.one_of(PARTITIONS, partition=partition)
    plan = Plan(
        _ways(directions, symmetric),
        partition == "joint" and not symmetric,
        similarity,
        in_batch,
        mask_above,
        hardness,
        hardness_on,
        log_weight,
        negatives_seen,
    )
    _check(plan)
    if not in_batch and negatives is None and own_negatives is None:
        raise ValueError(
            "in_batch is False, and there are neither negatives nor own_negatives to compare with"
        )
    input_checks.must_be_tensor("queries", queries)
    input_checks.must_be_tensor("keys", keys)
    input_checks.hard_negatives(queries, negatives=negatives, own_negatives=own_negatives)
    negatives, owners = flat_negatives(negatives, negative_owners)
    input_checks.must_be_owners(owners, queries, negatives)
    input_checks.must_be_texts(
        query_texts=(query_texts, queries),
        key_texts=(key_texts, keys),
        negative_texts=(negative_texts, negatives),
    )
    input_checks.must_be_texts(same_text=(same_text, queries))
    owners = gathered_owners(gather, owners, queries) if plan.reads_owners else None
    queries, keys, negatives, own_negatives = gathered(
        gather, queries, keys, negatives, own_negatives
    )
    if same_text is not None and not gather and all_differ(same_text):
        same_text = None
    texts = gathered(gather, query_texts, key_texts, negative_texts, same_text)

    scale = 1 / temperature
    dtype = input_checks.for_products(queries) if own_negatives is None else torch.float32
    is_plain = plan.is_plain and own_negatives is None and same_text is None and owners is None
    square = is_plain and negatives is None and plan.ways == ("query_to_key",)
    square = square and queries.ndim > 0 and dtype in input_checks.REAL
    if square and len(queries) <= SMALL_BATCH_PAIRS:
        queries, keys = input_checks.paired(dtype, False, queries=queries, keys=keys)
        small = (queries, keys, scale, *texts[:2])
        return with_gradient(small_batch_losses.in_batch, _dense_small_batch, *small)
    queries, keys, negatives = input_checks.with_negatives(
        dtype, negatives, queries=queries, keys=keys
    )
    if own_negatives is not None:
        (own_negatives,) = input_checks.real(queries.dtype, own_negatives=own_negatives)
    batch = InBatch(queries, keys, negatives, own_negatives, scale, *texts, owners, plan)
    return with_gradient(_by_tiles if is_plain else by_blocks, _dense_info_nce, *batch)


def _ways(directions: Ways, symmetric: bool) -> tuple[str, ...]:
    ways = ways_of(directions)
    if symmetric and ways not in (("query_to_key",), BOTH_WAYS):
        raise ValueError(
            "symmetric is short for query_to_key and key_to_query, and directions are "
            f"{', '.join(ways)}; give one of both"
        )
    return BOTH_WAYS if symmetric else ways


def _check(plan: Plan) -> None:
    """Raise for an unknown choice, a number that is none, or options that exclude each other."""
    input_checks.one_of(SIMILARITIES, similarity=plan.similarity)
    input_checks.one_of(HARDENED, hardness_on=plan.hardness_on)
    input_checks.one_of(SEEN, negatives_seen=plan.negatives_seen)
    input_checks.not_below_zero(hardness=plan.hardness)
    input_checks.plain_number(log_weight=plan.log_weight, mask_above=plan.mask_above)
    if not plan.in_batch and plan.ways != ("query_to_key",):
        raise ValueError(
            "in_batch is False, which compares queries with given negatives only; directions must "
            f"be query_to_key then, and not {', '.join(plan.ways)}"
        )


def _dense_info_nce(*inputs: *tuple[Any, ...]) -> Tensor:
    batch = InBatch(*inputs)
    plan = batch.plan
    return info_nce_by_options(
        batch.queries,
        batch.keys,
        negatives=batch.negatives,
        negative_owners=batch.owners,
        own_negatives=batch.own_negatives,
        temperature=1 / batch.scale,
        similarity=plan.similarity,
        directions=plan.ways,
        partition="joint" if plan.joint else "per_direction",
        in_batch=plan.in_batch,
        mask_above=plan.mask_above,
        hardness=plan.hardness,
        hardness_on=plan.hardness_on,
        log_weight=plan.log_weight,
        negatives_seen=plan.negatives_seen,
        same_text=batch.same_text,
        query_texts=batch.query_texts,
        key_texts=batch.key_texts,
        negative_texts=batch.negative_texts,
    )


def _dense_small_batch(queries, keys, scale, of_queries, of_keys):
    return info_nce_by_options(
        queries, keys, temperature=1 / scale, query_texts=of_queries, key_texts=of_keys
    )


def _by_tiles(needs_grad: Sequence[bool], *inputs: *tuple[Any, ...]):
    batch = InBatch(*inputs)
    for_queries, for_keys, for_negatives, _, for_scale, *_ = needs_grad
    count = len(batch.queries)
    points = Directions(torch.cat(batch.vectors), needs_grad=any(needs_grad))
    sides = (for_queries or for_scale, for_keys or for_negatives or for_scale)
    logits = points.between(slice(0, count), slice(count, None), batch.scale, sides)
    absent, absent_back = _absent(batch)
    if batch.plan.ways == BOTH_WAYS:
        total, share = both_ways(logits, absent, absent_back), 0.5 / count
    else:
        (total, _), share = against_others(logits, left_out=absent), 1 / count
    if not any(needs_grad):
        return total * share, ()
    of_vectors, by_scale = points.pull_back(share, batch.scale)
    return total * share, gradients(batch, of_vectors, None, by_scale)


def info_nce_of_swift(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.1,
    mask_above: float | None = 0.1,
    gather: bool = False,
) -> Tensor:
    """InfoNCE of queries at keys and queries, and keys at keys, as ms-swift masks it.

    >>> queries, keys = torch.eye(2), torch.eye(2)
    >>> info_nce_of_swift(queries, keys, temperature=1.0)  # log(1 + 3 e^(0 − 1))
    tensor(0.7437)

    Args:
        queries, keys: [N, D] each; key i belongs to query i.
        negatives: [Q, D], further keys for every query.
        temperature: τ.
        mask_above: a key or a query whose cosine with a query exceeds that of its own pair by more
            than this is left out; a key that is near the own key is not. None: nothing is left out.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    input_checks.above_zero(temperature=temperature)
    input_checks.plain_number(mask_above=mask_above)
    queries, keys, negatives = gathered(gather, queries, keys, negatives)
    queries, keys, negatives = input_checks.with_negatives(
        input_checks.for_products(queries), negatives, queries=queries, keys=keys
    )
    plan = Plan(
        ("query_to_key", "query_to_query", "key_to_key"),
        joint=True,
        mask_above=mask_above,
        unmasked=("key_to_key",),
    )
    batch = InBatch(queries, keys, negatives, scale=1 / temperature, plan=plan)
    return with_gradient(by_blocks, _dense_of_swift, *batch)


def _dense_of_swift(*inputs: *tuple[Any, ...]) -> Tensor:
    batch = InBatch(*inputs)
    return info_nce_of_swift_by_options(
        batch.queries,
        batch.keys,
        negatives=batch.negatives,
        temperature=1 / batch.scale,
        mask_above=batch.plan.mask_above,
    )


def _absent(batch: InBatch) -> tuple[Absent | None, Absent | None]:
    """Return what is no negative of a query, and, query by query as well, what the query is no
    negative of; None where there are no texts."""
    of_queries, of_keys, of_others = batch.query_texts, batch.key_texts, batch.negative_texts
    if of_queries is None or of_keys is None:
        return None, None
    every = of_keys if of_others is None else torch.cat((of_keys, of_others))

    def back(span: slice) -> Tensor:
        return holds_same_text(of_keys, of_queries, of_queries[span]).T

    return absent_by(of_queries, of_keys, every), back


def _equivalent(
    *,
    temperature: float,
    symmetric: bool,
    similarity: str,
    directions: str,
    partition: str,
    in_batch: bool,
    mask_above: float | None,
    hardness: float,
    hardness_on: str,
    log_weight: float,
    negatives_seen: str,
) -> Equivalent | None:
    """The library masks nothing by similarity; hard negatives are rows there, which a batch of
    pairs has not, and both hardness and keys among each other depend on them."""
    ways = ways_taken(directions, symmetric)
    joint = partition == "joint" and not symmetric
    arguments = {"queries": "queries", "keys": "keys", "negatives": "negatives"}
    if not in_batch or mask_above is not None or hardness or "key_to_key" in ways:
        return None
    if log_weight or negatives_seen == "by_own":
        return None
    if not joint and "query_to_query" in ways:
        return None
    if similarity == "cosine" and len(ways) == 1:
        kind, settings = "MultipleNegativesRankingLoss", ""
    elif similarity == "cosine" and not joint:
        kind, settings = "MultipleNegativesSymmetricRankingLoss", ""
    else:
        kind = "MultipleNegativesRankingLoss"
        named = tuple(way.replace("key", "doc") for way in ways)
        mode = "joint" if joint else "per_direction"
        settings = f', directions={named}, partition_mode="{mode}"'
        if similarity == "dot":
            settings += ", similarity_fct=lambda first, second: first @ second.T"
    return Equivalent(
        kind,
        arguments,
        f"theirs = {kind}(None, scale=1 / {temperature!r}{settings})\n"
        "loss = theirs.compute_loss_from_embeddings([«given»], None)\n",
    )


OF_ALL = ",".join(DIRECTIONS)

_JOINT_FORMULA = r"-\frac1N \sum_i \log \frac{{e^{{s_{{ii}}}}}}{{{}}}"

INFO_NCE = LossSpec(
    function=info_nce,
    definition=info_nce_by_options,
    title="InfoNCE",
    about="Picks each query's match among all texts in the batch.",
    group="in_batch",
    formula=r"-\frac1N \sum_i \log \frac{e^{\cos(q_i, k_i)/\tau}}{\sum_j e^{\cos(q_i, k_j)/\tau}}",
    symbols={
        **QUERY_SYMBOLS,
        **EXTENDED_SYMBOLS,
        "terms": replace(
            QUERY_SYMBOLS["terms"],
            live={
                "hardness or log_weight": "«hardened[r,c]» - «positive[r]»",
                "": "«logits[r,c]» - «positive[r]»",
            },
        ),
        "backward_terms": Symbol(
            "b_{ij}",
            ("key", "query"),
            "«logits[c,r]» - «positive[r]»",
            equals=r"s_{ji} - s_{ii}\ \text{where}\ j \ne i",
        ),
        "per_key": Symbol(
            r"\ell'_i",
            ("key",),
            r"\log\bigl(1 + «Σ exp backward_terms[r]»\bigr)",
            equals=r"\log\Bigl(1 + \sum_{j \ne i} e^{b_{ij}}\Bigr)",
            signed=False,
        ),
        "loss": loss_symbol(
            r"\frac1N \sum_i \ell_i"
            r"\ \text{or}\ \frac{1}{2N} \sum_i (\ell_i + \ell'_i)"
        ),
    },
    parameters=(
        temperature_parameter(0.05),
        Parameter("symmetric", False, label="both directions"),
        Parameter("similarity", "cosine", choices=SIMILARITIES, label="similarity"),
        Parameter(
            "directions",
            "query_to_key",
            choices=(
                "query_to_key",
                "query_to_key,key_to_query",
                "query_to_key,query_to_query",
                "query_to_key,query_to_query,key_to_key",
                OF_ALL,
            ),
            label="directions",
        ),
        Parameter("partition", "joint", choices=PARTITIONS, label="softmax"),
        Parameter("in_batch", True, label="negatives of the batch"),
        # At most 999: earlier versions wrote 1000 for off.
        Parameter(
            "mask_above",
            None,
            "m",
            0.01,
            999.0,
            0.01,
            logarithmic=True,
            on_value=0.1,
            former_off=1000.0,
            label="drop negatives above positive + m",
        ),
        Parameter("hardness", 0.0, r"\alpha", 0.0, 20.0, 0.1, label="hardness"),
        Parameter("hardness_on", "in_batch", choices=HARDENED, label="hardness on"),
        Parameter(
            "log_weight",
            0.0,
            r"\log w",
            -5.0,
            5.0,
            0.1,
            without_owners=0.0,
            label="weight of own hard negatives (logarithm)",
        ),
        Parameter(
            "negatives_seen",
            "by_all",
            choices=SEEN,
            without_owners="by_all",
            label="hard negatives each query sees",
        ),
    ),
    variants={
        "symmetric=true": r"-\frac{1}{2N} \sum_i \Bigl("
        r"\log \frac{e^{\cos(q_i, k_i)/\tau}}{\sum_j e^{\cos(q_i, k_j)/\tau}}"
        r" + \log \frac{e^{\cos(q_i, k_i)/\tau}}{\sum_j e^{\cos(q_j, k_i)/\tau}}\Bigr)",
        "partition=per_direction": r"-\frac{1}{N |R|} \sum_i \sum_{r \in R}"
        r" \log \frac{e^{s_{ii}}}{e^{s_{ii}} + \sum_{j \ne i} e^{s^{(r)}_{ij}}}",
        "in_batch=false": r"-\frac1N \sum_i \log \frac{e^{s_{ii}}}{e^{s_{ii}} + \sum_n e^{s_{in}}}",
        **{
            f"directions={','.join(ways)}": _JOINT_FORMULA.format(terms)
            for ways, terms in (
                (BOTH_WAYS, r"\sum_j e^{s_{ij}} + \sum_j e^{s_{ji}}"),
                (
                    ("query_to_key", "query_to_query"),
                    r"\sum_j e^{s_{ij}} + \sum_{j \ne i} e^{s(q_i, q_j)}",
                ),
                (
                    ("query_to_key", "query_to_query", "key_to_key"),
                    r"\sum_j e^{s_{ij}} + \sum_{j \ne i} e^{s(q_i, q_j)}"
                    r" + \sum_{j \ne i} e^{s(k_i, k_j)}",
                ),
                (
                    DIRECTIONS,
                    r"\sum_j e^{s_{ij}} + \sum_j e^{s_{ji}} + \sum_{j \ne i} e^{s(q_i, q_j)}"
                    r" + \sum_{j \ne i} e^{s(k_i, k_j)}",
                ),
            )
        },
        "similarity=dot": r"-\frac1N \sum_i \log"
        r" \frac{e^{q_i \cdot k_i/\tau}}{\sum_j e^{q_i \cdot k_j/\tau}}",
    },
    counted=r"j = i \lor \text{text}(k_j) \notin"
    r" \{\text{text}(q_i), \text{text}(k_i)\}",
    form=AgainstOthers(
        scale=lambda temperature, **_: 1 / temperature,
        symmetric=lambda symmetric, **_: symmetric,
        follows=("temperature", "symmetric"),
    ),
    terms="terms",
    negatives=("terms", "backward_terms", "query_terms", "key_terms"),
    with_copies=info_nce_with_copies,
    collapse=info_nce_collapse,
    collapse_formula=r"\ln K",
    floor=info_nce_floor,
    floor_formula=r"\ln\bigl(1 + (K - 1)\, e^{-\frac{K}{(K - 1)\tau}}\bigr)",
    references=(
        "S1 eq. 5–7",
        "S2",
        "van den Oord et al. 2018",
        "Li et al. 2023 (GTE)",
        "Zhang et al. 2025 (Qwen3-Embedding)",
        "Lan et al. 2025 (LLaVE)",
        "Schechter Vera et al. 2025 (EmbeddingGemma)",
    ),
    aliases=(
        "MNRL",
        "MultipleNegativesRankingLoss",
        "MultipleNegativesSymmetricRankingLoss",
        "in-batch softmax",
        "in-batch negatives",
        "SimCSE",
        "CLIP loss",
        "ibn",
        "InfoNCELoss",
        "symmetric InfoNCE",
        "improved contrastive loss",
        "CMNRL",
        "CachedMultipleNegativesRankingLoss",
        "CachedMultipleNegativesSymmetricRankingLoss",
        "MNSRL",
        "GradCache",
        "CPC",
        "contrastive predictive coding",
        "unsupervised SimCSE",
        "supervised SimCSE",
        "DPR",
        "ANCE",
        "E5",
        "BGE",
        "Qwen3",
        "jina-embeddings",
    ),
    equivalent=_equivalent,
    without_others={"in_batch": False},
    conventions=(
        Convention(
            "sentence-transformers 6.2 MultipleNegativesRankingLoss",
            {"temperature": 0.05, "symmetric": False},
            former=("sentence-transformers MultipleNegativesRankingLoss",),
        ),
        Convention(
            "sentence-transformers 6.2 MultipleNegativesSymmetricRankingLoss",
            {"temperature": 0.05, "symmetric": True},
            former=("sentence-transformers MultipleNegativesSymmetricRankingLoss",),
        ),
        Convention(
            "NeMo Automodel 0.7.0, direction=symmetric",
            {"temperature": 0.05, "symmetric": True, "negatives_seen": "by_own"},
            note="Hard negatives count only from queries to documents, and only a query's own; "
            'direction=d2q is directions="key_to_query" of the function. Second sentences whose '
            "first sentence is no query count for all.",
            former=("NeMo Automodel, direction=symmetric",),
            peers=(Peer("nemo-automodel", "infonce_loss"),),
        ),
        Convention(
            "RElbers/info-nce-pytorch 0.1.4, paired negatives",
            {"in_batch": False, "temperature": 0.1, "negatives_seen": "by_own"},
            note="Each query is compared only with its own negatives. Second sentences whose "
            "first sentence is no query count for all.",
            peers=(Peer("info-nce-pytorch", "InfoNCE"),),
        ),
        Convention(
            "CLIP (initial temperature), open_clip 3.3.0 ClipLoss",
            {"temperature": 0.07, "symmetric": True},
            learned={"temperature": 0.01},
            former=("CLIP (initial temperature)",),
            peers=(Peer("open-clip-torch", "ClipLoss", OF_PAIRS, {"scale": 1 / 0.07}),),
        ),
        Convention(
            "sentence-transformers 6.2, four directions in one softmax (GTE)",
            {"directions": OF_ALL},
            note="The positive pair appears twice in this softmax, once from each side, so the "
            "loss is never below ln 2.",
            peers=(
                Peer(
                    SENTENCE_TRANSFORMERS,
                    "MultipleNegativesRankingLoss",
                    OWNED,
                    {"directions": tuple(way.replace("key", "doc") for way in DIRECTIONS)},
                ),
            ),
        ),
        Convention(
            "sentence-transformers 6.2, both directions in one softmax",
            {"directions": ",".join(BOTH_WAYS)},
            note="The positive pair appears twice in this softmax, once from each side, so the "
            "loss is never below ln 2.",
        ),
        Convention(
            "sentence-transformers 6.2, hardness_mode in_batch_negatives (LLaVE)",
            {"hardness": 9.0, "hardness_on": "in_batch"},
            peers=(
                Peer(
                    SENTENCE_TRANSFORMERS,
                    "MultipleNegativesRankingLoss",
                    OWNED,
                    {"hardness_mode": "in_batch_negatives", "hardness_strength": 9.0},
                ),
            ),
        ),
        Convention(
            "sentence-transformers 6.2, hardness_mode hard_negatives (EmbeddingGemma)",
            {"hardness": 5.0, "hardness_on": "hard"},
            note="Weighs a query's own hard negatives: second sentences of other pairs with the "
            "same first sentence. If none is known to be a query's own, it weighs all.",
            peers=(
                Peer(
                    SENTENCE_TRANSFORMERS,
                    "MultipleNegativesRankingLoss",
                    OWNED,
                    {"hardness_mode": "hard_negatives", "hardness_strength": 5.0},
                ),
            ),
        ),
        Convention(
            "sentence-transformers 6.2, hardness_mode all_negatives",
            {"hardness": 5.0, "hardness_on": "all"},
            peers=(
                Peer(
                    SENTENCE_TRANSFORMERS,
                    "MultipleNegativesRankingLoss",
                    OWNED,
                    {"hardness_mode": "all_negatives", "hardness_strength": 5.0},
                ),
            ),
        ),
        Convention(
            "sentence-transformers 6.2, dot products",
            {"similarity": "dot", "temperature": 1.0},
            aliases=("SparseMultipleNegativesRankingLoss",),
            score="dot",
        ),
        Convention(
            "FlagEmbedding 1.4.2, without in-batch negatives",
            {"in_batch": False, "temperature": 0.02, "negatives_seen": "by_own"},
            note="The library compares a query only with its own passages. Second sentences "
            "whose first sentence is no query count for all.",
            former=("FlagEmbedding 1.3, without in-batch negatives",),
            peers=(Peer("FlagEmbedding", "_compute_no_in_batch_neg_loss"),),
        ),
        Convention(
            "RElbers/info-nce-pytorch 0.1.4, unpaired negatives",
            {"in_batch": False, "temperature": 0.1},
            peers=(Peer("info-nce-pytorch", "InfoNCE"),),
        ),
        Convention(
            "ms-swift 3.12.6 (Qwen3-Embedding)",
            {"temperature": 0.1, "mask_above": 0.1},
            info_nce_of_swift_by_options,
            formula=_JOINT_FORMULA.format(
                r"e^{s_{ii}} + \sum_{j \ne i} m_{ij}\, e^{s_{ij}}"
                r" + \sum_{j \ne i} m_{ij}\, e^{s(q_i, q_j)} + \sum_{j \ne i} e^{s(k_i, k_j)}"
            ),
            reads={"queries": "queries", "keys": "keys", "negatives": "negatives"},
            function=info_nce_of_swift,
            with_copies=mean_log1p,
            note="With INFONCE_MASK_FAKE_NEGATIVE, INCLUDE_QQ and INCLUDE_DD; comparisons "
            "between keys are never masked. 4.6.0 has the same loss; before pull request 6761 "
            "the default temperature was 0.01.",
            former=("ms-swift 3.x (Qwen3-Embedding)",),
            peers=(Peer("ms-swift", "InfonceLoss"),),
        ),
    ),
    peers=(Peer("torch", "CrossEntropyLoss", QUERIED),),
)
