"""What other libraries compute for a loss, as functions of the tensors that a batch has.

What sentence-transformers has is told by the loss itself, in the code that is taken away with it
(`LossSpec.twin`); the rest stands here. A library is imported when it is asked, and each function
computes at that library's defaults, which are those of the convention it is named in.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from explorer.lab.compare import library_calls as calls
from explorer.lab.compare.library_calls import Call
from losses import LossSpec
from losses.contrastive.triplet_symbols import GIVEN, MINED
from losses.twins import Twin

SENTENCE_TRANSFORMERS = "sentence-transformers"
METRIC_LEARNING = "pytorch-metric-learning"


@dataclass(frozen=True)
class Peer:
    """A function or class of a library that computes a loss.

    `library` is as pip calls it, or a repository that no package is made of. `load()` imports it
    and gives a function of the tensors that it `reads`, as in `LossSpec.reads`; None where nobody
    has written how to call it. `within` is how far its own arithmetic takes it from its formula,
    relative, and `because` the key of the sentence that says why.
    """

    library: str
    called: str
    reads: Mapping[str, str] = field(default_factory=dict)
    load: Callable[[], Call] | None = None
    within: float = 0.0
    because: str = ""

    @property
    def version(self) -> str | None:
        """The installed one; None where there is none."""
        if not self.library:
            return None
        try:
            return importlib.metadata.version(self.library)
        except importlib.metadata.PackageNotFoundError:
            return None


def peers_of(spec: LossSpec, convention: str) -> Iterator[Peer]:
    """Who computes this loss under this convention; `spec` is the loss under it. None for our own
    where no library is known, and for those of `PRINTED`; of any other convention somebody does,
    of whom nothing is known here."""
    twin = spec.twin(**spec.defaults) if spec.twin else None
    known = PEERS.get((spec.name, convention), ())
    if twin:
        yield _of_twin(twin)
    yield from known
    if convention and not twin and not known and (spec.name, convention) not in PRINTED:
        yield Peer("", convention)


# What the arithmetic of a class takes it from its formula, by what its twin imports.
_LOWERED = (1e-6, "parity.because.float32")
_SHIFTED = (1e-5, "parity.because.shifted")
_INEXACT = {"CosineSimilarityLoss": _LOWERED, "ContrastiveLoss, SiameseDistanceMetric": _SHIFTED}


def _of_twin(twin: Twin) -> Peer:
    imported = f"from sentence_transformers.sentence_transformer.losses import {twin.imports}"

    def load() -> Call:
        known: dict[str, Any] = {"torch": torch}
        exec(imported, known)

        def computed(**given: Tensor) -> Tensor:
            space = {**known, **given}
            exec(twin.code(list(given)), space)
            return space["loss"]

        return computed

    within, because = _INEXACT.get(twin.imports, (0.0, ""))
    called = ", ".join(name for name in twin.imports.split(", ") if name.endswith("Loss"))
    return Peer(SENTENCE_TRANSFORMERS, called, twin.reads, load, within, because)


# ---- By loss and convention, "" for our own

SCORES = {"scores": "scores", "labels": "labels"}
CLASSED = {"embeddings": "embeddings", "classes": "classes"}
LISTED = {"scores": "list_scores", "labels": "list_labels", "mask": "list_mask"}
PAIRED = {"first": "queries", "second": "keys"}
PROTOTYPED = {**CLASSED, "prototypes": "prototypes"}
VALUED = {"first": "first", "second": "second", "labels": "labels"}
OF_SIDES = {**VALUED, "labels": "binary_labels"}
QUERIED = {"queries": "queries", "keys": "keys", "negatives": "negatives"}


def _learned(called: str, reads: Mapping[str, str], load: Callable[[], Call]) -> Peer:
    return Peer(METRIC_LEARNING, called, reads, load)


def _torch(called: str, reads: Mapping[str, str], call: Call) -> Peer:
    return Peer("torch", called, reads, lambda: call)


def _mined_by(called: str) -> Peer:
    return Peer(SENTENCE_TRANSFORMERS, called, MINED, calls.of_mined(called))


def _ranked(loss: str, called: str) -> dict[tuple[str, str], tuple[Peer, ...]]:
    peer = _crossed(called, LISTED, calls.of_lists(called))
    return {(loss, f"sentence-transformers 6.2 {called}"): (peer,)}


def _prototyped(called: str) -> tuple[Peer, ...]:
    return (_learned(called, PROTOTYPED, calls.with_prototypes(called)),)


def _crossed(called: str, reads: Mapping[str, str], load: Callable[[], Call]) -> Peer:
    return Peer(SENTENCE_TRANSFORMERS, called, reads, load, *_LOWERED)


PEERS: Mapping[tuple[str, str], tuple[Peer, ...]] = {
    ("pairwise_logistic", "sentence-transformers 6.2 RankNetLoss (mean / ln 2)"): (
        _crossed("RankNetLoss", SCORES, calls.rank_net),
    ),
    ("pairwise_logistic", "rax 0.4.0 pairwise_logistic_loss"): (
        Peer("rax", "pairwise_logistic_loss", SCORES, calls.rax, *_LOWERED),
    ),
    ("pairwise_logistic", "allRank 1.4.3, TF-Ranking 0.5.5"): (
        Peer("allRank", "rankNet"),
        Peer("tensorflow-ranking", "make_loss_fn"),
    ),
    ("pairwise_logistic", "keras-rs 0.4.0 PairwiseLogisticLoss (sum / N)"): (
        Peer("keras-rs", "PairwiseLogisticLoss"),
    ),
    ("pairwise_logistic", "TF-Ranking 0.5.5, Keras PairwiseLogisticLoss (sum / N)"): (
        Peer("tensorflow-ranking", "PairwiseLogisticLoss"),
    ),
    ("pairwise_logistic", "allRank 1.4.3 rankNet_weightByGTDiff"): (
        Peer("allRank", "rankNet_weightByGTDiff"),
    ),
    ("pairwise_hinge", "rax 0.4.0 pairwise_hinge_loss"): (
        Peer(
            "rax",
            "pairwise_hinge_loss",
            SCORES,
            functools.partial(calls.rax, "pairwise_hinge_loss"),
            *_LOWERED,
        ),
    ),
    ("pairwise_hinge", "keras-rs 0.4.0 PairwiseHingeLoss (sum / N)"): (
        Peer("keras-rs", "PairwiseHingeLoss"),
    ),
    ("pairwise_hinge", "TF-Ranking 0.5.5, Keras PairwiseHingeLoss (sum / N)"): (
        Peer("tensorflow-ranking", "PairwiseHingeLoss"),
    ),
    ("binary_cross_entropy", ""): (
        _torch(
            "BCEWithLogitsLoss",
            {"input": "scores", "target": "binary_labels"},
            functional.binary_cross_entropy_with_logits,
        ),
    ),
    ("binary_cross_entropy", "sentence-transformers 6.2 BinaryCrossEntropyLoss"): (
        _crossed("BinaryCrossEntropyLoss", SCORES, calls.cross_entropy_of_cross_encoders),
    ),
    ("cosine_mse", ""): (
        _torch("MSELoss", {"input": "scores", "target": "cosine_labels"}, functional.mse_loss),
    ),
    ("angle", "AnglE 0.6.1 (function default)"): (Peer("angle-emb", "angle_loss"),),
    ("info_nce", ""): (_torch("CrossEntropyLoss", QUERIED, calls.info_nce),),
    ("info_nce", "NeMo Automodel 0.7.0, direction=symmetric"): (
        Peer("nemo-automodel", "infonce_loss"),
    ),
    ("info_nce", "CLIP (initial temperature), open_clip 3.3.0 ClipLoss"): (
        Peer("open-clip-torch", "ClipLoss"),
    ),
    ("focal_info_nce", "puerrrr/Focal-InfoNCE bba18e4 (the authors' code, m = 0.3)"): (
        Peer("puerrrr/Focal-InfoNCE", "sp_logits"),
    ),
    ("decoupled", "lightly 1.6.0"): (Peer("lightly", "DCLLoss"),),
    ("nt_xent", "SimCLR"): (_learned("NTXentLoss", PAIRED, calls.two_views),),
    ("nt_xent", "SimCLR, google-research/simclr be133b3 (both directions added)"): (
        Peer("google-research/simclr", "add_contrastive_loss"),
    ),
    ("nt_xent", "pytorch-metric-learning 2.9 (several positives)"): (
        _learned("NTXentLoss", CLASSED, calls.on_classes("NTXentLoss")),
    ),
    ("siglip", "open_clip 3.3.0 (initial values)"): (Peer("open-clip-torch", "SigLipLoss"),),
    ("supcon", "pytorch-metric-learning 2.9"): (
        _learned("SupConLoss", CLASSED, calls.on_classes("SupConLoss")),
    ),
    ("supcon", "SupContrast (anchors without a positive count as zeros)"): (
        Peer("HobbitLong/SupContrast", "SupConLoss"),
    ),
    ("circle_self_paced", "pytorch-metric-learning 2.9 CircleLoss (per anchor)"): (
        _learned("CircleLoss", CLASSED, calls.on_classes("CircleLoss")),
    ),
    ("contrastive", "sentence-transformers 6.2, Manhattan distance"): (
        Peer(SENTENCE_TRANSFORMERS, "ContrastiveLoss", VALUED, calls.by_coordinates, *_SHIFTED),
    ),
    ("contrastive", "torch 2.13 CosineEmbeddingLoss"): (
        _torch("CosineEmbeddingLoss", OF_SIDES, calls.cosine_embedding),
    ),
    ("contrastive", "pytorch-metric-learning 2.9, pos_margin=0.2"): (
        _learned("ContrastiveLoss", OF_SIDES, functools.partial(calls.contrastive, pos_margin=0.2)),
    ),
    ("contrastive", "pytorch-metric-learning 2.9 ContrastiveLoss"): (
        _learned("ContrastiveLoss", OF_SIDES, calls.contrastive),
    ),
    ("triplet", "sentence-transformers 6.2 BatchSemiHard"): (
        _mined_by("BatchSemiHardTripletLoss"),
    ),
    ("triplet", "torch 2.13 (ε in the distance)"): (
        _torch(
            "TripletMarginLoss",
            MINED,
            calls.every_triplet,
        ),
    ),
    ("triplet", "torch 2.13 TripletMarginLoss (given triplets)"): (
        _torch("TripletMarginLoss", GIVEN, calls.given_triplets),
    ),
    ("triplet", "sentence-transformers 6.2, Manhattan distance (given triplets)"): (
        Peer(SENTENCE_TRANSFORMERS, "TripletLoss", GIVEN, calls.triplets_by_coordinates),
    ),
    ("triplet", "torch 2.13, swap=True (given triplets)"): (
        _torch("TripletMarginLoss", GIVEN, functools.partial(calls.given_triplets, swap=True)),
    ),
    **{
        ("triplet", f"pytorch-metric-learning 2.9, {option}=True"): (
            _learned(
                "TripletMarginLoss",
                CLASSED,
                calls.on_classes("TripletMarginLoss", **{option: True}),
            ),
        )
        for option in ("swap", "smooth_loss")
    },
    ("triplet", "pytorch-metric-learning 2.9 TripletMarginLoss"): (
        _learned("TripletMarginLoss", CLASSED, calls.on_classes("TripletMarginLoss")),
    ),
    ("softmax", ""): (_torch("CrossEntropyLoss", PROTOTYPED, calls.softmax),),
    ("softmax", "pytorch-metric-learning 2.9 NormalizedSoftmaxLoss (τ = 0.05)"): (
        _learned(
            "NormalizedSoftmaxLoss", PROTOTYPED, calls.with_prototypes("NormalizedSoftmaxLoss")
        ),
    ),
    ("arcface", "pytorch-metric-learning 2.9 ArcFaceLoss (cos θ − m sin m beyond π − m)"): (
        _learned("ArcFaceLoss", PROTOTYPED, calls.with_prototypes("ArcFaceLoss")),
    ),
    **_ranked("list_net", "ListNetLoss"),
    **_ranked("list_mle", "ListMLELoss"),
    **_ranked("list_mle", "PListMLELoss"),
    **_ranked("lambda_loss", "LambdaLoss"),
    **_ranked("adr_mse", "ADRMSELoss"),
    ("list_net", "allRank 1.4.3 listNet (ε = 1e-10)"): (Peer("allRank", "listNet"),),
    ("softmax_rank", "rax 0.4.0 softmax_loss"): (Peer("rax", "softmax_loss"),),
    ("softmax_rank", "TF-Ranking 0.5.5, Keras SoftmaxLoss"): (
        Peer("tensorflow-ranking", "SoftmaxLoss"),
    ),
    ("list_mle", "rax 0.4.0 listmle_loss"): (Peer("rax", "listmle_loss"),),
    ("list_mle", "TF-Ranking 0.5.5 ListMLELoss (ties shuffled)"): (
        Peer("tensorflow-ranking", "ListMLELoss"),
    ),
    ("list_mle", "allRank 1.4.3 listMLE (ties shuffled, ε = 1e-10)"): (Peer("allRank", "listMLE"),),
    ("lambda_loss", "allRank 1.4.3 lambdaLoss, ndcgLoss2PP_scheme"): (
        Peer("allRank", "lambdaLoss"),
    ),
    ("approx_ndcg", "TF-Ranking 0.5.5 ApproxNDCGLoss"): (
        Peer("tensorflow-ranking", "ApproxNDCGLoss"),
    ),
    ("approx_ndcg", "allRank 1.4.3 approxNDCGLoss (α = 1)"): (Peer("allRank", "approxNDCGLoss"),),
    ("approx_ndcg", "rax 0.4.0 approx_t12n(ndcg_metric)"): (Peer("rax", "approx_t12n"),),
    ("margin_mse", "sentence-transformers 6.2 MarginMSELoss (dot products)"): (
        Peer(
            SENTENCE_TRANSFORMERS,
            "MarginMSELoss",
            {
                "positive": "margin_positives",
                "negative": "margin_negatives",
                "teacher": "teacher_margins",
                "mask": "margin_mask",
            },
            calls.margins,
        ),
    ),
    ("distill_kl", "sentence-transformers 6.2 DistillKLDivLoss (dot products)"): (
        Peer(
            SENTENCE_TRANSFORMERS,
            "DistillKLDivLoss",
            {"scores": "list_scores", "teacher": "list_teacher"},
            calls.distilled,
        ),
    ),
    ("distill_kl", "FlagEmbedding 1.4.2 kl_div (cross-entropy)"): (
        Peer("FlagEmbedding", "distill_loss"),
    ),
    # Its hard negatives are each a query's own, which a batch of pairs has not.
    **{
        ("info_nce", f"sentence-transformers 6.2, {recipe}"): (
            Peer(SENTENCE_TRANSFORMERS, "MultipleNegativesRankingLoss"),
        )
        for recipe in (
            "four directions in one softmax (GTE)",
            "hardness_mode in_batch_negatives (LLaVE)",
            "hardness_mode hard_negatives (EmbeddingGemma)",
            "hardness_mode all_negatives",
        )
    },
    ("info_nce", "FlagEmbedding 1.4.2, without in-batch negatives"): (
        Peer("FlagEmbedding", "_compute_no_in_batch_neg_loss"),
    ),
    **{
        ("info_nce", f"RElbers/info-nce-pytorch 0.1.4, {whose} negatives"): (
            Peer("info-nce-pytorch", "InfoNCE"),
        )
        for whose in ("unpaired", "paired")
    },
    ("info_nce", "ms-swift 3.x (Qwen3-Embedding)"): (Peer("ms-swift", "InfonceLoss"),),
    # It encodes by itself, with two models.
    ("gist", "sentence-transformers 6.2"): (Peer(SENTENCE_TRANSFORMERS, "GISTEmbedLoss"),),
    ("gist", "sentence-transformers 6.2, relative margin of 5 %"): (
        Peer(SENTENCE_TRANSFORMERS, "GISTEmbedLoss"),
    ),
    ("multi_similarity", "pytorch-metric-learning 2.9 MultiSimilarityLoss (every pair)"): (
        _learned("MultiSimilarityLoss", CLASSED, calls.on_classes("MultiSimilarityLoss")),
    ),
    ("multi_similarity", "msight-tech/research-ms-loss 8290973 (the authors' code)"): (
        Peer("msight-tech/research-ms-loss", "MultiSimilarityLoss"),
    ),
    ("n_pair", "pytorch-metric-learning 2.9 NPairsLoss (unit vectors)"): (
        _learned("NPairsLoss", PAIRED, calls.pairs),
    ),
    ("triplet", "sentence-transformers 6.2 BatchHardSoftMargin"): (
        _mined_by("BatchHardSoftMarginTripletLoss"),
    ),
    ("lifted", "pytorch-metric-learning 2.9 LiftedStructureLoss (unit vectors)"): (
        _learned("LiftedStructureLoss", CLASSED, calls.on_classes("LiftedStructureLoss")),
    ),
    ("arcface", "insightface arcface_torch 657ae30 (gradient straight through)"): (
        Peer("deepinsight/insightface", "CombinedMarginLoss"),
    ),
    ("cosface", "pytorch-metric-learning 2.9 CosFaceLoss"): _prototyped("CosFaceLoss"),
    ("cosface", "insightface arcface_torch 2e2e8c9"): (Peer("deepinsight/insightface", "CosFace"),),
    (
        "proxy_nca",
        "pytorch-metric-learning 2.9 ProxyNCALoss (own prototype in the denominator)",
    ): _prototyped("ProxyNCALoss"),
    ("proxy_nca", "ProxyNCA++, euwern/proxynca_pp a8e2aa9 (temperature 1/9)"): (
        Peer("euwern/proxynca_pp", "ProxyNCA_prob"),
    ),
    ("proxy_anchor", "pytorch-metric-learning 2.9 ProxyAnchorLoss"): _prototyped("ProxyAnchorLoss"),
    ("vicreg", "pytorch-metric-learning 2.9 VICRegLoss, facebookresearch/vicreg (λ/D, μ/2)"): (
        _learned("VICRegLoss", PAIRED, calls.vicreg),
        Peer("facebookresearch/vicreg", "VICReg"),
    ),
    ("arcface", "speechbrain 1.1.2, easy_margin"): (Peer("speechbrain", "AdditiveAngularMargin"),),
    (
        "barlow_twins",
        "facebookresearch/barlowtwins 046eec3 (batch normalisation with ε, λ = 0.0051)",
    ): (Peer("facebookresearch/barlowtwins", "BarlowTwins"),),
}

# What stands in an article or in a question, and in no library.
PRINTED = {
    ("cosent", "S0 (−10¹²)"),
    ("circle_self_paced", "paper (γ = 256)"),
    ("supcon", "S2 (the anchor is its own positive)"),
    ("siglip", "averaged over cells (big_vision #115)"),
}
