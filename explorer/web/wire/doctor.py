"""What the server answers the Doctor page."""

from __future__ import annotations

from explorer.web.wire.program import ExplainedFinding, ExplainedValue


class ToldFinding(ExplainedFinding):
    """The same, with what else is to be said of it, sentence by sentence."""

    beside: list[str]


class Explained(ExplainedValue):
    """What a number means, as `explain_loss_value` answers it."""

    findings: list[ToldFinding]  # type: ignore[misc]
