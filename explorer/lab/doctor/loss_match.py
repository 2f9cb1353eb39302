"""A loss whose reference value is the number, and the scenario of Explore that shows it."""

from dataclasses import dataclass, replace

from lossprism.explorer.core.parameter_values import Settings
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.doctor.batches_from_counts import Layout
from lossprism.explorer.lab.doctor.reference_values import (
    FLOOR,
    START,
    ConfiguredLoss,
    is_zero_at_collapse,
    learned_ends,
)
from lossprism.explorer.lab.doctor.unknown_count_axes import Counts
from lossprism.explorer.sources.encoders.constant_and_orthogonal import ALIKE, APART
from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.score_kinds import SCORE_KINDS

NOTHING_TO_COMPARE = "nothing"  # the kind of a value of 0 on a batch without a comparison


@dataclass(frozen=True)
class LossMatch:
    """A loss with the value, and the counts at which it has it.

    `parameters` are those that differ from the convention's defaults. `kind` is one of
    `reference_values.KINDS` or `NOTHING_TO_COMPARE`, with its `reason`. `doubled` is the value at
    twice the unknown count (or twice the batch), None where it is unknown. `cost` is the sum of
    what the match assumes; the lower, the likelier. `other` is the value at the start beside one at
    collapse, and the reverse, where they differ. `score` is the kind of the scores, "" for the
    convention's own.
    """

    loss: str
    convention: str
    parameters: Settings
    counts: Counts
    kind: str
    value: float
    doubled: float | None
    cost: float
    layout: Layout
    reason: str = ""
    other: float | None = None
    score: str = ""

    @property
    def spec(self) -> LossSpec:
        spec = LOSSES[self.loss].under(self.convention)
        return spec.scored_as(self.score or spec.score)

    @property
    def configured(self) -> ConfiguredLoss:
        """The loss with all its parameters, on the convention's own scores."""
        spec = LOSSES[self.loss]
        chosen = {**spec.under(self.convention).defaults, **dict(self.parameters)}
        return ConfiguredLoss(self.loss, self.convention, tuple(chosen.items()), spec.function)

    @property
    def shows(self) -> str:
        """Name the number of the scenario that has the value: its "loss", or its "floor"."""
        return "floor" if self.kind == FLOOR else "loss"

    @property
    def no_scenario_reason(self) -> str:
        """Name why no scenario shows the number; "" where one does.

        "large": Explore shows no batch of this size. "unbounded": the minimum is that of unbounded
        scores, and those of a scenario are cosines. "learned": it is the minimum over parameters
        that training changes, and a scenario keeps them fixed.
        """
        if not self.layout.shown:
            return "large"
        if self.kind != FLOOR:
            return ""
        spec = self.spec
        if spec.reads_scores and not SCORE_KINDS[spec.score].bounded:
            return "unbounded"
        return "learned" if learned_ends(spec, spec.defaults | dict(self.parameters)) else ""

    def scenario(self) -> Scenario | None:
        """Return the scenario that shows the number; None for a `no_scenario_reason`."""
        if self.no_scenario_reason:
            return None
        layout, needs = self.layout, LOSSES[self.loss].needs
        dimensions = f" {layout.dimensions}" if layout.dimensions != Layout(1).dimensions else ""
        is_orthogonal = self.kind in (START, NOTHING_TO_COMPARE) or is_zero_at_collapse(self.spec)
        encoder = APART if is_orthogonal else f"{ALIKE}{dimensions}"
        # The value is the same for any teacher.
        rows = layout.rows()
        data = Data("table", rows=rows, teacher=rows if "teacher" in needs else (), encoder=encoder)
        if "teacher_vectors" in needs:
            data = replace(data, teacher_model=encoder)
        return Scenario(
            data, loss=self.loss, convention=self.convention, parameters=self.parameters
        )
