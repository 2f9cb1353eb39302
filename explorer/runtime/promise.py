"""What a page promises to those who open it: all of the machine to the one whose it is, or what
strangers can share. It is said here alone; every other module asks for the part that concerns it.

A page is for strangers on a Hugging Face Space, which sets SPACE_ID, and where it was begun with
``--hosted``. How much of everything there is stands in `explorer.runtime.budgets`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields

# Set by ``python app.py --hosted``, and handed on to the processes that it starts.
HOSTED, SPACE = "LOSSPRISM_HOSTED", "SPACE_ID"


def _part(about: str, *, default: bool) -> bool:
    return field(default=default, metadata={"about": about})


@dataclass(frozen=True)
class Promise:
    """The parts of a promise; `about` of a part says what holds where it is true."""

    reads_places: bool = _part(
        "files and folders of the machine may be named, and are told", default=True
    )
    edits_losses: bool = _part("the file of one's own loss may be changed", default=True)
    uses_token: bool = _part(
        "the hub is asked as the owner of the machine, whose private models and data it then has",
        default=True,
    )
    tells_words: bool = _part("a defect is written to the terminal with its words", default=True)
    opens_browser: bool = _part("the page is opened for whoever begins it", default=True)
    knows_visitors: bool = _part(
        "what is kept belongs to the one who made it, and nobody else finds it", default=False
    )
    bounded: bool = _part(
        "the budgets hold, and what would not fit is refused before it is begun", default=False
    )
    keeps_apart: bool = _part(
        "a process before the app takes connections, others compute, and heavy work gives way",
        default=False,
    )
    packs_answers: bool = _part("answers are compressed, and pages kept ready", default=False)
    believes_proxies: bool = _part("what a proxy says of a request is believed", default=True)
    space: str = ""


AT_HOME = Promise()


def promised() -> Promise:
    """What this process promises."""
    space = os.environ.get(SPACE, "")
    if not space and not os.environ.get(HOSTED):
        return AT_HOME
    turned = {one.name: not one.default for one in fields(Promise) if one.metadata}
    # Of those that may stand before a page the Space's own is known.
    return Promise(**{**turned, "believes_proxies": bool(space), "space": space})


def promise_to_strangers() -> None:
    """From now on, here and in the processes that are started, the page is one for strangers."""
    os.environ[HOSTED] = "1"


def promise_to_the_owner() -> None:
    """From now on whoever asks is the one whose machine it is."""
    for name in (HOSTED, SPACE):
        os.environ.pop(name, None)
