# Written by `python -m scripts.class_stubs` from the LossSpec of each loss.

r"""Every loss for the trainers of sentence-transformers: ``CosentLoss(model, scale=20.0)``.

    from lossprism.losses.sentence_transformers import CosentLoss
    SentenceTransformerTrainer(model=model, train_dataset=pairs, loss=CosentLoss(model)).train()

The class of each loss in `LOSSES` is made below and takes a SentenceTransformer (a bi-encoder) or
a CrossEncoder; `training_loss("cosent")` gives it by the name of the loss. A class that is called
like one of sentence-transformers (`ContrastiveLoss`, `TripletLoss`, `MarginMseLoss` …) has that
one's defaults and similarity, which ``convention=""`` changes to ours; by the name of the loss
they are ours. What a loss reads follows from the columns of the dataset:

    two texts and a label       pairs with scores: every loss, by the rules below
    two texts                   positive pairs: losses on in-batch negatives, and mined triplets
    three texts or more         anchor, positive, negatives
    texts and vectors           another encoder's vectors as labels, for `EmbeddingMseLoss`, which
                                else asks its `teacher`, or finds them beside the texts
                                (`with_vectors`)
    one text and a label        classes: supcon, mined triplets, and losses against prototypes
    one text, a list of texts   lists: losses on lists, a teacher's, and losses that compare the
    and a list of labels        labelled pairs of a list with each other (`whole_lists` for a
                                bi-encoder, as it is for a cross-encoder); where all are of one
                                length, a column for each candidate will do

The rules, as on the page (`losses.labels`): `label_range` are the ends of the labels' scale,
and a pair whose label reaches `threshold`, by default its middle, is positive; the other pairs'
second sentences are further negatives (unless `extra_negatives` is False); a loss that regresses on
labels has the ends of the scale as 0 and 1; both sentences of a positive pair are one class. What
is not given is guessed by the first batch, and a warning says what was made of it unless labels lie
within 0..1; the whole data know better:

    CosineMseLoss(model, label_range=label_range_of(pairs["score"]))  # from losses.labels

Losses on in-batch negatives want a batch in which no sentence stands twice
(``batch_sampler="no_duplicates"`` keeps such pairs out of the batch), or leave the keys of the
query's or the own key's text out of the loss (``twins="leave_out"``). A cross-encoder trains with
losses on pair scores alone. A loss that a guide has a say in takes one (``GistLoss(model,
guide=encoder)``), which stays as it is.

`PrismCallback` logs, in any trainer of the library, what a loss does to its batches, and keeps
some of them.

Several processes (``accelerate launch``, ``torchrun``) take the mean of their gradients. With
``gather=True`` each compares with the batches of all, and the model moves as it would in one
process on the joined batch; else it is the mean over batches that do not know of each other.
"""

import collections.abc

import torch
from torch import nn

from lossprism.losses.sentence_transformers.callback import PrismCallback as PrismCallback
from lossprism.losses.sentence_transformers.candidate_lists import whole_lists as whole_lists
from lossprism.losses.sentence_transformers.dataset_order_sampler import in_order as in_order
from lossprism.losses.sentence_transformers.generated_training_loss_classes import (
    EXPORTED as EXPORTED,
)
from lossprism.losses.sentence_transformers.generated_training_loss_classes import (
    TRAINING_LOSSES as TRAINING_LOSSES,
)
from lossprism.losses.sentence_transformers.generated_training_loss_classes import (
    training_loss as training_loss,
)
from lossprism.losses.sentence_transformers.given_triplet_training_loss import TripletTrainingLoss
from lossprism.losses.sentence_transformers.layer_freezing import layer_stack as layer_stack
from lossprism.losses.sentence_transformers.layer_freezing import move_only as move_only
from lossprism.losses.sentence_transformers.sampler_epoch_coverage_check import (
    check_epoch as check_epoch,
)
from lossprism.losses.sentence_transformers.teacher_vector_loss import VectorTrainingLoss
from lossprism.losses.sentence_transformers.teacher_vector_loss import with_vectors as with_vectors
from lossprism.losses.sentence_transformers.token_and_layer_similarity_loss import LevelTrainingLoss
from lossprism.losses.sentence_transformers.trainer_batch import Examples as Examples
from lossprism.losses.sentence_transformers.training_loss_base import TrainingLoss as TrainingLoss
from lossprism.losses.sentence_transformers.training_losses_with_learned_weights import (
    ClassifierTrainingLoss,
    PrototypeTrainingLoss,
)

class CosentLoss(TrainingLoss):
    r"""CoSENT for a trainer, as in sentence-transformers 6.2 CoSENTLoss.

    Penalises every two pairs that are ranked in the wrong order.

        \log\Bigl(1 + \sum_{y_i > y_j} e^{\lambda (s_j - s_i)}\Bigr)

    Args:
        scale: \lambda in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        scale: nn.Parameter | float = 20.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class WeightedCosentLoss(TrainingLoss):
    r"""Weighted CoSENT for a trainer.

    Weighs CoSENT's comparisons by the gap between their labels.

        \log\Bigl(1 + \sum_{y_i > y_j} (y_i - y_j)\, e^{\lambda (s_j - s_i)}\Bigr)

    Args:
        scale: \lambda in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        scale: nn.Parameter | float = 20.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class HierarchicalCosentLoss(LevelTrainingLoss):
    r"""Hierarchical CoSENT for a trainer.

    Adds CoSENT at several levels of similarity, with weights.

        \sum_{l} \beta_l \log\Bigl(1 + \sum_{y_i > y_j} e^{\lambda (s^{(l)}_j - s^{(l)}_i)}\Bigr)

    Args:
        weights: level weights; \beta in the formula
        scale: \lambda in the formula

    The other arguments are those of `LevelTrainingLoss` and `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        weights: torch.Tensor | tuple[float, ...] | None = None,
        scale: nn.Parameter | float = 20.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
        levels: collections.abc.Sequence[str] | None = None,
    ) -> None: ...

class MultitaskCosentLoss(ClassifierTrainingLoss):
    r"""Multi-task CoSENT for a trainer.

    Adds cross-entropy for the class to CoSENT for the order.

        \log\Bigl(1 + \sum_{y_i > y_j} e^{\lambda (s_j - s_i)}\Bigr) + \alpha\,\mathrm{CE}(z, c)

    Args:
        alpha: weight of cross-entropy; \alpha in the formula
        scale: \lambda in the formula

    The other arguments are those of `ClassifierTrainingLoss` and `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        alpha: nn.Parameter | float = 1.0,
        scale: nn.Parameter | float = 20.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class PairwiseLogisticLoss(TrainingLoss):
    r"""Pairwise logistic (RankNet) for a trainer.

    Penalises each ordered pair by a logarithm of its own, as in RankNet.

        \sum_{y_i > y_j} \log\bigl(1 + e^{\lambda (s_j - s_i)}\bigr)

    Args:
        scale: \lambda in the formula
        reduction: one of 'sum', 'mean'

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        scale: nn.Parameter | float = 20.0,
        reduction: str = "sum",
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class PairwiseHingeLoss(TrainingLoss):
    r"""Pairwise hinge for a trainer.

    Penalises ordered pairs closer than the margin, weighted by their label gap.

        \frac{\sum_{y_i > y_j} (y_i - y_j)\,[s_j - s_i + m]_+}{\sum_{y_i > y_j} (y_i - y_j) + \varepsilon}

    Args:
        margin: m in the formula
        eps: stabiliser; \varepsilon in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        margin: nn.Parameter | float = 0.3,
        eps: nn.Parameter | float = 1e-06,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class MaxViolationLoss(TrainingLoss):
    r"""Largest violation for a trainer.

    Keeps only the worst violation: what CoSENT becomes as its scale grows.

        \max\bigl(0, \max_{y_i > y_j} (s_j - s_i)\bigr)

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class CircleLoss(TrainingLoss):
    r"""Circle for a trainer.

    Compares positives with negatives as CoSENT does, with a margin on either side.

        \log\Bigl(1 + \sum_{j \in -} e^{\gamma (s_j - \Delta_n)} \sum_{i \in +} e^{-\gamma (s_i - \Delta_p)}\Bigr)

    Args:
        scale: \gamma in the formula
        positive_margin: \Delta_p in the formula
        negative_margin: \Delta_n in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        scale: nn.Parameter | float = 64.0,
        positive_margin: nn.Parameter | float = 0.0,
        negative_margin: nn.Parameter | float = 0.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class CircleSelfPacedLoss(TrainingLoss):
    r"""Circle, self-paced for a trainer.

    Slows Circle loss down for pairs that are already in place.

        \log\Bigl(1 + \sum_{j \in -} e^{\gamma \alpha_n (s_j - m)} \sum_{i \in +} e^{-\gamma \alpha_p (s_i - 1 + m)}\Bigr)

    Args:
        scale: \gamma in the formula
        margin: m in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        scale: nn.Parameter | float = 64.0,
        margin: nn.Parameter | float = 0.25,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class CosineMseLoss(TrainingLoss):
    r"""Cosine regression (MSE) for a trainer.

    Pulls each cosine to its label, regardless of the others.

        \frac1N \sum_i (s_i - y_i)^2

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class BinaryCrossEntropyLoss(TrainingLoss):
    r"""Binary cross-entropy for a trainer, as in sentence-transformers 6.2 BinaryCrossEntropyLoss.

    Reads each score as the logit of “this pair is positive”.

        \frac1N \sum_i \bigl(\log(1 + e^{s_i}) - y_i s_i\bigr)

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class AngleLoss(TrainingLoss):
    r"""AnglE for a trainer, as in sentence-transformers 6.2 AnglELoss.

    Compares pairs as CoSENT does, by an angle in the complex plane where cosine would saturate.

        \log\Bigl(1 + \sum_{y_i > y_j} e^{\lambda (s_j - s_i)}\Bigr),\quad s_i = \Bigl|\sum_d \mathrm{Re}\tfrac{z_{id}}{w_{id}} + \mathrm{Im}\tfrac{z_{id}}{w_{id}}\Bigr|

    Args:
        scale: \lambda in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        scale: nn.Parameter | float = 20.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class ListNetLoss(TrainingLoss):
    r"""ListNet for a trainer, as in sentence-transformers 6.2 ListNetLoss.

    Matches the probabilities of a list's scores to those of its labels.

        -\frac1L \sum_l \sum_j P_{l,j} \log \frac{e^{s_{l,j}/\tau}}{\sum_k e^{s_{l,k}/\tau}}

    Args:
        target: one of 'softmax', 'normalized', 'raw'
        temperature: \tau in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        target: str = "softmax",
        temperature: nn.Parameter | float = 1.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class SoftmaxRankLoss(TrainingLoss):
    r"""Softmax loss of lists for a trainer.

    Takes a softmax over each list and weighs every candidate by its label.

        -\frac1L \sum_l \sum_j y_{l,j} \log \frac{e^{s_{l,j}/\tau}}{\sum_k e^{s_{l,k}/\tau}}

    Args:
        target: one of 'raw', 'normalized'
        temperature: \tau in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        target: str = "raw",
        temperature: nn.Parameter | float = 1.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class ListMleLoss(TrainingLoss):
    r"""ListMLE for a trainer, as in sentence-transformers 6.2 ListMLELoss.

    Picks a list's candidates one by one, the best label first.

        \frac1L \sum_l \sum_i \log\Bigl(1 + \sum_{j\ \text{after}\ i} e^{(s_{l,j} - s_{l,i})/\tau}\Bigr)

    Args:
        weighted: weighted by similarity
        order: one of 'labels', 'given'
        temperature: \tau in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        weighted: bool = False,
        order: str = "given",
        temperature: nn.Parameter | float = 1.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class LambdaLoss(TrainingLoss):
    r"""LambdaLoss for a trainer, as in sentence-transformers 6.2 LambdaLoss.

    Applies RankNet within each list, and weighs a pair by what its order is worth to the NDCG.

        \frac{1}{|P|} \sum_l \sum_{y_i > y_j} w_{l,ij} \log_2\bigl(1 + e^{\sigma (s_{l,j} - s_{l,i})}\bigr)

    Args:
        scheme: weights; one of 'ndcg2pp', 'ndcg2', 'lambdarank', 'ndcg1', 'none'
        k: first k only; k in the formula
        sigma: width of the weights; \sigma in the formula
        mu: share of NDCG-Loss2; \mu in the formula
        reduction: one of 'mean', 'sum'

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        scheme: str = "ndcg2pp",
        k: nn.Parameter | int | None = None,
        sigma: nn.Parameter | float = 1.0,
        mu: nn.Parameter | float = 10.0,
        reduction: str = "mean",
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class ApproxNdcgLoss(TrainingLoss):
    r"""ApproxNDCG for a trainer.

    Maximises the NDCG with soft ranks. Its values are negative: −1 is the best order.

        -\frac1L \sum_l \sum_i \frac{G_{l,i}}{\log_2(1 + \hat r_{l,i})},\quad \hat r_{l,i} = 1 + \sum_{j \ne i} \sigma\Bigl(\frac{s_{l,j} - s_{l,i}}{\tau}\Bigr)

    Args:
        temperature: \tau in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        temperature: nn.Parameter | float = 0.1,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class AdrMseLoss(TrainingLoss):
    r"""ADR-MSE for a trainer, as in sentence-transformers 6.2 ADRMSELoss.

    Pulls each candidate's soft rank to the rank of its label, the top ones most of all.

        \frac1N \sum_{l,i} \frac{(r_{l,i} - \hat r_{l,i})^2}{\log_2(1 + r_{l,i})},\quad \hat r_{l,i} = 1 + \sum_{j \ne i} \sigma\Bigl(\frac{s_{l,j} - s_{l,i}}{\tau}\Bigr)

    Args:
        temperature: \tau in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        temperature: nn.Parameter | float = 1.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class InfoNceLoss(TrainingLoss):
    r"""InfoNCE for a trainer.

    Picks each query's match among all texts in the batch.

        -\frac1N \sum_i \log \frac{e^{\cos(q_i, k_i)/\tau}}{\sum_j e^{\cos(q_i, k_j)/\tau}}

    Args:
        temperature: \tau in the formula
        symmetric: both directions
        directions: one of 'query_to_key', 'query_to_key,key_to_query', 'query_to_key,query_to_query', 'query_to_key,query_to_query,key_to_key', 'query_to_key,key_to_query,query_to_query,key_to_key'
        partition: softmax; one of 'joint', 'per_direction'
        in_batch: negatives of the batch
        mask_above: drop negatives above positive + m; m in the formula
        hardness: \alpha in the formula
        hardness_on: one of 'in_batch', 'hard', 'all'
        log_weight: weight of own hard negatives (logarithm); \log w in the formula
        negatives_seen: hard negatives each query sees; one of 'by_all', 'by_own'

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        temperature: nn.Parameter | float = 0.05,
        symmetric: bool = False,
        directions: str | collections.abc.Iterable[str] = "query_to_key",
        partition: str = "joint",
        in_batch: bool = True,
        mask_above: nn.Parameter | float | None = None,
        hardness: nn.Parameter | float = 0.0,
        hardness_on: str = "in_batch",
        log_weight: nn.Parameter | float = 0.0,
        negatives_seen: str = "by_all",
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class FocalInfoNceLoss(TrainingLoss):
    r"""Focal InfoNCE for a trainer.

    Weighs InfoNCE's queries less once they find their key.

        -\frac1N \sum_i (1 - p_i)^\gamma \log p_i,\quad p_i = \frac{e^{\cos(q_i, k_i)/\tau}}{\sum_j e^{\cos(q_i, k_j)/\tau}}

    Args:
        temperature: \tau in the formula
        gamma: focus; \gamma in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        temperature: nn.Parameter | float = 0.05,
        gamma: nn.Parameter | float = 0.5,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class SoftInfoNceLoss(TrainingLoss):
    r"""InfoNCE with soft targets for a trainer.

    Gives each query a target distribution over the keys, not a single key.

        -\frac1N \sum_i \sum_j t_{ij} \log \frac{e^{\cos(q_i, k_j)/\tau}}{\sum_l e^{\cos(q_i, k_l)/\tau}}

    Args:
        temperature: \tau in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        temperature: nn.Parameter | float = 0.05,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class GistLoss(TrainingLoss):
    r"""GISTEmbed for a trainer.

    Drops from InfoNCE the negatives that a guide finds nearer than the positive.

        -\frac1N \sum_i \log \frac{e^{s_{ii}}}{e^{s_{ii}} + \sum_{j \ne i} m_{ij}\, e^{s_{ij}} + \sum_{j \ne i} m_{ij}\, e^{s(q_i, q_j)} + \sum_{j \ne i} m_{ij}\, e^{s(k_i, k_j)} + \sum_n m_{in}\, e^{s_{in}}}

    Args:
        temperature: \tau in the formula
        margin: m in the formula
        margin_kind: kind of margin; one of 'absolute', 'relative'
        contrast_anchors: queries against queries
        contrast_positives: keys against keys

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        temperature: nn.Parameter | float = 0.01,
        margin: nn.Parameter | float = 0.0,
        margin_kind: str = "absolute",
        contrast_anchors: bool = True,
        contrast_positives: bool = True,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class DecoupledLoss(TrainingLoss):
    r"""Decoupled contrastive (DCL) for a trainer.

    Leaves the positive pair out of InfoNCE's denominator.

        \frac1N \sum_i \Bigl(-\frac{\cos(q_i, k_i)}{\tau} + \log \sum_{j \ne i} e^{\cos(q_i, k_j)/\tau}\Bigr)

    Args:
        temperature: \tau in the formula
        weighted: weighted by similarity
        sigma: width of the weights; \sigma in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        temperature: nn.Parameter | float = 0.1,
        weighted: bool = False,
        sigma: nn.Parameter | float = 0.5,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class MegaBatchMarginLoss(TrainingLoss):
    r"""Mega-batch margin for a trainer, as in sentence-transformers 6.2 MegaBatchMarginLoss.

    Pulls the positive above one margin and pushes the nearest negative below another.

        \frac1N \sum_i \Bigl([m^+ - \cos(q_i, k_i)]_+ + \bigl[\max_{j \ne i} \cos(q_i, k_j) - m^-\bigr]_+\Bigr)

    Args:
        positive_margin: m^+ in the formula
        negative_margin: m^- in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        positive_margin: nn.Parameter | float = 0.8,
        negative_margin: nn.Parameter | float = 0.3,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class NtXentLoss(TrainingLoss):
    r"""NT-Xent for a trainer.

    Picks each view's partner among all other views.

        -\frac{1}{2N} \sum_i \log \frac{e^{\cos(z_i, z_{p(i)})/\tau}}{\sum_{k \ne i} e^{\cos(z_i, z_k)/\tau}}

    Args:
        temperature: \tau in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        temperature: nn.Parameter | float = 0.5,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class DebiasedLoss(TrainingLoss):
    r"""Debiased contrastive for a trainer.

    Corrects NT-Xent for the share of negatives that are positives.

        \frac{1}{2N} \sum_i \log\Bigl(1 + \frac{G_i}{e^{s_{i\,p(i)}}}\Bigr),\quad G_i = \max\Bigl(\frac{\sum_k e^{s_{ik}} - M \tau^+ e^{s_{i\,p(i)}}}{1 - \tau^+},\ M e^{-1/\tau}\Bigr)

    Args:
        temperature: \tau in the formula
        tau_plus: share of positives; \tau^+ in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        temperature: nn.Parameter | float = 0.5,
        tau_plus: nn.Parameter | float = 0.1,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class HardWeightedLoss(TrainingLoss):
    r"""Hard-weighted contrastive (HCL) for a trainer.

    Corrects NT-Xent as the debiased loss does, and weighs near negatives more.

        \frac{1}{2N} \sum_i \log\Bigl(1 + \frac{G_i}{e^{s_{i\,p(i)}}}\Bigr),\quad G_i = \max\Bigl(\frac{\frac{\sum_k e^{(1 + \beta) s_{ik}}}{\overline{e^{\beta s_{ik}}}} - M \tau^+ e^{s_{i\,p(i)}}}{1 - \tau^+},\ M e^{-1/\tau}\Bigr)

    Args:
        temperature: \tau in the formula
        tau_plus: share of positives; \tau^+ in the formula
        beta: weight of near negatives; \beta in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        temperature: nn.Parameter | float = 0.5,
        tau_plus: nn.Parameter | float = 0.1,
        beta: nn.Parameter | float = 1.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class NceLoss(TrainingLoss):
    r"""NCE for a trainer.

    Tells each true pair from noise, one comparison at a time.

        -\frac{1}{|\mathrm{noise}|} \sum_{i, k} \log \frac{e^{s^+_i/\tau}}{e^{s^+_i/\tau} + m\, e^{s^-_{ik}/\tau}}

    Args:
        temperature: \tau in the formula
        noise_ratio: m in the formula
        full: full form
        log_noise: \nu in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        temperature: nn.Parameter | float = 0.05,
        noise_ratio: nn.Parameter | float = 1.0,
        full: bool = False,
        log_noise: nn.Parameter | float = 0.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class SiglipLoss(TrainingLoss):
    r"""SigLIP for a trainer.

    Decides for each query and key on their own whether they belong together.

        \frac1N \sum_{i,j} \log\bigl(1 + e^{-z_{ij} (t \cos(q_i, k_j) + b)}\bigr)

    Args:
        scale: t in the formula
        bias: b in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        scale: nn.Parameter | float = 10.0,
        bias: nn.Parameter | float = -10.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class SupconLoss(TrainingLoss):
    r"""Supervised contrastive (SupCon) for a trainer.

    Pulls all sentences of a class together, against all others in the batch.

        \frac1N \sum_i \frac{-1}{|P(i)|} \sum_{p \in P(i)} \log \frac{e^{\cos(z_i, z_p)/\tau}}{\sum_k e^{\cos(z_i, z_k)/\tau}}

    Args:
        temperature: \tau in the formula
        include_self: anchor is its own key

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        temperature: nn.Parameter | float = 0.1,
        include_self: bool = False,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class MultiSimilarityLoss(TrainingLoss):
    r"""Multi-Similarity for a trainer.

    Weighs an anchor's positives and negatives by how hard they are, in one logarithm for each side.

        \frac1N \sum_i \Bigl(\frac1\alpha \log\bigl(1 + \sum_{p \in P(i)} e^{-\alpha(s_{ip} - \lambda)}\bigr) + \frac1\beta \log\bigl(1 + \sum_{n \in N(i)} e^{\beta(s_{in} - \lambda)}\bigr)\Bigr)

    Args:
        positive_scale: scale of positives; \alpha in the formula
        negative_scale: scale of negatives; \beta in the formula
        mined: hard pairs only
        margin: \varepsilon in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        positive_scale: nn.Parameter | float = 2.0,
        negative_scale: nn.Parameter | float = 50.0,
        mined: bool = True,
        margin: nn.Parameter | float = 0.1,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class NPairLoss(TrainingLoss):
    r"""N-pair for a trainer.

    Picks each anchor's positive among all positives of the batch, by dot product.

        \frac1N \sum_i \log\Bigl(1 + \sum_{j \ne i} e^{a_i \cdot p_j - a_i \cdot p_i}\Bigr)

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class ContrastiveLoss(TrainingLoss):
    r"""Contrastive for a trainer, as in sentence-transformers 6.2 ContrastiveLoss.

    Pulls positives to distance 0 and pushes negatives beyond the margin.

        \frac1N \sum_i \bigl(y_i d_i^2 + (1 - y_i)\,[m - d_i]_+^2\bigr)

    Args:
        margin: m in the formula
        distance: one of 'euclidean', 'cosine'
        half: halved

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        margin: nn.Parameter | float = 0.5,
        distance: str = "cosine",
        half: bool = True,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class OnlineContrastiveLoss(TrainingLoss):
    r"""Online contrastive for a trainer, as in sentence-transformers 6.2 OnlineContrastiveLoss.

    Applies contrastive loss to far positives and near negatives only.

        \sum_{y_i = 1,\, d_i > \min d^-} d_i^2 + \sum_{y_i = 0,\, d_i < \max d^+} [m - d_i]_+^2

    Args:
        margin: m in the formula
        distance: one of 'cosine', 'euclidean'

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        margin: nn.Parameter | float = 0.5,
        distance: str = "cosine",
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class TripletLoss(TripletTrainingLoss):
    r"""Triplet for a trainer, as in sentence-transformers 6.2 TripletLoss.

    Pushes the negative farther away than the positive, by a margin.

        \frac{1}{|T|} \sum_{(a, p, n) \in T} [d(a, p) - d(a, n) + m]_+

    Args:
        mining: one of 'all', 'semi_hard', 'hard'
        margin: m in the formula
        distance: one of 'euclidean', 'squared_euclidean', 'cosine'
        soft_margin: soft margin

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        mining: str = "all",
        margin: nn.Parameter | float = 5.0,
        distance: str = "euclidean",
        soft_margin: bool = False,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class LiftedLoss(TrainingLoss):
    r"""Lifted structure for a trainer.

    Pulls a positive pair nearer than all negatives of both its texts.

        \frac{1}{2|P|} \sum_{(i,j) \in P} \Bigl[\log\Bigl(\sum_{c_k \ne c_i} e^{m - d_{ik}} + \sum_{c_l \ne c_j} e^{m - d_{jl}}\Bigr) + d_{ij}\Bigr]_+^2

    Args:
        margin: m in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        margin: nn.Parameter | float = 1.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class SoftmaxLoss(PrototypeTrainingLoss):
    r"""Softmax with prototypes for a trainer.

    Classifies each sentence among the class prototypes.

        -\frac1N \sum_i \log \frac{e^{q_i \cdot w_{c_i}}}{\sum_j e^{q_i \cdot w_j}}

    The other arguments are those of `PrototypeTrainingLoss` and `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
        class_count: int | None = None,
    ) -> None: ...

class ArcfaceLoss(PrototypeTrainingLoss):
    r"""ArcFace for a trainer.

    Classifies sentences, with a margin added to the angle of the right class.

        -\frac1N \sum_i \log \frac{e^{s \cos(\theta_{i c_i} + m)}}{e^{s \cos(\theta_{i c_i} + m)} + \sum_{j \ne c_i} e^{s \cos\theta_{ij}}}

    Args:
        scale: s in the formula
        margin: m in the formula

    The other arguments are those of `PrototypeTrainingLoss` and `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        scale: nn.Parameter | float = 64.0,
        margin: nn.Parameter | float = 0.5,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
        class_count: int | None = None,
    ) -> None: ...

class CosfaceLoss(PrototypeTrainingLoss):
    r"""CosFace for a trainer.

    Classifies sentences; the right class must lead by a margin of cosine.

        -\frac1N \sum_i \log \frac{e^{s (\cos\theta_{i c_i} - m)}}{e^{s (\cos\theta_{i c_i} - m)} + \sum_{j \ne c_i} e^{s \cos\theta_{ij}}}

    Args:
        scale: s in the formula
        margin: m in the formula

    The other arguments are those of `PrototypeTrainingLoss` and `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        scale: nn.Parameter | float = 64.0,
        margin: nn.Parameter | float = 0.35,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
        class_count: int | None = None,
    ) -> None: ...

class ProxyNcaLoss(PrototypeTrainingLoss):
    r"""Proxy-NCA for a trainer.

    Pulls each sentence nearer to its own prototype than to all the others.

        -\frac1N \sum_i \log \frac{e^{-s\, d_{i c_i}}}{\sum_{j \ne c_i} e^{-s\, d_{ij}}},\quad d_{ij} = 2 - 2\cos\theta_{ij}

    Args:
        scale: s in the formula
        include_own: own prototype in the denominator

    The other arguments are those of `PrototypeTrainingLoss` and `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        scale: nn.Parameter | float = 1.0,
        include_own: bool = False,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
        class_count: int | None = None,
    ) -> None: ...

class ProxyAnchorLoss(PrototypeTrainingLoss):
    r"""Proxy-Anchor for a trainer.

    Pulls sentences to their own prototype and pushes all others away from it.

        \frac{1}{|P^+|} \sum_{j \in P^+} \log\Bigl(1 + \sum_{c_i = j} e^{-\alpha(\cos\theta_{ij} - \delta)}\Bigr) + \frac1C \sum_j \log\Bigl(1 + \sum_{c_i \ne j} e^{\alpha(\cos\theta_{ij} + \delta)}\Bigr)

    Args:
        scale: \alpha in the formula
        margin: \delta in the formula

    The other arguments are those of `PrototypeTrainingLoss` and `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        scale: nn.Parameter | float = 32.0,
        margin: nn.Parameter | float = 0.1,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
        class_count: int | None = None,
    ) -> None: ...

class AlignmentLoss(TrainingLoss):
    r"""Alignment for a trainer.

    Pulls the two sentences of a positive pair together.

        \frac1N \sum_i \lVert x_i - y_i \rVert^2,\quad \lVert x_i \rVert = \lVert y_i \rVert = 1

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class UniformityLoss(TrainingLoss):
    r"""Uniformity for a trainer.

    Spreads all sentences evenly over the sphere.

        \log \frac{1}{N(N - 1)} \sum_{i \ne k} e^{-t \lVert z_i - z_k \rVert^2},\quad \lVert z_i \rVert = 1

    Args:
        t: sharpness; t in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        t: nn.Parameter | float = 2.0,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class VicregLoss(TrainingLoss):
    r"""VICReg for a trainer.

    Keeps pairs alike, every dimension in use, and no two dimensions correlated.

        \frac\lambda N \sum_i \lVert x_i - y_i \rVert^2 + \mu\,\bigl(v(x) + v(y)\bigr) + \nu\,\bigl(c(x) + c(y)\bigr)

    Args:
        invariance_weight: weight of invariance; \lambda in the formula
        variance_weight: weight of variance; \mu in the formula
        covariance_weight: weight of covariance; \nu in the formula
        eps: stabiliser; \varepsilon in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        invariance_weight: nn.Parameter | float = 25.0,
        variance_weight: nn.Parameter | float = 25.0,
        covariance_weight: nn.Parameter | float = 1.0,
        eps: nn.Parameter | float = 0.0001,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class BarlowTwinsLoss(TrainingLoss):
    r"""Barlow Twins for a trainer.

    Correlates each dimension with itself across the pair, and with no other.

        \sum_j (1 - C_{jj})^2 + \lambda \sum_{j \ne k} C_{jk}^2

    Args:
        off_diagonal_weight: weight off the diagonal; \lambda in the formula

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        off_diagonal_weight: nn.Parameter | float = 0.005,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class OrthogonalLoss(TrainingLoss):
    r"""Global orthogonal regularisation for a trainer.

    Makes unrelated sentences as dissimilar as random directions are.

        \frac12 \sum_{x, y} \Bigl(w_1\, \overline{s_{ik}}^2 + w_2\, \Bigl[\overline{s_{ik}^2} - \tfrac1D\Bigr]_+\Bigr)

    Args:
        mean_weight: weight of the mean; w_1 in the formula
        second_moment_weight: weight of the second moment; w_2 in the formula
        aggregation: both sides; one of 'mean', 'sum'

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        mean_weight: nn.Parameter | float = 1.0,
        second_moment_weight: nn.Parameter | float = 1.0,
        aggregation: str = "mean",
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class MarginMseLoss(TrainingLoss):
    r"""MarginMSE for a trainer, as in sentence-transformers 6.2 MarginMSELoss (dot products).

    Makes the positive's lead over each negative equal to the teacher's.

        \frac1{NK} \sum_{i,k} \bigl((s^+_i - s^-_{ik}) - (t^+_i - t^-_{ik})\bigr)^2

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class DistillKlLoss(TrainingLoss):
    r"""Distillation (KL) for a trainer, as in sentence-transformers 6.2 DistillKLDivLoss (dot products).

    Makes the student's probabilities of a list's candidates equal to the teacher's.

        \frac{T^2}{N} \sum_i \sum_k P_{ik} \log \frac{P_{ik}}{p_{ik}},\quad P = \mathrm{softmax}(t / T_t),\ p = \mathrm{softmax}(s / T)

    Args:
        temperature: T in the formula
        teacher_temperature: teacher's temperature (off: the student's); T_t in the formula
        divergence: one of 'kl', 'ce'

    The other arguments are those of `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        temperature: nn.Parameter | float = 1.0,
        teacher_temperature: nn.Parameter | float | None = None,
        divergence: str = "kl",
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
    ) -> None: ...

class EmbeddingMseLoss(VectorTrainingLoss):
    r"""Embedding MSE for a trainer.

    Makes the student's vectors equal to the teacher's, number by number.

        \frac{1}{S D} \sum_i \sum_d (z_{id} - t_{id})^2

    The other arguments are those of `VectorTrainingLoss` and `TrainingLoss`.
    """
    def __init__(
        self,
        model: nn.Module,
        *,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
        teacher: nn.Module | None = None,
    ) -> None: ...
