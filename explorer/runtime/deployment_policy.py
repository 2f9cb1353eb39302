"""The deployment policy: permissions of a page's visitors, on their own machine and on a hosted
page.

A page is hosted on a Hugging Face Space, which sets SPACE_ID, and when started with ``--hosted``.
Otherwise the visitor owns the machine and may use all of it. Other modules read single fields;
`explorer.runtime.hosted_budgets` has the amounts.
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

    reads_local_paths: bool = _part(
        "visitors may name files and folders of the machine", default=True
    )
    edits_loss_files: bool = _part("visitors may edit the file of their own loss", default=True)
    uses_owner_token: bool = _part(
        "the hub is asked with the owner's token, which opens private models and datasets",
        default=True,
    )
    logs_messages: bool = _part("a defect is logged with its message", default=True)
    opens_browser: bool = _part("the browser opens at start", default=True)
    separates_visitors: bool = _part(
        "uploads and runs belong to one visitor, and no other finds them", default=False
    )
    has_budgets: bool = _part(
        "budgets apply, and a request beyond one is refused before it starts", default=False
    )
    uses_worker_processes: bool = _part(
        "worker processes compute, and long work pauses for short work", default=False
    )
    compresses_answers: bool = _part("answers are compressed, and pages prepared", default=False)
    trusts_proxies: bool = _part("headers of a proxy are trusted", default=True)
    space: str = ""


OWNER_POLICY = DeploymentPolicy()


def deployment_policy() -> DeploymentPolicy:
    """Return the policy of this process."""
    space = os.environ.get(SPACE, "")
    if not space and not os.environ.get(HOSTED):
        return OWNER_POLICY
    turned = {one.name: not one.default for one in fields(DeploymentPolicy) if one.metadata}
    # Of those that may stand before a page the Space's own is known.
    return DeploymentPolicy(**{**turned, "trusts_proxies": bool(space), "space": space})


def use_hosted_policy() -> None:
    """Serve strangers from now on, also in processes started later."""
    os.environ[HOSTED] = "1"


def use_owner_policy() -> None:
    """Serve the owner of the machine from now on."""
    for name in (HOSTED, SPACE):
        os.environ.pop(name, None)
