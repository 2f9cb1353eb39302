"""The deployment policy: permissions of a page's visitors, on their own machine and on a hosted
page.

A page is hosted on a Hugging Face Space, which sets SPACE_ID, and when started with ``--hosted``.
Otherwise the visitor owns the machine and may use all of it. Other modules read single fields;
`explorer.runtime.budgets` has the amounts.
"""

import os
from dataclasses import dataclass, field, fields

# Set by ``python app.py --hosted`` and inherited by the processes that it starts.
HOSTED, SPACE = "LOSSPRISM_HOSTED", "SPACE_ID"


def _part(about: str, *, default: bool) -> bool:
    return field(default=default, metadata={"about": about})


@dataclass(frozen=True)
class DeploymentPolicy:
    """The rules of a deployment; `about` of a field explains its effect."""

    reads_places: bool = _part(
        "files and folders of the machine may be named, and are shown", default=True
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
        "other processes compute, and heavy work gives way",
        default=False,
    )
    packs_answers: bool = _part("answers are compressed, and pages kept ready", default=False)
    believes_proxies: bool = _part("what a proxy says of a request is believed", default=True)
    space: str = ""


AT_HOME = DeploymentPolicy()


def deployment_policy() -> DeploymentPolicy:
    """Return the policy of this process."""
    space = os.environ.get(SPACE, "")
    if not space and not os.environ.get(HOSTED):
        return AT_HOME
    turned = {one.name: not one.default for one in fields(DeploymentPolicy) if one.metadata}
    # Of those that may stand before a page the Space's own is known.
    return DeploymentPolicy(**{**turned, "believes_proxies": bool(space), "space": space})


def use_hosted_policy() -> None:
    """Serve strangers from now on, also in processes started later."""
    os.environ[HOSTED] = "1"


def use_owner_policy() -> None:
    """Serve the owner of the machine from now on."""
    for name in (HOSTED, SPACE):
        os.environ.pop(name, None)
