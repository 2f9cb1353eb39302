"""Notation of the steps of the triplet losses, and of the cells they compare."""

from lossprism.losses.spec import Symbol

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
TRIPLET_SYMBOLS = {
    "anchors": Symbol("z_i", ("sentence", "dimension"), stem="z"),
    "directions": Symbol(r"z_i / \lVert z_i \rVert", ("sentence", "dimension")),
    "classes": Symbol("c_i", ("sentence",), stem="c"),
    "distances": Symbol("d_{ik}", ("sentence", "sentence"), equals="d(z_i, z_k)", signed=False),
    "alike": Symbol("c_i = c_k", ("sentence", "sentence"), "«classes[r]» = «classes[c]»"),
    "itself": Symbol("i = k", ("sentence", "sentence"), "«r» = «c»"),
    "partners": Symbol(
        r"c_i = c_k,\ i \ne k",
        ("sentence", "sentence"),
        r"«classes[r]» = «classes[c]»,\ «r» \ne «c»",
    ),
    "anchor": Symbol("a_t", ("triplet",)),
    "positive": Symbol("p_t", ("triplet",)),
    "to_positive": Symbol(
        "d^+_t",
        ("triplet",),
        "«distances[anchor[r],positive[r]]»",
        equals="d(a_t, p_t)",
        signed=False,
    ),
    "to_others": Symbol(
        "d_{tk}",
        ("triplet", "sentence"),
        "«distances[anchor[r],c]»",
        equals="d(a_t, z_k)",
        signed=False,
    ),
    "strangers": Symbol(
        r"c_{a_t} \ne c_k", ("triplet", "sentence"), r"«classes[anchor[r]]» \ne «classes[c]»"
    ),
    "beyond": Symbol(
        r"c_{a_t} \ne c_k,\ d_{tk} > d^+_t",
        ("triplet", "sentence"),
        r"«classes[anchor[r]]» \ne «classes[c]»,\ «to_others[r,c]» > «to_positive[r]»",
    ),
    "place": Symbol("k", ("sentence",)),
    "nearest_beyond": Symbol(r"\arg\min_{d_{tk} > d^+_t} d_{tk}", ("triplet",)),
    "farthest": Symbol(r"\arg\max_k d_{tk}", ("triplet",), signed=False),
    "negative": Symbol("n_t", ("triplet",)),
    "valid": Symbol(r"(t, k)\ \text{is a triplet}", ("triplet", "sentence")),
    "differences": Symbol(
        "x_{tk}",
        ("triplet", "sentence"),
        "«to_positive[r]» - «to_others[r,c]» + «margin»",
        equals="d^+_t - d_{tk} + m",
    ),
    "violations": Symbol(
        "v_{tk}",
        ("triplet", "sentence"),
        "«to_positive[r]» - «to_others[r,c]» + «margin»",
        equals=r"d^+_t - d_{tk} + m\ \text{where}\ (t, k)\ \text{is a triplet}",
    ),
    "terms": Symbol(
        "t_{tk}",
        ("triplet", "sentence"),
        {"soft_margin": r"\log\bigl(1 + e^{«violations[r,c]»}\bigr)", "": "[«violations[r,c]»]_+"},
        equals=r"[v_{tk}]_+\ \text{or}\ \log(1 + e^{v_{tk}})",
        signed=False,
    ),
    "loss": Symbol(
        r"\mathcal L",
        equals=r"\overline{t_{tk}}\ \text{over the triplets}",
        live=r"\frac{«Σ terms»}{«valid.sum().clamp_min(1)»}",
    ),
}
VIOLATING = {
    "loss": Symbol(
        r"\mathcal L",
        equals=r"\text{mean of}\ t_{tk} > 0",
        live=r"\frac{«Σ terms»}{«(terms > 0).sum().clamp_min(1)»}",
    )
}
OF_GIVEN = {
    "anchors": Symbol("a_t", ("given_triplet", "dimension")),
    "positives": Symbol("p_t", ("given_triplet", "dimension")),
    "negatives": Symbol("n_t", ("given_triplet", "dimension")),
    "to_positive": Symbol("d^+_t", ("given_triplet",), equals="d(a_t, p_t)", signed=False),
    "to_negative": Symbol("d^-_t", ("given_triplet",), equals="d(a_t, n_t)", signed=False),
    "violations": Symbol(
        "v_t",
        ("given_triplet",),
        "«to_positive[r]» - «to_negative[r]» + «margin»",
        equals="d^+_t - d^-_t + m",
    ),
    "terms": Symbol(
        "t_t",
        ("given_triplet",),
        {"soft_margin": r"\log\bigl(1 + e^{«violations[r]»}\bigr)", "": "[«violations[r]»]_+"},
        equals=r"[v_t]_+\ \text{or}\ \log(1 + e^{v_t})",
        signed=False,
    ),
    "loss": Symbol(
        r"\mathcal L", equals=r"\frac{1}{|T|} \sum_t t_t", live=r"\frac{«Σ terms»}{«len(terms)»}"
    ),
}
OF_GIVEN_HARD = Symbol(
    "t_t", ("given_triplet",), "[«violations[r]»]_+", equals="[v_t]_+", signed=False
)
SHIFTED_GIVEN = {
    "to_positive": Symbol(
        "d^+_t", ("given_triplet",), equals=r"\lVert a_t - p_t + \varepsilon \rVert", signed=False
    ),
    "to_negative": Symbol(
        "d^-_t", ("given_triplet",), equals=r"\lVert a_t - n_t + \varepsilon \rVert", signed=False
    ),
}
EVERY_ANCHOR = {
    "to_positive": Symbol(
        "d^+_a",
        ("sentence",),
        r"\max\bigl(0, «max distances[r] where alike[r] & ~itself[r]»\bigr)",
        equals=r"\max_p d(a, p)",
        signed=False,
    ),
    "farthest": Symbol(
        r"\max_k d_{ak}", ("sentence",), r"\max\bigl(«max distances[r]»\bigr)", signed=False
    ),
    "to_negative": Symbol(
        "d^-_a",
        ("sentence",),
        r"\min\bigl(«min distances[r] + farthest[r][..., None] * alike[r]»\bigr)",
        equals=r"\min_n d(a, n)",
        signed=False,
    ),
    "violations": Symbol(
        "v_a",
        ("sentence",),
        "«to_positive[r]» - «to_negative[r]» + «margin»",
        equals="d^+_a - d^-_a + m",
    ),
    "terms": Symbol("t_a", ("sentence",), "[«violations[r]»]_+", equals="[v_a]_+", signed=False),
    "loss": Symbol(
        r"\mathcal L", equals=r"\frac1S \sum_a t_a", live=r"\frac{«Σ terms»}{«len(terms)»}"
    ),
}
