"""Multi-Similarity: positives and negatives of an anchor, each in a logarithm of its own."""

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.kernels import class_label_losses as large
from lossprism.losses.kernels import log1p_sum_exp, small_batch_losses
from lossprism.losses.kernels.class_label_losses import is_small
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import CLASSED, METRIC_LEARNING, Peer
from lossprism.losses.minimum import log1p_of
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import each_sentence, loss_symbol, sentence_by_sentence


def multi_similarity_definition(
    embeddings: Tensor,
    classes: Tensor,
    *,
    positive_scale: float = 2.0,
    negative_scale: float = 50.0,
    threshold: float = 1.0,
    mined: bool = True,
    margin: float = 0.1,
) -> Tensor:
    similarities = cosine_matrix(embeddings, embeddings)
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    chosen = ~itself
    if mined:
        farthest_positive = similarities.masked_fill(~alike | itself, torch.inf).amin(dim=1)
        nearest_negative = similarities.masked_fill(alike, -torch.inf).amax(dim=1)
        hard_positive = similarities < nearest_negative[:, None] + margin
        hard_negative = similarities > farthest_positive[:, None] - margin
        chosen = chosen & torch.where(alike, hard_positive, hard_negative)
    pull = positive_scale * (threshold - similarities)
    push = negative_scale * (similarities - threshold)
    terms = torch.where(alike, pull, push).masked_fill(~chosen, -torch.inf)
    positive_part = log1p_sum_exp(terms.masked_fill(~alike, -torch.inf), dim=1) / positive_scale
    negative_part = log1p_sum_exp(terms.masked_fill(alike, -torch.inf), dim=1) / negative_scale
    per_anchor = positive_part + negative_part
    loss = per_anchor.mean()
    return loss


def multi_similarity(
    embeddings: Tensor,
    classes: Tensor,
    *,
    positive_scale: float = 2.0,
    negative_scale: float = 50.0,
    threshold: float = 1.0,
    mined: bool = True,
    margin: float = 0.1,
    gather: bool = False,
) -> Tensor:
    r"""Positives and negatives, each in a logarithm of its own (Wang et al. 2019).

    mean_i 1/α log(1 + Σ_p e^{−α(s_ip − λ)}) + 1/β log(1 + Σ_n e^{β(s_in − λ)}) of the cosines s to
    the others of the anchor's class, p, and to all of other classes, n. If `mined`, only
    positives with s_ip < max_n s_in + ε and negatives with s_in > min_p s_ip − ε count, so that an
    anchor without a positive, or without a negative, has no term.

    >>> embeddings, classes = torch.eye(3), torch.tensor([0, 0, 1])
    >>> given = {"positive_scale": 1.0, "negative_scale": 1.0, "threshold": 0.0}
    >>> multi_similarity(embeddings, classes, **given)  # two anchors with log 2 + log 2
    tensor(0.9242)

    Args:
        embeddings: [N, D].
        classes: [N], whole numbers.
        positive_scale, negative_scale: α and β.
        threshold: λ, a cosine. At 1, positives are drawn as near as they can come.
        mined: whether only the hard pairs count, as the paper chooses them.
        margin: ε, by how much a pair may be easier than the hardest of the other kind.
        gather: the batch is that of all processes of torch.distributed (`losses.gather`).
    """
    embeddings, classes = gathered(gather, embeddings, classes)
    input_checks.above_zero(positive_scale=positive_scale, negative_scale=negative_scale)
    (embeddings,) = input_checks.vectors(embeddings=embeddings)
    classes = input_checks.class_numbers(classes, len(embeddings))
    numbers = (positive_scale, negative_scale, threshold, margin)
    arguments = (embeddings, classes, mined, *numbers)
    if any(isinstance(number, Tensor) for number in numbers):
        return _dense(*arguments)
    exact = small_batch_losses if is_small(len(embeddings), embeddings) else large
    return with_gradient(exact.two_sided, _dense, *arguments)


def _dense(embeddings, classes, mined, positive_scale, negative_scale, threshold, margin):
    return multi_similarity_definition(
        embeddings,
        classes,
        positive_scale=positive_scale,
        negative_scale=negative_scale,
        threshold=threshold,
        mined=mined,
        margin=margin,
    )


def _sizes(tensors: dict[str, Tensor]) -> tuple[int, list[int]]:
    """Return the number of sentences, and that of each class."""
    _, sizes = tensors["classes"].unique(return_counts=True)
    return int(sizes.sum()), sizes.tolist()


def _value(
    positives: int,
    negatives: int,
    near: float,
    away: float,
    *,
    positive_scale: float,
    negative_scale: float,
    threshold: float,
    mined: bool,
    margin: float,
) -> float:
    """Return the term of an anchor with all positives at one cosine and all negatives at
    another."""
    if mined and not (positives and negatives and away > near - margin):
        return 0.0
    pull = log1p_of(positives, positive_scale * (threshold - near)) / positive_scale
    return pull + log1p_of(negatives, negative_scale * (away - threshold)) / negative_scale


def _collapse(tensors: dict[str, Tensor], **parameters) -> float:
    total, sizes = _sizes(tensors)
    return sum(n * _value(n - 1, total - n, 1.0, 1.0, **parameters) for n in sizes) / total


def _floor(tensors: dict[str, Tensor], **parameters) -> float | None:
    """Return the minimum: if mined, 0 if classes of one point each can be ε apart; else known for
    classes of one size: each class one point, the points a simplex."""
    total, sizes = _sizes(tensors)
    others = -1 / max(len(sizes) - 1, 1)
    if parameters["mined"] and (others <= 1 - parameters["margin"] or max(sizes) == 1):
        return 0.0
    if min(sizes) < max(sizes) or parameters["mined"]:
        return None
    return _value(sizes[0] - 1, total - sizes[0], 1.0, others, **parameters)


MULTI_SIMILARITY = LossSpec(
    function=multi_similarity,
    definition=multi_similarity_definition,
    title="Multi-Similarity",
    about=(
        "Weighs an anchor's positives and negatives by how hard they are, in one logarithm for "
        "each side."
    ),
    steps={
        "alike": "The two sentences share a class.",
        "chosen": "The pairs that count.",
        "farthest_positive": "The positive that is least similar to the anchor.",
        "hard_negative": "Negatives that come near the farthest positive, or pass it.",
        "hard_positive": "Positives that hardly lead over the nearest negative, or not at all.",
        "nearest_negative": "The negative that is most similar to the anchor.",
        "negative_part": "What the anchor pays for its negatives.",
        "positive_part": "What the anchor pays for its positives.",
        "pull": "How strongly a pair is drawn together if it is a positive.",
        "push": "How strongly a pair is sent apart if it is a negative.",
    },
    group="in_batch",
    aliases=("MS loss", "MultiSimilarityLoss"),
    formula=r"\frac1N \sum_i \Bigl(\frac1\alpha \log\bigl(1 + \sum_{p \in P(i)}"
    r" e^{-\alpha(s_{ip} - \lambda)}\bigr) + \frac1\beta \log\bigl(1 + \sum_{n \in N(i)}"
    r" e^{\beta(s_{in} - \lambda)}\bigr)\Bigr)",
    symbols={
        "embeddings": Symbol("z_i", ("sentence", "dimension"), stem="z"),
        "classes": each_sentence("c_i", stem="c"),
        "similarities": sentence_by_sentence("s_{ik}", equals=r"\cos(z_i, z_k)"),
        "alike": sentence_by_sentence("c_i = c_k", "«classes[r]» = «classes[c]»"),
        "itself": sentence_by_sentence("i = k", "«r» = «c»"),
        "farthest_positive": each_sentence(
            r"\min_{p} s_{ip}", r"\min\bigl(«min similarities[r] where alike[r] & ~itself[r]»\bigr)"
        ),
        "nearest_negative": each_sentence(
            r"\max_{n} s_{in}", r"\max\bigl(«max similarities[r] where ~alike[r]»\bigr)"
        ),
        "hard_positive": sentence_by_sentence(
            r"s_{ik} < \max_n s_{in} + \varepsilon",
            "«similarities[r,c]» < «nearest_negative[r]» + «margin»",
        ),
        "hard_negative": sentence_by_sentence(
            r"s_{ik} > \min_p s_{ip} - \varepsilon",
            "«similarities[r,c]» > «farthest_positive[r]» - «margin»",
        ),
        "chosen": sentence_by_sentence(r"k \in P(i) \cup N(i)"),
        "pull": sentence_by_sentence(
            r"-\alpha\,(s_{ik} - \lambda)",
            r"-«positive_scale»\,(«similarities[r,c]» - «threshold»)",
        ),
        "push": sentence_by_sentence(
            r"\beta\,(s_{ik} - \lambda)", r"«negative_scale»\,(«similarities[r,c]» - «threshold»)"
        ),
        "terms": sentence_by_sentence(
            "t_{ik}",
            "«either(-positive_scale, negative_scale, alike[r,c])»"
            r"\,(«similarities[r,c]» - «threshold»)",
            equals=r"-\alpha(s_{ik} - \lambda)\ \text{where}\ c_i = c_k,"
            r"\ \beta(s_{ik} - \lambda)\ \text{elsewhere}",
        ),
        "positive_part": each_sentence(
            "p_i",
            r"\frac{1}{«positive_scale»}\,\log\bigl(1 + «Σ exp terms[r] where alike[r]»\bigr)",
            equals=r"\frac1\alpha \log\Bigl(1 + \sum_{P(i)} e^{t_{ik}}\Bigr)",
            signed=False,
        ),
        "negative_part": each_sentence(
            "n_i",
            r"\frac{1}{«negative_scale»}\,\log\bigl(1 + «Σ exp terms[r] where ~alike[r]»\bigr)",
            equals=r"\frac1\beta \log\Bigl(1 + \sum_{N(i)} e^{t_{ik}}\Bigr)",
            stem="n",
            signed=False,
        ),
        "per_anchor": each_sentence(
            r"\ell_i", "«positive_part[r]» + «negative_part[r]»", equals="p_i + n_i", signed=False
        ),
        "loss": loss_symbol(r"\frac1N \sum_i \ell_i", r"\frac{«Σ per_anchor»}{«len(per_anchor)»}"),
    },
    parameters=(
        Parameter(
            "positive_scale",
            2.0,
            r"\alpha",
            0.1,
            100.0,
            0.1,
            logarithmic=True,
            role="sharpness",
            label="scale of positives",
        ),
        Parameter(
            "negative_scale",
            50.0,
            r"\beta",
            0.1,
            200.0,
            0.1,
            logarithmic=True,
            label="scale of negatives",
        ),
        Parameter("threshold", 1.0, r"\lambda", -1.0, 1.0, 0.01, label="threshold"),
        Parameter("mined", True, label="hard pairs only"),
        Parameter("margin", 0.1, r"\varepsilon", 0.0, 2.0, 0.01, role="margin", label="margin"),
    ),
    terms="terms",
    collapse=_collapse,
    collapse_formula=r"\overline{\tfrac1\alpha \ln\bigl(1 + |P|\, e^{-\alpha(1 - \lambda)}\bigr)"
    r" + \tfrac1\beta \ln\bigl(1 + |N|\, e^{\beta(1 - \lambda)}\bigr)}",
    floor=_floor,
    floor_formula=r"0\ \text{or}\ \min_{\lVert z \rVert = 1} \mathcal L",
    references=("Wang et al. 2019 (Multi-Similarity)",),
    conventions=(
        Convention(
            "pytorch-metric-learning 2.9 MultiSimilarityLoss (every pair)",
            {"threshold": 0.5, "mined": False},
            note="Every pair counts: in the library a separate miner, MultiSimilarityMiner, "
            "chooses the pairs.",
            peers=(Peer(METRIC_LEARNING, "MultiSimilarityLoss", CLASSED),),
        ),
        Convention(
            "msight-tech/research-ms-loss 8290973 (the authors' code)",
            {"threshold": 0.5, "negative_scale": 40.0},
            note="That code takes any pair with a cosine above 1 − 10⁻⁵ for the anchor itself, "
            "and so omits positives with the same vector. Here they count.",
            former=("research-ms-loss (the authors' code)",),
            peers=(Peer("msight-tech/research-ms-loss", "MultiSimilarityLoss"),),
        ),
    ),
)
