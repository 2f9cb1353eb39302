"""A remedy that was tried on the rows of a table before it is advised."""

from dataclasses import dataclass

from lossprism.explorer.locale import say
from lossprism.explorer.runtime.number_format import display_number, percent
from lossprism.explorer.sources.samplers import Epoch

# What a trial measures.
MINIMUM, SHARED, ALONE, WITHOUT_POSITIVE = "minimum", "shared", "alone", "without_positive"


@dataclass(frozen=True)
class Trial:
    """An epoch of batches, drawn from `tried` of the `rows` of a table.

    `before` and `after` are the values of its `measure` in today's batches and
    in these: the minimum of a softmax loss, or a share of rows or batches.
    """

    rows: int
    tried: int
    epoch: Epoch
    measure: str
    before: float
    after: float

    @property
    def helps(self) -> bool:
        """True if a whole epoch of these batches is better than today's."""
        return self.epoch.works and self.after < self.before

    @property
    def values(self) -> dict[str, int | float | str]:
        """The numbers of the trial, for a sentence."""
        return {
            "tried": self.tried,
            "rows": self.rows,
            "batches": self.epoch.batches,
            "expected": self.epoch.expected,
            "seen": self.epoch.seen,
            "repeats": percent(self.epoch.repeats),
        }

    def written(self, language: str) -> str:
        before, after = (
            display_number(value, 3) if self.measure == MINIMUM else percent(value)
            for value in (self.before, self.after)
        )
        measure = say(language, f"doctor.measure.{self.measure}")
        ends = {"measure": measure, "before": before, "after": after}
        return say(language, "doctor.tried", **self.values, **ends)


# Code to paste, with the trial that shows its effect on the rows, the best first.
Tried = dict[str, Trial]


def helpful(tried: Tried) -> Tried:
    """Return those that help, the best first."""
    best_first = sorted(tried.items(), key=lambda one: one[1].after)
    return {paste: trial for paste, trial in best_first if trial.helps}


def sampler_values(trial: Trial, sampler: str) -> dict[str, int | float | str]:
    """The numbers of the trial of a sampler, with its name."""
    return {**trial.values, "sampler": sampler.rpartition(".")[2]}
