"""MarginMSE: the margin of a positive above each negative against the teacher's."""

import math

import torch
from torch import Tensor
from torch.nn import functional

from lossprism.losses import input_checks
from lossprism.losses.kernels import mean_of
from lossprism.losses.labels import COSINES, Ends
from lossprism.losses.library_peer_record import MARGIN_VECTORS, SENTENCE_TRANSFORMERS, Peer
from lossprism.losses.lists.list_common import present_in
from lossprism.losses.spec import Convention, LossSpec, Symbol
from lossprism.losses.symbols import loss_symbol

HALVINGS = 60  # of an interval of length 2, to the last digit


def margin_mse_definition(
    positive_scores: Tensor,
    negative_scores: Tensor,
    teacher_margins: Tensor,
    *,
    mask: Tensor | None = None,
) -> Tensor:
    present = present_in(negative_scores, mask)
    margins = positive_scores[:, None] - negative_scores.masked_fill(~present, 0)
    targets = teacher_margins.to(margins.dtype).masked_fill(~present, 0)
    errors = (margins - targets).masked_fill(~present, 0)
    terms = errors.square()
    loss = mean_of(terms, present)
    return loss


def margin_mse(
    positive_scores: Tensor,
    negative_scores: Tensor,
    teacher_margins: Tensor,
    *,
    mask: Tensor | None = None,
) -> Tensor:
    r"""mean ((s⁺_i − s⁻_ik) − (t⁺_i − t⁻_ik))² (Hofstätter et al. 2020).

    >>> margin_mse(torch.tensor([0.5]), torch.tensor([[0.0]]), torch.tensor([[2.0]]))  # 1.5²
    tensor(2.2500)

    Args:
        positive_scores: [N], what the student gives each query with its positive: a dot product,
            a cosine, the score of a cross-encoder.
        negative_scores: [N, K], the same with its negatives.
        teacher_margins: [N, K], how far the teacher has the positive above each negative.
        mask: [N, K], true where there is a negative; all, if it is left out.
    """
    negative_scores = input_checks.of_lists("negative_scores", negative_scores)
    teacher_margins = input_checks.of_lists(
        "teacher_margins", teacher_margins, like=negative_scores
    )
    positive_scores = input_checks.one_of_each("positive_scores", positive_scores, negative_scores)
    mask = input_checks.candidate_mask(mask, negative_scores)
    input_checks.must_be_finite_where(
        mask, negative_scores=negative_scores, teacher_margins=teacher_margins
    )
    input_checks.must_be_finite_where(
        None if mask is None else mask.any(dim=1), positive_scores=positive_scores
    )
    both = torch.promote_types(positive_scores.dtype, negative_scores.dtype)
    positive_scores, negative_scores = positive_scores.to(both), negative_scores.to(both)
    teacher_margins = teacher_margins.to(both)
    if mask is None:
        margins = positive_scores[:, None] - negative_scores
        return functional.mse_loss(margins, teacher_margins)
    positive_scores = positive_scores.masked_fill(~mask.any(dim=1), 0)
    return margin_mse_definition(positive_scores, negative_scores, teacher_margins, mask=mask)


def _given_margins(tensors: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    margins = tensors["teacher_margins"].double()
    present = present_in(margins, tensors.get("mask"))
    return margins.masked_fill(~present, 0), present


def _collapse(tensors: dict[str, Tensor]) -> float:
    """Return the value for a student without any margin."""
    margins, present = _given_margins(tensors)
    return float(mean_of(margins.square(), present))


def _floor(tensors: dict[str, Tensor], within: Ends = COSINES) -> float:
    """Return the minimum; a margin of two scores reaches no further than their ends.

    With s⁺ = x a margin of cosines lies within x − 1 and x + 1; the best x of a row is where the
    slope of the error, which rises with x, is 0, and is found by bisection.
    """
    lowest, highest = within
    if math.isinf(highest - lowest):
        return 0.0
    margins, present = _given_margins(tensors)

    def missed(x: Tensor) -> Tensor:
        return (margins - (margins.clamp(x - highest, x - lowest))).masked_fill(~present, 0)

    low, high = (margins.new_full((len(margins), 1), end) for end in within)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        rises = missed(middle).sum(dim=1, keepdim=True) < 0
        low, high = torch.where(rises, low, middle), torch.where(rises, middle, high)
    ends = torch.stack([missed(x).square().sum(dim=1) for x in (low, high)])
    return float(ends.amin(dim=0).sum() / present.sum().clamp_min(1))


MARGIN_MSE = LossSpec(
    function=margin_mse,
    definition=margin_mse_definition,
    title="MarginMSE",
    about="Makes the positive's lead over each negative equal to the teacher's.",
    steps={
        "errors": "What is missing; two cosines are never farther apart than 2.",
        "margins": "How far the student has it above.",
        "negative_scores": "A row for each of them: the similarities of its negatives.",
        "positive_scores": "The similarity of each positive pair that has negatives.",
        "targets": "What the margin should be.",
        "teacher_margins": "How far the teacher has the positive above each negative.",
        "terms": "Its square.",
    },
    group="distillation",
    formula=r"\frac1{NK} \sum_{i,k} \bigl((s^+_i - s^-_{ik}) - (t^+_i - t^-_{ik})\bigr)^2",
    symbols={
        "positive_scores": Symbol(r"s^+_i", ("row",)),
        "negative_scores": Symbol(r"s^-_{ik}", ("row", "candidate")),
        "teacher_margins": Symbol(r"\Delta_{ik}", ("row", "candidate"), equals="t^+_i - t^-_{ik}"),
        "mask": Symbol(r"m_{ik}", ("row", "candidate")),
        "present": Symbol(r"m_{ik}", ("row", "candidate")),
        "margins": Symbol(
            "d_{ik}",
            ("row", "candidate"),
            "«positive_scores[r]» - «negative_scores[r,c]»",
            equals="s^+_i - s^-_{ik}",
        ),
        "targets": Symbol(r"\Delta_{ik}", ("row", "candidate"), "«teacher_margins[r,c]»"),
        "errors": Symbol(
            "e_{ik}",
            ("row", "candidate"),
            "«margins[r,c]» - «teacher_margins[r,c]»",
            equals=r"d_{ik} - \Delta_{ik}",
        ),
        "terms": Symbol(
            "t_{ik}", ("row", "candidate"), "(«errors[r,c]»)^2", equals="e_{ik}^2", signed=False
        ),
        "loss": loss_symbol(
            r"\frac1{NK} \sum_{i,k} t_{ik}", r"\frac{«Σ terms»}{«present.sum().clamp_min(1)»}"
        ),
    },
    reads={
        "positive_scores": "margin_positives",
        "negative_scores": "margin_negatives",
        "teacher_margins": "teacher_margins",
        "mask": "margin_mask",
    },
    terms="errors",
    collapse=_collapse,
    collapse_formula=r"\overline{\Delta^2}",
    floor=_floor,
    floor_formula=r"\min_{-1 \le s \le 1} \mathcal L",
    formulas_unbounded={"floor": "0"},
    aliases=("MarginMSELoss", "margin distillation"),
    references=("Hofstätter et al. 2020",),
    conventions=(
        Convention(
            "sentence-transformers 6.2 MarginMSELoss (dot products)",
            score="dot",
            note="The library and our class for trainers compare dot products. Scores here are "
            "cosines, the same for unit vectors.",
            aliases=("SparseMarginMSELoss",),
            peers=(Peer(SENTENCE_TRANSFORMERS, "MarginMSELoss", MARGIN_VECTORS),),
        ),
    ),
)
