"""Plans as the Fine-tune page sends them, and what it is answered, as JSON."""

from __future__ import annotations

from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.web.pages.finetune import plan_check as checking
from lossprism.explorer.web.pages.finetune import state_entries, uploaded_file_description

FIRST = state_entries.first_plan()


def request_for(**data: object) -> dict[str, object]:
    return {**FIRST, "data": {**FIRST["data"], **data}}


def check(request: object) -> dict[str, object]:
    return plain(checking.check(request))


def describe(request: object) -> dict[str, object]:
    return plain(uploaded_file_description.describe_file(request))


def hand(request: object) -> dict[str, object]:
    return plain(uploaded_file_description.hand_in(request))
