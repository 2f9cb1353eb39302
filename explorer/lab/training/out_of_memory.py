"""Running out of memory in a training, and the largest batch that fits."""

from collections.abc import Callable

import torch

# oneDNN's whole message when it gets no memory.
OUT_OF_MEMORY_MESSAGES = {
    "could not create a primitive",
    "could not create a memory object",
    "could not execute a primitive",
}


def is_out_of_memory(error: BaseException | None) -> bool:
    message = str(error)
    return (
        isinstance(error, torch.OutOfMemoryError | MemoryError)
        or "out of memory" in message
        or "can't allocate memory" in message
        or message in OUT_OF_MEMORY_MESSAGES
    )


def largest_fitting(size: int, fits: Callable[[int], bool]) -> int:
    """Return the largest of size/2, size/4, … that fits; 0 if not even 2 do."""
    while size >= 4:
        size //= 2
        if fits(size):
            return size
    return 0
