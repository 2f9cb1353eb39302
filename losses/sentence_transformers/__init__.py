"""Every loss for the trainers of sentence-transformers: ``CosentLoss(model, scale=20.0)``.

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

from typing import TYPE_CHECKING, Any

from lossprism.losses.sentence_transformers.candidate_lists import whole_lists
from lossprism.losses.sentence_transformers.dataset_order_sampler import in_order
from lossprism.losses.sentence_transformers.generated_training_loss_classes import (
    EXPORTED,
    TRAINING_LOSSES,
    training_loss,
)
from lossprism.losses.sentence_transformers.layer_freezing import layer_stack, move_only
from lossprism.losses.sentence_transformers.sampler_epoch_coverage_check import check_epoch
from lossprism.losses.sentence_transformers.teacher_vector_loss import with_vectors
from lossprism.losses.sentence_transformers.trainer_batch import Examples
from lossprism.losses.sentence_transformers.training_loss_base import TrainingLoss

if TYPE_CHECKING:
    from lossprism.losses.sentence_transformers.callback import PrismCallback


def __getattr__(name: str) -> Any:
    """Load the callback on first use, since it imports transformers."""
    if name != "PrismCallback":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lossprism.losses.sentence_transformers.callback import PrismCallback

    return PrismCallback


globals().update({made.__name__: made for made in EXPORTED.values()})

__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]  # a class is made for each loss
    "TRAINING_LOSSES",
    "Examples",
    "PrismCallback",
    "TrainingLoss",
    "check_epoch",
    "in_order",
    "layer_stack",
    "move_only",
    "training_loss",
    "whole_lists",
    "with_vectors",
    *(made.__name__ for made in EXPORTED.values()),
]
