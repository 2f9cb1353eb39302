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


def check_answer(answer: object) -> None:
    """Raise Problem where the answer, as JSON, is larger than a hosted page sends."""
    if not deployment_policy().bounded:
        return
    most = budget("answer_mib")
    if json_bytes(answer, most * MIB) > most * MIB:
        raise logged(Problem("answer_too_large", about="size", most=most))


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
    """The bytes of answers that are written out and not sent yet."""

    def __init__(self) -> None:
        self.held = 0
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Whether so many bytes more fit beside the others; they are then counted."""
        with self._lock:
            if self.held + size > budget("answers_mib") * MIB:
                return False
            self.held += size
            return True

    def let_go_with(self, response: object, size: int) -> None:
        """Count these bytes no longer once nothing sends the response any more."""
        weakref.finalize(response, self._let_go, size)

    def _let_go(self, size: int) -> None:
        with self._lock:
            self.held -= size


UNSENT = Unsent()
