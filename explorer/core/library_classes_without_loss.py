"""Classes of sentence-transformers without a loss here, each with the nearest loss."""

from dataclasses import dataclass

from lossprism.explorer.locale import title_word
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES
from lossprism.losses.loss_name_matching import (
    LIBRARY,
    SHARED_CLASSES,
    last_part,
    library_in,
    plain,
)


@dataclass(frozen=True)
class RelatedClass:
    """A class, the loss of the registry to use in its place, and the reason, ``related_`` + `why`
    among the problems. `others` are further names, compared as by `plain`."""

    name: str
    loss: str
    why: str
    others: tuple[str, ...] = ()

    @property
    def is_shared(self) -> bool:
        """Return whether a loss of another library has the same name."""
        return self.name in SHARED_CLASSES

    def problem(self, name: str = "") -> Problem:
        """Return the problem that this name is no loss here, with its replacement."""
        instead = title_word(LOSSES[self.loss])
        return Problem(
            f"related_{self.why}", about="loss", name=name.strip() or self.name, instead=instead
        )


RELATED_CLASSES = (
    RelatedClass("AdaptiveLayerLoss", "matryoshka(info_nce)", "layers", ("adaptive layers", "ESE")),
    RelatedClass(
        "Matryoshka2dLoss",
        "matryoshka(info_nce)",
        "layers_and_prefixes",
        ("2DMSE", "2D Matryoshka"),
    ),
    RelatedClass("ContrastiveTensionLoss", "binary_cross_entropy", "two_models"),
    RelatedClass("ContrastiveTensionLossInBatchNegatives", "info_nce", "two_models_in_batch"),
    RelatedClass("DenoisingAutoEncoderLoss", "info_nce", "decoder", ("TSDAE",)),
    RelatedClass("SoftmaxLoss", SHARED_CLASSES["SoftmaxLoss"], "classifier"),
    RelatedClass("CrossEntropyLoss", SHARED_CLASSES["CrossEntropyLoss"], "classifier_of_pairs"),
)


def classes_related_to(loss: str) -> list[RelatedClass]:
    """Return the classes for which this loss is the replacement."""
    return [one for one in RELATED_CLASSES if one.loss == loss]


def class_of_trainer(name: str, library: str) -> RelatedClass | None:
    """Return the class of sentence-transformers that shares its name with a loss of another
    library, if the name's module or `library` is the trainer's; else None."""
    if (library_in(name) or library) != LIBRARY:
        return None
    called = last_part(name)
    return next((one for one in RELATED_CLASSES if one.is_shared and one.name == called), None)


def related_class_called(name: str) -> RelatedClass | None:
    """Return the class of this name; None if there is none, or if a loss has the name too."""
    searched = plain(name)
    for one in RELATED_CLASSES:
        if not one.is_shared and searched in map(plain, (one.name, *one.others)):
            return one
    return None
