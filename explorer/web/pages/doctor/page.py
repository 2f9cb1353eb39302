"""The Doctor page: bring a number, a data set or a run, and learn what is the matter with it."""

from __future__ import annotations

from explorer.lab.doctor.known_loss_and_batch import COUNTS, SETTINGS
from explorer.lab.doctor.mining import EACH, MARGIN, USUAL_EACH, USUAL_MARGIN
from explorer.runtime.limits import FILE_BYTES, LARGE_FILE_BYTES
from explorer.runtime.response_types import Json
from explorer.sources.encoders import EMBEDDED
from explorer.web.pages.doctor import data_source, dataset_check, requests, run_check
from explorer.web.pages.doctor.state import CHECKS, EXAMPLES, doctor_table
from losses import LOSSES

SERVED = [*requests.SERVED, *dataset_check.SERVED, *run_check.SERVED]


def page_data() -> Json:
    """Return the facts for this page."""
    return {
        "checks": list(CHECKS),
        "table": doctor_table(),
        "counts": list(COUNTS),
        "settings": list(SETTINGS),
        "examples": EXAMPLES,
        "sets": list(data_source.SETS),
        "bytes": LARGE_FILE_BYTES,
        "logs": list(run_check.LOGS),
        "beside": list(run_check.BESIDE),
        "of_other": list(run_check.OF_OTHER),
        "log_bytes": FILE_BYTES,
        "encoder": EMBEDDED,
        "with_margin": [
            name for name in dataset_check.losses_offered() if LOSSES[name].reach is not None
        ],
        "mining": {"negatives": EACH, "margin": MARGIN, "usual": (USUAL_EACH, USUAL_MARGIN)},
    }
