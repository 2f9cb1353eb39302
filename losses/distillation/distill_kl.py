"""Distillation: a student's shares of its candidates against the teacher's."""

from functools import partial

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.kernels import mean_of
from lossprism.losses.kernels.softmax_list_losses import distill_kl as distill_kl_by_rows
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.labels import COSINES, Ends
from lossprism.losses.library_peer_record import LISTED_VECTORS, SENTENCE_TRANSFORMERS, Peer
from lossprism.losses.lists.list_common import log_shares_of, present_in
from lossprism.losses.lists.minimum import least_cross_entropies, width_of
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import list_by_candidate, loss_symbol

DIVERGENCES = ("kl", "ce")


def shares_of(logits: Tensor) -> Tensor:
    """Return softmax of each row [N, K], 0 where a logit is −∞, and in a row of only those."""
    empty = logits.isneginf().all(dim=1, keepdim=True)
    return logits.masked_fill(empty, 0).softmax(dim=1).masked_fill(empty, 0)


def divergence_terms(
    shares: Tensor, log_shares: Tensor, present: Tensor, divergence: str
) -> Tensor:
    """Return −P log p, or P log P − P log p for "kl", of each candidate; 0 where P is."""
    taken = present & (shares > 0)
    entropy = -shares * log_shares.masked_fill(~taken, 0)
    if divergence == "ce":
        return entropy
    return entropy - torch.special.entr(shares.masked_fill(~taken, 1))  # no slope at 0


def distill_kl_definition(
    scores: Tensor,
    teacher: Tensor,
    *,
    temperature: float = 1.0,
    teacher_temperature: float | None = None,
    divergence: str = "kl",
    mask: Tensor | None = None,
) -> Tensor:
    present = present_in(scores, mask)
    logits = (scores / temperature).masked_fill(~present, -torch.inf)
    log_shares = log_shares_of(logits)
    softened = teacher.detach() / (teacher_temperature or temperature)
    softened = softened.masked_fill(~present, -torch.inf)
    teacher_shares = shares_of(softened.to(scores.dtype))
    terms = divergence_terms(teacher_shares, log_shares, present, divergence)
    per_row = terms.sum(dim=1)
    filled = teacher_shares.any(dim=1)
    loss = temperature**2 * mean_of(per_row, filled)
    return loss


def distill_kl(
    scores: Tensor,
    teacher: Tensor,
    *,
    temperature: float = 1.0,
    teacher_temperature: float | None = None,
    divergence: str = "kl",
    mask: Tensor | None = None,
) -> Tensor:
    r"""T² · mean KL(softmax(t/T) ‖ softmax(s/T)) (Hinton et al. 2015).

    >>> distill_kl(torch.zeros(1, 2), torch.tensor([[0.0, -torch.inf]]))  # log 2
    tensor(0.6931)

    Args:
        scores: [N, K], what the student gives the K candidates of each query.
        teacher: [N, K], what the teacher gives them, as constants. Of −inf the share is 0; +inf is
            refused, for nothing says what share the others would have.
        temperature: T, of the student; the loss has its square as a factor, so that gradients
            keep their size.
        teacher_temperature: of the teacher; None or 0: the student's.
        divergence: "kl", or "ce": the cross-entropy, greater by the entropy of the teacher.
        mask: [N, K], true where there is a candidate; all, if it is left out. A row without any,
            or one of which the teacher takes none, is left out of the mean.
    """
    input_checks.one_of(DIVERGENCES, divergence=divergence)
    input_checks.above_zero(temperature=temperature)
    if teacher_temperature is not None and not teacher_temperature >= 0:
        raise ValueError(
            f"teacher_temperature is {teacher_temperature}; it must be greater than 0, or None"
        )
    input_checks.plain_number(teacher_temperature=teacher_temperature or 0.0)
    scores = input_checks.of_lists("scores", scores)
    teacher = input_checks.of_lists("teacher", teacher, like=scores)
    mask = input_checks.candidate_mask(mask, scores)
    input_checks.must_be_finite_where(mask, scores=scores)
    input_checks.must_be_finite_where(mask, teacher=teacher.masked_fill(teacher == -torch.inf, 0))
    if isinstance(temperature, Tensor):  # it may want a gradient too, in all its places
        return distill_kl_definition(
            scores,
            teacher,
            temperature=temperature,
            teacher_temperature=teacher_temperature,
            divergence=divergence,
            mask=mask,
        )
    chosen = {
        "temperature": temperature,
        "teacher_temperature": teacher_temperature or temperature,
        "divergence": divergence,
    }

    def dense(scores, teacher, mask):
        return distill_kl_definition(scores, teacher, mask=mask, **chosen)

    return with_gradient(
        partial(distill_kl_by_rows, **chosen), dense, scores, teacher.detach(), mask
    )


def distill_ce_of_scaled_definition(
    scores: Tensor, teacher: Tensor, *, temperature: float = 0.02, mask: Tensor | None = None
) -> Tensor:
    """FlagEmbedding's `kl_div`: a cross-entropy with the teacher's softmax as it stands; the
    student's scores are over a temperature, and no square of it makes up for that."""
    present = present_in(scores, mask)
    logits = (scores / temperature).masked_fill(~present, -torch.inf)
    log_shares = log_shares_of(logits)
    teacher_shares = shares_of(teacher.to(scores.dtype).masked_fill(~present, -torch.inf))
    terms = divergence_terms(teacher_shares, log_shares, present, "ce")
    per_row = terms.sum(dim=1)
    filled = teacher_shares.any(dim=1)
    loss = mean_of(per_row, filled)
    return loss


def _teacher_given(
    tensors: dict[str, Tensor], temperature: float, teacher_temperature: float | None
) -> tuple[Tensor, Tensor]:
    teacher = tensors["teacher"].double()
    present = present_in(teacher, tensors.get("mask"))
    softened = (teacher / (teacher_temperature or temperature)).masked_fill(~present, -torch.inf)
    return shares_of(softened), present


def _collapse(
    tensors: dict[str, Tensor],
    temperature: float,
    divergence: str,
    teacher_temperature: float | None = None,
) -> float:
    """Return the value for equal shares of every candidate: ln K, less the teacher's entropy."""
    shares, present = _teacher_given(tensors, temperature, teacher_temperature)
    filled = shares.any(dim=1)
    each = present.sum(dim=1).clamp_min(1).double().log()
    if divergence == "kl":
        each = each - torch.special.entr(shares).sum(dim=1)
    return temperature**2 * float(mean_of(each, filled))


def _floor(
    tensors: dict[str, Tensor],
    temperature: float,
    divergence: str,
    teacher_temperature: float | None = None,
    within: Ends = COSINES,
) -> float:
    """Return the value for shares as near to the teacher's as the ends of scores allow."""
    shares, present = _teacher_given(tensors, temperature, teacher_temperature)
    each = least_cross_entropies(shares, present, width_of(within, temperature))
    if divergence == "kl":
        each = (each - torch.special.entr(shares).sum(dim=1)).clamp_min(0)
    return temperature**2 * float(mean_of(each, shares.any(dim=1)))


def _floor_of_scaled(
    tensors: dict[str, Tensor], temperature: float, within: Ends = COSINES, **_: object
) -> float:
    """Return the minimum for the teacher's scores unchanged, the student's by the temperature, and
    no T²."""
    return _floor(tensors, temperature, "ce", 1.0, within) / temperature**2


DISTILL_KL = LossSpec(
    function=distill_kl,
    definition=distill_kl_definition,
    title="Distillation (KL)",
    about="Makes the student's probabilities of a list's candidates equal to the teacher's.",
    group="distillation",
    formula=r"\frac{T^2}{N} \sum_i \sum_k P_{ik} \log \frac{P_{ik}}{p_{ik}},\quad"
    r" P = \mathrm{softmax}(t / T_t),\ p = \mathrm{softmax}(s / T)",
    symbols={
        "scores": list_by_candidate(r"s_{ik}"),
        "teacher": list_by_candidate(r"\tau_{ik}"),
        "mask": list_by_candidate(r"m_{ik}"),
        "present": list_by_candidate(r"m_{ik}"),
        "logits": list_by_candidate(
            "z_{ik}", r"\frac{«scores[r,c]»}{«temperature»}", equals="s_{ik} / T"
        ),
        "log_shares": list_by_candidate(
            r"\log p_{ik}",
            r"«logits[r,c]» - \log\bigl(«Σ exp logits[r]»\bigr)",
            equals=r"z_{ik} - \log\sum_j e^{z_{ij}}",
        ),
        "softened": list_by_candidate(
            r"\tau_{ik} / T_t", r"\frac{«teacher[r,c]»}{«teacher_temperature or temperature»}"
        ),
        "teacher_shares": list_by_candidate(
            "P_{ik}", equals=r"\frac{e^{\tau_{ik} / T_t}}{\sum_j e^{\tau_{ij} / T_t}}", signed=False
        ),
        "terms": list_by_candidate("t_{ik}", equals=r"P_{ik} \log \frac{P_{ik}}{p_{ik}}"),
        "per_row": Symbol(r"\ell_i", ("list",), r"«Σ terms[r]»", equals=r"\sum_k t_{ik}"),
        "filled": Symbol("m_i", ("list",), equals=r"\max_k m_{ik}"),
        "loss": loss_symbol(
            r"\frac{T^2}{N} \sum_i \ell_i",
            r"«temperature»^2 \cdot \frac{«Σ per_row»}{«filled.sum().clamp_min(1)»}",
        ),
    },
    parameters=(
        Parameter(
            "temperature",
            1.0,
            "T",
            0.01,
            10.0,
            0.01,
            logarithmic=True,
            role="sharpness",
            label="temperature",
        ),
        Parameter(
            "teacher_temperature",
            None,
            "T_t",
            0.01,
            10.0,
            0.01,
            logarithmic=True,
            on_value=1.0,
            former_off=0.0,
            label="teacher's temperature (off: the student's)",
        ),
        Parameter("divergence", "kl", choices=DIVERGENCES, label="divergence"),
    ),
    variants={
        "divergence=ce": r"-\frac{T^2}{N} \sum_i \sum_k P_{ik} \log p_{ik},\quad"
        r" P = \mathrm{softmax}(t / T_t),\ p = \mathrm{softmax}(s / T)"
    },
    reads={"scores": "list_scores", "teacher": "list_teacher", "mask": "list_mask"},
    terms="logits",
    collapse=_collapse,
    collapse_formula=r"T^2 (\ln K - H(P))\ \text{or}\ T^2 \ln K",
    floor=_floor,
    floor_formula=r"\min_{-1 \le s \le 1} \mathcal L",
    formulas_unbounded={"floor": r"0\ \text{or}\ T^2 H(P)"},
    aliases=(
        "DistillKLDivLoss",
        "knowledge distillation",
        "kl_div",
        "KL divergence",
        "KD",
        "TCT-ColBERT",
    ),
    references=("Hinton et al. 2015", "Lin et al. 2020"),
    note="A teacher's score of −inf, passed in code, is a probability of 0; +inf is refused with "
    "its row. In a file neither is a score.",
    conventions=(
        Convention(
            "sentence-transformers 6.2 DistillKLDivLoss (dot products)",
            {"temperature": 1.0},
            score="dot",
            note="The library and our class for trainers compare dot products. Scores here are "
            "cosines, the same for unit vectors.",
            peers=(Peer(SENTENCE_TRANSFORMERS, "DistillKLDivLoss", LISTED_VECTORS),),
        ),
        Convention(
            "FlagEmbedding 1.4.2 kl_div (cross-entropy)",
            {"temperature": 0.02},
            distill_ce_of_scaled_definition,
            formula=r"-\frac1N \sum_i \sum_k P_{ik} \log p_{ik},\quad"
            r" P = \mathrm{softmax}(t),\ p = \mathrm{softmax}(s / T)",
            symbols={
                "terms": list_by_candidate(
                    "t_{ik}",
                    r"-«teacher_shares[r,c]» \cdot «log_shares[r,c]»",
                    equals=r"-P_{ik} \log p_{ik}",
                    signed=False,
                ),
                "loss": loss_symbol(
                    r"\frac1N \sum_i \ell_i", r"\frac{«Σ per_row»}{«filled.sum().clamp_min(1)»}"
                ),
            },
            peers=(Peer("FlagEmbedding", "distill_loss"),),
            collapse=lambda tensors, **_: _collapse(tensors, 1.0, "ce"),
            collapse_formula=r"\ln K",
            floor=_floor_of_scaled,
            floor_formula=r"\min_{-1 \le s \le 1} \mathcal L",
        ),
    ),
)
