"""ListMLE: the likelihood of choosing the candidates of a list one by one in the labels' order."""

from functools import partial

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.kernels import log1p_sum_exp, mean_of
from lossprism.losses.kernels.softmax_list_losses import list_mle as list_mle_by_sums
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.labels import COSINES, Ends
from lossprism.losses.library_peer_record import LISTED, SENTENCE_TRANSFORMERS, Peer
from lossprism.losses.lists.list_common import (
    LIST_SYMBOLS,
    MEAN_OF_LISTS,
    READS,
    READS_GRADED,
    READS_JUDGED,
    TEMPERATURE,
    both_present,
    differences_of,
    lists_at,
    present_in,
)
from lossprism.losses.lists.minimum import least_list_mle, width_of
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import candidate_by_candidate, list_by_candidate

ORDERS = ("labels", "given")


def chosen_later(labels: Tensor, pairs: Tensor, order: str) -> Tensor:
    """Return whether j is still left when i is chosen, and is not i: row i, column j, [L, K, K].

    The best label is chosen first, the first of ties; in order "given" the first of the list.
    """
    places = torch.arange(labels.shape[1], device=labels.device)
    behind = places[None, :] > places[:, None]
    if order == "given":
        return pairs & behind
    below = labels[:, None, :] < labels[:, :, None]
    return pairs & (below | ((labels[:, None, :] == labels[:, :, None]) & behind))


def place_weights(later: Tensor, present: Tensor, weighted: bool) -> Tensor:
    """Return (2^(n − π) − 1) / Σ for the candidate chosen at place π of n, [L, K], 0 for a single
    one; or 1 for every candidate if not `weighted`."""
    left = later.sum(dim=2).double()  # n − π
    if not weighted:
        return present.to(left.dtype)
    last = left.amax(dim=1, keepdim=True)
    weights = (torch.exp2(left - last) - torch.exp2(-last)).masked_fill(~present, 0)
    return weights / weights.sum(dim=1, keepdim=True).clamp_min(torch.finfo(left.dtype).tiny)


def list_mle_definition(
    scores: Tensor,
    labels: Tensor,
    *,
    mask: Tensor | None = None,
    weighted: bool = False,
    order: str = "labels",
    temperature: float = 1.0,
) -> Tensor:
    present = present_in(scores, mask)
    pairs = both_present(present)
    later = chosen_later(labels, pairs, order)
    differences = differences_of(scores, pairs) / temperature
    terms = differences.masked_fill(~later, -torch.inf)
    choices = log1p_sum_exp(terms, dim=2)
    weights = place_weights(later, present, weighted).to(scores.dtype)
    per_list = (weights * choices).sum(dim=1)
    filled = present.any(dim=1)
    loss = mean_of(per_list, filled)
    return loss


def list_mle(
    scores: Tensor,
    labels: Tensor,
    *,
    mask: Tensor | None = None,
    weighted: bool = False,
    order: str = "labels",
    temperature: float = 1.0,
) -> Tensor:
    r"""mean over lists of Σ_i [lse(s_π(i), …, s_π(n)) − s_π(i)], π the labels' order (Xia 2008).

    >>> list_mle(torch.zeros(1, 3), torch.tensor([[0, 2, 1]]))  # log 3!
    tensor(1.7918)

    Args:
        scores, labels, mask: as for `list_net`. Of equal labels, the first of the list is chosen
            first.
        weighted: p-ListMLE (Lan et al. 2014), place i of n by (2^(n−i) − 1) / Σ.
        order: "labels", or "given": the order of the list, whatever its labels.
        temperature: τ.
    """
    input_checks.one_of(ORDERS, order=order)
    scores, labels, mask, temperature = lists_at(scores, labels, mask, temperature)

    def dense(scores, labels, mask):
        chosen = {"weighted": weighted, "order": order, "temperature": temperature}
        return list_mle_definition(scores, labels, mask=mask, **chosen)

    exact = partial(
        list_mle_by_sums, weighted=weighted, as_given=order == "given", temperature=temperature
    )
    return with_gradient(exact, dense, scores, labels.detach(), mask)


def _collapse(tensors: dict[str, Tensor], weighted: bool, order: str, **_: object) -> float:
    """ln n! of n candidates; with weights Σ w_i ln(n − i + 1)."""
    labels = tensors["labels"].double()
    present = present_in(labels, tensors.get("mask"))
    later = chosen_later(labels, both_present(present), order)
    choices = (1 + later.sum(dim=2)).double().log().masked_fill(~present, 0)
    choices = choices * place_weights(later, present, weighted)
    return float(mean_of(choices.sum(dim=1), present.any(dim=1)))


def _floor(
    tensors: dict[str, Tensor],
    weighted: bool,
    temperature: float,
    within: Ends = COSINES,
    **_: object,
) -> float:
    """Scores as far apart as their ends allow; without ends 0."""
    present = present_in(tensors["labels"], tensors.get("mask"))
    return least_list_mle(present, weighted, width_of(within, temperature))


LIST_MLE = LossSpec(
    function=list_mle,
    definition=list_mle_definition,
    title="ListMLE",
    about="Picks a list's candidates one by one, the best label first.",
    steps={
        "choices": "What choosing each candidate at its turn costs.",
        "later": "The column is still there when the row is chosen.",
        "terms": "What still competes with the row's candidate when it is chosen.",
        "weights": "The first places weigh most.",
    },
    group="lists",
    formula=r"\frac1L \sum_l \sum_i \log\Bigl(1 + \sum_{j\ \text{after}\ i}"
    r" e^{(s_{l,j} - s_{l,i})/\tau}\Bigr)",
    symbols={
        **LIST_SYMBOLS,
        "pairs": candidate_by_candidate(r"m_{l,i} m_{l,j}"),
        "later": candidate_by_candidate(r"j\ \text{after}\ i"),
        "differences": candidate_by_candidate(
            "d_{l,ij}",
            r"\frac{«scores[l,c]» - «scores[l,r]»}{«temperature»}",
            equals=r"(s_{l,j} - s_{l,i}) / \tau",
        ),
        "terms": candidate_by_candidate(
            "t_{l,ij}",
            r"\frac{«scores[l,c]» - «scores[l,r]»}{«temperature»}",
            equals=r"d_{l,ij}\ \text{where}\ j\ \text{after}\ i",
        ),
        "choices": list_by_candidate(
            "c_{l,i}",
            r"\log\bigl(1 + «Σ exp terms[r,c]»\bigr)",
            equals=r"\log\Bigl(1 + \sum_j e^{t_{l,ij}}\Bigr)",
            signed=False,
        ),
        "weights": list_by_candidate(
            "w_{l,i}", equals=r"\frac{2^{n - \pi_i} - 1}{\sum_k (2^{n - \pi_k} - 1)}", signed=False
        ),
        "per_list": Symbol(
            r"\ell_l",
            ("list",),
            r"«Σ weights[r] * choices[r]»",
            equals=r"\sum_i w_{l,i} c_{l,i}",
            signed=False,
        ),
        "loss": MEAN_OF_LISTS,
    },
    parameters=(
        Parameter("weighted", False, label="weighted by similarity"),
        Parameter("order", "labels", choices=ORDERS, label="order"),
        TEMPERATURE,
    ),
    variants={
        "weighted=true": r"\frac1L \sum_l \sum_i \frac{2^{n - \pi_i} - 1}{\sum_k (2^{n-\pi_k} - 1)}"
        r" \log\Bigl(1 + \sum_{j\ \text{after}\ i} e^{(s_{l,j} - s_{l,i})/\tau}\Bigr)"
    },
    reads=READS,
    terms="terms",
    collapse=_collapse,
    collapse_formula=r"\ln n!",
    floor=_floor,
    floor_formula=r"\min_{-1 \le s \le 1} \mathcal L",
    formulas_unbounded={"floor": "0"},
    aliases=("ListMLELoss", "PListMLELoss", "PListMLELambdaWeight", "p-ListMLE", "Plackett-Luce"),
    references=("Xia et al. 2008", "Lan et al. 2014"),
    conventions=(
        Convention(
            "sentence-transformers 6.2 ListMLELoss",
            {"order": "given"},
            note="The library takes the order of the columns for that of the labels, and reads "
            "labels only with respect_input_order=False.",
            score="logit",
            peers=(Peer(SENTENCE_TRANSFORMERS, "ListMLELoss", LISTED),),
        ),
        Convention(
            "sentence-transformers 6.2 PListMLELoss",
            {"weighted": True, "order": "given"},
            score="logit",
            peers=(Peer(SENTENCE_TRANSFORMERS, "PListMLELoss", LISTED),),
        ),
        Convention(
            "rax 0.4.0 listmle_loss",
            {},
            score="logit",
            peers=(Peer("rax", "listmle_loss", LISTED),),
        ),
        Convention(
            "TF-Ranking 0.5.5 ListMLELoss (ties shuffled)",
            {},
            reads=READS_GRADED,
            score="logit",
            peers=(Peer("tensorflow-ranking", "ListMLELoss", LISTED),),
        ),
        Convention(
            "allRank 1.4.3 listMLE (ties shuffled)",
            {},
            reads=READS_JUDGED,
            note="The library reads a label of −1 as no candidate. It adds 10⁻¹⁰ inside its "
            "logarithm, left out here: the numbers differ only for shares below that.",
            former=("allRank 1.4.3 listMLE (ties shuffled, ε = 1e-10)",),
            score="logit",
            peers=(Peer("allRank", "listMLE", LISTED),),
        ),
    ),
)
