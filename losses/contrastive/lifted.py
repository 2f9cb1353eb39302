"""The lifted structured loss: a positive pair against all negatives of both its ends."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from lossprism.losses import geometry, input_checks
from lossprism.losses.contrastive.triplet_minimum_and_collapse import DIAMETER
from lossprism.losses.contrastive.triplet_symbols import DISTANCE_SYMBOLS
from lossprism.losses.gather import gathered
from lossprism.losses.kernels import log_add_exp, log_sum_exp, mean_of
from lossprism.losses.kernels.mined_triplets import lifted as by_rows
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import CLASSED, METRIC_LEARNING, Peer
from lossprism.losses.minimum import Bound
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import each_sentence, loss_symbol, sentence_by_sentence


def lifted_definition(embeddings: Tensor, classes: Tensor, *, margin: float = 1.0) -> Tensor:
    distances = geometry.distance_matrix(embeddings, embeddings)
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    partners = alike & ~itself
    terms = (margin - distances).masked_fill(alike, -torch.inf)
    push = log_sum_exp(terms, dim=1)
    both_push = log_add_exp(push[:, None], push[None, :])
    violations = (both_push + distances).masked_fill(~partners, -torch.inf)
    per_pair = violations.relu().square()
    loss = mean_of(per_pair, partners) / 2
    return loss


def lifted(
    embeddings: Tensor, classes: Tensor, *, margin: float = 1.0, gather: bool = False
) -> Tensor:
    r"""½ mean [log(Σ_k e^{m − d_ik} + Σ_l e^{m − d_jl}) + d_ij]₊² (Song et al. 2016).

    The mean runs over the pairs (i, j) of one class; k and l are all of other classes, d the
    Euclidean distance of the vectors as they are. Without a positive pair, or with one class alone,
    the loss is 0.

    >>> embeddings, classes = torch.tensor([[0.0], [0.0], [2.0]]), torch.tensor([0, 0, 1])
    >>> lifted(embeddings, classes, margin=2.0)  # ½ log² (1 + 1)
    tensor(0.2402)

    Args:
        embeddings: [N, D], as they are: lengths count.
        classes: [N], whole numbers.
        margin: m.
        gather: the batch is that of all processes of torch.distributed (`losses.gather`).
    """
    return _lifted(embeddings, classes, margin, "euclidean", gather, _dense)


def _dense(embeddings, classes, margin, _distance):
    return lifted_definition(embeddings, classes, margin=margin)


def _lifted(
    embeddings: Tensor,
    classes: Tensor,
    margin: float,
    distance: str,
    gather: bool,
    definition: Callable[..., Tensor],
) -> Tensor:
    embeddings, classes = gathered(gather, embeddings, classes)
    (embeddings,) = input_checks.vectors(embeddings=embeddings)
    classes = input_checks.class_numbers(classes, len(embeddings))
    arguments = (embeddings, classes, margin, distance)
    if isinstance(margin, Tensor):
        return definition(*arguments)
    return with_gradient(by_rows, definition, *arguments)


def lifted_unit_definition(embeddings: Tensor, classes: Tensor, *, margin: float = 1.0) -> Tensor:
    """pytorch-metric-learning's form: on unit vectors."""
    directions = geometry.unit(embeddings)
    distances = geometry.distance_matrix(directions, directions)
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    partners = alike & ~itself
    terms = (margin - distances).masked_fill(alike, -torch.inf)
    push = log_sum_exp(terms, dim=1)
    both_push = log_add_exp(push[:, None], push[None, :])
    violations = (both_push + distances).masked_fill(~partners, -torch.inf)
    per_pair = violations.relu().square()
    loss = mean_of(per_pair, partners) / 2
    return loss


def lifted_unit(
    embeddings: Tensor, classes: Tensor, *, margin: float = 1.0, gather: bool = False
) -> Tensor:
    """`lifted` of the directions of the embeddings (pytorch-metric-learning).

    >>> embeddings, classes = torch.tensor([[2.0], [3.0], [-1.0]]), torch.tensor([0, 0, 1])
    >>> lifted_unit(embeddings, classes, margin=2.0)  # ½ log² (1 + 1)
    tensor(0.2402)

    Args:
        embeddings: [N, D].
        classes: [N], whole numbers.
        margin: m, which no distance of unit vectors reaches beyond 2.
        gather: the batch is that of all processes of torch.distributed (`losses.gather`).
    """
    return _lifted(embeddings, classes, margin, "chord", gather, _dense_unit)


def _dense_unit(embeddings, classes, margin, _distance):
    return lifted_unit_definition(embeddings, classes, margin=margin)


def _lifted_collapse(tensors: dict[str, Tensor], margin: float = 1.0) -> float:
    """Return the value at collapse: each pair of a class of n has 2(N − n) negatives at
    distance 0."""
    _, sizes = tensors["classes"].unique(return_counts=True)
    total = int(sizes.sum())
    pairs = [(n * (n - 1), 2 * (total - n)) for n in sizes.tolist() if n > 1]
    if len(sizes) == 1 or not pairs:
        return 0.0
    costs = [count * max(math.log(others) + margin, 0.0) ** 2 for count, others in pairs]
    return sum(costs) / sum(count for count, _ in pairs) / 2


def _unit_floor(tensors: dict[str, Tensor], margin: float = 1.0) -> float:
    """Partners in one point, and every negative a diameter away, which no more than two classes
    can be of each other."""
    return Bound(_lifted_collapse(tensors, margin - DIAMETER["euclidean"]))


LIFTED = LossSpec(
    function=lifted,
    definition=lifted_definition,
    title="Lifted structure",
    about="Pulls a positive pair nearer than all negatives of both its texts.",
    steps={
        "both_push": "The negatives of both ends of a pair together.",
        "per_pair": "What is missed, squared.",
        "push": "All negatives of a sentence, summed in the exponential.",
        "terms": "How far each negative reaches inside the margin.",
        "violations": "Above 0 where the negatives of a positive pair are not far enough.",
    },
    group="distances",
    aliases=("LiftedStructureLoss", "lifted structured embedding"),
    formula=r"\frac{1}{2|P|} \sum_{(i,j) \in P} \Bigl[\log\Bigl(\sum_{c_k \ne c_i} e^{m - d_{ik}}"
    r" + \sum_{c_l \ne c_j} e^{m - d_{jl}}\Bigr) + d_{ij}\Bigr]_+^2",
    symbols={
        "embeddings": Symbol("z_i", ("sentence", "dimension"), stem="z"),
        **DISTANCE_SYMBOLS,
        "terms": sentence_by_sentence(
            "t_{ik}", "«margin» - «distances[r,c]»", equals=r"m - d_{ik}\ \text{where}\ c_i \ne c_k"
        ),
        "push": each_sentence(
            "n_i", r"\log\bigl(«Σ exp terms[r]»\bigr)", equals=r"\log \sum_k e^{t_{ik}}", stem="n"
        ),
        "both_push": sentence_by_sentence(
            r"\log\bigl(e^{n_i} + e^{n_k}\bigr)", r"\log\bigl(e^{«push[r]»} + e^{«push[c]»}\bigr)"
        ),
        "violations": sentence_by_sentence(
            "v_{ik}",
            "«both_push[r,c]» + «distances[r,c]»",
            equals=r"\log\bigl(e^{n_i} + e^{n_k}\bigr) + d_{ik}\ \text{where}\ c_i = c_k",
        ),
        "per_pair": sentence_by_sentence(
            r"\ell_{ik}", "[«violations[r,c]»]_+^2", equals="[v_{ik}]_+^2", signed=False
        ),
        "loss": loss_symbol(
            r"\frac12\, \overline{\ell_{ik}}\ \text{over}\ c_i = c_k",
            r"\frac{«Σ per_pair»}{2 \cdot «partners.sum().clamp_min(1)»}",
        ),
    },
    parameters=(Parameter("margin", 1.0, "m", 0.0, 6.0, 0.01, role="margin", label="margin"),),
    terms="terms",
    collapse=_lifted_collapse,
    collapse_formula=r"\tfrac12\, \overline{\bigl[\ln(2 (N - n)) + m\bigr]_+^2}",
    floor=lambda tensors, margin=1.0: 0.0,
    floor_formula="0",
    references=("Song et al. 2016 (lifted structure)",),
    note="A pair costs nothing once its negatives are farther than m + ln(2(N − n)), where n of "
    "N sentences are of its class. Unit vectors are never more than 2 apart, so even a small "
    "batch of them stays above 0.",
    conventions=(
        Convention(
            "pytorch-metric-learning 2.9 LiftedStructureLoss (unit vectors)",
            {"margin": 1.0},
            lifted_unit_definition,
            formula=r"\frac{1}{2|P|} \sum_{(i,j) \in P} \Bigl[\log\Bigl(\sum_{c_k \ne c_i}"
            r" e^{m - d_{ik}} + \sum_{c_l \ne c_j} e^{m - d_{jl}}\Bigr) + d_{ij}\Bigr]_+^2,"
            r"\quad \lVert z_i \rVert = 1",
            function=lifted_unit,
            collapse=_lifted_collapse,
            floor=_unit_floor,
            floor_formula=r"\ge \tfrac12\, \overline{\bigl[\ln(2 (N - n)) + m - 2\bigr]_+^2}",
            peers=(Peer(METRIC_LEARNING, "LiftedStructureLoss", CLASSED),),
        ),
    ),
)
