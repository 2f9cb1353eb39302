"""Memory of answers on a hosted page: how large one may be, and how much may wait to be sent.

A few references to one long text are little in memory and much in JSON, so that an answer is
measured before it is written out.
"""

from __future__ import annotations

import dataclasses
import threading
import weakref
from typing import Any

from explorer.runtime.budgets import budget
from explorer.runtime.deployment_policy import deployment_policy
from explorer.runtime.limits import MIB
from explorer.runtime.problem import Problem, logged

NUMBER_BYTES = 8  # of a number, null or truth value in JSON, about
WIDE_LETTER_BYTES = 3  # of a letter beyond ASCII in UTF-8, about


def check_answer(answer: object) -> int:
    """Return about how many bytes the answer takes as JSON, 0 at home, where nobody counts.

    Raises Problem where that is more than a hosted page sends.
    """
    if not deployment_policy().bounded:
        return 0
    most = budget("answer_mib")
    size = json_bytes(answer, most * MIB)
    if size > most * MIB:
        raise logged(Problem("answer_too_large", about="size", most=most))
    return size


def json_bytes(value: object, most: float) -> int:
    """About how many bytes the value takes as JSON; counting ends above `most`."""
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


class Unsent:
    """The bytes of answers from the moment they are about to be written out until they are sent."""

    def __init__(self) -> None:
        self.held = 0
        self._lock = threading.Lock()

    def take(self, size: int, in_place_of: int = 0) -> None:
        """Count so many bytes in place of others that were counted.

        Raises Problem, and counts neither, where they do not fit beside the rest.
        """
        with self._lock:
            self.held -= in_place_of
            if self.held + size > budget("answers_mib") * MIB:
                raise logged(Problem("low_memory", about="again"))
            self.held += size

    def let_go_with(self, response: object, size: int) -> None:
        """Count these bytes no longer once nothing sends the response any more."""
        weakref.finalize(response, self.let_go, size)

    def let_go(self, size: int) -> None:
        """Count these bytes no longer."""
        with self._lock:
            self.held -= size


UNSENT = Unsent()
