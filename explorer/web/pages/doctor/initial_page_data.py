"""The Doctor page: bring a number, a dataset or a run, and learn what is the matter with it."""

from dataclasses import dataclass

from lossprism.explorer.lab.doctor.hard_negatives_mined_to_file import (
    MARGIN_RANGE,
    NEGATIVES_RANGE,
    USUAL_MARGIN,
    USUAL_NEGATIVES,
)
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import COUNTS, SETTINGS
from lossprism.explorer.runtime.limits import FILE_BYTES, LARGE_FILE_BYTES
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.web.pages.doctor import (
    data_source,
    dataset_requests,
    number_requests,
    run_requests,
)
from lossprism.explorer.web.pages.doctor.state_entries import CHECKS, EXAMPLES, doctor_table
from lossprism.explorer.web.pages.state_entry_type import Entry
from lossprism.losses import LOSSES

SERVED = [*number_requests.SERVED, *dataset_requests.SERVED, *run_requests.SERVED]


@dataclass(frozen=True)
class Mining:
    """Limits and defaults of hard negatives to mine for each pair, and of their margin."""

    negatives: tuple[int, int]
    margin: tuple[float, float]
    usual: tuple[int, float]


@dataclass(frozen=True, kw_only=True)
class DoctorOwn:
    """Facts for Doctor alone: its checks; the known values beside a number, and first numbers;
    first datasets and logs of runs, and the largest file of either."""

    checks: list[str]
    table: list[Entry]
    counts: list[str]
    settings: list[str]
    examples: list[dict[str, str]]
    sets: list[str]
    bytes: int
    logs: list[str]
    of_other: list[str]
    log_bytes: int
    encoder: str
    with_margin: list[str]
    mining: Mining


def page_data() -> DoctorOwn:
    """Return the facts for this page."""
    return DoctorOwn(
        checks=list(CHECKS),
        table=doctor_table(),
        counts=list(COUNTS),
        settings=list(SETTINGS),
        examples=EXAMPLES,
        sets=list(data_source.SETS),
        bytes=LARGE_FILE_BYTES,
        logs=list(run_requests.LOGS),
        of_other=list(run_requests.KNOWN_OF_OTHER_RUN),
        log_bytes=FILE_BYTES,
        encoder=EMBEDDED,
        with_margin=[
            name for name in dataset_requests.losses_offered() if LOSSES[name].reach is not None
        ],
        mining=Mining(NEGATIVES_RANGE, MARGIN_RANGE, (USUAL_NEGATIVES, USUAL_MARGIN)),
    )
