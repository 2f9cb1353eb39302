"""Classes of sentence-transformers that are no loss of one batch, and what is nearest to each."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.locale import title_word
from explorer.runtime.problem import Problem
from losses import LOSSES
from losses.aliases import plain


@dataclass(frozen=True)
class Akin:
    """A class, the loss of the registry to look at in its place, and the sentence that says why:
    ``akin_`` and `why` among the problems. `others` are further names of it, read as `plain` does;
    `is_shared`: a loss of another library goes by its name, too, and is found by it.
    """

    name: str
    loss: str
    why: str
    others: tuple[str, ...] = ()
    is_shared: bool = False

    def said(self, name: str = "") -> Problem:
        """Why whoever looked for it, by this name, finds no such loss, and what there is."""
        instead = title_word(LOSSES[self.loss])
        return Problem(
            f"akin_{self.why}", about="loss", name=name.strip() or self.name, instead=instead
        )


AKIN = (
    Akin("AdaptiveLayerLoss", "matryoshka(info_nce)", "layers", ("adaptive layers", "ESE")),
    Akin(
        "Matryoshka2dLoss",
        "matryoshka(info_nce)",
        "layers_and_prefixes",
        ("2DMSE", "2D Matryoshka"),
    ),
    Akin("ContrastiveTensionLoss", "binary_cross_entropy", "two_models"),
    Akin("ContrastiveTensionLossInBatchNegatives", "info_nce", "two_models_in_batch"),
    Akin("DenoisingAutoEncoderLoss", "info_nce", "decoder", ("TSDAE",)),
    Akin("SoftmaxLoss", "multitask_cosent", "classifier", is_shared=True),
    Akin("CrossEntropyLoss", "binary_cross_entropy", "classifier_of_pairs", is_shared=True),
)


def akin_to(loss: str) -> list[Akin]:
    """The classes in whose place one looks at this loss."""
    return [one for one in AKIN if one.loss == loss]


def akin_called(name: str) -> Akin | None:
    """The class of this name, None where there is none, or where a loss is called so as well."""
    wanted = plain(name)
    for one in AKIN:
        if not one.is_shared and wanted in map(plain, (one.name, *one.others)):
            return one
    return None
