"""Proxy-NCA: each sentence nearer to its own prototype than to all others together."""

import math

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.kernels import log1p_sum_exp, log_sum_exp, mean_of
from lossprism.losses.kernels.query_key_losses_by_tiles import against_others, directions_and_logits
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import METRIC_LEARNING, PROTOTYPED, Peer
from lossprism.losses.minimum import softplus_at
from lossprism.losses.prototypes.softmax import PROTOTYPE_SYMBOLS, evenly_many
from lossprism.losses.spec import Convention, LossSpec, Parameter
from lossprism.losses.symbols import each_sentence, sentence_by_class


def proxy_nca_definition(
    embeddings: Tensor,
    classes: Tensor,
    *,
    prototypes: Tensor,
    scale: float = 1.0,
    include_own: bool = False,
) -> Tensor:
    similarities = cosine_matrix(embeddings, prototypes)
    distances = 2 - 2 * similarities
    own = distances.gather(1, classes[:, None])
    others = classes[:, None] != torch.arange(len(prototypes), device=classes.device)
    terms = (scale * (own - distances)).masked_fill(~others, -torch.inf)
    per_sentence = log1p_sum_exp(terms, dim=1) if include_own else log_sum_exp(terms, dim=1)
    loss = mean_of(per_sentence, others.any(dim=1))
    return loss


def proxy_nca(
    embeddings: Tensor,
    classes: Tensor,
    *,
    prototypes: Tensor,
    scale: float = 1.0,
    include_own: bool = False,
) -> Tensor:
    r"""mean −log( e^{−s d(x, w_c)} / Σ_{j≠c} e^{−s d(x, w_j)} ) (Movshovitz-Attias et al. 2017).

    d is the squared Euclidean distance of the directions, 2 − 2 cos. The own prototype does not
    stand in the denominator, so the loss goes on falling below 0, as far as
    ln(C − 1) − 2s·C/(C − 1). With a single prototype there is nothing to tell apart, and it is 0.

    >>> embeddings, classes = torch.tensor([[1.0, 0.0]]), torch.tensor([0])
    >>> proxy_nca(embeddings, classes, prototypes=torch.eye(2))  # 0 − 2
    tensor(-2.)

    Args:
        embeddings: [N, D].
        classes: [N], the number of each one's prototype.
        prototypes: [C, D], one row for each class.
        scale: s.
        include_own: the own prototype stands in the denominator too, a softmax over −s·d.
    """
    embeddings, classes, prototypes = input_checks.at_prototypes(embeddings, classes, prototypes)
    input_checks.one_number(scale=scale)
    arguments = (embeddings, prototypes, classes, scale, include_own)
    if len(prototypes) == 1:
        return _dense_proxy_nca(*arguments)
    return with_gradient(_proxy_nca_by_tiles, _dense_proxy_nca, *arguments)


def _dense_proxy_nca(embeddings, prototypes, classes, scale, include_own):
    return proxy_nca_definition(
        embeddings, classes, prototypes=prototypes, scale=scale, include_own=include_own
    )


def _proxy_nca_by_tiles(needs_grad, embeddings, prototypes, classes, scale, include_own):
    count = len(embeddings)
    with_scale = [*needs_grad[:2], needs_grad[3]]
    points, logits = directions_and_logits(with_scale, embeddings, prototypes, 2 * scale)
    total, _ = against_others(logits, classes, beside_own=include_own)
    if not any(needs_grad):
        return total / count, ()
    gradient, by_scale = points.pull_back(1 / count, 2 * scale)
    if by_scale is not None:
        by_scale = 2 * by_scale  # the logits are 2 · scale · cos
    return total / count, (*gradient.split([count, len(prototypes)]), None, by_scale, None)


def _proxy_nca_collapse(
    tensors: dict[str, Tensor], scale: float = 1.0, include_own: bool = False
) -> float:
    count = len(tensors["prototypes"])
    return math.log(count if include_own else max(count - 1, 1))


def _proxy_nca_floor(
    tensors: dict[str, Tensor], scale: float = 1.0, include_own: bool = False
) -> float | None:
    """Return the minimum, known for classes of one size: prototypes a simplex, each embedding at
    its own."""
    count = len(tensors["prototypes"])
    if count == 1:
        return 0.0
    if not evenly_many(tensors):
        return None
    gap = math.log(count - 1) - 2 * scale * count / (count - 1)
    return softplus_at(gap) if include_own else gap


OWN_TOO = (
    r"-\frac1N \sum_i \log \frac{e^{-s\, d_{i c_i}}}{\sum_j e^{-s\, d_{ij}}},"
    r"\quad d_{ij} = 2 - 2\cos\theta_{ij}"
)

PROXY_NCA = LossSpec(
    function=proxy_nca,
    definition=proxy_nca_definition,
    title="Proxy-NCA",
    about="Pulls each sentence nearer to its own prototype than to all the others.",
    steps={"own": "Distance to its own prototype."},
    group="prototypes",
    aliases=("ProxyNCA", "ProxyNCA++", "ProxyNCALoss"),
    formula=r"-\frac1N \sum_i \log \frac{e^{-s\, d_{i c_i}}}{\sum_{j \ne c_i} e^{-s\, d_{ij}}},"
    r"\quad d_{ij} = 2 - 2\cos\theta_{ij}",
    symbols={
        **PROTOTYPE_SYMBOLS,
        "distances": sentence_by_class(
            "d_{ij}", r"2 - 2 \cdot «similarities[r,c]»", equals=r"2 - 2\cos\theta_{ij}"
        ),
        "own": sentence_by_class(r"d_{i c_i}", "«distances[r,classes[r]]»"),
        "terms": sentence_by_class(
            "t_{ij}",
            r"«scale»\,(«own[r,0]» - «distances[r,c]»)",
            equals=r"s\,(d_{i c_i} - d_{ij})\ \text{where}\ j \ne c_i",
        ),
        "per_sentence": each_sentence(
            r"\ell_i",
            r"\log\bigl(«1 if include_own else 0» + «Σ exp terms[r]»\bigr)",
            equals=r"\log\Bigl(\sum_{j \ne c_i} e^{t_{ij}}\Bigr)"
            r"\ \text{or}\ \log\Bigl(1 + \sum_{j \ne c_i} e^{t_{ij}}\Bigr)",
        ),
    },
    parameters=(
        Parameter(
            "scale", 1.0, "s", 0.1, 64.0, 0.1, logarithmic=True, role="sharpness", label="scale"
        ),
        Parameter("include_own", False, label="own prototype in the denominator"),
    ),
    variants={"include_own=true": OWN_TOO},
    terms="terms",
    collapse=_proxy_nca_collapse,
    collapse_formula=r"\ln(C - 1)\ \text{or}\ \ln C",
    floor=_proxy_nca_floor,
    floor_formula=r"\ln(C - 1) - \frac{2 s\, C}{C - 1}\ \text{or}\ "
    r"\ln\bigl(1 + (C - 1)\, e^{-\frac{2 s C}{C - 1}}\bigr)",
    references=("Movshovitz-Attias et al. 2017 (Proxy-NCA)", "Teh et al. 2020 (ProxyNCA++)"),
    note="A sentence's own prototype is not in the denominator, so a loss below 0 is normal.",
    conventions=(
        Convention(
            "pytorch-metric-learning 2.9 ProxyNCALoss (own prototype in the denominator)",
            {"include_own": True},
            note="The softmax is over all prototypes, including the sentence's own, so the loss "
            "stays above 0.",
            peers=(Peer(METRIC_LEARNING, "ProxyNCALoss", PROTOTYPED),),
        ),
        Convention(
            "ProxyNCA++, euwern/proxynca_pp a8e2aa9 (temperature 1/9)",
            {"include_own": True, "scale": 9.0},
            note="The softmax is over all prototypes, including the sentence's own, so the loss "
            "stays above 0.",
            former=("ProxyNCA++ (temperature 1/9)",),
            peers=(Peer("euwern/proxynca_pp", "ProxyNCA_prob"),),
        ),
    ),
)
