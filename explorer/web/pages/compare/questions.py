"""The questions of the Compare page, each with the losses, batch and picture that answer it.

The sentence that answers is computed from the comparison
(`explorer.lab.compare.loss_question_answers`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lossprism.explorer.lab.compare.comparison_results import Side
from lossprism.explorer.lab.compare.loss_question_answers import COSINE_SHIFT, PART_ROWS
from lossprism.explorer.runtime.response_field_types import Setting
from lossprism.explorer.web.pages.page_data_types import ChosenLoss


@dataclass(frozen=True)
class Question:
    """A question of Compare: the losses and the picture that answer it, the other entries of the
    page's state, and the batch that it opens with: an example, with or without extra negatives."""

    example: str
    extra_negatives: bool
    sides: list[ChosenLoss]
    picture: str
    state: dict[str, Setting]

    def is_about(self, sides: Sequence[Side]) -> bool:
        """Return whether these are its losses."""
        own = [(one.loss, one.convention, one.parameters) for one in self.sides]
        return own == [(one.loss, one.convention, dict(one.parameters)) for one in sides]


def _side(loss: str, convention: str = "", **parameters: Setting) -> ChosenLoss:
    return ChosenLoss(loss, convention, parameters)


def _question(
    example: str,
    *sides: ChosenLoss,
    picture: str = "gradients",
    extra_negatives: bool = True,
    **state: Setting,
) -> Question:
    return Question(example, extra_negatives, list(sides), picture, state)


# By language. Of the Chinese pairs, InfoNCE has no gradient of the negatives to show.
OPENING = {"en": "temperature", "zh": "libraries"}
# By the catalogue's words under ``compare.question.``; `picture` is the section of the page that
# answers, `state` the other entries of the page's state.
QUESTIONS: dict[str, Question] = {
    "temperature": _question(
        "hard_negatives", *(_side("info_nce", temperature=value) for value in (1.0, 0.1, 0.01))
    ),
    "libraries": _question(
        "graded_english",
        _side("pairwise_logistic", scale=1.0),
        _side("pairwise_logistic", "TF-Ranking 0.5.5, Keras PairwiseLogisticLoss (sum / N)"),
        _side("pairwise_logistic", "rax 0.4.0 pairwise_logistic_loss"),
        _side("pairwise_logistic", "sentence-transformers 6.2 RankNetLoss (mean / ln 2)"),
    ),
    "ranking_or_contrast": _question("graded_english", _side("cosent"), _side("info_nce")),
    "mnrl_nt_xent": _question(
        "graded_english",
        _side("info_nce", temperature=0.05),
        _side("nt_xent", temperature=0.05),
        _side("info_nce", temperature=0.05, symmetric=True),
        picture="matrices",
    ),
    "temperatures": _question(
        "hard_negatives",
        *(_side("info_nce", temperature=value) for value in (1.0, 0.2, 0.1, 0.05, 0.01)),
        picture="vary",
        vary="sweep",
        parameter="temperature",
    ),
    "collapse": _question(
        "hard_negatives",
        _side("info_nce"),
        _side("cosent"),
        _side("siglip"),
        _side("triplet"),
        _side("multi_similarity", mined=False),
        _side("online_contrastive"),
        extra_negatives=False,
        picture="vary",
        vary="collapse",
    ),
    "only_the_order": _question(
        "graded_english",
        _side("cosent"),
        _side("cosine_mse"),
        _side("pairwise_hinge"),
        picture="vary",
        vary="what_if",
        change="shift",
        by=COSINE_SHIFT,
    ),
    "small_batches": _question(
        "hard_negatives",
        _side("info_nce"),
        _side("cosent"),
        extra_negatives=False,
        picture="vary",
        vary="mechanics",
        way="micro",
        size=PART_ROWS,
    ),
    "contrastive": _question(
        "graded_english",
        # As sentence-transformers has it, of labels that are 0 or 1.
        _side("contrastive", margin=0.5, distance="cosine", half=True),
        _side("contrastive"),
        _side("contrastive", "pytorch-metric-learning 2.9 ContrastiveLoss"),
        _side("online_contrastive"),
    ),
    "margins": _question(
        "nli_triplets",
        *(
            _side("triplet", "sentence-transformers 6.2 TripletLoss (given triplets)", margin=value)
            for value in (5.0, 0.2, 0.05)
        ),
    ),
}
