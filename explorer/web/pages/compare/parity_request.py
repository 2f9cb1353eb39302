"""The losses of the Compare page beside the libraries that compute them."""

from dataclasses import dataclass
from typing import Literal

from lossprism.explorer.core.batch import make_batch
from lossprism.explorer.lab.compare import library_parity
from lossprism.explorer.lab.compare.comparison_results import Sentence
from lossprism.explorer.lab.compare.library_parity import Status
from lossprism.explorer.lab.compare.parity_batches import TRIPLE_BYTES, shown_of
from lossprism.explorer.runtime import jobs, resource_checks
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.number_format import Real, json_number
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.response_parent_classes import as_answer
from lossprism.explorer.web.page_requests import served
from lossprism.explorer.web.pages.compare.request_handlers import scenarios_in
from lossprism.explorer.web.pages.explore.scenario_and_rows_of_request import SendRows
from lossprism.losses import LOSSES


@dataclass(frozen=True)
class Gap:
    """Largest difference of a computation from the definition, relative to the largest value."""

    value: Real
    gradient: Real


@dataclass(frozen=True)
class ParityOdd:
    """The same library on a batch of odd labels, and what it was given."""

    name: Literal["graded", "unjudged", "large", "tied", "single"]
    status: Status
    because: tuple[Sentence, ...]
    fed: str


@dataclass(frozen=True)
class ParityRow:
    """A loss under a convention beside one library; gaps from the definition, in float64 and
    float32, of our function and of the library's. `fed` says what the library was given, and
    `left_out` what of the batch it cannot take."""

    loss: str
    convention: str
    library: str
    called: str
    fed: str
    version: str | None
    status: Status
    value: Real | None
    ours: list[Gap | None]
    theirs: list[Gap | None]
    because: tuple[Sentence, ...]
    left_out: Sentence | None
    odd: list[ParityOdd]


@dataclass(frozen=True)
class Parity:
    """Every loss of the page beside the libraries; `seeded` if it was computed on the seeded batch,
    since this one has no vectors, and on the `first` pairs of a large one, 0 for all."""

    rows: list[ParityRow]
    seeded: bool
    first: int


def _parity(request: Json) -> Parity | SendRows:
    """{scenario, sides, rows?} → the losses of the sides, in ours and in each library's
    computation, on this batch, on its `first` pairs where it is large (0 for all), or, where it has
    no vectors, on the seeded one."""
    found = scenarios_in(request)
    if found is None:
        return SendRows()
    scenario, scenarios = found
    named = {one.loss: LOSSES[one.loss] for one in scenarios if one.loss in LOSSES}
    batch = make_batch(scenario.data, scenario.rules)
    seeded = batch.vectors is None or batch.given is not None
    compared = None if seeded else shown_of(batch)
    rows: list[library_parity.Row] = []
    with jobs.heavy_work_turn():
        resource_checks.check_memory(beside_mib=TRIPLE_BYTES * len(compared or ()) ** 3 // MIB)
        for done, (name, spec) in enumerate(named.items()):
            jobs.step("parity", done, len(named), name=name)
            rows += library_parity.parity(compared, {name: spec})
    first = 0 if compared is batch else len(compared or ())
    return Parity([_parity_row(row) for row in rows], seeded, first)


def _parity_row(row: library_parity.Row) -> ParityRow:
    return as_answer(
        ParityRow,
        row,
        ours=[_gap(row.kernel[one]) for one in library_parity.PRECISIONS],
        theirs=[_gap(row.peer[one]) for one in library_parity.PRECISIONS],
        odd=[as_answer(ParityOdd, one) for one in row.odd],
    )


def _gap(agreement: library_parity.Agreement | None) -> Gap | None:
    return agreement and Gap(
        json_number(agreement.by_value.relative), json_number(agreement.by_gradient.relative)
    )


PARITY = served("parity", _parity)
