"""What the HTTP endpoints and MCP tools answer: their documented schema is read off these types."""

from __future__ import annotations

from explorer.web.wire.runs import RunRecord, Standing


class Followed(Standing):
    """How a training is doing: what went wrong, in words, and what its log has since an offset."""

    problem: str | None
    records: list[RunRecord]
    offset: int
