"""CoSENT with a classifier beside it: ranking and cross-entropy in one number."""

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.kernels import log1p_ordered_sum_exp, log1p_sum_exp
from lossprism.losses.minimum import Bound
from lossprism.losses.ranking.ordered_pair_symbols import LOG1P_OF_TERMS, PAIR_SYMBOLS, SCALE
from lossprism.losses.spec import LossSpec, Parameter, Symbol
from lossprism.losses.symbols import each_pair, loss_symbol


def multitask_cosent_definition(
    scores: Tensor,
    labels: Tensor,
    *,
    logits: Tensor,
    classes: Tensor,
    alpha: float = 1.0,
    scale: float = 20.0,
) -> Tensor:
    scaled = scale * scores
    differences = scaled[:, None] - scaled[None, :]
    ordered = labels[:, None] < labels[None, :]
    terms = differences.masked_fill(~ordered, -torch.inf)
    ranking = log1p_sum_exp(terms)
    log_probabilities = logits.log_softmax(dim=1)
    classification = -log_probabilities.gather(1, classes[:, None]).mean()
    loss = ranking + alpha * classification
    return loss


def multitask_cosent(
    scores: Tensor,
    labels: Tensor,
    *,
    logits: Tensor,
    classes: Tensor,
    alpha: float = 1.0,
    scale: float = 20.0,
    gather: bool = False,
) -> Tensor:
    r"""cosent(s, y) + α · CE(logits, classes) (S1 eq. 53).

    >>> scores, labels = torch.tensor([0.0, 0.0]), torch.tensor([1, 0])
    >>> multitask_cosent(scores, labels, logits=torch.zeros(2, 2), classes=labels)  # 2 · log 2
    tensor(1.3863)

    Args:
        scores, labels: [N] each, for the ranking.
        logits: [N, C], the classifier's output for each pair.
        classes: [N], the right class of each pair, 0 … C−1.
        alpha: α, the weight of the cross-entropy.
        scale: λ.
        gather: as for `cosent`.
    """
    scores, labels, logits, classes = gathered(gather, scores, labels, logits, classes)
    scores, labels = input_checks.pair_scores(scores, labels)
    logits, scores = map(input_checks.recordable, input_checks.real(logits=logits, scores=scores))
    if logits.ndim != 2 or len(logits) != len(scores):
        raise ValueError(
            f"logits has shape {tuple(logits.shape)}; a row for each of the {len(scores)} pairs"
        )
    classes = input_checks.class_numbers(classes, len(logits), most=logits.shape[1], of="classes")
    ranking = log1p_ordered_sum_exp(scores, scores, labels, scale=scale)
    return ranking + alpha * torch.nn.functional.cross_entropy(logits, classes)


MULTITASK_COSENT = LossSpec(
    function=multitask_cosent,
    definition=multitask_cosent_definition,
    title="Multi-task CoSENT",
    about="Adds cross-entropy for the class to CoSENT for the order.",
    group="pair_scores",
    formula=r"\log\Bigl(1 + \sum_{y_i > y_j} e^{\lambda (s_j - s_i)}\Bigr)"
    r" + \alpha\,\mathrm{CE}(z, c)",
    symbols={
        **PAIR_SYMBOLS,
        "logits": Symbol(r"z_{ik}", ("pair", "class")),
        "classes": each_pair(r"c_i", stem="c"),
        "ranking": Symbol(
            r"\mathcal L_{\mathrm{rank}}",
            equals=r"\log\Bigl(1 + \sum_{j,i} e^{t_{ji}}\Bigr)",
            live=LOG1P_OF_TERMS,
        ),
        "log_probabilities": Symbol(
            r"\log p_{ik}",
            ("pair", "class"),
            r"«logits[r,c]» - \log\bigl(«Σ exp logits[r]»\bigr)",
            equals=r"z_{ik} - \log\sum_{k'} e^{z_{ik'}}",
        ),
        "classification": Symbol(
            r"\mathcal L_{\mathrm{CE}}",
            equals=r"-\frac1N \sum_i \log p_{i c_i}",
            live=r"-\frac{«Σ log_probabilities.gather(1, classes[:, None])»}{«len(classes)»}",
        ),
        "loss": loss_symbol(
            r"\mathcal L_{\mathrm{rank}} + \alpha\, \mathcal L_{\mathrm{CE}}",
            r"«ranking» + «alpha» \cdot «classification»",
        ),
    },
    parameters=(
        Parameter("alpha", 1.0, r"\alpha", 0.0, 10.0, 0.05, label="weight of cross-entropy"),
        SCALE,
    ),
    reads={
        "scores": "scores",
        "labels": "labels",
        "logits": "pair_logits",
        "classes": "pair_classes",
    },
    terms="terms",
    floor=lambda tensors, **_: Bound(0.0),  # a classifier's outputs have no end
    floor_formula=r"\ge 0",
    references=("S1 eq. 53",),
    note="A batch of pairs has no classifier, so Explore takes −s and s of each pair as its "
    "outputs: the cross-entropy of the probability σ(2s). Two outputs are no embedding, so there "
    "is no value at collapse.",
)
