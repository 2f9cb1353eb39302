"""NT-Xent: InfoNCE over both views of everything, each view against all but itself."""

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.contrastive.in_batch_symbols_and_counts import (
    LOG1P_OF_ROW,
    TEXT_SYMBOLS,
    TEXTS,
    mean_log,
    mean_log1p,
    some,
    temperature_parameter,
)
from lossprism.losses.duplicate_text_masks import absent_by, same_text, same_text_count
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.kernels import class_label_losses as large
from lossprism.losses.kernels import log1p_sum_exp, small_batch_losses
from lossprism.losses.kernels.class_label_losses import is_small
from lossprism.losses.kernels.query_key_losses_by_tiles import Directions, against_others
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import CLASSED, METRIC_LEARNING, OF_PAIRS, Peer
from lossprism.losses.loss_term_structures import AgainstOthers
from lossprism.losses.minimum import log1p_of, simplex_gap
from lossprism.losses.sentence_transformers_equivalent_record import Equivalent
from lossprism.losses.spec import Convention, LossSpec, Symbol
from lossprism.losses.symbols import (
    each_sentence,
    each_triplet,
    each_view,
    loss_symbol,
    sentence_by_sentence,
    triplet_by_sentence,
    view_by_view,
)


def nt_xent_definition(
    first: Tensor,
    second: Tensor,
    *,
    temperature: float = 0.5,
    query_texts: Tensor | None = None,
    key_texts: Tensor | None = None,
) -> Tensor:
    views = torch.cat((first, second))
    similarities = cosine_matrix(views, views)
    logits = similarities / temperature
    place = torch.arange(len(views), device=views.device)
    partner = place.roll(len(first))
    positive = logits[place, partner]
    others = (place != place[:, None]) & (place != partner[:, None])
    if query_texts is not None and key_texts is not None:
        texts = torch.cat((query_texts, key_texts))
        left_out = same_text(texts, texts[partner], texts)
        others = others & ~left_out
    terms = (logits - positive[:, None]).masked_fill(~others, -torch.inf)
    per_view = log1p_sum_exp(terms, dim=1)
    loss = per_view.mean()
    return loss


def nt_xent(
    first: Tensor,
    second: Tensor,
    *,
    temperature: float = 0.5,
    query_texts: Tensor | None = None,
    key_texts: Tensor | None = None,
    gather: bool = False,
) -> Tensor:
    r"""InfoNCE over the 2N views z = [first; second], each against all but itself (SimCLR).

    What S2 calls NT-Xent is InfoNCE with a temperature: one direction, no other views.

    mean_i −log( exp(cos(z_i, z_p(i))/τ) / Σ_{k≠i} exp(cos(z_i, z_k)/τ) ).

    >>> first = second = torch.eye(2)
    >>> nt_xent(first, second, temperature=1.0)  # two others at cosine 0: log(1 + 2/e)
    tensor(0.5514)

    Args:
        first, second: [N, D] each, two views of the same N things.
        temperature: τ.
        query_texts, key_texts: [N] each, the texts of first and second as numbers, equal for equal
            texts. A view of the text of the one that looks, or of its partner, is no negative.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    input_checks.above_zero(temperature=temperature)
    input_checks.must_be_texts(query_texts=(query_texts, first), key_texts=(key_texts, second))
    first, second, *texts = gathered(gather, first, second, query_texts, key_texts)
    first, second = input_checks.paired(
        input_checks.for_products(first), first=first, second=second
    )
    arguments = (first, second, 1 / temperature, *texts)
    return with_gradient(_nt_xent_by_tiles, _dense_nt_xent, *arguments)


def _dense_nt_xent(first, second, scale, of_first, of_second):
    return nt_xent_definition(
        first, second, temperature=1 / scale, query_texts=of_first, key_texts=of_second
    )


def _nt_xent_by_tiles(needs_grad, first, second, scale, of_first, of_second):
    points = Directions(torch.cat((first, second)), needs_grad=any(needs_grad))
    every = slice(0, None)
    logits = points.between(every, every, scale, (any(needs_grad), any(needs_grad)))
    count = 2 * len(first)
    place = torch.arange(count, device=first.device)
    partner, left_out = place.roll(len(first)), None
    if of_first is not None:
        texts = torch.cat((of_first, of_second))
        left_out = absent_by(texts, texts[partner], texts)
    total, _ = against_others(logits, partner, absent=place, left_out=left_out)
    if not any(needs_grad):
        return total / count, ()
    gradient, by_scale = points.pull_back(1 / count, scale)
    return total / count, (*gradient.split(len(first)), by_scale, None, None)


def nt_xent_of_both_directions_definition(
    first: Tensor,
    second: Tensor,
    *,
    temperature: float = 0.1,
    query_texts: Tensor | None = None,
    key_texts: Tensor | None = None,
) -> Tensor:
    """google-research's SimCLR: the means of both directions are added, not averaged."""
    views = torch.cat((first, second))
    similarities = cosine_matrix(views, views)
    logits = similarities / temperature
    place = torch.arange(len(views), device=views.device)
    partner = place.roll(len(first))
    positive = logits[place, partner]
    others = (place != place[:, None]) & (place != partner[:, None])
    if query_texts is not None and key_texts is not None:
        texts = torch.cat((query_texts, key_texts))
        left_out = same_text(texts, texts[partner], texts)
        others = others & ~left_out
    terms = (logits - positive[:, None]).masked_fill(~others, -torch.inf)
    per_view = log1p_sum_exp(terms, dim=1)
    loss = per_view.sum() / len(first)
    return loss


def nt_xent_of_both_directions(
    first: Tensor,
    second: Tensor,
    *,
    temperature: float = 0.1,
    query_texts: Tensor | None = None,
    key_texts: Tensor | None = None,
    gather: bool = False,
) -> Tensor:
    """NT-Xent as google-research's code of SimCLR has it: twice `nt_xent`.

    >>> first = second = torch.eye(2)
    >>> nt_xent_of_both_directions(first, second, temperature=1.0)  # 2 · log(1 + 2/e)
    tensor(1.1029)

    Args:
        first, second: [N, D] each, two views of the same N things.
        temperature: τ.
        query_texts, key_texts: [N] each, the texts of first and second as numbers, equal for equal
            texts. A view of the text of the one that looks, or of its partner, is no negative.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    return 2 * nt_xent(
        first,
        second,
        temperature=temperature,
        query_texts=query_texts,
        key_texts=key_texts,
        gather=gather,
    )


def nt_xent_of_classes_definition(
    embeddings: Tensor, classes: Tensor, *, temperature: float = 0.07
) -> Tensor:
    """With several positives (pytorch-metric-learning): one softmax for each positive pair,
    in whose denominator the other positives do not stand."""
    similarities = cosine_matrix(embeddings, embeddings)
    logits = similarities / temperature
    alike = classes[:, None] == classes[None, :]
    itself = torch.eye(len(classes), dtype=torch.bool, device=classes.device)
    anchor, partner = (alike & ~itself).nonzero(as_tuple=True)
    positive = logits[anchor, partner]
    terms = (logits[anchor] - positive[:, None]).masked_fill(alike[anchor], -torch.inf)
    per_pair = log1p_sum_exp(terms, dim=1)
    loss = per_pair.sum() / max(len(per_pair), 1)
    return loss


def nt_xent_of_classes(
    embeddings: Tensor, classes: Tensor, *, temperature: float = 0.07, gather: bool = False
) -> Tensor:
    r"""NT-Xent with several positives: the mean over all ordered pairs (i, p) of one class of
    −log( e^{s_ip} / (e^{s_ip} + Σ_{c_k ≠ c_i} e^{s_ik}) ), s = cos/τ.

    The other positives do not stand in the denominator (pytorch-metric-learning's NTXentLoss).
    Without any positive pair the loss is 0.

    >>> embeddings = torch.eye(3)
    >>> nt_xent_of_classes(embeddings, torch.tensor([0, 0, 1]))  # one negative each: log 2
    tensor(0.6931)

    Args:
        embeddings: [N, D].
        classes: [N], whole numbers.
        temperature: τ.
        gather: the batch is that of all processes of torch.distributed (`losses.gather`).
    """
    embeddings, classes = gathered(gather, embeddings, classes)
    input_checks.above_zero(temperature=temperature)
    (embeddings,) = input_checks.vectors(embeddings=embeddings)
    classes = input_checks.class_numbers(classes, len(embeddings))

    exact = small_batch_losses if is_small(len(embeddings), embeddings) else large
    arguments = (embeddings, classes, temperature)
    return with_gradient(exact.several_positives, _dense_of_classes, *arguments)


def _dense_of_classes(embeddings, classes, temperature):
    return nt_xent_of_classes_definition(embeddings, classes, temperature=temperature)


def _left_out_counts(tensors: dict[str, Tensor]) -> Tensor | None:
    """Count the views excluded from the negatives of each, [2N]."""
    if tensors.get("query_texts") is None:
        return None
    texts = torch.cat((tensors["query_texts"], tensors["key_texts"]))
    return same_text_count(texts, texts.roll(len(texts) // 2), texts) - 2


def _nt_xent_collapse(tensors: dict[str, Tensor], **_: object) -> float:
    return mean_log(2 * len(tensors["first"]) - 1, _left_out_counts(tensors))


def _nt_xent_floor(tensors: dict[str, Tensor], temperature: float = 0.5) -> float | None:
    count = len(tensors["first"])
    if some(_left_out_counts(tensors)):
        return None
    if count == 1:
        return 0.0
    return log1p_of(2 * count - 2, -simplex_gap(count) / temperature)


def _equivalent(*, temperature: float) -> Equivalent:
    return Equivalent(
        "MultipleNegativesRankingLoss",
        {"first": "queries", "second": "keys"},
        "# Keys from both sides, and the mean of both directions.\n"
        'ways = ("query_to_doc", "query_to_query")\n'
        f"scale = 1 / {temperature!r}\n"
        "theirs = MultipleNegativesRankingLoss(None, scale=scale, directions=ways)\n"
        "there = theirs.compute_loss_from_embeddings([first, second], None)\n"
        "back = theirs.compute_loss_from_embeddings([second, first], None)\n"
        "loss = (there + back) / 2\n",
    )


NT_XENT = LossSpec(
    function=nt_xent,
    definition=nt_xent_definition,
    title="NT-Xent",
    about="Picks each view's partner among all other views.",
    group="in_batch",
    formula=r"-\frac{1}{2N} \sum_i \log"
    r" \frac{e^{\cos(z_i, z_{p(i)})/\tau}}{\sum_{k \ne i} e^{\cos(z_i, z_k)/\tau}}",
    symbols={
        "first": Symbol("z_i", ("query", "dimension"), stem="z"),
        "second": Symbol("z_{N+i}", ("key", "dimension")),
        "views": Symbol("z_i", ("view", "dimension"), stem="z"),
        "similarities": view_by_view("c_{ik}", equals=r"\cos(z_i, z_k)"),
        "logits": view_by_view(
            "s_{ik}", r"«similarities[r,c]» / «temperature»", equals=r"c_{ik} / \tau"
        ),
        "place": each_view("i"),
        "partner": each_view("p(i)"),
        "positive": each_view("s_{i\\,p(i)}", "«logits[r,partner[r]]»"),
        **{name: TEXT_SYMBOLS[name] for name in TEXTS},
        "texts": each_view(r"\text{text}(z_i)"),
        "left_out": view_by_view(
            r"\text{text}(z_k) \in"
            r" \{\text{text}(z_i), \text{text}(z_{p(i)})\}"
        ),
        "others": view_by_view(r"k \ne i,\ k \ne p(i)", r"«c» \ne «r»"),
        "terms": view_by_view(
            "t_{ik}",
            r"«logits[r,c]» - «positive[r]»",
            equals=r"s_{ik} - s_{i\,p(i)}\ \text{where}\ k \ne i, p(i)",
        ),
        "per_view": each_view(
            r"\ell_i", LOG1P_OF_ROW, equals=r"\log\Bigl(1 + \sum_k e^{t_{ik}}\Bigr)", signed=False
        ),
        "loss": loss_symbol(r"\frac{1}{2N} \sum_i \ell_i", r"\frac{«Σ per_view»}{«len(per_view)»}"),
    },
    parameters=(temperature_parameter(0.5),),
    reads={"first": "queries", "second": "keys", **TEXTS},
    counted=r"k = p(i) \lor \text{text}(z_k) \notin"
    r" \{\text{text}(z_i), \text{text}(z_{p(i)})\}",
    form=AgainstOthers(scale=lambda temperature: 1 / temperature, views=True),
    terms="terms",
    negatives=("terms",),
    with_copies=mean_log1p,
    collapse=_nt_xent_collapse,
    collapse_formula=r"\ln(2N - 1)",
    floor=_nt_xent_floor,
    floor_formula=r"\ln\bigl(1 + (2N - 2)\, e^{-\frac{N}{(N - 1)\tau}}\bigr)",
    aliases=("NTXentLoss", "SimCLR", "normalised temperature-scaled cross-entropy"),
    references=("Chen et al. 2020 (SimCLR)",),
    equivalent=_equivalent,
    conventions=(
        Convention(
            "SimCLR",
            {"temperature": 0.5},
            note="The paper's formula. google-research's code adds both directions, twice this "
            "number, with τ = 0.1 by default: it is another convention.",
            peers=(
                Peer("lightly", "NTXentLoss", OF_PAIRS),
                Peer(METRIC_LEARNING, "NTXentLoss", OF_PAIRS, {"temperature": 0.5}),
            ),
        ),
        Convention(
            "SimCLR, google-research/simclr be133b3 (both directions added)",
            {"temperature": 0.1},
            nt_xent_of_both_directions_definition,
            formula=r"-\frac1N \sum_i \log"
            r" \frac{e^{\cos(z_i, z_{p(i)})/\tau}}{\sum_{k \ne i} e^{\cos(z_i, z_k)/\tau}}",
            symbols={
                "loss": loss_symbol(r"\frac1N \sum_i \ell_i", r"\frac{«Σ per_view»}{«len(first)»}")
            },
            function=nt_xent_of_both_directions,
            with_copies=lambda copies, **_: 2 * mean_log1p(copies),
            former=("SimCLR, google-research's code (both directions added)",),
            peers=(Peer("google-research/simclr", "add_contrastive_loss"),),
        ),
        Convention(
            "pytorch-metric-learning 2.9 (several positives)",
            {"temperature": 0.07},
            nt_xent_of_classes_definition,
            formula=r"-\frac{1}{|P|} \sum_{(i,p) \in P} \log \frac{e^{s_{ip}}}"
            r"{e^{s_{ip}} + \sum_{c_k \ne c_i} e^{s_{ik}}}",
            symbols={
                "embeddings": Symbol("z_i", ("sentence", "dimension"), stem="z"),
                "classes": each_sentence("c_i", stem="c"),
                "similarities": sentence_by_sentence("c_{ik}", equals=r"\cos(z_i, z_k)"),
                "logits": sentence_by_sentence(
                    "s_{ik}", r"«similarities[r,c]» / «temperature»", equals=r"c_{ik} / \tau"
                ),
                "alike": sentence_by_sentence("c_i = c_k", r"«classes[r]» = «classes[c]»"),
                "itself": sentence_by_sentence("i = k", "«r» = «c»"),
                "anchor": each_triplet("i"),
                "partner": each_triplet("p"),
                "positive": each_triplet("s_{ip}", "«logits[anchor[r],partner[r]]»"),
                "terms": triplet_by_sentence(
                    "t_{tk}",
                    "«logits[anchor[r],c]» - «positive[r]»",
                    equals=r"s_{ik} - s_{ip}\ \text{where}\ c_k \ne c_i",
                ),
                "per_pair": each_triplet(
                    r"\ell_t",
                    LOG1P_OF_ROW,
                    equals=r"\log\Bigl(1 + \sum_k e^{t_{tk}}\Bigr)",
                    signed=False,
                ),
                "loss": loss_symbol(
                    r"\frac{1}{|P|} \sum_t \ell_t", r"\frac{«Σ per_pair»}{«max(len(per_pair), 1)»}"
                ),
            },
            reads={"embeddings": "embeddings", "classes": "paired_classes"},
            function=nt_xent_of_classes,
            note="The library adds the type's smallest number inside its logarithm: in float32 a "
            "term never exceeds 87.3 there, and has no gradient near it. Here there is no such "
            "limit.",
            former=("pytorch-metric-learning (several positives)",),
            peers=(Peer(METRIC_LEARNING, "NTXentLoss", CLASSED),),
        ),
    ),
)

# Its symbols of what losses of views have in common.
VIEWS = ("views", "similarities", "logits", "place", "partner", "positive", "others")
