"""The Doctor page: bring a number, and learn what it is."""

from __future__ import annotations

from explorer.lab.doctor.known import COUNTS, SETTINGS
from explorer.runtime.wire import Json
from explorer.web.frame import framed
from explorer.web.instrument import Instrument, PageState
from explorer.web.pages.doctor.requests import SERVED
from explorer.web.pages.doctor.state import EXAMPLES, doctor_table
from losses import LOSSES

STATE = PageState("doctor", "doctor", "pages/doctor/state.js")


def build() -> None:
    """Lay the page out inside the current `gr.Blocks`."""
    with framed("doctor_controls", "pages/doctor/controls.js", STATE, server_functions=SERVED):
        Instrument("doctor_findings", "pages/doctor/findings.js", STATE)
        Instrument("progress", "kit/progress.js", STATE)


def page_data() -> Json:
    """What the instruments of this page know from the start."""
    return {
        "table": doctor_table(),
        "counts": list(COUNTS),
        "settings": list(SETTINGS),
        "names": {name: list(spec.aliases) for name, spec in LOSSES.items()},
        "examples": EXAMPLES,
    }
