"""The losses once more, as loops over lists of Python floats: no torch, no code of `losses`.

Each is read off the formula of its paper or library alone. `python -m tests.unit.losses.by_loops`
writes `tests/data/golden/cases_recipes.json` from them.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.losses.by_loops.classes import (
    cosface,
    lifted,
    multi_similarity,
    online_contrastive,
    proxy_anchor,
    proxy_nca,
    triplet,
)
from tests.unit.losses.by_loops.in_batch import (
    debiased,
    decoupled,
    focal_info_nce,
    gist,
    hard_weighted,
    info_nce,
    mega_batch_margin,
    n_pair,
    soft_info_nce,
)
from tests.unit.losses.by_loops.lists import (
    adr_mse,
    approx_ndcg,
    lambda_loss,
    list_mle,
    list_net,
    softmax_rank,
)
from tests.unit.losses.by_loops.spread import (
    alignment,
    barlow_twins,
    orthogonal,
    uniformity,
    vicreg,
)
from tests.unit.losses.by_loops.teachers import distill_kl, embedding_mse, margin_mse

LOSSES: dict[str, Callable[..., float]] = {
    function.__name__: function
    for function in (
        info_nce,
        gist,
        decoupled,
        debiased,
        hard_weighted,
        focal_info_nce,
        soft_info_nce,
        n_pair,
        mega_batch_margin,
        online_contrastive,
        triplet,
        multi_similarity,
        lifted,
        proxy_anchor,
        proxy_nca,
        cosface,
        margin_mse,
        distill_kl,
        embedding_mse,
        list_net,
        softmax_rank,
        list_mle,
        lambda_loss,
        approx_ndcg,
        adr_mse,
        alignment,
        uniformity,
        vicreg,
        barlow_twins,
        orthogonal,
    )
}
