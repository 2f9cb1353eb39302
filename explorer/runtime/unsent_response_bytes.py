"""The bytes of all answers of a hosted page that wait to be sent, and their limit."""

import threading
import weakref

from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.problem import Problem, logged


class UnsentBytes:
    """The bytes of answers from just before serialisation until they are sent."""

    def __init__(self) -> None:
        self.held = 0
        self._lock = threading.Lock()

    def take(self, size: int, in_place_of: int = 0) -> None:
        """Count these bytes in place of others that were counted.

        Raises Problem, and counts neither, if they do not fit beside the rest.
        """
        with self._lock:
            self.held -= in_place_of
            if self.held + size > budget("answers_mib") * MIB:
                raise logged(Problem("low_memory", about="again"))
            self.held += size

    def release_with(self, response: object, size: int) -> None:
        """Stop counting these bytes when nothing sends the response any more."""
        weakref.finalize(response, self.release, size)

    def release(self, size: int) -> None:
        """Stop counting these bytes."""
        with self._lock:
            self.held -= size


UNSENT_BYTES = UnsentBytes()
