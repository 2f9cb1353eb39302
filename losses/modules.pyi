# Written by `python -m scripts.class_stubs` from the LossSpec of each loss.

r"""Every loss as an `nn.Module`: ``CosentLoss(scale=20.0)(scores, labels)``.

A module holds the parameters of its loss and nothing else; tensors go into `forward`. The class
of each loss in `LOSSES` is made below: `info_nce` gives `InfoNceLoss`, and so on. Losses against
prototypes learn them: ``ArcfaceLoss(count, dimension, margin=0.3)``. `modules.pyi` has their
parameters for type checkers and editors.
"""

import collections.abc

import torch
from torch import nn

from lossprism.losses import LOSSES as LOSSES
from lossprism.losses import LossSpec as LossSpec
from lossprism.losses.generated_classes import made_class as made_class
from lossprism.losses.module_bases import LossModule as LossModule
from lossprism.losses.module_bases import PrototypeLoss as PrototypeLoss
from lossprism.losses.module_bases import QueuedLoss as QueuedLoss
from lossprism.losses.module_bases import Settled as Settled

def module_name(name: str) -> str:
    """Return the class name: `info_nce` → `InfoNceLoss`, `info_nce+angle` →
    `InfoNceAngleLoss`."""

def loss_module(name: str) -> type[LossModule]:
    """Return the class for the loss of this name, also for one registered later, and for a sum:
    ``loss_module("info_nce+angle")(weight_of_angle=0.1)``. The name of a library's class selects
    the loss as that library computes it: ``loss_module("MultipleNegativesRankingLoss")()``."""

MODULES: dict[str, type[LossModule]]

class CosentLoss(LossModule):
    r"""CoSENT as a module.

    Penalises every two pairs that are ranked in the wrong order.

        \log\Bigl(1 + \sum_{y_i > y_j} e^{\lambda (s_j - s_i)}\Bigr)

    Args:
        scale: \lambda in the formula
    """
    def __init__(self, *, scale: nn.Parameter | float = 20.0, gather: bool = False) -> None: ...

class WeightedCosentLoss(LossModule):
    r"""Weighted CoSENT as a module.

    Weighs CoSENT's comparisons by the gap between their labels.

        \log\Bigl(1 + \sum_{y_i > y_j} (y_i - y_j)\, e^{\lambda (s_j - s_i)}\Bigr)

    Args:
        scale: \lambda in the formula
    """
    def __init__(self, *, scale: nn.Parameter | float = 20.0, gather: bool = False) -> None: ...

class HierarchicalCosentLoss(LossModule):
    r"""Hierarchical CoSENT as a module.

    Adds CoSENT at several levels of similarity, with weights.

        \sum_{l} \beta_l \log\Bigl(1 + \sum_{y_i > y_j} e^{\lambda (s^{(l)}_j - s^{(l)}_i)}\Bigr)

    Args:
        weights: level weights; \beta in the formula
        scale: \lambda in the formula
    """
    def __init__(
        self,
        *,
        weights: torch.Tensor | tuple[float, ...] | None = None,
        scale: nn.Parameter | float = 20.0,
        gather: bool = False,
    ) -> None: ...

class MultitaskCosentLoss(LossModule):
    r"""Multi-task CoSENT as a module.

    Adds cross-entropy for the class to CoSENT for the order.

        \log\Bigl(1 + \sum_{y_i > y_j} e^{\lambda (s_j - s_i)}\Bigr) + \alpha\,\mathrm{CE}(z, c)

    Args:
        alpha: weight of cross-entropy; \alpha in the formula
        scale: \lambda in the formula
    """
    def __init__(
        self,
        *,
        alpha: nn.Parameter | float = 1.0,
        scale: nn.Parameter | float = 20.0,
        gather: bool = False,
    ) -> None: ...

class PairwiseLogisticLoss(LossModule):
    r"""Pairwise logistic (RankNet) as a module.

    Penalises each ordered pair by a logarithm of its own, as in RankNet.

        \sum_{y_i > y_j} \log\bigl(1 + e^{\lambda (s_j - s_i)}\bigr)

    Args:
        scale: \lambda in the formula
        reduction: one of 'sum', 'mean'
    """
    def __init__(
        self, *, scale: nn.Parameter | float = 20.0, reduction: str = "sum", gather: bool = False
    ) -> None: ...

class PairwiseHingeLoss(LossModule):
    r"""Pairwise hinge as a module.

    Penalises ordered pairs closer than the margin, weighted by their label gap.

        \frac{\sum_{y_i > y_j} (y_i - y_j)\,[s_j - s_i + m]_+}{\sum_{y_i > y_j} (y_i - y_j) + \varepsilon}

    Args:
        margin: m in the formula
        eps: stabiliser; \varepsilon in the formula
    """
    def __init__(
        self,
        *,
        margin: nn.Parameter | float = 0.3,
        eps: nn.Parameter | float = 1e-06,
        gather: bool = False,
    ) -> None: ...

class MaxViolationLoss(LossModule):
    r"""Largest violation as a module.

    Keeps only the worst violation: what CoSENT becomes as its scale grows.

        \max\bigl(0, \max_{y_i > y_j} (s_j - s_i)\bigr)
    """
    def __init__(self, *, gather: bool = False) -> None: ...

class CircleLoss(LossModule):
    r"""Circle as a module.

    Compares positives with negatives as CoSENT does, with a margin on either side.

        \log\Bigl(1 + \sum_{j \in -} e^{\gamma (s_j - \Delta_n)} \sum_{i \in +} e^{-\gamma (s_i - \Delta_p)}\Bigr)

    Args:
        scale: \gamma in the formula
        positive_margin: \Delta_p in the formula
        negative_margin: \Delta_n in the formula
    """
    def __init__(
        self,
        *,
        scale: nn.Parameter | float = 64.0,
        positive_margin: nn.Parameter | float = 0.0,
        negative_margin: nn.Parameter | float = 0.0,
        gather: bool = False,
    ) -> None: ...

class CircleSelfPacedLoss(LossModule):
    r"""Circle, self-paced as a module.

    Slows Circle loss down for pairs that are already in place.

        \log\Bigl(1 + \sum_{j \in -} e^{\gamma \alpha_n (s_j - m)} \sum_{i \in +} e^{-\gamma \alpha_p (s_i - 1 + m)}\Bigr)

    Args:
        scale: \gamma in the formula
        margin: m in the formula
    """
    def __init__(
        self,
        *,
        scale: nn.Parameter | float = 64.0,
        margin: nn.Parameter | float = 0.25,
        gather: bool = False,
    ) -> None: ...

class CosineMseLoss(LossModule):
    r"""Cosine regression (MSE) as a module.

    Pulls each cosine to its label, regardless of the others.

        \frac1N \sum_i (s_i - y_i)^2
    """
    def __init__(self) -> None: ...

class BinaryCrossEntropyLoss(LossModule):
    r"""Binary cross-entropy as a module.

    Reads each score as the logit of “this pair is positive”.

        \frac1N \sum_i \bigl(\log(1 + e^{s_i}) - y_i s_i\bigr)
    """
    def __init__(self) -> None: ...

class AngleLoss(LossModule):
    r"""AnglE as a module.

    Compares pairs as CoSENT does, by an angle in the complex plane where cosine would saturate.

        \log\Bigl(1 + \sum_{y_i > y_j} e^{\lambda (s_j - s_i)}\Bigr),\quad s_i = \Bigl|\sum_d \mathrm{Re}\tfrac{z_{id}}{w_{id}} + \mathrm{Im}\tfrac{z_{id}}{w_{id}}\Bigr|

    Args:
        scale: \lambda in the formula
    """
    def __init__(self, *, scale: nn.Parameter | float = 20.0, gather: bool = False) -> None: ...

class ListNetLoss(LossModule):
    r"""ListNet as a module.

    Matches the probabilities of a list's scores to those of its labels.

        -\frac1L \sum_l \sum_j P_{l,j} \log \frac{e^{s_{l,j}/\tau}}{\sum_k e^{s_{l,k}/\tau}}

    Args:
        target: one of 'softmax', 'normalized', 'raw'
        temperature: \tau in the formula
    """
    def __init__(
        self, *, target: str = "softmax", temperature: nn.Parameter | float = 1.0
    ) -> None: ...

class SoftmaxRankLoss(LossModule):
    r"""Softmax loss of lists as a module.

    Takes a softmax over each list and weighs every candidate by its label.

        -\frac1L \sum_l \sum_j y_{l,j} \log \frac{e^{s_{l,j}/\tau}}{\sum_k e^{s_{l,k}/\tau}}

    Args:
        target: one of 'raw', 'normalized'
        temperature: \tau in the formula
    """
    def __init__(self, *, target: str = "raw", temperature: nn.Parameter | float = 1.0) -> None: ...

class ListMleLoss(LossModule):
    r"""ListMLE as a module.

    Picks a list's candidates one by one, the best label first.

        \frac1L \sum_l \sum_i \log\Bigl(1 + \sum_{j\ \text{after}\ i} e^{(s_{l,j} - s_{l,i})/\tau}\Bigr)

    Args:
        weighted: weighted by similarity
        order: one of 'labels', 'given'
        temperature: \tau in the formula
    """
    def __init__(
        self,
        *,
        weighted: bool = False,
        order: str = "labels",
        temperature: nn.Parameter | float = 1.0,
    ) -> None: ...

class LambdaLoss(LossModule):
    r"""LambdaLoss as a module.

    Applies RankNet within each list, and weighs a pair by what its order is worth to the NDCG.

        \frac{1}{|P|} \sum_l \sum_{y_i > y_j} w_{l,ij} \log_2\bigl(1 + e^{\sigma (s_{l,j} - s_{l,i})}\bigr)

    Args:
        scheme: weights; one of 'ndcg2pp', 'ndcg2', 'lambdarank', 'ndcg1', 'none'
        k: first k only; k in the formula
        sigma: width of the weights; \sigma in the formula
        mu: share of NDCG-Loss2; \mu in the formula
        reduction: one of 'mean', 'sum'
    """
    def __init__(
        self,
        *,
        scheme: str = "ndcg2pp",
        k: nn.Parameter | int | None = None,
        sigma: nn.Parameter | float = 1.0,
        mu: nn.Parameter | float = 10.0,
        reduction: str = "mean",
    ) -> None: ...

class ApproxNdcgLoss(LossModule):
    r"""ApproxNDCG as a module.

    Maximises the NDCG with soft ranks. Its values are negative: −1 is the best order.

        -\frac1L \sum_l \sum_i \frac{G_{l,i}}{\log_2(1 + \hat r_{l,i})},\quad \hat r_{l,i} = 1 + \sum_{j \ne i} \sigma\Bigl(\frac{s_{l,j} - s_{l,i}}{\tau}\Bigr)

    Args:
        temperature: \tau in the formula
    """
    def __init__(self, *, temperature: nn.Parameter | float = 0.1) -> None: ...

class AdrMseLoss(LossModule):
    r"""ADR-MSE as a module.

    Pulls each candidate's soft rank to the rank of its label, the top ones most of all.

        \frac1N \sum_{l,i} \frac{(r_{l,i} - \hat r_{l,i})^2}{\log_2(1 + r_{l,i})},\quad \hat r_{l,i} = 1 + \sum_{j \ne i} \sigma\Bigl(\frac{s_{l,j} - s_{l,i}}{\tau}\Bigr)

    Args:
        temperature: \tau in the formula
    """
    def __init__(self, *, temperature: nn.Parameter | float = 1.0) -> None: ...

class InfoNceLoss(LossModule):
    r"""InfoNCE as a module.

    Picks each query's match among all texts in the batch.

        -\frac1N \sum_i \log \frac{e^{\cos(q_i, k_i)/\tau}}{\sum_j e^{\cos(q_i, k_j)/\tau}}

    Args:
        temperature: \tau in the formula
        symmetric: both directions
        similarity: one of 'cosine', 'dot'
        directions: one of 'query_to_key', 'query_to_key,key_to_query', 'query_to_key,query_to_query', 'query_to_key,query_to_query,key_to_key', 'query_to_key,key_to_query,query_to_query,key_to_key'
        partition: softmax; one of 'joint', 'per_direction'
        in_batch: negatives of the batch
        mask_above: drop negatives above positive + m; m in the formula
        hardness: \alpha in the formula
        hardness_on: one of 'in_batch', 'hard', 'all'
        log_weight: weight of own hard negatives (logarithm); \log w in the formula
        negatives_seen: hard negatives each query sees; one of 'by_all', 'by_own'
    """
    def __init__(
        self,
        *,
        temperature: nn.Parameter | float = 0.05,
        symmetric: bool = False,
        similarity: str = "cosine",
        directions: str | collections.abc.Iterable[str] = "query_to_key",
        partition: str = "joint",
        in_batch: bool = True,
        mask_above: nn.Parameter | float | None = None,
        hardness: nn.Parameter | float = 0.0,
        hardness_on: str = "in_batch",
        log_weight: nn.Parameter | float = 0.0,
        negatives_seen: str = "by_all",
        gather: bool = False,
    ) -> None: ...

class FocalInfoNceLoss(LossModule):
    r"""Focal InfoNCE as a module.

    Weighs InfoNCE's queries less once they find their key.

        -\frac1N \sum_i (1 - p_i)^\gamma \log p_i,\quad p_i = \frac{e^{\cos(q_i, k_i)/\tau}}{\sum_j e^{\cos(q_i, k_j)/\tau}}

    Args:
        temperature: \tau in the formula
        gamma: focus; \gamma in the formula
    """
    def __init__(
        self,
        *,
        temperature: nn.Parameter | float = 0.05,
        gamma: nn.Parameter | float = 0.5,
        gather: bool = False,
    ) -> None: ...

class SoftInfoNceLoss(LossModule):
    r"""InfoNCE with soft targets as a module.

    Gives each query a target distribution over the keys, not a single key.

        -\frac1N \sum_i \sum_j t_{ij} \log \frac{e^{\cos(q_i, k_j)/\tau}}{\sum_l e^{\cos(q_i, k_l)/\tau}}

    Args:
        temperature: \tau in the formula
    """
    def __init__(self, *, temperature: nn.Parameter | float = 0.05) -> None: ...

class GistLoss(LossModule):
    r"""GISTEmbed as a module.

    Drops from InfoNCE the negatives that a guide finds nearer than the positive.

        -\frac1N \sum_i \log \frac{e^{s_{ii}}}{e^{s_{ii}} + \sum_{j \ne i} m_{ij}\, e^{s_{ij}} + \sum_{j \ne i} m_{ij}\, e^{s(q_i, q_j)} + \sum_{j \ne i} m_{ij}\, e^{s(k_i, k_j)} + \sum_n m_{in}\, e^{s_{in}}}

    Args:
        temperature: \tau in the formula
        margin: m in the formula
        margin_kind: kind of margin; one of 'absolute', 'relative'
        contrast_anchors: queries against queries
        contrast_positives: keys against keys
    """
    def __init__(
        self,
        *,
        temperature: nn.Parameter | float = 0.01,
        margin: nn.Parameter | float = 0.0,
        margin_kind: str = "absolute",
        contrast_anchors: bool = True,
        contrast_positives: bool = True,
        gather: bool = False,
    ) -> None: ...

class DecoupledLoss(LossModule):
    r"""Decoupled contrastive (DCL) as a module.

    Leaves the positive pair out of InfoNCE's denominator.

        \frac1N \sum_i \Bigl(-\frac{\cos(q_i, k_i)}{\tau} + \log \sum_{j \ne i} e^{\cos(q_i, k_j)/\tau}\Bigr)

    Args:
        temperature: \tau in the formula
        weighted: weighted by similarity
        sigma: width of the weights; \sigma in the formula
    """
    def __init__(
        self,
        *,
        temperature: nn.Parameter | float = 0.1,
        weighted: bool = False,
        sigma: nn.Parameter | float = 0.5,
        gather: bool = False,
    ) -> None: ...

class MegaBatchMarginLoss(LossModule):
    r"""Mega-batch margin as a module.

    Pulls the positive above one margin and pushes the nearest negative below another.

        \frac1N \sum_i \Bigl([m^+ - \cos(q_i, k_i)]_+ + \bigl[\max_{j \ne i} \cos(q_i, k_j) - m^-\bigr]_+\Bigr)

    Args:
        positive_margin: m^+ in the formula
        negative_margin: m^- in the formula
    """
    def __init__(
        self,
        *,
        positive_margin: nn.Parameter | float = 0.8,
        negative_margin: nn.Parameter | float = 0.3,
        gather: bool = False,
    ) -> None: ...

class NtXentLoss(LossModule):
    r"""NT-Xent as a module.

    Picks each view's partner among all other views.

        -\frac{1}{2N} \sum_i \log \frac{e^{\cos(z_i, z_{p(i)})/\tau}}{\sum_{k \ne i} e^{\cos(z_i, z_k)/\tau}}

    Args:
        temperature: \tau in the formula
    """
    def __init__(
        self, *, temperature: nn.Parameter | float = 0.5, gather: bool = False
    ) -> None: ...

class DebiasedLoss(LossModule):
    r"""Debiased contrastive as a module.

    Corrects NT-Xent for the share of negatives that are positives.

        \frac{1}{2N} \sum_i \log\Bigl(1 + \frac{G_i}{e^{s_{i\,p(i)}}}\Bigr),\quad G_i = \max\Bigl(\frac{\sum_k e^{s_{ik}} - M \tau^+ e^{s_{i\,p(i)}}}{1 - \tau^+},\ M e^{-1/\tau}\Bigr)

    Args:
        temperature: \tau in the formula
        tau_plus: share of positives; \tau^+ in the formula
    """
    def __init__(
        self,
        *,
        temperature: nn.Parameter | float = 0.5,
        tau_plus: nn.Parameter | float = 0.1,
        gather: bool = False,
    ) -> None: ...

class HardWeightedLoss(LossModule):
    r"""Hard-weighted contrastive (HCL) as a module.

    Corrects NT-Xent as the debiased loss does, and weighs near negatives more.

        \frac{1}{2N} \sum_i \log\Bigl(1 + \frac{G_i}{e^{s_{i\,p(i)}}}\Bigr),\quad G_i = \max\Bigl(\frac{\frac{\sum_k e^{(1 + \beta) s_{ik}}}{\overline{e^{\beta s_{ik}}}} - M \tau^+ e^{s_{i\,p(i)}}}{1 - \tau^+},\ M e^{-1/\tau}\Bigr)

    Args:
        temperature: \tau in the formula
        tau_plus: share of positives; \tau^+ in the formula
        beta: weight of near negatives; \beta in the formula
    """
    def __init__(
        self,
        *,
        temperature: nn.Parameter | float = 0.5,
        tau_plus: nn.Parameter | float = 0.1,
        beta: nn.Parameter | float = 1.0,
        gather: bool = False,
    ) -> None: ...

class NceLoss(LossModule):
    r"""NCE as a module.

    Tells each true pair from noise, one comparison at a time.

        -\frac{1}{|\mathrm{noise}|} \sum_{i, k} \log \frac{e^{s^+_i/\tau}}{e^{s^+_i/\tau} + m\, e^{s^-_{ik}/\tau}}

    Args:
        temperature: \tau in the formula
        noise_ratio: m in the formula
        full: full form
        log_noise: \nu in the formula
    """
    def __init__(
        self,
        *,
        temperature: nn.Parameter | float = 0.05,
        noise_ratio: nn.Parameter | float = 1.0,
        full: bool = False,
        log_noise: nn.Parameter | float = 0.0,
        gather: bool = False,
    ) -> None: ...

class SiglipLoss(LossModule):
    r"""SigLIP as a module.

    Decides for each query and key on their own whether they belong together.

        \frac1N \sum_{i,j} \log\bigl(1 + e^{-z_{ij} (t \cos(q_i, k_j) + b)}\bigr)

    Args:
        scale: t in the formula
        bias: b in the formula
    """
    def __init__(
        self,
        *,
        scale: nn.Parameter | float = 10.0,
        bias: nn.Parameter | float = -10.0,
        gather: bool = False,
    ) -> None: ...

class SupconLoss(LossModule):
    r"""Supervised contrastive (SupCon) as a module.

    Pulls all sentences of a class together, against all others in the batch.

        \frac1N \sum_i \frac{-1}{|P(i)|} \sum_{p \in P(i)} \log \frac{e^{\cos(z_i, z_p)/\tau}}{\sum_k e^{\cos(z_i, z_k)/\tau}}

    Args:
        temperature: \tau in the formula
        include_self: anchor is its own key
    """
    def __init__(
        self,
        *,
        temperature: nn.Parameter | float = 0.1,
        include_self: bool = False,
        gather: bool = False,
    ) -> None: ...

class MultiSimilarityLoss(LossModule):
    r"""Multi-Similarity as a module.

    Weighs an anchor's positives and negatives by how hard they are, in one logarithm for each side.

        \frac1N \sum_i \Bigl(\frac1\alpha \log\bigl(1 + \sum_{p \in P(i)} e^{-\alpha(s_{ip} - \lambda)}\bigr) + \frac1\beta \log\bigl(1 + \sum_{n \in N(i)} e^{\beta(s_{in} - \lambda)}\bigr)\Bigr)

    Args:
        positive_scale: scale of positives; \alpha in the formula
        negative_scale: scale of negatives; \beta in the formula
        threshold: \lambda in the formula
        mined: hard pairs only
        margin: \varepsilon in the formula
    """
    def __init__(
        self,
        *,
        positive_scale: nn.Parameter | float = 2.0,
        negative_scale: nn.Parameter | float = 50.0,
        threshold: nn.Parameter | float = 1.0,
        mined: bool = True,
        margin: nn.Parameter | float = 0.1,
        gather: bool = False,
    ) -> None: ...

class NPairLoss(LossModule):
    r"""N-pair as a module.

    Picks each anchor's positive among all positives of the batch, by dot product.

        \frac1N \sum_i \log\Bigl(1 + \sum_{j \ne i} e^{a_i \cdot p_j - a_i \cdot p_i}\Bigr)

    Args:
        similarity: one of 'dot', 'cosine'
    """
    def __init__(self, *, similarity: str = "dot", gather: bool = False) -> None: ...

class ContrastiveLoss(LossModule):
    r"""Contrastive as a module.

    Pulls positives to distance 0 and pushes negatives beyond the margin.

        \frac1N \sum_i \bigl(y_i d_i^2 + (1 - y_i)\,[m - d_i]_+^2\bigr)

    Args:
        margin: m in the formula
        distance: one of 'euclidean', 'cosine'
        half: halved
    """
    def __init__(
        self, *, margin: nn.Parameter | float = 2.0, distance: str = "euclidean", half: bool = False
    ) -> None: ...

class OnlineContrastiveLoss(LossModule):
    r"""Online contrastive as a module.

    Applies contrastive loss to far positives and near negatives only.

        \sum_{y_i = 1,\, d_i > \min d^-} d_i^2 + \sum_{y_i = 0,\, d_i < \max d^+} [m - d_i]_+^2

    Args:
        margin: m in the formula
        distance: one of 'cosine', 'euclidean'
    """
    def __init__(
        self, *, margin: nn.Parameter | float = 0.5, distance: str = "cosine", gather: bool = False
    ) -> None: ...

class TripletLoss(LossModule):
    r"""Triplet as a module.

    Pushes the negative farther away than the positive, by a margin.

        \frac{1}{|T|} \sum_{(a, p, n) \in T} [d(a, p) - d(a, n) + m]_+

    Args:
        mining: one of 'all', 'semi_hard', 'hard'
        margin: m in the formula
        distance: one of 'euclidean', 'squared_euclidean', 'cosine'
        soft_margin: soft margin
    """
    def __init__(
        self,
        *,
        mining: str = "given",
        margin: nn.Parameter | float = 1.0,
        distance: str = "euclidean",
        soft_margin: bool = False,
        gather: bool = False,
    ) -> None: ...

class LiftedLoss(LossModule):
    r"""Lifted structure as a module.

    Pulls a positive pair nearer than all negatives of both its texts.

        \frac{1}{2|P|} \sum_{(i,j) \in P} \Bigl[\log\Bigl(\sum_{c_k \ne c_i} e^{m - d_{ik}} + \sum_{c_l \ne c_j} e^{m - d_{jl}}\Bigr) + d_{ij}\Bigr]_+^2

    Args:
        margin: m in the formula
    """
    def __init__(self, *, margin: nn.Parameter | float = 1.0, gather: bool = False) -> None: ...

class SoftmaxLoss(PrototypeLoss):
    r"""Softmax with prototypes as a module.

    Classifies each sentence among the class prototypes.

        -\frac1N \sum_i \log \frac{e^{q_i \cdot w_{c_i}}}{\sum_j e^{q_i \cdot w_j}}

    The other arguments are those of `PrototypeLoss`.
    """
    def __init__(self, count: int, dimension: int) -> None: ...

class ArcfaceLoss(PrototypeLoss):
    r"""ArcFace as a module.

    Classifies sentences, with a margin added to the angle of the right class.

        -\frac1N \sum_i \log \frac{e^{s \cos(\theta_{i c_i} + m)}}{e^{s \cos(\theta_{i c_i} + m)} + \sum_{j \ne c_i} e^{s \cos\theta_{ij}}}

    Args:
        scale: s in the formula
        margin: m in the formula

    The other arguments are those of `PrototypeLoss`.
    """
    def __init__(
        self,
        count: int,
        dimension: int,
        *,
        scale: nn.Parameter | float = 64.0,
        margin: nn.Parameter | float = 0.5,
    ) -> None: ...

class CosfaceLoss(PrototypeLoss):
    r"""CosFace as a module.

    Classifies sentences; the right class must lead by a margin of cosine.

        -\frac1N \sum_i \log \frac{e^{s (\cos\theta_{i c_i} - m)}}{e^{s (\cos\theta_{i c_i} - m)} + \sum_{j \ne c_i} e^{s \cos\theta_{ij}}}

    Args:
        scale: s in the formula
        margin: m in the formula

    The other arguments are those of `PrototypeLoss`.
    """
    def __init__(
        self,
        count: int,
        dimension: int,
        *,
        scale: nn.Parameter | float = 64.0,
        margin: nn.Parameter | float = 0.35,
    ) -> None: ...

class ProxyNcaLoss(PrototypeLoss):
    r"""Proxy-NCA as a module.

    Pulls each sentence nearer to its own prototype than to all the others.

        -\frac1N \sum_i \log \frac{e^{-s\, d_{i c_i}}}{\sum_{j \ne c_i} e^{-s\, d_{ij}}},\quad d_{ij} = 2 - 2\cos\theta_{ij}

    Args:
        scale: s in the formula
        include_own: own prototype in the denominator

    The other arguments are those of `PrototypeLoss`.
    """
    def __init__(
        self,
        count: int,
        dimension: int,
        *,
        scale: nn.Parameter | float = 1.0,
        include_own: bool = False,
    ) -> None: ...

class ProxyAnchorLoss(PrototypeLoss):
    r"""Proxy-Anchor as a module.

    Pulls sentences to their own prototype and pushes all others away from it.

        \frac{1}{|P^+|} \sum_{j \in P^+} \log\Bigl(1 + \sum_{c_i = j} e^{-\alpha(\cos\theta_{ij} - \delta)}\Bigr) + \frac1C \sum_j \log\Bigl(1 + \sum_{c_i \ne j} e^{\alpha(\cos\theta_{ij} + \delta)}\Bigr)

    Args:
        scale: \alpha in the formula
        margin: \delta in the formula

    The other arguments are those of `PrototypeLoss`.
    """
    def __init__(
        self,
        count: int,
        dimension: int,
        *,
        scale: nn.Parameter | float = 32.0,
        margin: nn.Parameter | float = 0.1,
    ) -> None: ...

class AlignmentLoss(LossModule):
    r"""Alignment as a module.

    Pulls the two sentences of a positive pair together.

        \frac1N \sum_i \lVert x_i - y_i \rVert^2,\quad \lVert x_i \rVert = \lVert y_i \rVert = 1
    """
    def __init__(self, *, gather: bool = False) -> None: ...

class UniformityLoss(LossModule):
    r"""Uniformity as a module.

    Spreads all sentences evenly over the sphere.

        \log \frac{1}{N(N - 1)} \sum_{i \ne k} e^{-t \lVert z_i - z_k \rVert^2},\quad \lVert z_i \rVert = 1

    Args:
        t: sharpness; t in the formula
    """
    def __init__(self, *, t: nn.Parameter | float = 2.0, gather: bool = False) -> None: ...

class VicregLoss(LossModule):
    r"""VICReg as a module.

    Keeps pairs alike, every dimension in use, and no two dimensions correlated.

        \frac\lambda N \sum_i \lVert x_i - y_i \rVert^2 + \mu\,\bigl(v(x) + v(y)\bigr) + \nu\,\bigl(c(x) + c(y)\bigr)

    Args:
        invariance_weight: weight of invariance; \lambda in the formula
        variance_weight: weight of variance; \mu in the formula
        covariance_weight: weight of covariance; \nu in the formula
        eps: stabiliser; \varepsilon in the formula
    """
    def __init__(
        self,
        *,
        invariance_weight: nn.Parameter | float = 25.0,
        variance_weight: nn.Parameter | float = 25.0,
        covariance_weight: nn.Parameter | float = 1.0,
        eps: nn.Parameter | float = 0.0001,
        gather: bool = False,
    ) -> None: ...

class BarlowTwinsLoss(LossModule):
    r"""Barlow Twins as a module.

    Correlates each dimension with itself across the pair, and with no other.

        \sum_j (1 - C_{jj})^2 + \lambda \sum_{j \ne k} C_{jk}^2

    Args:
        off_diagonal_weight: weight off the diagonal; \lambda in the formula
    """
    def __init__(
        self, *, off_diagonal_weight: nn.Parameter | float = 0.005, gather: bool = False
    ) -> None: ...

class OrthogonalLoss(LossModule):
    r"""Global orthogonal regularisation as a module.

    Makes unrelated sentences as dissimilar as random directions are.

        \frac12 \sum_{x, y} \Bigl(w_1\, \overline{s_{ik}}^2 + w_2\, \Bigl[\overline{s_{ik}^2} - \tfrac1D\Bigr]_+\Bigr)

    Args:
        mean_weight: weight of the mean; w_1 in the formula
        second_moment_weight: weight of the second moment; w_2 in the formula
        aggregation: both sides; one of 'mean', 'sum'
    """
    def __init__(
        self,
        *,
        mean_weight: nn.Parameter | float = 1.0,
        second_moment_weight: nn.Parameter | float = 1.0,
        aggregation: str = "mean",
        gather: bool = False,
    ) -> None: ...

class MarginMseLoss(LossModule):
    r"""MarginMSE as a module.

    Makes the positive's lead over each negative equal to the teacher's.

        \frac1{NK} \sum_{i,k} \bigl((s^+_i - s^-_{ik}) - (t^+_i - t^-_{ik})\bigr)^2
    """
    def __init__(self) -> None: ...

class DistillKlLoss(LossModule):
    r"""Distillation (KL) as a module.

    Makes the student's probabilities of a list's candidates equal to the teacher's.

        \frac{T^2}{N} \sum_i \sum_k P_{ik} \log \frac{P_{ik}}{p_{ik}},\quad P = \mathrm{softmax}(t / T_t),\ p = \mathrm{softmax}(s / T)

    Args:
        temperature: T in the formula
        teacher_temperature: teacher's temperature (off: the student's); T_t in the formula
        divergence: one of 'kl', 'ce'
    """
    def __init__(
        self,
        *,
        temperature: nn.Parameter | float = 1.0,
        teacher_temperature: nn.Parameter | float | None = None,
        divergence: str = "kl",
    ) -> None: ...

class EmbeddingMseLoss(LossModule):
    r"""Embedding MSE as a module.

    Makes the student's vectors equal to the teacher's, number by number.

        \frac{1}{S D} \sum_i \sum_d (z_{id} - t_{id})^2
    """
    def __init__(self) -> None: ...
