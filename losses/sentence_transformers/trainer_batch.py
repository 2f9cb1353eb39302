"""The batch of a trainer, read as pairs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from lossprism.losses import geometry
from lossprism.losses.gather import gathered
from lossprism.losses.labels import UNIT, Ends, cosine_labels, unit_labels
from lossprism.losses.query_groups import at, margins_of, triplets_of
from lossprism.losses.unjudged_labels import judged_in

SIMILARITIES = {"cosine": geometry.cosine, "dot": geometry.dot}


@dataclass(frozen=True)
class Examples:
    """A trainer's batch, read as pairs.

    Each loss input has a property with its name in `losses.inputs_that_losses_may_read.READABLE`;
    the loss itself learns a missing one.

    `columns` has the vectors [N, D] of each text column (none for a cross-encoder), `outputs` all
    outputs of the model for it. `labels` [P] belong to the pairs, more than the N `rows` if a row
    has several negatives; so do `pair_scores` of a cross-encoder. A pair with a label of at least
    `bound` is positive; `label_range` is the scale of the labels. `texts` number the texts of the
    columns, one column after the other, if they need to be compared, else None. `guide` has a
    second encoder's vectors of each column; without one, the model's own are used as constants.
    `joined` is whether the batches of all processes are one, `before` the number of its rows from
    processes of lower rank. `lists` [L, K] are the pairs of each anchor, for a loss on lists
    (`losses.query_groups`); `rows_are_lists` is whether each row is a list with a label for each
    candidate. `teacher` [P] are a teacher's scores of the pairs, `teacher_embeddings` a second
    encoder's vectors of the columns, one column after the other. `similarity` is the kind of a
    bi-encoder's scores, one of `SIMILARITIES`.
    """

    columns: tuple[Tensor, ...]
    outputs: tuple[Mapping[str, Tensor], ...]
    pair_scores: Tensor | None
    labels: Tensor
    rows: int
    bound: float
    labelled: bool
    extra_negatives: bool = True
    label_range: Ends = UNIT
    joined: bool = False
    before: int = 0
    texts: Tensor | None = None
    guide: tuple[Tensor, ...] = ()
    lists: Tensor | None = None
    rows_are_lists: bool = False
    teacher: Tensor | None = None
    teacher_embeddings: Tensor | None = None
    similarity: str = "cosine"

    # Which row of the columns laid below each other a pair's sentences have: [P] each.

    @cached_property
    def first_rows(self) -> Tensor:
        return torch.arange(len(self.labels), device=self.labels.device) % self.rows

    @cached_property
    def second_rows(self) -> Tensor:
        return torch.arange(len(self.labels), device=self.labels.device) + self.rows

    @cached_property
    def positive(self) -> Tensor:
        return self.labels >= self.bound

    @property
    def scores(self) -> Tensor:
        """[P]; for a bi-encoder the similarities, column by column: picking rows would cost
        more."""
        if self.pair_scores is not None:
            return self.pair_scores
        anchors, *others = self.columns
        alike = SIMILARITIES[self.similarity]
        similarities = [alike(anchors, other) for other in others]
        return torch.cat(similarities) if len(similarities) > 1 else similarities[0]

    def some(self, pairs: Tensor) -> bool:
        """Return whether any pair is among these, in all processes if they are joined."""
        return bool(gathered(self.joined, pairs)[0].any())

    @property
    def embeddings(self) -> Tensor:
        return torch.cat(self.columns)

    @property
    def classes(self) -> Tensor:
        """The class of each embedding: that of its row if a positive pair holds it."""
        if len(self.columns) == 1:
            return self.labels.long()
        numbers = torch.arange(len(self.columns) * self.rows, device=self.labels.device)
        numbers[self.second_rows[self.positive]] = self.first_rows[self.positive]
        return numbers + self.before * len(self.columns)  # no class of another process

    paired_classes = classes

    @property
    def binary_labels(self) -> Tensor:
        return self.positive.float()

    @property
    def pair_classes(self) -> Tensor:
        return self.positive.long()

    @property
    def unit_labels(self) -> Tensor:
        return unit_labels(self.labels, self.label_range)

    @property
    def cosine_labels(self) -> Tensor:
        return cosine_labels(self.labels, self.label_range)

    @property
    def first(self) -> Tensor:
        return geometry.with_even_width(self.embeddings[self.first_rows])

    @property
    def second(self) -> Tensor:
        return geometry.with_even_width(self.embeddings[self.second_rows])

    @property
    def queries(self) -> Tensor:
        return self.embeddings[self.first_rows[self.positive]]

    @property
    def keys(self) -> Tensor:
        return self.embeddings[self.second_rows[self.positive]]

    @property
    def negatives(self) -> Tensor | None:
        if not self.extra_negatives or not self.some(~self.positive):
            return None
        return self.embeddings[self.second_rows[~self.positive]]

    @property
    def _guides(self) -> Tensor:
        return torch.cat(self.guide) if self.guide else self.embeddings.detach()

    @property
    def guide_queries(self) -> Tensor:
        return self._guides[self.first_rows[self.positive]]

    @property
    def guide_keys(self) -> Tensor:
        return self._guides[self.second_rows[self.positive]]

    @property
    def guide_negatives(self) -> Tensor | None:
        return None if self.negatives is None else self._guides[self.second_rows[~self.positive]]

    @property
    def targets(self) -> Tensor:
        """Full weight on the own key: rows of a trainer have no other target."""
        return torch.eye(len(self.queries), device=self.labels.device)

    @property
    def negative_owners(self) -> Tensor | None:
        """The row that owns each further column; unknown for scored pairs."""
        if self.negatives is None or len(self.columns) < 3:
            return None
        return self.first_rows[~self.positive] + self.before

    @property
    def query_texts(self) -> Tensor | None:
        return None if self.texts is None else self.texts[self.first_rows[self.positive]]

    @property
    def key_texts(self) -> Tensor | None:
        return None if self.texts is None else self.texts[self.second_rows[self.positive]]

    @property
    def negative_texts(self) -> Tensor | None:
        if self.texts is None or self.negatives is None:
            return None
        return self.texts[self.second_rows[~self.positive]]

    @property
    def needed_lists(self) -> Tensor:
        """The lists. Raises ValueError if no anchor has several candidates."""
        if self.lists is None or not len(self.lists):
            raise ValueError(
                "no first text of this batch stands in several rows, so there is no list; give a "
                "column for each candidate and a label that is a list, or rows that follow each "
                "other with the same first text"
            )
        return self.lists

    @property
    def needed_teacher(self) -> Tensor:
        """The teacher's scores. Raises ValueError without any."""
        if self.teacher is None:
            raise ValueError(
                "the loss learns from a teacher, and the dataset has no label; add the teacher's "
                "scores of each row's candidates as a column of lists called label"
            )
        return self.teacher

    @property
    def list_scores(self) -> Tensor:
        return at(self.scores, self.needed_lists)

    @property
    def list_labels(self) -> Tensor:
        return at(self.labels, self.needed_lists)

    @property
    def list_mask(self) -> Tensor:
        return self.needed_lists >= 0

    @property
    def judged_mask(self) -> Tensor:
        return judged_in(self.list_labels, self.list_mask, "judged_mask")

    @property
    def graded_mask(self) -> Tensor:
        return judged_in(self.list_labels, self.list_mask, "graded_mask")

    def _of_all(self, places: Tensor) -> Tensor:
        """Return the places of pairs among those of all processes, if their batches are
        joined."""
        ahead = self.before * max(len(self.columns) - 1, 1)
        return torch.where(places < 0, places, places + ahead)

    @property
    def list_places(self) -> Tensor:
        return self._of_all(self.needed_lists)

    @property
    def positive_places(self) -> Tensor:
        return self._of_all(self._margins[0])

    @property
    def negative_places(self) -> Tensor:
        return self._of_all(self._margins[1])

    @property
    def list_teacher(self) -> Tensor:
        return at(self.needed_teacher, self.needed_lists)

    @cached_property
    def _margins(self) -> tuple[Tensor, Tensor]:
        found = margins_of(self.needed_lists, self.positive)
        if not len(found[0]):
            raise ValueError(
                "no row of this batch has a positive and a negative of the same anchor; give three "
                "columns: anchor, positive, negative"
            )
        return found

    @property
    def margin_positives(self) -> Tensor:
        return self.scores[self._margins[0]]

    @property
    def margin_negatives(self) -> Tensor:
        return at(self.scores, self._margins[1])

    @property
    def teacher_margins(self) -> Tensor:
        positives, negatives = self._margins
        margins = self.needed_teacher[positives][:, None] - at(self.needed_teacher, negatives)
        return margins.masked_fill(negatives < 0, 0)

    @property
    def margin_mask(self) -> Tensor:
        return self._margins[1] >= 0

    @cached_property
    def _triplets(self) -> tuple[Tensor, Tensor]:
        return triplets_of(*self._margins)

    @property
    def triplet_anchors(self) -> Tensor:
        return self.embeddings[self.first_rows[self._triplets[0]]]

    @property
    def triplet_positives(self) -> Tensor:
        return self.embeddings[self.second_rows[self._triplets[0]]]

    @property
    def triplet_negatives(self) -> Tensor:
        return self.embeddings[self.second_rows[self._triplets[1]]]


def inputs_in(examples: Examples, reads: Mapping[str, str], *but: str) -> dict[str, Tensor]:
    """Return the batch's inputs by argument name."""
    read = {name: getattr(examples, what) for name, what in reads.items() if name not in but}
    return {name: value for name, value in read.items() if value is not None}


def at_least_single(tensor: Tensor) -> Tensor:
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor
