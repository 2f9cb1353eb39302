"""The loss of a trainer whose columns are anchors, positives and negatives."""

import torch
from torch import Tensor

from lossprism.losses.sentence_transformers.trainer_batch import Examples
from lossprism.losses.sentence_transformers.training_loss_base import TrainingLoss


class TripletTrainingLoss(TrainingLoss):
    """A triplet loss that, with mining "given", reads the columns anchor, positive, negatives."""

    def arguments(self, examples: Examples) -> dict[str, Tensor]:
        if self.settings_for(examples).get("mining") != "given":
            return super().arguments(examples)
        if len(examples.columns) < 3:
            raise ValueError(
                'mining is "given", which needs three columns: anchor, positive, negative; '
                'for pairs or classes, choose mining "all", "semi_hard" or "hard"'
            )
        anchors, positives, *negatives = examples.columns
        return {
            "anchors": anchors.repeat(len(negatives), 1),
            "positives": positives.repeat(len(negatives), 1),
            "negatives": torch.cat(negatives),
        }
