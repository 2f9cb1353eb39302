"""Requests of the Compare page."""

from dataclasses import dataclass

from torch import Tensor

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.core.explore import Exploration, explore, seconds_for
from lossprism.explorer.core.modality_gap import modality_gap
from lossprism.explorer.core.models_of_scenario import encoder_of
from lossprism.explorer.core.ranks_and_term_weights import Places
from lossprism.explorer.core.remarks import short
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export.drawing_data_of_exploration import (
    describe_batch,
    one_step,
    sent_parameters,
)
from lossprism.explorer.export.drawing_data_types import BatchData, Looked
from lossprism.explorer.export.figure.figure_files import chart_text
from lossprism.explorer.lab.compare import loss_question_answers
from lossprism.explorer.lab.compare.comparison_results import (
    Between,
    GradientKind,
    Outcome,
    Sentence,
    Side,
)
from lossprism.explorer.lab.compare.formula_difference import (
    CodeLine,
    ParameterPair,
    difference,
    number_of,
)
from lossprism.explorer.lab.compare.loss_comparison import (
    MAX_LOSSES,
    MIN_LOSSES,
    Comparison,
    ComparisonCache,
    compare,
)
from lossprism.explorer.runtime import jobs, validation
from lossprism.explorer.runtime.base64_arrays import packed
from lossprism.explorer.runtime.cache_folder import digest
from lossprism.explorer.runtime.limits import KEPT_BATCHES
from lossprism.explorer.runtime.memory_cache import Cache
from lossprism.explorer.runtime.number_format import Real
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Floats, Json, Setting
from lossprism.explorer.runtime.response_parent_classes import Sparse, as_answer
from lossprism.explorer.runtime.validation import invalid_value
from lossprism.explorer.sources.encoders.uploaded_vectors import is_own
from lossprism.explorer.sources.pairs_from_tables import SkippedRow
from lossprism.explorer.web.page_requests import JOBS, served
from lossprism.explorer.web.pages.compare.questions import QUESTIONS
from lossprism.explorer.web.pages.explore.loss_facts import SERVED_LOSS
from lossprism.explorer.web.pages.explore.scenario_and_rows_of_request import (
    Link,
    OpenedScenario,
    SendRows,
    Unexplored,
    batch_key,
    held_rows,
    scenario_in,
    scenario_link,
    skipped_rows,
)


@dataclass(frozen=True)
class ComparedFigures:
    """Figures of a loss on the batch; null for missing ones."""

    loss: Real
    floor: Real | None
    floor_is_bound: bool
    collapse: Real | None
    gradient_norm: Real
    terms: int | None
    moving: int | None
    effective: Real | None
    ordered: int
    violated: int
    places: Places | None


@dataclass(frozen=True)
class ComparedSide:
    """A side: its figures, the gradient of each pair and the displayed step, or the problem that
    prevented them. `parameters` are those in force; `looked` is null for a step that the page has
    by this `name` already."""

    parameters: dict[str, Setting]
    problem: Problem | None
    figures: ComparedFigures | None
    gradient: Floats | None
    name: str
    looked: Looked | None


@dataclass(frozen=True)
class DisagreedPair:
    """The pair on which two sides disagree most, in words."""

    pair: int
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class LossPair:
    """Two sides by their places: reasons not to compare their values, Kendall's τ of the gradients
    of the pairs, the cosine of those by the sentence vectors, and the factor of one gradient to the
    other."""

    first: int
    second: int
    reasons: tuple[Sentence, ...]
    tau: Real | None
    cosine: Real | None
    factor: Real | None
    apart: DisagreedPair | None


@dataclass(frozen=True)
class ComparedBatch(BatchData):
    """The batch; `numbers` is what a person calls each pair, `gap` a sentence on the modality gap
    of vectors that came with the pairs."""

    numbers: list[int]
    gap: Sentence | None


@dataclass(frozen=True, kw_only=True)
class LossComparison(Sparse):
    """The sides, every two of those that could be computed, and the answer to the question if these
    are its losses; the rest where the page has another batch."""

    rows: str | None = None
    sides: list[ComparedSide]
    two: list[LossPair]
    gradient: GradientKind
    answer: Sentence | None = None
    skipped: tuple[SkippedRow, ...] | None = None
    batch: ComparedBatch | None = None


def _compare(request: Json) -> LossComparison | Unexplored | SendRows:
    """{scenario, sides, at: the step of each side, look: whether steps are drawn, held: names of
    the steps that the page has, known, question, rows?} → the sides beside each other."""
    scenario = scenario_in(request)
    if scenario is None:
        return SendRows()
    sides, steps = sides_in(request), _steps_in(request)
    rows, key = held_rows(request, scenario), batch_key(scenario.data, scenario.rules)
    view = _View(request, f"{key} {scenario.view.order}", steps)
    try:
        comparison = compare(scenario, sides, see=view.see, kept=_kept_of(key))
        looked = [view.looked(place, one, comparison) for place, one in enumerate(comparison.sides)]
        answer = _answer(request.get("question"), comparison, _kept_of(key))
    except Problem as problem:
        return Unexplored(rows=rows, error=problem, skipped=skipped_rows(scenario))
    bars, is_new = comparison.bars(), request.get("known") != key
    named = zip(comparison.sides, bars.values, looked, strict=True)
    return LossComparison(
        rows=rows,
        sides=[_side(one, gradient, *look) for one, gradient, look in named],
        two=[_two(one) for one in comparison.between],
        gradient=bars.gradient,
        answer=answer,
        skipped=skipped_rows(scenario) if is_new else None,
        batch=_batch(comparison, key) if is_new else None,
    )


def _batch(comparison: Comparison, key: str) -> ComparedBatch:
    own = is_own(encoder_of(comparison.scenario.data))
    gap = modality_gap(comparison.batch) if own else None
    remark = None if gap is None else Sentence("remark.modality_gap", {"gap": short(gap)})
    described = describe_batch(comparison.batch)
    return ComparedBatch(key=key, **described, numbers=list(comparison.numbers), gap=remark)


# What was found of the last batches, so that the sides that did not move are not computed again.
_kept: Cache[ComparisonCache] = Cache(KEPT_BATCHES)


def _kept_of(key: str) -> ComparisonCache:
    return _kept.get(key) or _kept.put(key, ComparisonCache())


def _answer(name: object, comparison: Comparison, kept: ComparisonCache) -> Sentence | None:
    if not isinstance(name, str) or name not in QUESTIONS:
        return None
    if not QUESTIONS[name].is_about([one.side for one in comparison.sides]):
        return None
    return kept.answers.get(name) or kept.answers.put(
        name, loss_question_answers.answer(name, comparison)
    )


class _View:
    """The steps that are looked at; one that the page has goes by its name alone."""

    def __init__(self, request: Json, of: str, steps: list[int | None]) -> None:
        self.wanted = bool(request.get("look"))
        cells = request.get("held", [])
        self.held = (
            {one for one in cells if isinstance(one, str)} if isinstance(cells, list) else ()
        )
        self.of, self.steps = of, steps
        self.made: dict[int, Looked] = {}

    def step(self, place: int) -> int | None:
        return self.steps[place] if place < len(self.steps) else None

    def see(self, place: int, e: Exploration) -> None:
        if self.wanted:
            self.made[place] = one_step(e, self.step(place))

    def looked(self, place: int, one: Outcome, comparison: Comparison) -> tuple[str, Looked | None]:
        """The name of the step that is looked at, and the step where the page has it not."""
        if not self.wanted or not one.stands:
            return "", None
        name = digest([self.of, repr(one.side), str(self.step(place))])
        own = one.spec is not None and one.spec.group == "own"
        if name in self.held and not own:
            return name, None
        if place not in self.made:
            own = one.side.applied_to(comparison.scenario)
            self.made[place] = one_step(explore(own, comparison.batch), self.step(place))
        return name, self.made[place]


def sides_in(request: Json) -> list[Side]:
    """The losses in {sides: [{loss, convention, parameters}]}. Raises Problem for what is none."""
    listed = request.get("sides")
    if not isinstance(listed, list):
        raise invalid_value("sides", listed)
    if not MIN_LOSSES <= len(listed) <= MAX_LOSSES:
        raise Problem("compare_sides", count=len(listed), least=MIN_LOSSES, most=MAX_LOSSES)
    return [side_in(one, f"sides[{place}]") for place, one in enumerate(listed)]


def side_in(value: object, where: str) -> Side:
    """Read {loss, convention, parameters}. Raises Problem for anything else."""
    if not isinstance(value, dict) or not isinstance(value.get("loss"), str):
        raise invalid_value(where, value)
    return validation.read(Side, value, where, _READERS, lambda place: invalid_value(place, value))


_READERS: validation.Readers = {
    (Side, "loss"): validation.of_type(str),
    (Side, "parameters"): validation.parameters,
}


def _steps_in(request: Json) -> list[int | None]:
    listed = request.get("at", [])
    if not isinstance(listed, list) or len(listed) > MAX_LOSSES:
        raise invalid_value("at", listed)
    steps = [validation.integer(one, f"at[{place}]") for place, one in enumerate(listed)]
    return [one if one >= 0 else None for one in steps]


def scenarios_in(request: Json) -> tuple[Scenario, list[Scenario]] | None:
    """The scenario of a request, and that of each of its sides; None where its rows are not
    held."""
    scenario = scenario_in(request)
    return scenario and (scenario, [side.applied_to(scenario) for side in sides_in(request)])


# ---- What came of it


def _side(one: Outcome, gradient: Tensor | None, name: str, looked: Looked | None) -> ComparedSide:
    return ComparedSide(
        parameters=sent_parameters(one.parameters),
        problem=one.problem,
        figures=one.figures and as_answer(ComparedFigures, one.figures),
        gradient=None if gradient is None else packed(gradient),
        name=name,
        looked=looked,
    )


def _two(one: Between) -> LossPair:
    apart = one.apart and as_answer(DisagreedPair, one.apart)
    return as_answer(LossPair, one, apart=apart)


# ---- Two formulas in one


@dataclass(frozen=True)
class TensorStatistics:
    """A tensor in numbers: its cells, those that take part, the least, the mean, the largest."""

    count: int
    present: int
    least: Real
    mean: Real
    largest: Real


@dataclass(frozen=True)
class StepNumbers:
    """Name of a step, and its value on this batch."""

    name: str
    number: TensorStatistics | None


@dataclass(frozen=True)
class FormulaDifference:
    """Two definitions in one, or one after the other where they are not `together`: `formula` line
    by line in LaTeX, the parameters, the listings, and the steps of either; `empty` where they are
    one formula."""

    formula: tuple[str, ...]
    parameters: tuple[ParameterPair, ...]
    code: tuple[CodeLine, ...]
    base: list[StepNumbers]
    other: list[StepNumbers]
    together: bool
    empty: bool


def _formula(request: Json) -> FormulaDifference | SendRows:
    """{scenario, sides, base, other, rows?} → the two definitions as one formula, step by step and
    line by line."""
    found = scenarios_in(request)
    if found is None:
        return SendRows()
    scenario, scenarios = found
    places = [validation.integer(request.get(name), name) for name in ("base", "other")]
    for name, place in zip(("base", "other"), places, strict=True):
        if not 0 <= place < len(scenarios):
            raise invalid_value(name, place)
    batch = make_batch(scenario.data, scenario.rules)
    with jobs.light_work_turn(2 * seconds_for(len(batch))):
        base, other = (explore(scenarios[place], batch) for place in places)
        differs = difference(base, other)
    return as_answer(
        FormulaDifference,
        differs,
        base=_numbers(base),
        other=_numbers(other),
        empty=differs.is_empty,
    )


def _numbers(e: Exploration) -> list[StepNumbers]:
    return [
        StepNumbers(
            step.name,
            (number := number_of(step.value)) and as_answer(TensorStatistics, number),
        )
        for step in e.trace.tensors
    ]


# ---- The address


def _link(request: Json) -> Link:
    """The scenario → data and rules as the text of a link; "" where they are the usual ones."""
    scenario = Scenario.from_json(request).shown()
    plain = Scenario(data=scenario.data, rules=scenario.rules)
    return Link("" if plain == Scenario() else plain.to_link())


def _open_link(text: str) -> OpenedScenario:
    return OpenedScenario(Scenario.from_link(text).sent())


SERVED = [
    served("compare", _compare),
    served("formula", _formula),
    served("link", _link),
    served("scene_link", scenario_link),
    served("open_link", _open_link, takes=str),
    served("chart", chart_text),
    SERVED_LOSS,
    *JOBS,
]
