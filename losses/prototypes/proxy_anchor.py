"""Proxy-Anchor: each prototype gathers its own sentences and sends all others away."""

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.kernels import log1p_sum_exp, mean_of
from lossprism.losses.kernels.query_key_losses_by_tiles import Directions, against_members
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import METRIC_LEARNING, PROTOTYPED, Peer
from lossprism.losses.minimum import least_on_grid, log1p_of, softplus_at
from lossprism.losses.prototypes.softmax import PROTOTYPE_SYMBOLS, evenly_many
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import loss_symbol, sentence_by_class


def proxy_anchor_definition(
    embeddings: Tensor,
    classes: Tensor,
    *,
    prototypes: Tensor,
    scale: float = 32.0,
    margin: float = 0.1,
) -> Tensor:
    similarities = cosine_matrix(embeddings, prototypes)
    members = classes[:, None] == torch.arange(len(prototypes), device=classes.device)
    signed = torch.where(members, -similarities, similarities)
    terms = scale * (signed + margin)
    pull = log1p_sum_exp(terms.masked_fill(~members, -torch.inf), dim=0)
    push = log1p_sum_exp(terms.masked_fill(members, -torch.inf), dim=0)
    present = members.any(dim=0)
    loss = mean_of(pull, present) + push.mean()
    return loss


def proxy_anchor(
    embeddings: Tensor,
    classes: Tensor,
    *,
    prototypes: Tensor,
    scale: float = 32.0,
    margin: float = 0.1,
) -> Tensor:
    r"""A prototype is the anchor, the batch its positives and negatives (Kim et al. 2020).

    1/|P⁺| Σ_{p∈P⁺} log(1 + Σ_{i∈p} e^{−α(s_ip − δ)}) + 1/|P| Σ_p log(1 + Σ_{i∉p} e^{α(s_ip + δ)}),
    s the cosines, over all prototypes P and those P⁺ that have a sentence in the batch.

    >>> embeddings, classes = torch.tensor([[1.0, 0.0]]), torch.tensor([0])
    >>> given = {"prototypes": torch.eye(2), "scale": 1.0, "margin": 0.0}
    >>> proxy_anchor(embeddings, classes, **given)  # log(1 + 1/e) + (0 + log 2) / 2
    tensor(0.6598)

    Args:
        embeddings: [N, D].
        classes: [N], the number of each one's prototype.
        prototypes: [C, D], one row for each class.
        scale: α.
        margin: δ, a cosine.
    """
    embeddings, classes, prototypes = input_checks.at_prototypes(embeddings, classes, prototypes)
    arguments = (embeddings, prototypes, classes, scale, margin)
    if isinstance(scale, Tensor) or isinstance(margin, Tensor):
        return _dense_proxy_anchor(*arguments)
    return with_gradient(_proxy_anchor_by_tiles, _dense_proxy_anchor, *arguments)


def _dense_proxy_anchor(embeddings, prototypes, classes, scale, margin):
    return proxy_anchor_definition(
        embeddings, classes, prototypes=prototypes, scale=scale, margin=margin
    )


def _proxy_anchor_by_tiles(needs_grad, embeddings, prototypes, classes, scale, margin):
    count = len(embeddings)
    points = Directions(torch.cat((embeddings, prototypes)), needs_grad=any(needs_grad))
    sides = (needs_grad[1], needs_grad[0])
    logits = points.between(slice(count, None), slice(0, count), scale, sides)
    loss = against_members(logits, classes, scale * margin)
    if not any(needs_grad):
        return loss, ()
    gradient, _ = points.pull_back(1, scale)
    return loss, (*gradient.split([count, len(prototypes)]), None, None, None)


def _sizes(tensors: dict[str, Tensor]) -> list[int]:
    return tensors["classes"].bincount(minlength=len(tensors["prototypes"])).tolist()


def _proxy_anchor_collapse(
    tensors: dict[str, Tensor], scale: float = 32.0, margin: float = 0.1
) -> float:
    total, sizes = len(tensors["classes"]), _sizes(tensors)
    pulls = [log1p_of(size, -scale * (1 - margin)) for size in sizes if size]
    pushes = [log1p_of(total - size, scale * (1 + margin)) for size in sizes]
    return sum(pulls) / len(pulls) + sum(pushes) / len(pushes)


def _proxy_anchor_floor(
    tensors: dict[str, Tensor], scale: float = 32.0, margin: float = 0.1
) -> float | None:
    """Return the minimum, known for classes of one size: between a simplex and all sentences
    opposite to all prototypes, which trades the pull for the push."""
    count, total = len(tensors["prototypes"]), len(tensors["classes"])
    if not evenly_many(tensors):
        return None
    own = torch.tensor(total / count, dtype=torch.float64).log()
    if count == 1:
        return softplus_at(float(own) - scale * (1 - margin))
    others = torch.tensor(total - total / count, dtype=torch.float64).log()

    def value_at(t: Tensor) -> Tensor:
        pair, other = 2 * t - 1, t - 1 - t / (count - 1)
        pull = torch.nn.functional.softplus(own - scale * (pair - margin), threshold=700)
        return pull + torch.nn.functional.softplus(others + scale * (other + margin), threshold=700)

    return least_on_grid(value_at, (0, 1))


PROXY_ANCHOR = LossSpec(
    function=proxy_anchor,
    definition=proxy_anchor_definition,
    title="Proxy-Anchor",
    about="Pulls sentences to their own prototype and pushes all others away from it.",
    group="prototypes",
    aliases=("ProxyAnchorLoss",),
    formula=r"\frac{1}{|P^+|} \sum_{j \in P^+} \log\Bigl(1 + \sum_{c_i = j}"
    r" e^{-\alpha(\cos\theta_{ij} - \delta)}\Bigr) + \frac1C \sum_j \log\Bigl(1 +"
    r" \sum_{c_i \ne j} e^{\alpha(\cos\theta_{ij} + \delta)}\Bigr)",
    symbols={
        **PROTOTYPE_SYMBOLS,
        "members": sentence_by_class("c_i = j", "«classes[r] + 1» = «c»"),
        "signed": sentence_by_class(
            r"\mp \cos\theta_{ij}", "«either(-similarities[r,c], similarities[r,c], members[r,c])»"
        ),
        "terms": sentence_by_class(
            "t_{ij}",
            r"«scale»\,(«signed[r,c]» + «margin»)",
            equals=r"\alpha\,(\mp \cos\theta_{ij} + \delta)",
        ),
        "pull": Symbol(
            "p_j",
            ("class",),
            r"\log\bigl(1 + «Σ exp terms.T[r] where members.T[r]»\bigr)",
            equals=r"\log\Bigl(1 + \sum_{c_i = j} e^{t_{ij}}\Bigr)",
            signed=False,
            indices=("j",),
        ),
        "push": Symbol(
            "n_j",
            ("class",),
            r"\log\bigl(1 + «Σ exp terms.T[r] where ~members.T[r]»\bigr)",
            equals=r"\log\Bigl(1 + \sum_{c_i \ne j} e^{t_{ij}}\Bigr)",
            signed=False,
            indices=("j",),
        ),
        "present": Symbol(r"j \in P^+", ("class",), indices=("j",)),
        "loss": loss_symbol(
            r"\overline{p_j}\ \text{over}\ P^+ + \overline{n_j}",
            r"\frac{«Σ pull where present»}{«present.sum()»}"
            r" + \frac{«Σ push»}{«len(push)»}",
        ),
    },
    parameters=(
        Parameter(
            "scale",
            32.0,
            r"\alpha",
            0.1,
            256.0,
            0.1,
            logarithmic=True,
            role="sharpness",
            label="scale",
        ),
        Parameter("margin", 0.1, r"\delta", 0.0, 1.0, 0.01, role="margin", label="margin"),
    ),
    terms="terms",
    selectors=("members",),
    collapse=_proxy_anchor_collapse,
    collapse_formula=r"\overline{\ln\bigl(1 + n_j e^{-\alpha(1 - \delta)}\bigr)} +"
    r" \overline{\ln\bigl(1 + (N - n_j)\, e^{\alpha(1 + \delta)}\bigr)}",
    floor=_proxy_anchor_floor,
    floor_formula=r"\min_{\lVert z \rVert = \lVert w \rVert = 1} \mathcal L",
    references=("Kim et al. 2020 (Proxy-Anchor)",),
    conventions=(
        Convention(
            "pytorch-metric-learning 2.9 ProxyAnchorLoss",
            {"scale": 32.0, "margin": 0.1},
            peers=(Peer(METRIC_LEARNING, "ProxyAnchorLoss", PROTOTYPED),),
        ),
    ),
)
