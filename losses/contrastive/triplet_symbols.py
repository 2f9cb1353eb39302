"""Notation of the steps of the triplet losses, and of the cells they compare."""

from lossprism.losses.spec import Symbol
from lossprism.losses.symbols import (
    each_given_triplet,
    each_sentence,
    each_triplet,
    loss_symbol,
    sentence_by_sentence,
    triplet_by_sentence,
)

MINED = {"anchors": "embeddings", "classes": "paired_classes"}
GIVEN_MINIMUM = (
    "The minimum is the margin less the largest distance of unit vectors; vectors of any length "
    "reach 0."
)
GIVEN_NOTE = (
    "Takes each positive pair with each other pair of the same first sentence. " + GIVEN_MINIMUM
)
GIVEN = {
    "anchors": "triplet_anchors",
    "positives": "triplet_positives",
    "negatives": "triplet_negatives",
}
DISTANCE_SYMBOLS = {
    "directions": Symbol(r"z_i / \lVert z_i \rVert", ("sentence", "dimension")),
    "classes": each_sentence("c_i", stem="c"),
    "distances": sentence_by_sentence("d_{ik}", equals="d(z_i, z_k)", signed=False),
    "alike": sentence_by_sentence("c_i = c_k", "«classes[r]» = «classes[c]»"),
    "itself": sentence_by_sentence("i = k", "«r» = «c»"),
    "partners": sentence_by_sentence(
        r"c_i = c_k,\ i \ne k", r"«classes[r]» = «classes[c]»,\ «r» \ne «c»"
    ),
}
TRIPLET_SYMBOLS = {
    "anchors": Symbol("z_i", ("sentence", "dimension"), stem="z"),
    **DISTANCE_SYMBOLS,
    "anchor": each_triplet("a_t"),
    "positive": each_triplet("p_t"),
    "to_positive": each_triplet(
        "d^+_t", "«distances[anchor[r],positive[r]]»", equals="d(a_t, p_t)", signed=False
    ),
    "to_others": triplet_by_sentence(
        "d_{tk}", "«distances[anchor[r],c]»", equals="d(a_t, z_k)", signed=False
    ),
    "strangers": triplet_by_sentence(r"c_{a_t} \ne c_k", r"«classes[anchor[r]]» \ne «classes[c]»"),
    "beyond": triplet_by_sentence(
        r"c_{a_t} \ne c_k,\ d_{tk} > d^+_t",
        r"«classes[anchor[r]]» \ne «classes[c]»,\ «to_others[r,c]» > «to_positive[r]»",
    ),
    "place": each_sentence("k"),
    "nearest_beyond": each_triplet(r"\arg\min_{d_{tk} > d^+_t} d_{tk}"),
    "farthest": each_triplet(r"\arg\max_k d_{tk}", signed=False),
    "negative": each_triplet("n_t"),
    "valid": triplet_by_sentence(r"(t, k)\ \text{is a triplet}"),
    "differences": triplet_by_sentence(
        "x_{tk}", "«to_positive[r]» - «to_others[r,c]» + «margin»", equals="d^+_t - d_{tk} + m"
    ),
    "violations": triplet_by_sentence(
        "v_{tk}",
        "«to_positive[r]» - «to_others[r,c]» + «margin»",
        equals=r"d^+_t - d_{tk} + m\ \text{where}\ (t, k)\ \text{is a triplet}",
    ),
    "terms": triplet_by_sentence(
        "t_{tk}",
        {"soft_margin": r"\log\bigl(1 + e^{«violations[r,c]»}\bigr)", "": "[«violations[r,c]»]_+"},
        equals=r"[v_{tk}]_+\ \text{or}\ \log(1 + e^{v_{tk}})",
        signed=False,
    ),
    "loss": loss_symbol(
        r"\overline{t_{tk}}\ \text{over the triplets}",
        r"\frac{«Σ terms»}{«valid.sum().clamp_min(1)»}",
    ),
}
VIOLATING = {
    "loss": loss_symbol(
        r"\text{mean of}\ t_{tk} > 0", r"\frac{«Σ terms»}{«(terms > 0).sum().clamp_min(1)»}"
    )
}
OF_GIVEN = {
    "anchors": Symbol("a_t", ("given_triplet", "dimension")),
    "positives": Symbol("p_t", ("given_triplet", "dimension")),
    "negatives": Symbol("n_t", ("given_triplet", "dimension")),
    "to_positive": each_given_triplet("d^+_t", equals="d(a_t, p_t)", signed=False),
    "to_negative": each_given_triplet("d^-_t", equals="d(a_t, n_t)", signed=False),
    "violations": each_given_triplet(
        "v_t", "«to_positive[r]» - «to_negative[r]» + «margin»", equals="d^+_t - d^-_t + m"
    ),
    "terms": each_given_triplet(
        "t_t",
        {"soft_margin": r"\log\bigl(1 + e^{«violations[r]»}\bigr)", "": "[«violations[r]»]_+"},
        equals=r"[v_t]_+\ \text{or}\ \log(1 + e^{v_t})",
        signed=False,
    ),
    "loss": loss_symbol(r"\frac{1}{|T|} \sum_t t_t", r"\frac{«Σ terms»}{«len(terms)»}"),
}
OF_GIVEN_HARD = each_given_triplet("t_t", "[«violations[r]»]_+", equals="[v_t]_+", signed=False)
SHIFTED_GIVEN = {
    "to_positive": each_given_triplet(
        "d^+_t", equals=r"\lVert a_t - p_t + \varepsilon \rVert", signed=False
    ),
    "to_negative": each_given_triplet(
        "d^-_t", equals=r"\lVert a_t - n_t + \varepsilon \rVert", signed=False
    ),
}
EVERY_ANCHOR = {
    "to_positive": each_sentence(
        "d^+_a",
        r"\max\bigl(0, «max distances[r] where alike[r] & ~itself[r]»\bigr)",
        equals=r"\max_p d(a, p)",
        signed=False,
    ),
    "farthest": each_sentence(
        r"\max_k d_{ak}", r"\max\bigl(«max distances[r]»\bigr)", signed=False
    ),
    "to_negative": each_sentence(
        "d^-_a",
        r"\min\bigl(«min distances[r] + farthest[r][..., None] * alike[r]»\bigr)",
        equals=r"\min_n d(a, n)",
        signed=False,
    ),
    "violations": each_sentence(
        "v_a", "«to_positive[r]» - «to_negative[r]» + «margin»", equals="d^+_a - d^-_a + m"
    ),
    "terms": each_sentence("t_a", "[«violations[r]»]_+", equals="[v_a]_+", signed=False),
    "loss": loss_symbol(r"\frac1S \sum_a t_a", r"\frac{«Σ terms»}{«len(terms)»}"),
}
