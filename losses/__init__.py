r"""Ranking and contrastive losses, each written once as plain torch.

Every loss is a function of tensors: ``cosent(scores, labels, scale=20.0)``. `LOSSES` maps each
public name to its `LossSpec`: definition, formula, symbols, parameters, reference values.

Notation, the same in every file:

    s_i        score of pair i, a cosine unless stated otherwise; λ s_i scaled      [N]
    y_i        label of pair i; "ordered" are the pairs of pairs with y_i > y_j, |P| many  [N]
    (j, i)     row and column of a matrix over ordered pairs: j should score lower, i higher  [N, N]
    q_i, k_j   queries and keys, key i is the query's own; z_i sentences, w_c prototypes   [·, D]
    c_i        class of sentence i                                                      [S]
    λ, γ       scale, the inverse of a temperature;  τ  temperature;  m  margin
    d(u, v)    a distance of two vectors, Euclidean unless stated otherwise
    s_lj, y_lj score and label of candidate j of list l; m_lj whether there is one       [L, K]
    N pairs of a batch, S sentences, M positive pairs, K keys of a query or candidates of a list,
    C classes, D dimensions, L levels or lists

Folders: `ranking`, `lists`, `contrastive`, `prototypes`, `spread`, `distillation`, `pointwise`, one
loss or close family a file, with definition, public function and `LossSpec`; `kernels`, the exact
fast forms. What ships is imported here by name. A further module of the package that holds a
`LossSpec` is found and listed as well.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType

from lossprism.losses import input_checks
from lossprism.losses.combined.matryoshka import matryoshka, prefix_shares
from lossprism.losses.combined.weighted_sum import weighted_sum
from lossprism.losses.contrastive.contrastive import CONTRASTIVE, contrastive
from lossprism.losses.contrastive.debiased_and_hard_weighted import (
    DEBIASED,
    HARD_WEIGHTED,
    debiased,
    hard_weighted,
)
from lossprism.losses.contrastive.decoupled import DECOUPLED, decoupled
from lossprism.losses.contrastive.focal_info_nce import FOCAL_INFO_NCE, focal_info_nce
from lossprism.losses.contrastive.gist import GIST, gist
from lossprism.losses.contrastive.info_nce import INFO_NCE, info_nce, info_nce_of_swift
from lossprism.losses.contrastive.lifted import LIFTED, lifted, lifted_unit
from lossprism.losses.contrastive.mega_batch_margin import MEGA_BATCH_MARGIN, mega_batch_margin
from lossprism.losses.contrastive.multi_similarity import MULTI_SIMILARITY, multi_similarity
from lossprism.losses.contrastive.n_pair import N_PAIR, n_pair
from lossprism.losses.contrastive.nce import NCE, nce
from lossprism.losses.contrastive.nt_xent import (
    NT_XENT,
    nt_xent,
    nt_xent_of_both_directions,
    nt_xent_of_classes,
)
from lossprism.losses.contrastive.online_contrastive import ONLINE_CONTRASTIVE, online_contrastive
from lossprism.losses.contrastive.siglip import SIGLIP, siglip
from lossprism.losses.contrastive.soft_info_nce import SOFT_INFO_NCE, soft_info_nce
from lossprism.losses.contrastive.supcon import SUPCON, supcon, supcon_with_zeros
from lossprism.losses.contrastive.triplet import (
    TRIPLET,
    triplet,
    triplet_given,
    triplet_over_violating,
    triplet_semi_hard_or_itself,
    triplet_unit,
)
from lossprism.losses.distillation.distill_kl import DISTILL_KL, distill_kl
from lossprism.losses.distillation.embedding_mse import EMBEDDING_MSE, embedding_mse
from lossprism.losses.distillation.margin_mse import MARGIN_MSE, margin_mse
from lossprism.losses.lists.adr_mse import ADR_MSE, adr_mse
from lossprism.losses.lists.approx_ndcg import APPROX_NDCG, approx_ndcg
from lossprism.losses.lists.lambda_loss import LAMBDA_LOSS, lambda_loss
from lossprism.losses.lists.list_mle import LIST_MLE, list_mle
from lossprism.losses.lists.list_net_and_softmax_rank import (
    LIST_NET,
    SOFTMAX_RANK,
    list_net,
    softmax_rank,
)
from lossprism.losses.pointwise.binary_cross_entropy import (
    BINARY_CROSS_ENTROPY,
    binary_cross_entropy,
)
from lossprism.losses.pointwise.cosine_mse import COSINE_MSE, cosine_mse
from lossprism.losses.prototypes.arcface import ARCFACE, arcface
from lossprism.losses.prototypes.cosface import COSFACE, cosface
from lossprism.losses.prototypes.proxy_anchor import PROXY_ANCHOR, proxy_anchor
from lossprism.losses.prototypes.proxy_nca import PROXY_NCA, proxy_nca
from lossprism.losses.prototypes.softmax import SOFTMAX, softmax
from lossprism.losses.ranking.angle import ANGLE, angle
from lossprism.losses.ranking.circle_self_paced import (
    CIRCLE_SELF_PACED,
    circle_per_anchor,
    circle_self_paced,
)
from lossprism.losses.ranking.circle_with_fixed_margins import CIRCLE, circle
from lossprism.losses.ranking.cosent import COSENT, cosent
from lossprism.losses.ranking.hierarchical_cosent import HIERARCHICAL_COSENT, hierarchical_cosent
from lossprism.losses.ranking.hinge import (
    PAIRWISE_HINGE,
    pairwise_hinge,
    pairwise_hinge_per_item,
    pairwise_hinge_unweighted,
)
from lossprism.losses.ranking.max_violation import MAX_VIOLATION, max_violation
from lossprism.losses.ranking.multitask_cosent import MULTITASK_COSENT, multitask_cosent
from lossprism.losses.ranking.ranknet import (
    PAIRWISE_LOGISTIC,
    pairwise_logistic,
    pairwise_logistic_binary,
    pairwise_logistic_by_gap,
    pairwise_logistic_judged,
    pairwise_logistic_per_item,
    pairwise_logistic_still_at_ties,
)
from lossprism.losses.ranking.weighted_cosent import WEIGHTED_COSENT, weighted_cosent
from lossprism.losses.registry import LOSSES
from lossprism.losses.spec import GROUPS, Convention, LossSpec, Parameter, Symbol
from lossprism.losses.spec_from_function_signature import spec_of
from lossprism.losses.spread.alignment_and_uniformity import (
    ALIGNMENT,
    UNIFORMITY,
    alignment,
    uniformity,
)
from lossprism.losses.spread.barlow_twins import BARLOW_TWINS, barlow_twins
from lossprism.losses.spread.orthogonal import ORTHOGONAL, orthogonal
from lossprism.losses.spread.vicreg import VICREG, vicreg, vicreg_of_means

# In the order in which the page lists them, group by group.
SHIPPED = (
    COSENT,
    WEIGHTED_COSENT,
    HIERARCHICAL_COSENT,
    MULTITASK_COSENT,
    PAIRWISE_LOGISTIC,
    PAIRWISE_HINGE,
    MAX_VIOLATION,
    CIRCLE,
    CIRCLE_SELF_PACED,
    COSINE_MSE,
    BINARY_CROSS_ENTROPY,
    ANGLE,
    LIST_NET,
    SOFTMAX_RANK,
    LIST_MLE,
    LAMBDA_LOSS,
    APPROX_NDCG,
    ADR_MSE,
    INFO_NCE,
    FOCAL_INFO_NCE,
    SOFT_INFO_NCE,
    GIST,
    DECOUPLED,
    MEGA_BATCH_MARGIN,
    NT_XENT,
    DEBIASED,
    HARD_WEIGHTED,
    NCE,
    SIGLIP,
    SUPCON,
    MULTI_SIMILARITY,
    N_PAIR,
    CONTRASTIVE,
    ONLINE_CONTRASTIVE,
    TRIPLET,
    LIFTED,
    SOFTMAX,
    ARCFACE,
    COSFACE,
    PROXY_NCA,
    PROXY_ANCHOR,
    ALIGNMENT,
    UNIFORMITY,
    VICREG,
    BARLOW_TWINS,
    ORTHOGONAL,
    MARGIN_MSE,
    DISTILL_KL,
    EMBEDDING_MSE,
)

# All but the first read LOSSES.
WITHOUT_LOSSES = ("kernels", "lightning", "loss_on_one_batch", "modules", "sentence_transformers")


def _added() -> list[LossSpec]:
    """Return the specs of further modules in the package or in one of its folders."""
    specs = {id(spec): spec for spec in SHIPPED}
    for module in _modules(__path__, __name__):
        specs.update({id(one): one for one in vars(module).values() if isinstance(one, LossSpec)})
    return list(specs.values())[len(SHIPPED) :]


def _modules(folders: Iterable[str], package: str) -> Iterator[ModuleType]:
    """Return the names of all modules that may hold a loss, folder by folder."""
    apart = [f"{__name__}.{name}" for name in WITHOUT_LOSSES]
    for file in pkgutil.iter_modules(folders, f"{package}."):
        if file.name not in apart:
            module = importlib.import_module(file.name)
            yield module
            if file.ispkg:
                yield from _modules(module.__path__, file.name)


def _by_name(specs: list[LossSpec]) -> dict[str, LossSpec]:
    named: dict[str, LossSpec] = {}
    for spec in sorted(specs, key=lambda spec: GROUPS.index(spec.group)):  # stable
        if named.setdefault(spec.name, spec) is not spec:
            raise ValueError(f"two losses are called {spec.name}; a loss needs a name of its own")
    return named


LOSSES.update(_by_name([*SHIPPED, *_added()]))

# The losses of other libraries that are no setting of ours: `losses.nt_xent_of_classes`.
OTHERS = {
    convention.function.__name__: convention.function
    for spec in LOSSES.values()
    for convention in spec.conventions
    if convention.function
}

# The module's former name, by which losses that users wrote import it.
inputs = input_checks

# A file that was added is called as what ships is: `losses.exponential`.
globals().update({name: spec.function for name, spec in LOSSES.items()} | OTHERS)

__all__ = [
    "GROUPS",
    "LOSSES",
    "OTHERS",
    "Convention",
    "LossSpec",
    "Parameter",
    "Symbol",
    "adr_mse",
    "alignment",
    "angle",
    "approx_ndcg",
    "arcface",
    "barlow_twins",
    "binary_cross_entropy",
    "circle",
    "circle_per_anchor",
    "circle_self_paced",
    "contrastive",
    "cosent",
    "cosface",
    "cosine_mse",
    "debiased",
    "decoupled",
    "distill_kl",
    "embedding_mse",
    "focal_info_nce",
    "gist",
    "hard_weighted",
    "hierarchical_cosent",
    "info_nce",
    "info_nce_of_swift",
    "lambda_loss",
    "lifted",
    "lifted_unit",
    "list_mle",
    "list_net",
    "margin_mse",
    "matryoshka",
    "max_violation",
    "mega_batch_margin",
    "multi_similarity",
    "multitask_cosent",
    "n_pair",
    "nce",
    "nt_xent",
    "nt_xent_of_both_directions",
    "nt_xent_of_classes",
    "online_contrastive",
    "orthogonal",
    "pairwise_hinge",
    "pairwise_hinge_per_item",
    "pairwise_hinge_unweighted",
    "pairwise_logistic",
    "pairwise_logistic_binary",
    "pairwise_logistic_by_gap",
    "pairwise_logistic_judged",
    "pairwise_logistic_per_item",
    "pairwise_logistic_still_at_ties",
    "prefix_shares",
    "proxy_anchor",
    "proxy_nca",
    "siglip",
    "soft_info_nce",
    "softmax",
    "softmax_rank",
    "spec_of",
    "supcon",
    "supcon_with_zeros",
    "triplet",
    "triplet_given",
    "triplet_over_violating",
    "triplet_semi_hard_or_itself",
    "triplet_unit",
    "uniformity",
    "vicreg",
    "vicreg_of_means",
    "weighted_cosent",
    "weighted_sum",
]

if __name__ == "losses":  # imported by its bare name, first of all: `lossprism.bare_names`
    sys.modules[__name__] = importlib.import_module("lossprism.losses")
