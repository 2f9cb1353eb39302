"""The Doctor page: bring a number, a data set or a run, and learn what is the matter with it."""

from __future__ import annotations

from explorer.lab.doctor.known import COUNTS, SETTINGS
from explorer.lab.doctor.mining import EACH, MARGIN, USUAL_EACH, USUAL_MARGIN
from explorer.runtime.limits import FILE_BYTES, LARGE_FILE_BYTES
from explorer.runtime.wire import Json
from explorer.sources.encoders import EMBEDDED
from explorer.web.frame import framed
from explorer.web.instrument import Instrument, PageState
from explorer.web.pages.doctor import data, requests, run
from explorer.web.pages.doctor.state import DOORS, EXAMPLES, doctor_table
from losses import LOSSES

STATE = PageState("doctor", "doctor", "pages/doctor/state.js")


def build() -> None:
    """Lay the page out inside the current `gr.Blocks`."""
    served = [*requests.SERVED, *data.SERVED, *run.SERVED]
    with framed("doctor_controls", "pages/doctor/controls.js", STATE, server_functions=served):
        Instrument("doctor_findings", "pages/doctor/findings.js", STATE)
        Instrument("doctor_data", "pages/doctor/set/findings.js", STATE)
        Instrument("doctor_run", "pages/doctor/run/findings.js", STATE)
        Instrument("progress", "kit/progress.js", STATE)


def page_data() -> Json:
    """What the instruments of this page know from the start."""
    return {
        "doors": list(DOORS),
        "table": doctor_table(),
        "counts": list(COUNTS),
        "settings": list(SETTINGS),
        "examples": EXAMPLES,
        "sets": list(data.SETS),
        "bytes": LARGE_FILE_BYTES,
        "logs": list(run.LOGS),
        "beside": list(run.BESIDE),
        "of_other": list(run.OF_OTHER),
        "log_bytes": FILE_BYTES,
        "encoder": EMBEDDED,
        "with_margin": [name for name in data.losses_offered() if LOSSES[name].reach is not None],
        "mining": {"negatives": EACH, "margin": MARGIN, "usual": (USUAL_EACH, USUAL_MARGIN)},
    }
