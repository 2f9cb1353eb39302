"""Other libraries' losses, as functions of the tensors of a batch.

A loss names its counterpart in sentence-transformers by the code to take away with it
(`LossSpec.equivalent`), and all others by its peers (`losses.library_peer_record`). This module
calls them. A library is imported when its loss is called, and computes at its defaults, which are
those of the convention that names it, except for the peer's settings.
"""

import functools
import importlib.metadata
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from lossprism.explorer.lab.compare import library_loss_calls as calls
from lossprism.explorer.lab.compare import ranking_library_calls as list_calls
from lossprism.explorer.lab.compare.library_loss_calls import Call
from lossprism.losses import LossSpec
from lossprism.losses.contrastive.triplet_symbols import GIVEN, MINED
from lossprism.losses.library_peer_record import (
    CLASSED,
    GUIDED,
    LISTED,
    LISTED_VECTORS,
    MARGIN_VECTORS,
    METRIC_LEARNING,
    OF_PAIRS,
    OF_SIDES,
    OWNED,
    PROTOTYPED,
    QUERIED,
    SCORES,
    SENTENCE_TRANSFORMERS,
    VALUED,
    Peer,
)
from lossprism.losses.lists.list_net_and_softmax_rank import MULTIPLE_NEGATIVES
from lossprism.losses.sentence_transformers_equivalent_record import Equivalent


@dataclass(frozen=True)
class CallablePeer(Peer):
    """A peer, and the way to call it.

    `load()` imports the library and returns a function of the tensors that it `reads`; None where
    no call is known. `within` is the relative error of its own arithmetic, or `shift` the number
    that it adds to each difference of coordinates, and `because` the key of the sentence with the
    reason. `below_zero` is the key of the sentence on labels below 0 and places without a
    candidate, where it treats them otherwise. `load_at_defaults()` gives the same without our
    parameters, where there are any.
    """

    load: Callable[[], Call] | None = None
    within: float = 0.0
    because: str = ""
    shift: float = 0.0
    below_zero: str = ""
    load_at_defaults: Callable[[], Call] | None = None

    @property
    def version(self) -> str | None:
        """The installed one; None where there is none."""
        if not self.library:
            return None
        try:
            return importlib.metadata.version(self.library)
        except importlib.metadata.PackageNotFoundError:
            return None


def peers_of(spec: LossSpec, convention: str) -> Iterator[CallablePeer]:
    """Yield the peers that compute this loss under this convention; `spec` is the loss under it.

    Our own convention without a known library, and one that is only printed, have none. Any other
    convention without a known peer has one that cannot be called.
    """
    equivalent = spec.equivalent(**spec.defaults) if spec.equivalent else None
    if equivalent:
        yield _of_equivalent(equivalent)
    for peer in spec.peers:
        named = (peer.library, peer.called, peer.reads, peer.settings)
        below_zero = _BELOW_ZERO.get((peer.library, peer.called), "")
        inexact = _arithmetic(peer)
        yield CallablePeer(*named, _loading(peer), *inexact, below_zero=below_zero)
    printed = any(one.printed for one in spec.conventions if one.name == convention)
    if convention and not equivalent and not spec.peers and not printed:
        yield CallablePeer("", convention)


# How far the arithmetic of a class takes it from its formula, why, and what it adds to differences;
# by what its code imports.
_Arithmetic = tuple[float, str, float]
_EXACT: _Arithmetic = (0.0, "", 0.0)
_FLOAT32: _Arithmetic = (1e-5, "parity.because.float32", 0.0)
_BELOW_ZERO = {
    ("rax", "approx_t12n"): "parity.because.negative_gain",
    ("tensorflow-ranking", "ListMLELoss"): "parity.because.left_out_places",
}
FLOAT32_LIBRARIES = (
    "rax",
    "allRank",
    "tensorflow-ranking",
    "keras-rs",
    SENTENCE_TRANSFORMERS,
)  # of those on scores
_SHIFTED: _Arithmetic = (0.0, "parity.because.shifted", 1e-6)
_INEXACT = {"CosineSimilarityLoss": _FLOAT32, "ContrastiveLoss, SiameseDistanceMetric": _SHIFTED}


def _of_equivalent(equivalent: Equivalent) -> CallablePeer:
    imported = f"from sentence_transformers.sentence_transformer.losses import {equivalent.imports}"

    def load(without: str = "") -> Call:
        known: dict[str, Any] = {"torch": torch}
        exec(imported, known)

        def computed(**inputs: Tensor) -> Tensor:
            space = {**known, **inputs}
            exec(equivalent.code(list(inputs)).replace(without, ")" if without else "", 1), space)
            return space["loss"]

        return computed

    # The arguments after the model in the call of the class.
    ours = re.search(r"(?<=\(None), .*\)$", equivalent.lines, re.MULTILINE)
    of_vectors = "compute_loss_from_embeddings" in equivalent.lines
    plain = functools.partial(load, ours[0]) if ours and of_vectors else None
    inexact = _INEXACT.get(equivalent.imports, _EXACT)
    called = ", ".join(name for name in equivalent.imports.split(", ") if name.endswith("Loss"))
    named = (SENTENCE_TRANSFORMERS, called, equivalent.reads)
    return CallablePeer(*named, {}, load, *inexact, load_at_defaults=plain)


def _arithmetic(peer: Peer) -> _Arithmetic:
    """Return the error of a peer's arithmetic, its reason, and the shift that it adds."""
    if (peer.library, peer.called) == (SENTENCE_TRANSFORMERS, "ContrastiveLoss"):
        return _SHIFTED
    on_scores = (*peer.reads,) in ((*SCORES,), (*LISTED,))
    return _FLOAT32 if on_scores and peer.library in FLOAT32_LIBRARIES else _EXACT


# ---- By library, class ("" for any), and inputs


def _same(call: Call) -> Callable[..., Call]:
    return lambda: call


CALLED: Mapping[tuple[str, ...], Callable[..., Call]] = {
    ("torch", "BCEWithLogitsLoss", "input", "target"): _same(
        functional.binary_cross_entropy_with_logits
    ),
    ("torch", "MSELoss", "input", "target"): _same(functional.mse_loss),
    ("torch", "CrossEntropyLoss", *QUERIED): _same(calls.info_nce),
    ("torch", "CrossEntropyLoss", *PROTOTYPED): _same(calls.softmax),
    ("torch", "CosineEmbeddingLoss", *OF_SIDES): _same(calls.cosine_embedding),
    ("torch", "MarginRankingLoss", *SCORES): _same(calls.margin_ranking),
    ("torch", "TripletMarginLoss", *MINED): _same(calls.every_triplet),
    ("torch", "TripletMarginLoss", *GIVEN): calls.triplet_margin,
    (SENTENCE_TRANSFORMERS, "RankNetLoss", *SCORES): calls.rank_net,
    (SENTENCE_TRANSFORMERS, "", *SCORES): calls.of_scored_pairs,
    (SENTENCE_TRANSFORMERS, MULTIPLE_NEGATIVES, *LISTED): calls.of_a_positive_each,
    (SENTENCE_TRANSFORMERS, "", *LISTED): calls.of_lists,
    (SENTENCE_TRANSFORMERS, "", *MINED): calls.of_mined,
    (SENTENCE_TRANSFORMERS, "TripletLoss", *GIVEN): calls.triplets_by_coordinates,
    (SENTENCE_TRANSFORMERS, "ContrastiveLoss", *VALUED): calls.by_coordinates,
    (SENTENCE_TRANSFORMERS, "MarginMSELoss", *MARGIN_VECTORS): calls.margins,
    (SENTENCE_TRANSFORMERS, "DistillKLDivLoss", *LISTED_VECTORS): calls.distilled,
    (SENTENCE_TRANSFORMERS, "MultipleNegativesRankingLoss", *OWNED): calls.with_own_negatives,
    (SENTENCE_TRANSFORMERS, "GISTEmbedLoss", *GUIDED): calls.guided,
    (METRIC_LEARNING, "", *CLASSED): calls.on_classes,
    (METRIC_LEARNING, "", *PROTOTYPED): calls.with_prototypes,
    (METRIC_LEARNING, "", *OF_PAIRS): calls.on_pairs,
    (METRIC_LEARNING, "VICRegLoss", *OF_PAIRS): calls.vicreg,
    (METRIC_LEARNING, "ContrastiveLoss", *OF_SIDES): calls.contrastive,
    ("rax", "", *SCORES): list_calls.rax,
    ("rax", "", *LISTED): list_calls.rax,
    ("tensorflow-ranking", "", *SCORES): list_calls.tf_ranking,
    ("tensorflow-ranking", "", *LISTED): list_calls.tf_ranking,
    ("keras-rs", "", *SCORES): list_calls.keras_rs,
    ("open-clip-torch", "", *OF_PAIRS): calls.open_clip,
    ("lightly", "", *OF_PAIRS): calls.lightly,
    ("allRank", "", *SCORES): list_calls.allrank,
    ("allRank", "", *LISTED): list_calls.allrank,
}


def _loading(peer: Peer) -> Callable[[], Call] | None:
    """Return the function that loads a peer; None where no call is known."""
    if load := CALLED.get((peer.library, peer.called, *peer.reads)):
        return functools.partial(load, **peer.settings)
    if load := CALLED.get((peer.library, "", *peer.reads)):
        return functools.partial(load, peer.called, **peer.settings)
    return None
