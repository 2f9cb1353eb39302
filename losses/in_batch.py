"""InfoNCE, NT-Xent, NCE and SigLIP: the other keys of the batch are the negatives.

In every matrix the row is the query (or the view that looks) and the column the key.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from losses import inputs
from losses.floors import least_binary, least_in_batch, simplex_gap
from losses.gather import gathered
from losses.geometry import cosine, cosine_matrix, unit
from losses.reductions import classes as large
from losses.reductions import few, log1p_sum_exp, mean_of, softplus
from losses.reductions.classes import is_small
from losses.reductions.gradient import with_gradient
from losses.reductions.tiled import (
    Directions,
    against_others,
    against_own,
    against_threshold,
    both_ways,
)
from losses.spec import Convention, LossSpec, Parameter, Symbol


def info_nce_definition(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    symmetric: bool = False,
) -> Tensor:
    candidates = keys if negatives is None else torch.cat((keys, negatives))
    similarities = cosine_matrix(queries, candidates)
    logits = similarities / temperature
    positive = logits.diagonal()
    others = ~torch.eye(*logits.shape, dtype=torch.bool, device=logits.device)
    terms = (logits - positive[:, None]).masked_fill(~others, -torch.inf)
    per_query = log1p_sum_exp(terms, dim=1)
    loss = per_query.mean()
    if symmetric:
        backward = logits[:, : len(keys)].T - positive[:, None]
        backward_terms = backward.masked_fill(~others[:, : len(keys)], -torch.inf)
        per_key = log1p_sum_exp(backward_terms, dim=1)
        loss = (loss + per_key.mean()) / 2
    return loss


def info_nce(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    symmetric: bool = False,
    gather: bool = False,
) -> Tensor:
    r"""mean_i −log( exp(cos(q_i, k_i)/τ) / Σ_j exp(cos(q_i, k_j)/τ) ) (S1 eq. 5–7; S2).

    >>> queries, keys = torch.eye(2), torch.eye(2)
    >>> info_nce(queries, keys, temperature=1.0)  # log(1 + e^(0 − 1))
    tensor(0.3133)

    Args:
        queries, keys: [N, D] each; key i belongs to query i.
        negatives: [Q, D], further keys for every query.
        temperature: τ.
        symmetric: average with the same loss from keys to queries (in the batch only).
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    inputs.above_zero(temperature=temperature)
    queries, keys, negatives = gathered(gather, queries, keys, negatives)
    queries, keys, negatives = inputs.vectors(
        inputs.for_products(queries), queries=queries, keys=keys, negatives=negatives
    )
    inputs.must_be_paired(queries=queries, keys=keys)
    return with_gradient(
        _info_nce_by_tiles,
        _info_nce_densely,
        queries,
        keys,
        negatives,
        1 / temperature,
        symmetric,
    )


def _info_nce_densely(queries, keys, negatives, scale, symmetric):
    return info_nce_definition(
        queries, keys, negatives=negatives, temperature=1 / scale, symmetric=symmetric
    )


def _info_nce_by_tiles(wanted, queries, keys, negatives, scale, symmetric):
    count = len(queries)
    parts = [part for part in (queries, keys, negatives) if part is not None]
    points = Directions(torch.cat(parts), wanted=any(wanted))
    sides = (wanted[0] or wanted[3], wanted[1] or wanted[2] or wanted[3])
    logits = points.between(slice(0, count), slice(count, None), scale, sides)
    if symmetric:
        total, share = both_ways(logits), 0.5 / count
    else:
        (total, _), share = against_others(logits), 1 / count
    if not any(wanted):
        return total * share, ()
    gradient, by_scale = points.pull_back(share, scale)
    by_queries, by_keys, *by_negatives = gradient.split([len(part) for part in parts])
    return total * share, (by_queries, by_keys, *(by_negatives or [None]), by_scale, None)


def nt_xent_definition(first: Tensor, second: Tensor, *, temperature: float = 0.5) -> Tensor:
    views = torch.cat((first, second))
    similarities = cosine_matrix(views, views)
    logits = similarities / temperature
    place = torch.arange(len(views), device=views.device)
    partner = place.roll(len(first))
    positive = logits[place, partner]
    others = (place != place[:, None]) & (place != partner[:, None])
    terms = (logits - positive[:, None]).masked_fill(~others, -torch.inf)
    per_view = log1p_sum_exp(terms, dim=1)
    loss = per_view.mean()
    return loss


def nt_xent(
    first: Tensor, second: Tensor, *, temperature: float = 0.5, gather: bool = False
) -> Tensor:
    r"""InfoNCE over the 2N views z = [first; second], each against all but itself (S2; SimCLR).

    mean_i −log( exp(cos(z_i, z_p(i))/τ) / Σ_{k≠i} exp(cos(z_i, z_k)/τ) ).

    >>> first = second = torch.eye(2)
    >>> nt_xent(first, second, temperature=1.0)  # two others at cosine 0: log(1 + 2/e)
    tensor(0.5514)

    Args:
        first, second: [N, D] each, two views of the same N things.
        temperature: τ.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    inputs.above_zero(temperature=temperature)
    first, second = gathered(gather, first, second)
    first, second = inputs.paired(inputs.for_products(first), first=first, second=second)
    return with_gradient(_nt_xent_by_tiles, _nt_xent_densely, first, second, 1 / temperature)


def _nt_xent_densely(first, second, scale):
    return nt_xent_definition(first, second, temperature=1 / scale)


def _nt_xent_by_tiles(wanted, first, second, scale):
    points = Directions(torch.cat((first, second)), wanted=any(wanted))
    every = slice(0, None)
    logits = points.between(every, every, scale, (any(wanted),) * 2)
    count = 2 * len(first)
    place = torch.arange(count, device=first.device)
    total, _ = against_others(logits, place.roll(len(first)), absent=place)
    if not any(wanted):
        return total / count, ()
    gradient, by_scale = points.pull_back(1 / count, scale)
    return total / count, (*gradient.split(len(first)), by_scale)


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
    inputs.above_zero(temperature=temperature)
    (embeddings,) = inputs.vectors(embeddings=embeddings)
    classes = inputs.class_numbers(classes, len(embeddings))

    exact = few if is_small(len(embeddings), embeddings) else large
    given = (embeddings, classes, temperature)
    return with_gradient(exact.several_positives, _of_classes_densely, *given)


def _of_classes_densely(embeddings, classes, temperature):
    return nt_xent_of_classes_definition(embeddings, classes, temperature=temperature)


def nce_definition(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    noise_ratio: float = 1.0,
    full: bool = False,
    log_noise: float = 0.0,
) -> Tensor:
    positive = cosine(queries, keys) / temperature
    if negatives is None:
        noise = cosine_matrix(queries, keys) / temperature
        is_noise = ~torch.eye(len(noise), dtype=torch.bool, device=noise.device)
    else:
        noise = (unit(queries)[:, None, :] * unit(negatives)).sum(dim=2) / temperature
        is_noise = torch.ones_like(noise, dtype=torch.bool)
    if full:
        excess = noise - log_noise
        terms = softplus(excess).masked_fill(~is_noise, 0)
        data_terms = softplus(log_noise - positive)
        per_query = data_terms + terms.sum(dim=1)
        loss = per_query.mean()
    else:
        excess = noise - positive[:, None] + math.log(noise_ratio)
        terms = softplus(excess).masked_fill(~is_noise, 0)
        loss = mean_of(terms, is_noise)
    return loss


def nce(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    noise_ratio: float = 1.0,
    full: bool = False,
    log_noise: float = 0.0,
    gather: bool = False,
) -> Tensor:
    r"""Is this key the query's own, or noise? −mean log( e^{s⁺/τ} / (e^{s⁺/τ} + m e^{s⁻/τ}) ) (S2).

    The mean runs over queries and their noise keys. With `full`, the sum of binary decisions of
    Gutmann & Hyvärinen: mean over queries of softplus(ν − s⁺/τ) + Σ_k softplus(s_k⁻/τ − ν).

    >>> nce(torch.eye(2), torch.eye(2), temperature=1.0)  # log(1 + e^(0 − 1))
    tensor(0.3133)

    Args:
        queries, keys: [N, D] each; key i belongs to query i.
        negatives: [N, K, D], the noise keys of each query; the other keys of the batch if left
            out. Without any noise key there is nothing to tell apart, and no term.
        temperature: τ.
        noise_ratio: m, noise keys for each true one.
        full: both kinds of decision, each with its own term.
        log_noise: ν = ln(m·p_n), of the full form.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    inputs.above_zero(temperature=temperature, noise_ratio=noise_ratio)
    queries, keys, negatives = gathered(gather, queries, keys, negatives)
    least = inputs.for_products(queries) if negatives is None else torch.float32
    queries, keys, negatives = inputs.real(least, queries=queries, keys=keys, negatives=negatives)
    inputs.must_be_rows(queries=queries, keys=keys)
    inputs.must_be_paired(queries=queries, keys=keys)
    if negatives is not None:
        count, width = queries.shape
        if negatives.ndim != 3 or (len(negatives), negatives.shape[2]) != (count, width):
            raise ValueError(
                f"negatives has shape {tuple(negatives.shape)}; noise keys of {width} dimensions "
                f"for each of the {count} queries are needed, [N, K, D]"
            )
        return nce_definition(
            queries,
            keys,
            negatives=negatives,
            temperature=temperature,
            noise_ratio=noise_ratio,
            full=full,
            log_noise=log_noise,
        )
    if full:
        inputs.one_number(log_noise=log_noise)
        return _decisions(queries, keys, 1 / temperature, log_noise)
    return with_gradient(
        _nce_by_tiles, _nce_densely, queries, keys, 1 / temperature, math.log(noise_ratio)
    )


def _nce_densely(queries, keys, scale, log_ratio):
    return nce_definition(queries, keys, temperature=1 / scale, noise_ratio=math.exp(log_ratio))


def _nce_by_tiles(wanted, queries, keys, scale, log_ratio):
    count = len(queries)
    share = 1 / max(count * (count - 1), 1)
    points, logits = _cosines(wanted, queries, keys, scale)
    total = against_own(logits, log_ratio)
    if not any(wanted):
        return total * share, ()
    gradient, by_scale = points.pull_back(share, scale)
    return total * share, (*gradient.split(count), by_scale, None)


def _decisions(queries, keys, scale, threshold):
    """1/N of the sum over all cells of log(1 + e^{±(scale · cosine − threshold)}).

    The sign is − on the diagonal, where a key is the query's own, and + elsewhere.
    """
    return with_gradient(_decisions_by_tiles, _decisions_densely, queries, keys, scale, threshold)


def _decisions_densely(queries, keys, scale, threshold):
    return siglip_definition(queries, keys, scale=scale, bias=-threshold)


def _decisions_by_tiles(wanted, queries, keys, scale, threshold):
    count = len(queries)
    points, logits = _cosines(wanted, queries, keys, scale)
    total, by_threshold = against_threshold(logits, threshold)
    if not any(wanted):
        return total / count, ()
    gradient, by_scale = points.pull_back(1 / count, scale)
    return total / count, (*gradient.split(count), by_scale, by_threshold / count)


def _cosines(wanted, queries, keys, scale):
    """The vectors as directions, and the logits of queries with keys."""
    count = len(queries)
    points = Directions(torch.cat((queries, keys)), wanted=any(wanted))
    sides = (wanted[0] or wanted[2], wanted[1] or wanted[2])
    return points, points.between(slice(0, count), slice(count, None), scale, sides)


def siglip_definition(
    queries: Tensor, keys: Tensor, *, scale: float = 10.0, bias: float = -10.0
) -> Tensor:
    similarities = cosine_matrix(queries, keys)
    logits = scale * similarities + bias
    signs = 2 * torch.eye(*logits.shape, dtype=logits.dtype, device=logits.device) - 1
    terms = softplus(-signs * logits)
    loss = terms.sum() / len(queries)
    return loss


def siglip(
    queries: Tensor,
    keys: Tensor,
    *,
    scale: float = 10.0,
    bias: float = -10.0,
    gather: bool = False,
) -> Tensor:
    r"""1/N Σ_ij log(1 + exp(−z_ij (t·cos(q_i, k_j) + b))), z = 1 for own keys, −1 for others.

    >>> siglip(torch.eye(1), torch.eye(1), scale=1.0, bias=0.0)  # log(1 + e^−1)
    tensor(0.3133)

    Args:
        queries, keys: [N, D] each; key i belongs to query i.
        scale: t.
        bias: b, which starts low because most pairs are not positive (Zhai et al. 2023).
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    inputs.one_number(scale=scale, bias=bias)
    queries, keys = gathered(gather, queries, keys)
    queries, keys = inputs.paired(inputs.for_products(queries), queries=queries, keys=keys)
    return _decisions(queries, keys, scale, -bias)


def _keys_beside(given: dict[str, Tensor]) -> int:
    negatives = given.get("negatives")
    return 0 if negatives is None else len(negatives)


def _info_nce_collapse(given: dict[str, Tensor], symmetric: bool = False, **_: object) -> float:
    count = len(given["keys"])
    forward = math.log(count + _keys_beside(given))
    return (forward + math.log(count)) / 2 if symmetric else forward


def _info_nce_floor(
    given: dict[str, Tensor], temperature: float = 0.05, symmetric: bool = False
) -> float:
    return least_in_batch(len(given["keys"]), _keys_beside(given), temperature, symmetric)


def _nt_xent_floor(given: dict[str, Tensor], temperature: float = 0.5) -> float:
    count = len(given["first"])
    if count == 1:
        return 0.0
    exponent = math.log(2 * count - 2) - simplex_gap(count) / temperature
    return _softplus(exponent)


def _noise_keys(given: dict[str, Tensor]) -> int:
    negatives = given.get("negatives")
    return len(given["keys"]) - 1 if negatives is None else negatives.shape[1]


def _nce_collapse(
    given: dict[str, Tensor],
    temperature: float = 0.05,
    noise_ratio: float = 1.0,
    full: bool = False,
    log_noise: float = 0.0,
) -> float:
    count = _noise_keys(given)
    logit = 1 / temperature - log_noise
    if full:
        return _softplus(-logit) + count * _softplus(logit)
    return math.log1p(noise_ratio) if count else 0.0


def _nce_floor(
    given: dict[str, Tensor],
    temperature: float = 0.05,
    noise_ratio: float = 1.0,
    full: bool = False,
    log_noise: float = 0.0,
) -> float:
    count, own_noise = _noise_keys(given), given.get("negatives") is not None
    if full and not own_noise:
        return least_binary(count + 1, 1 / temperature, log_noise)
    if full:
        return _softplus(log_noise - 1 / temperature) + count * _softplus(
            -1 / temperature - log_noise
        )
    if count == 0:
        return 0.0
    gap = 2.0 if own_noise else simplex_gap(count + 1)
    return _softplus(math.log(noise_ratio) - gap / temperature)


def _siglip_collapse(given: dict[str, Tensor], scale: float = 10.0, bias: float = -10.0) -> float:
    logit = scale + bias
    return _softplus(-logit) + (len(given["keys"]) - 1) * _softplus(logit)


def _softplus(x: float) -> float:
    return float(softplus(torch.tensor(x, dtype=torch.float64)))


def temperature_parameter(default: float) -> Parameter:
    return Parameter("temperature", default, r"\tau", 0.005, 2.0, 0.005, logarithmic=True)


LOG1P_OF_ROW = r"\log\bigl(1 + «Σ exp terms[r]»\bigr)"
QUERY_SYMBOLS = {
    "queries": Symbol("q_i", ("query", "dimension")),
    "keys": Symbol("k_j", ("key", "dimension")),
    "negatives": Symbol("n_j", ("key", "dimension")),
    "candidates": Symbol("k_j", ("key", "dimension")),
    "similarities": Symbol(r"c_{ij} = \cos(q_i, k_j)", ("query", "key")),
    "logits": Symbol(
        r"s_{ij} = c_{ij} / \tau", ("query", "key"), r"«similarities[r,c]» / «temperature»"
    ),
    "positive": Symbol(r"s_{ii}", ("query",), "«logits[r,r]»"),
    "others": Symbol(r"j \ne i", ("query", "key"), r"«c» \ne «r»"),
    "terms": Symbol(
        r"t_{ij} = s_{ij} - s_{ii}\ \text{where}\ j \ne i",
        ("query", "key"),
        r"«logits[r,c]» - «positive[r]»",
    ),
    "per_query": Symbol(
        r"\ell_i = \log\Bigl(1 + \sum_{j \ne i} e^{t_{ij}}\Bigr)",
        ("query",),
        LOG1P_OF_ROW,
        signed=False,
    ),
    "loss": Symbol(r"\mathcal L = \frac1N \sum_i \ell_i"),
}

INFO_NCE = LossSpec(
    function=info_nce,
    definition=info_nce_definition,
    title="InfoNCE",
    group="in_batch",
    order=1,
    formula=r"-\frac1N \sum_i \log \frac{e^{\cos(q_i, k_i)/\tau}}{\sum_j e^{\cos(q_i, k_j)/\tau}}",
    symbols={
        **QUERY_SYMBOLS,
        "backward": Symbol(
            r"b_{ij} = s_{ji} - s_{ii}", ("key", "query"), "«logits[c,r]» - «positive[r]»"
        ),
        "backward_terms": Symbol(
            r"b_{ij} = s_{ji} - s_{ii}\ \text{where}\ j \ne i",
            ("key", "query"),
            "«logits[c,r]» - «positive[r]»",
        ),
        "per_key": Symbol(
            r"\ell'_i = \log\Bigl(1 + \sum_{j \ne i} e^{b_{ij}}\Bigr)",
            ("key",),
            r"\log\bigl(1 + «Σ exp backward_terms[r]»\bigr)",
            signed=False,
        ),
        "loss": Symbol(
            r"\mathcal L = \frac1N \sum_i \ell_i"
            r"\ \text{or}\ \frac{1}{2N} \sum_i (\ell_i + \ell'_i)"
        ),
    },
    parameters=(temperature_parameter(0.05), Parameter("symmetric", False)),
    variants={
        "symmetric=true": r"-\frac{1}{2N} \sum_i \Bigl("
        r"\log \frac{e^{\cos(q_i, k_i)/\tau}}{\sum_j e^{\cos(q_i, k_j)/\tau}}"
        r" + \log \frac{e^{\cos(q_i, k_i)/\tau}}{\sum_j e^{\cos(q_j, k_i)/\tau}}\Bigr)",
    },
    reads={"queries": "queries", "keys": "keys", "negatives": "negatives"},
    terms="terms",
    collapse=_info_nce_collapse,
    collapse_formula=r"\ln K",
    floor=_info_nce_floor,
    floor_formula=r"\ln\bigl(1 + (K - 1)\, e^{-\frac{K}{(K - 1)\tau}}\bigr)",
    references=("S1 eq. 5–7", "S2", "van den Oord et al. 2018"),
    conventions=(
        Convention(
            "sentence-transformers MultipleNegativesRankingLoss",
            {"temperature": 0.05, "symmetric": False},
        ),
        Convention(
            "sentence-transformers MultipleNegativesSymmetricRankingLoss",
            {"temperature": 0.05, "symmetric": True},
        ),
        Convention("CLIP (initial temperature)", {"temperature": 0.07, "symmetric": True}),
    ),
)

NT_XENT = LossSpec(
    function=nt_xent,
    definition=nt_xent_definition,
    title="NT-Xent",
    group="in_batch",
    order=1,
    formula=r"-\frac{1}{2N} \sum_i \log"
    r" \frac{e^{\cos(z_i, z_{p(i)})/\tau}}{\sum_{k \ne i} e^{\cos(z_i, z_k)/\tau}}",
    symbols={
        "first": Symbol("z_i", ("query", "dimension")),
        "second": Symbol("z_{N+i}", ("key", "dimension")),
        "views": Symbol("z_i", ("view", "dimension")),
        "similarities": Symbol(r"c_{ik} = \cos(z_i, z_k)", ("view", "view")),
        "logits": Symbol(
            r"s_{ik} = c_{ik} / \tau", ("view", "view"), r"«similarities[r,c]» / «temperature»"
        ),
        "place": Symbol("i", ("view",)),
        "partner": Symbol("p(i)", ("view",)),
        "positive": Symbol("s_{i\\,p(i)}", ("view",), "«logits[r,partner[r]]»"),
        "others": Symbol(r"k \ne i,\ k \ne p(i)", ("view", "view"), r"«c» \ne «r»"),
        "terms": Symbol(
            r"t_{ik} = s_{ik} - s_{i\,p(i)}\ \text{where}\ k \ne i, p(i)",
            ("view", "view"),
            r"«logits[r,c]» - «positive[r]»",
        ),
        "per_view": Symbol(
            r"\ell_i = \log\Bigl(1 + \sum_k e^{t_{ik}}\Bigr)", ("view",), LOG1P_OF_ROW, signed=False
        ),
        "loss": Symbol(
            r"\mathcal L = \frac{1}{2N} \sum_i \ell_i", live=r"\frac{«Σ per_view»}{«len(per_view)»}"
        ),
    },
    parameters=(temperature_parameter(0.5),),
    reads={"first": "queries", "second": "keys"},
    terms="terms",
    collapse=lambda given, **_: math.log(2 * len(given["first"]) - 1),
    collapse_formula=r"\ln(2N - 1)",
    floor=_nt_xent_floor,
    floor_formula=r"\ln\bigl(1 + (2N - 2)\, e^{-\frac{N}{(N - 1)\tau}}\bigr)",
    references=("S2", "Chen et al. 2020 (SimCLR)"),
    conventions=(
        Convention("SimCLR", {"temperature": 0.5}),
        Convention(
            "pytorch-metric-learning (several positives)",
            {"temperature": 0.07},
            nt_xent_of_classes_definition,
            formula=r"-\frac{1}{|P|} \sum_{(i,p) \in P} \log \frac{e^{s_{ip}}}"
            r"{e^{s_{ip}} + \sum_{c_k \ne c_i} e^{s_{ik}}}",
            symbols={
                "embeddings": Symbol("z_i", ("sentence", "dimension")),
                "classes": Symbol("c_i", ("sentence",)),
                "similarities": Symbol(r"c_{ik} = \cos(z_i, z_k)", ("sentence", "sentence")),
                "logits": Symbol(
                    r"s_{ik} = c_{ik} / \tau",
                    ("sentence", "sentence"),
                    r"«similarities[r,c]» / «temperature»",
                ),
                "alike": Symbol(
                    "c_i = c_k", ("sentence", "sentence"), r"«classes[r]» = «classes[c]»"
                ),
                "itself": Symbol("i = k", ("sentence", "sentence"), "«r» = «c»"),
                "anchor": Symbol("i", ("triplet",)),
                "partner": Symbol("p", ("triplet",)),
                "positive": Symbol("s_{ip}", ("triplet",), "«logits[anchor[r],partner[r]]»"),
                "terms": Symbol(
                    r"t_{tk} = s_{ik} - s_{ip}\ \text{where}\ c_k \ne c_i",
                    ("triplet", "sentence"),
                    "«logits[anchor[r],c]» - «positive[r]»",
                ),
                "per_pair": Symbol(
                    r"\ell_t = \log\Bigl(1 + \sum_k e^{t_{tk}}\Bigr)",
                    ("triplet",),
                    LOG1P_OF_ROW,
                    signed=False,
                ),
                "loss": Symbol(
                    r"\mathcal L = \frac{1}{|P|} \sum_t \ell_t",
                    live=r"\frac{«Σ per_pair»}{«max(len(per_pair), 1)»}",
                ),
            },
            reads={"embeddings": "embeddings", "classes": "paired_classes"},
            function=nt_xent_of_classes,
        ),
    ),
)

NCE = LossSpec(
    function=nce,
    definition=nce_definition,
    title="NCE",
    group="in_batch",
    order=1,
    formula=r"-\frac{1}{|\mathrm{noise}|} \sum_{i, k}"
    r" \log \frac{e^{s^+_i/\tau}}{e^{s^+_i/\tau} + m\, e^{s^-_{ik}/\tau}}",
    symbols={
        "queries": QUERY_SYMBOLS["queries"],
        "keys": QUERY_SYMBOLS["keys"],
        "positive": Symbol(r"p_i = \cos(q_i, k_i) / \tau", ("query",)),
        "noise": Symbol(r"n_{ik} = \cos(q_i, k_k) / \tau", ("query", "key")),
        "is_noise": Symbol(r"k \ne i", ("query", "key"), r"«c» \ne «r»"),
        "excess": Symbol(
            r"x_{ik} = n_{ik} - p_i + \ln m\ \text{or}\ n_{ik} - \nu",
            ("query", "key"),
            "«noise[r,c]» - «log_noise if full else positive[r] - log(noise_ratio)»",
        ),
        "terms": Symbol(
            r"t_{ik} = \log\bigl(1 + e^{x_{ik}}\bigr)\ \text{where}\ k \ne i",
            ("query", "key"),
            r"\log\bigl(1 + e^{«excess[r,c]»}\bigr)",
            signed=False,
        ),
        "data_terms": Symbol(
            r"d_i = \log\bigl(1 + e^{\nu - p_i}\bigr)",
            ("query",),
            r"\log\bigl(1 + e^{«log_noise» - «positive[r]»}\bigr)",
            signed=False,
        ),
        "per_query": Symbol(
            r"\ell_i = d_i + \sum_k t_{ik}",
            ("query",),
            "«data_terms[r]» + «Σ terms[r]»",
            signed=False,
        ),
        "loss": Symbol(
            r"\mathcal L = \overline{t_{ik}}\ \text{or}\ \frac1N \sum_i \ell_i",
            live=r"\frac{«Σ per_query if full else terms»}"
            r"{«len(per_query) if full else is_noise.sum().clamp_min(1)»}",
        ),
    },
    parameters=(
        temperature_parameter(0.05),
        Parameter("noise_ratio", 1.0, "m", 0.01, 100.0, 0.01, logarithmic=True),
        Parameter("full", False),
        Parameter("log_noise", 0.0, r"\nu", -20.0, 20.0, 0.1),
    ),
    variants={
        "full=true": r"\frac1N \sum_i \Bigl(\log\bigl(1 + e^{\nu - s^+_i/\tau}\bigr)"
        r" + \sum_k \log\bigl(1 + e^{s^-_{ik}/\tau - \nu}\bigr)\Bigr)",
    },
    reads={"queries": "queries", "keys": "keys"},
    terms="excess",
    collapse=_nce_collapse,
    collapse_formula=r"\ln(1 + m)",
    floor=_nce_floor,
    floor_formula=r"\ln\bigl(1 + m\, e^{-\frac{N}{(N - 1)\tau}}\bigr)",
    references=("S2", "Gutmann & Hyvärinen 2010"),
)

SIGLIP = LossSpec(
    function=siglip,
    definition=siglip_definition,
    title="SigLIP",
    group="in_batch",
    order=1,
    formula=r"\frac1N \sum_{i,j} \log\bigl(1 + e^{-z_{ij} (t \cos(q_i, k_j) + b)}\bigr)",
    symbols={
        **{name: QUERY_SYMBOLS[name] for name in ("queries", "keys", "similarities")},
        "logits": Symbol(
            r"s_{ij} = t\, c_{ij} + b",
            ("query", "key"),
            r"«scale» \cdot «similarities[r,c]» + «bias»",
        ),
        "signs": Symbol(r"z_{ij} = \pm 1", ("query", "key")),
        "terms": Symbol(
            r"t_{ij} = \log\bigl(1 + e^{-z_{ij} s_{ij}}\bigr)",
            ("query", "key"),
            r"\log\bigl(1 + e^{-(«signs[r,c]») \cdot («logits[r,c]»)}\bigr)",
            signed=False,
        ),
        "loss": Symbol(
            r"\mathcal L = \frac1N \sum_{i,j} t_{ij}", live=r"\frac{«Σ terms»}{«len(queries)»}"
        ),
    },
    parameters=(
        Parameter("scale", 10.0, "t", 0.1, 200.0, 0.1, logarithmic=True),
        Parameter("bias", -10.0, "b", -30.0, 10.0, 0.1),
    ),
    reads={"queries": "queries", "keys": "keys"},
    terms="logits",
    collapse=_siglip_collapse,
    collapse_formula=r"\ln\bigl(1 + e^{-(t + b)}\bigr) + (N - 1) \ln\bigl(1 + e^{t + b}\bigr)",
    floor=lambda given, scale=10.0, bias=-10.0: least_binary(len(given["keys"]), scale, -bias),
    floor_formula=r"\min_{\lVert q \rVert = \lVert k \rVert = 1} \mathcal L",
    references=("Zhai et al. 2023",),
    conventions=(Convention("open_clip (initial values)", {"scale": 10.0, "bias": -10.0}),),
)
