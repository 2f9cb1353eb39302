"""Facts about a loss for the pages."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from lossprism.explorer.core.loss_lookup import loss_called
from lossprism.explorer.lab.claims.claim_lookup import claims_about
from lossprism.explorer.locale import Word, title_word
from lossprism.explorer.runtime.response_field_types import Setting
from lossprism.explorer.runtime.response_parent_classes import as_answer
from lossprism.explorer.web.page_requests import served
from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.combined.combined_loss_names import RECIPES, summands_of, takes_prefixes
from lossprism.losses.combined.vector_queue import QUEUED
from lossprism.losses.loss_parameter import Parameter as LossParameter


@dataclass(frozen=True)
class Parameter:
    """A keyword of a loss as a person moves it; at `without_owners`, if there is that, it does not
    speak of a query's own hard negatives. One with an `on_value` may be off, which is null, and
    begins there; `former_off` was off in links of earlier versions."""

    name: str
    default: Setting
    symbol: str
    minimum: float
    maximum: float
    step: float
    logarithmic: bool
    choices: tuple[str, ...]
    role: str
    on_value: float | None
    former_off: float | None
    whole: bool
    without_owners: Setting | None
    kind: Literal["number", "switch", "choice", "list"]


@dataclass(frozen=True)
class Form:
    """A loss in one convention, with a `note` where there is one; `variants`: the formula at a
    parameter's value, "name=value"; `counted`: which candidates count where texts are known, as a
    formula, "" for a loss that reads no texts."""

    formula: str
    variants: dict[str, str]
    collapse: str
    floor: str
    note: str
    counted: str
    knows_owners: bool
    asks_guide: bool
    asks_teacher: bool
    negatives_of_batch: bool
    parameters: list[Parameter]


@dataclass(frozen=True)
class Summand:
    """A loss of a sum, on each of these prefixes of the vectors if there are any: lengths, or
    shares where they are at most 1; or `queued`, with vectors of earlier batches."""

    loss: str
    prefixes: tuple[float, ...]
    queued: bool


@dataclass(frozen=True)
class Loss:
    """A loss in its own convention, named "", and in each of the others. `word` is what a sum of
    losses, its `summands`, is called; `former` has today's names of conventions by former ones.
    `claims` are those of the sources that its formula is about."""

    title: str
    word: Word | None
    group: str
    terms: str
    about: str
    references: tuple[str, ...]
    claims: list[str]
    learns_from_positives: bool
    takes_prefixes: bool
    takes_queue: bool
    summands: list[Summand]
    former: dict[str, str]
    conventions: dict[str, Form]


@dataclass(frozen=True)
class NamedLoss:
    """A loss that was requested by name."""

    loss: Loss


def describe_losses() -> dict[str, Loss]:
    """Return all losses by name, and the sums that are trained with."""
    listed = [*(name for name in LOSSES if LOSSES[name].group != "own"), *RECIPES]
    own = [name for name in LOSSES if LOSSES[name].group == "own"]
    return {name: describe_loss(LOSSES[name]) for name in [*listed, *own]}


def described(name: str) -> NamedLoss:
    """Return the facts about a loss, or a sum of losses, by any of its names."""
    return NamedLoss(describe_loss(LOSSES[loss_called(name)[0]]))


def describe_loss(spec: LossSpec) -> Loss:
    """A loss as the page needs it, in its own convention and in each of the others."""
    return as_answer(
        Loss,
        spec,
        word=title_word(spec) if spec.parts else None,
        about=(spec.function.__doc__ or "").strip().partition("\n")[0],
        takes_prefixes=takes_prefixes(spec),
        takes_queue=spec.name in QUEUED,
        summands=[as_answer(Summand, one) for one in summands_of(spec.name, LOSSES)],
        former=spec.former_conventions,
        claims=claims_about(spec.name),
        conventions={
            name: _describe_form(spec.under(name))
            for name in ("", *(convention.name for convention in spec.conventions))
        },
    )


def _describe_form(spec: LossSpec) -> Form:
    spec = spec.scored_as("dot" if spec.score == "dot" else "cosine")  # as those of sentences are
    return as_answer(
        Form,
        spec,
        variants=dict(spec.variants),
        collapse=spec.collapse_formula if spec.collapse else "",
        floor=spec.floor_formula if spec.floor else "",
        counted=spec.counted if spec.reads_texts else "",
        knows_owners="negative_owners" in spec.reads.values(),
        asks_guide=spec.reads_guide,
        asks_teacher=spec.reads_teacher,
        parameters=described_parameters(spec.parameters),
    )


def described_parameters(parameters: Iterable[LossParameter]) -> list[Parameter]:
    return [as_answer(Parameter, one) for one in parameters]


# For pages that open what a link names.
SERVED_LOSS = served("loss", described, takes=str)
