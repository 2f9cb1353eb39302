"""Frequency of a loss or a library's class in practice, by which Doctor ranks the meanings of a
number: a table of groups, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Usage(NamedTuple):
    """Losses, and conventions of them by loss, that are equally common, for one reason. `cost` is
    what is assumed by taking a number for theirs; all others are of cost 0."""

    reason: str
    cost: float
    losses: tuple[str, ...] = ()
    conventions: Mapping[str, tuple[str, ...]] = MappingProxyType({})


USAGES = (
    Usage(
        "what introductions to classifiers, embeddings and ranking begin with",
        -0.36,
        ("binary_cross_entropy", "info_nce", "softmax", "triplet", "contrastive"),
    ),
    Usage(
        "the first pairwise loss of courses on ranking and recommendation, and of DPO",
        -0.3,
        ("pairwise_logistic",),
    ),
    Usage(
        "a class of its own in sentence-transformers or pytorch-metric-learning, or in CLIP's code",
        -0.12,
        (
            *("cosent", "cosine_mse", "angle", "nt_xent", "siglip", "supcon", "online_contrastive"),
            *("multi_similarity", "arcface", "cosface", "pairwise_hinge", "list_net", "list_mle"),
            *("lambda_loss", "softmax_rank", "margin_mse", "distill_kl", "embedding_mse", "gist"),
            *("mega_batch_margin", "proxy_nca", "proxy_anchor", "barlow_twins", "vicreg"),
        ),
    ),
    Usage(
        "of a paper, without a class in the libraries that people train with",
        0.6,
        (
            *("weighted_cosent", "hierarchical_cosent", "multitask_cosent", "max_violation"),
            *("circle", "soft_info_nce", "debiased", "hard_weighted", "nce", "alignment"),
            "uniformity",
        ),
    ),
    Usage(
        "a class of its own that far fewer train with than with the loss itself",
        0.0,
        conventions={"triplet": ("sentence-transformers 6.2 BatchHardSoftMargin",)},
    ),
    Usage(
        "an option, a mode or a version that few set, or code that was never released",
        0.4,
        conventions={
            "cosent": ("S0 (−10¹²)",),
            "cosine_mse": ("sentence-transformers 6.2, distillation of a cross-encoder",),
            "pairwise_logistic": (
                "allRank 1.4.3 rankNet_weightByGTDiff",
                "sentence-transformers 6.2 RankNetLoss (mean / ln 2)",
            ),
            "list_mle": ("sentence-transformers 6.2 PListMLELoss",),
            "info_nce": (
                "NeMo Automodel 0.7.0, direction=symmetric",
                "sentence-transformers 6.2, four directions in one softmax (GTE)",
                "sentence-transformers 6.2, both directions in one softmax",
                "sentence-transformers 6.2, hardness_mode in_batch_negatives (LLaVE)",
                "sentence-transformers 6.2, hardness_mode hard_negatives (EmbeddingGemma)",
                "sentence-transformers 6.2, hardness_mode all_negatives",
            ),
            "siglip": ("averaged over cells (big_vision issue 179, unreleased)",),
            "supcon": (
                "S2 (the anchor is its own positive)",
                "SupContrast, unreleased, December 2023 (anchors without a positive count as "
                "zeros)",
            ),
            "contrastive": (
                "sentence-transformers 6.2, Manhattan distance",
                "pytorch-metric-learning 2.9, pos_margin=0.2",
            ),
            "triplet": (
                "sentence-transformers 6.2, Manhattan distance (given triplets)",
                "torch 2.13, swap=True (given triplets)",
                "pytorch-metric-learning 2.9, swap=True",
                "pytorch-metric-learning 2.9, smooth_loss=True",
            ),
        },
    ),
)


def usage_cost(loss: str, convention: str) -> float:
    """Return what is assumed by taking a number for one of this loss under this convention: as
    little as the loss is common, or as much as the convention is not."""
    for usage in USAGES:
        if convention in usage.conventions.get(loss, ()):
            return usage.cost
    return next((usage.cost for usage in USAGES if loss in usage.losses), 0.0)
