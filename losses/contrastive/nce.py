"""NCE: is this key the query's own, or noise?"""

import math
from functools import partial
from typing import cast

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.contrastive.in_batch_symbols_and_counts import (
    QUERY_SYMBOLS,
    TEXT_SYMBOLS,
    TEXTS,
    left_out_counts,
    mean_count,
    some,
    temperature_parameter,
)
from lossprism.losses.contrastive.siglip import decisions
from lossprism.losses.definition_chosen_by_options import Choice, composed
from lossprism.losses.duplicate_text_masks import absent_by, same_text_count
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import cosine, cosine_matrix, unit
from lossprism.losses.joined_mask_and_bias_rules import Rule, Rules
from lossprism.losses.kernels import mean_of, softplus
from lossprism.losses.kernels.query_key_losses_by_tiles import against_own, directions_and_logits
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.masks import EVERY_CELL, OTHERS, others_of_row, texts_differ
from lossprism.losses.minimum import least_binary, simplex_gap, softplus_at
from lossprism.losses.spec import LossSpec, Parameter
from lossprism.losses.symbols import each_query, loss_symbol, query_by_key


def nce_definition(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    noise_ratio: float = 1.0,
    where: Rule = OTHERS,
) -> Tensor:
    positive = cosine(queries, keys) / temperature
    if negatives is None:
        noise = cosine_matrix(queries, keys) / temperature
    else:
        noise = (unit(queries)[:, None, :] * unit(negatives)).sum(dim=2) / temperature
    is_noise = where(noise)
    excess = noise - positive[:, None] + math.log(noise_ratio)
    terms = softplus(excess).masked_fill(~is_noise, 0)
    loss = mean_of(terms, is_noise)
    return loss


def nce_full_definition(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    log_noise: float = 0.0,
    where: Rule = OTHERS,
) -> Tensor:
    positive = cosine(queries, keys) / temperature
    if negatives is None:
        noise = cosine_matrix(queries, keys) / temperature
    else:
        noise = (unit(queries)[:, None, :] * unit(negatives)).sum(dim=2) / temperature
    is_noise = where(noise)
    excess = noise - log_noise
    terms = softplus(excess).masked_fill(~is_noise, 0)
    data_terms = softplus(log_noise - positive)
    per_query = data_terms + terms.sum(dim=1)
    loss = per_query.mean()
    return loss


@composed(nce_definition, nce_full_definition)
def nce_by_options(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    noise_ratio: float = 1.0,
    full: bool = False,
    log_noise: float = 0.0,
    query_texts: Tensor | None = None,
    key_texts: Tensor | None = None,
) -> Choice:
    """Choose the definition of NCE for the options of `losses.nce`."""
    where = OTHERS if negatives is None else EVERY_CELL
    if negatives is None and query_texts is not None and key_texts is not None:
        differ = partial(texts_differ, query_texts=query_texts, key_texts=key_texts)
        where = Rules("&", (others_of_row, differ))
    arguments = {
        "queries": queries,
        "keys": keys,
        "negatives": negatives,
        "temperature": temperature,
        "where": where,
    }
    if full:
        return nce_full_definition, {**arguments, "log_noise": log_noise}
    return nce_definition, {**arguments, "noise_ratio": noise_ratio}


def nce(
    queries: Tensor,
    keys: Tensor,
    *,
    negatives: Tensor | None = None,
    temperature: float = 0.05,
    noise_ratio: float = 1.0,
    full: bool = False,
    log_noise: float = 0.0,
    query_texts: Tensor | None = None,
    key_texts: Tensor | None = None,
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
        query_texts, key_texts: [N] each, the texts of the rows as numbers, equal for equal texts. A
            key of the query's text, or of its own key's, is then no noise. They tell keys of the
            batch apart, so that negatives are not given beside them.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    input_checks.above_zero(temperature=temperature, noise_ratio=noise_ratio)
    input_checks.plain_number(noise_ratio=noise_ratio)
    input_checks.must_be_texts(query_texts=(query_texts, queries), key_texts=(key_texts, keys))
    if negatives is not None and key_texts is not None:
        raise ValueError("key_texts tells keys of the batch apart; give it, or negatives, not both")
    queries, keys, negatives = gathered(gather, queries, keys, negatives)
    texts = gathered(gather, query_texts, key_texts)
    least = input_checks.for_products(queries) if negatives is None else torch.float32
    queries, keys, negatives = cast(
        "tuple[Tensor, Tensor, Tensor | None]",
        input_checks.real(least, queries=queries, keys=keys, negatives=negatives),
    )
    input_checks.must_be_rows(queries=queries, keys=keys)
    input_checks.must_be_paired(queries=queries, keys=keys)
    if negatives is not None:
        count, width = queries.shape
        if negatives.ndim != 3 or (len(negatives), negatives.shape[2]) != (count, width):
            raise ValueError(
                f"negatives has shape {tuple(negatives.shape)}; noise keys of {width} dimensions "
                f"for each of the {count} queries are needed, [N, K, D]"
            )
        return nce_by_options(
            queries,
            keys,
            negatives=negatives,
            temperature=temperature,
            noise_ratio=noise_ratio,
            full=full,
            log_noise=log_noise,
        )
    if full:
        input_checks.one_number(log_noise=log_noise)
        return decisions(queries, keys, 1 / temperature, log_noise, *texts)
    arguments = (queries, keys, 1 / temperature, math.log(noise_ratio), *texts)
    return with_gradient(_nce_by_tiles, _dense_nce, *arguments)


def _dense_nce(queries, keys, scale, log_ratio, of_queries, of_keys):
    return nce_by_options(
        queries,
        keys,
        temperature=1 / scale,
        noise_ratio=math.exp(log_ratio),
        query_texts=of_queries,
        key_texts=of_keys,
    )


def _nce_by_tiles(needs_grad, queries, keys, scale, log_ratio, of_queries, of_keys):
    count, left_out = len(queries), None
    share: float | Tensor = 1 / max(count * (count - 1), 1)
    points, logits = directions_and_logits(needs_grad, queries, keys, scale)
    if of_queries is not None:
        left_out = absent_by(of_queries, of_keys, of_keys)
        own_and_left_out = same_text_count(of_queries, of_keys, of_keys).sum()
        noise = (count * count - own_and_left_out).clamp_min(1)
        share = noise.to(logits.exact).reciprocal()
    total = against_own(logits, log_ratio, left_out)
    if not any(needs_grad):
        return total * share, ()
    gradient, by_scale = points.pull_back(share, scale)
    return total * share, (*gradient.split(count), by_scale, None, None, None)


def _noise_keys(tensors: dict[str, Tensor]) -> float:
    """Return the average number of noise keys of a query."""
    negatives = tensors.get("negatives")
    if negatives is not None:
        return negatives.shape[1]
    return mean_count(len(tensors["keys"]) - 1, left_out_counts(tensors)[0])


def _nce_collapse(
    tensors: dict[str, Tensor],
    temperature: float = 0.05,
    noise_ratio: float = 1.0,
    full: bool = False,
    log_noise: float = 0.0,
) -> float:
    count = _noise_keys(tensors)
    logit = 1 / temperature - log_noise
    if full:
        return softplus_at(-logit) + count * softplus_at(logit)
    return math.log1p(noise_ratio) if count else 0.0


def _nce_floor(
    tensors: dict[str, Tensor],
    temperature: float = 0.05,
    noise_ratio: float = 1.0,
    full: bool = False,
    log_noise: float = 0.0,
) -> float | None:
    if some(left_out_counts(tensors)[0]):
        return None
    count, own_noise = round(_noise_keys(tensors)), tensors.get("negatives") is not None
    if full and not own_noise:
        return least_binary(count + 1, 1 / temperature, log_noise)
    if full:
        return softplus_at(log_noise - 1 / temperature) + count * softplus_at(
            -1 / temperature - log_noise
        )
    if count == 0:
        return 0.0
    gap = 2.0 if own_noise else simplex_gap(count + 1)
    return softplus_at(math.log(noise_ratio) - gap / temperature)


NCE = LossSpec(
    function=nce,
    definition=nce_by_options,
    title="NCE",
    about="Tells each true pair from noise, one comparison at a time.",
    group="in_batch",
    formula=r"-\frac{1}{|\mathrm{noise}|} \sum_{i, k}"
    r" \log \frac{e^{s^+_i/\tau}}{e^{s^+_i/\tau} + m\, e^{s^-_{ik}/\tau}}",
    symbols={
        "queries": QUERY_SYMBOLS["queries"],
        "keys": QUERY_SYMBOLS["keys"],
        **{name: TEXT_SYMBOLS[name] for name in TEXTS},
        "positive": each_query("p_i", equals=r"\cos(q_i, k_i) / \tau"),
        "noise": query_by_key("n_{ik}", equals=r"\cos(q_i, k_k) / \tau"),
        "is_noise": query_by_key(r"k \ne i", r"«c» \ne «r»"),
        "excess": query_by_key(
            "x_{ik}",
            "«noise[r,c]» - «log_noise if full else positive[r] - log(noise_ratio)»",
            equals=r"n_{ik} - p_i + \ln m\ \text{or}\ n_{ik} - \nu",
        ),
        "terms": query_by_key(
            "t_{ik}",
            r"\log\bigl(1 + e^{«excess[r,c]»}\bigr)",
            equals=r"\log\bigl(1 + e^{x_{ik}}\bigr)\ \text{where}\ k \ne i",
            signed=False,
        ),
        "data_terms": each_query(
            "d_i",
            r"\log\bigl(1 + e^{«log_noise» - «positive[r]»}\bigr)",
            equals=r"\log\bigl(1 + e^{\nu - p_i}\bigr)",
            signed=False,
        ),
        "per_query": each_query(
            r"\ell_i", "«data_terms[r]» + «Σ terms[r]»", equals=r"d_i + \sum_k t_{ik}", signed=False
        ),
        "loss": loss_symbol(
            r"\overline{t_{ik}}\ \text{or}\ \frac1N \sum_i \ell_i",
            r"\frac{«Σ per_query if full else terms»}"
            r"{«len(per_query) if full else is_noise.sum().clamp_min(1)»}",
        ),
    },
    parameters=(
        temperature_parameter(0.05),
        Parameter(
            "noise_ratio", 1.0, "m", 0.01, 100.0, 0.01, logarithmic=True, label="noise ratio"
        ),
        Parameter("full", False, label="full form"),
        Parameter("log_noise", 0.0, r"\nu", -20.0, 20.0, 0.1, label="log noise"),
    ),
    variants={
        "full=true": r"\frac1N \sum_i \Bigl(\log\bigl(1 + e^{\nu - s^+_i/\tau}\bigr)"
        r" + \sum_k \log\bigl(1 + e^{s^-_{ik}/\tau - \nu}\bigr)\Bigr)"
    },
    reads={"queries": "queries", "keys": "keys", **TEXTS},
    counted=r"\text{text}(k_k) \notin"
    r" \{\text{text}(q_i), \text{text}(k_i)\}",
    terms="excess",
    negatives=("excess",),
    collapse=_nce_collapse,
    collapse_formula=r"\ln(1 + m)",
    floor=_nce_floor,
    floor_formula=r"\ln\bigl(1 + m\, e^{-\frac{N}{(N - 1)\tau}}\bigr)",
    aliases=("NCELoss", "noise-contrastive estimation"),
    references=("S2", "Gutmann & Hyvärinen 2010"),
)
