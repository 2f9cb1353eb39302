"""The size of an answer as JSON, and its limit.

A few references to one long text are small in memory and large in JSON, so an answer is measured
before it is serialised.
"""

import dataclasses
from typing import Any

from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.problem import Problem, logged

NUMBER_BYTES = 8  # of a number, null or truth value in JSON, about
WIDE_LETTER_BYTES = 3  # of a letter beyond ASCII in UTF-8, about


def check_answer(answer: object) -> int:
    """Return the answer's approximate size as JSON in bytes, 0 on the user's own machine.

    Raises Problem if it is more than a hosted page sends.
    """
    if not deployment_policy().has_budgets:
        return 0
    limit = budget("answer_mib")
    size = json_bytes(answer, limit * MIB)
    if size > limit * MIB:
        raise logged(Problem("answer_too_large", about="size", most=limit))
    return size


def json_bytes(value: object, most: float) -> int:
    """Return the value's approximate size as JSON in bytes; counting stops above `most`."""
    waiting, size = [value], 0
    while waiting and size <= most:
        one: Any = waiting.pop()
        if isinstance(one, str):
            size += len(one) * (1 if one.isascii() else WIDE_LETTER_BYTES) + 2
        elif isinstance(one, dict):
            waiting += one.keys()
            waiting += one.values()
        elif isinstance(one, list | tuple):
            waiting += one
        elif dataclasses.is_dataclass(one):
            waiting += vars(one).items()
        else:
            size += NUMBER_BYTES
    return size
