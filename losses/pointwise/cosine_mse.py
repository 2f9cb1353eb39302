"""Cosine regression: the score of a pair should be its label."""

from torch import Tensor
from torch.nn import functional

from lossprism.losses import input_checks
from lossprism.losses.labels import COSINES, Ends
from lossprism.losses.library_peer_record import SCORES, SENTENCE_TRANSFORMERS, Peer
from lossprism.losses.sentence_transformers_equivalent_record import of_pairs
from lossprism.losses.spec import Convention, LossSpec
from lossprism.losses.symbols import each_pair, loss_symbol


def cosine_mse_definition(scores: Tensor, labels: Tensor) -> Tensor:
    errors = scores - labels
    terms = errors.square()
    loss = terms.mean()
    return loss


def cosine_mse(scores: Tensor, labels: Tensor) -> Tensor:
    r"""mean (s_i − y_i)², the regression baseline.

    >>> cosine_mse(torch.tensor([0.5, 0.0]), torch.tensor([1.0, 0.0]))  # 0.25 / 2
    tensor(0.1250)

    Args:
        scores: [N], cosines.
        labels: [N], on the scale of the scores.
    """
    return functional.mse_loss(*input_checks.of_one_type(*input_checks.pair_scores(scores, labels)))


def _collapse(tensors: dict[str, Tensor], at: float | None = 1.0) -> float | None:
    """Return the value for equal scores."""
    return None if at is None else float((at - tensors["labels"].double()).square().mean())


def _outside(tensors: dict[str, Tensor], within: Ends = COSINES) -> float:
    """Return the error of labels outside the ends; scores reach all others."""
    labels = tensors["labels"].double()
    return float((labels - labels.clamp(*within)).square().mean())


COSINE_MSE = LossSpec(
    function=cosine_mse,
    definition=cosine_mse_definition,
    title="Cosine regression (MSE)",
    about="Pulls each cosine to its label, regardless of the others.",
    steps={
        "labels": (
            "The labels as targets of a cosine: the ends of their scale are 0 and 1; labels "
            "from −1 to 1 stay as they are."
        ),
        "terms": "Squared, so that large errors count most.",
    },
    group="pair_scores",
    formula=r"\frac1N \sum_i (s_i - y_i)^2",
    symbols={
        "scores": each_pair("s_i", stem="s"),
        "labels": each_pair("y_i", stem="y"),
        "errors": each_pair("r_i", r"«scores[r]» - «labels[r]»", equals="s_i - y_i"),
        "terms": each_pair("t_i", r"(«scores[r]» - «labels[r]»)^2", equals="r_i^2", signed=False),
        "loss": loss_symbol(r"\frac1N \sum_i t_i", r"\frac{«Σ terms»}{«terms.numel()»}"),
    },
    reads={"scores": "scores", "labels": "cosine_labels"},
    terms="errors",
    collapse=_collapse,
    collapse_formula=r"\tfrac1N \sum_i (1 - y_i)^2",
    floor=_outside,
    floor_formula="0",
    formulas_unbounded={"collapse": r"\tfrac1N \sum_i y_i^2"},
    aliases=("CosineSimilarityLoss", "cosine regression"),
    references=("Reimers & Gurevych 2019",),
    equivalent=of_pairs("CosineSimilarityLoss", "cosine_labels"),
    label_ends=COSINES,
    conventions=(
        Convention(
            "sentence-transformers 6.2 CosineSimilarityLoss",
            reads={"scores": "scores", "labels": "labels"},
            equivalent=of_pairs("CosineSimilarityLoss"),
            note="Labels are used unchanged, as in the library: no cosine reaches a label above "
            "1. Other conventions first rescale labels such as 1 to 5 to 0…1.",
            former=("sentence-transformers",),
            aliases=("SparseCosineSimilarityLoss",),
            label_ends=COSINES,
        ),
        Convention(
            "sentence-transformers 6.2, distillation of a cross-encoder",
            reads={"scores": "scores", "labels": "labels"},
            note="Labels are a teacher's scores, used unchanged. For bi-encoders the library's "
            "MSELoss is another loss, on embeddings.",
            equivalent=lambda **_: None,  # it is asked as a cross-encoder's
            peers=(Peer(SENTENCE_TRANSFORMERS, "cross_encoder.losses.MSELoss", SCORES),),
            score="logit",
        ),
    ),
    peers=(Peer("torch", "MSELoss", {"input": "scores", "target": "cosine_labels"}),),
)
