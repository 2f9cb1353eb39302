"""Inversion of a reference value: the counts at which it has a value."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

ValueAt = Callable[[int], float | None]
Point = tuple[int, float]
Points = Sequence[Point]
# Two counts and a third that is no power of two show whether a value depends on the count.
PROBES = (2, 3, 7)
MAX_COMPARED_COUNTS = 4096  # of successive counts that match, for the roundest
# A range up to this length is searched whole: its values may rise and fall again.
SHORT_RANGE = 16
# In a range up to this length, so many evenly spaced counts are tried beside the powers of four.
MEDIUM_RANGE, EVEN_COUNTS = 128, 8


@dataclass(frozen=True)
class Fit:
    """A count, the reference value there, and the `gap`: that value less the requested one."""

    count: int
    value: float
    gap: float


def steps(largest: int, least: int = 1) -> tuple[int, ...]:
    """Return every count of a short range; else both ends and the powers of four between, with
    evenly spaced counts in a medium range."""
    if largest - least < SHORT_RANGE:
        return tuple(range(least, largest + 1))
    powers = [4**power for power in range(largest.bit_length() // 2 + 1)]
    counts = {least, largest, *(power for power in powers if least < power < largest)}
    if largest - least < MEDIUM_RANGE:
        counts |= {least + place * (largest - least) // EVEN_COUNTS for place in range(EVEN_COUNTS)}
    return tuple(sorted(counts))


def points(value_at: ValueAt, largest: int, least: int = 1) -> Points:
    """Return the `steps` that have a reference value, each with it: where a search begins."""
    values = ((count, value_at(count)) for count in steps(largest, least))
    return tuple((count, value) for count, value in values if value is not None)


def constant(value_at: ValueAt) -> float | None:
    """Return the value at every count, if three counts agree; else None."""
    values = [value_at(count) for count in PROBES]
    first = values[0]
    if first is None or any(one is None for one in values):
        return None
    is_same = all(math.isclose(one or 0.0, first, rel_tol=1e-9, abs_tol=1e-12) for one in values)
    return first if is_same else None


def round_counts(value_at: ValueAt, known: Points, value: float, near: float) -> Iterator[Fit]:
    """Yield the powers of two whose value lies within `near` of the requested one."""
    for (low, at_low), (high, at_high) in pairwise(known):
        if value + near < min(at_low, at_high) or value - near > max(at_low, at_high):
            continue
        for power in range(low.bit_length() - 1, high.bit_length()):
            at_count = value_at(2**power) if low <= 2**power <= high else None
            if at_count is not None and abs(at_count - value) <= near:
                yield Fit(2**power, at_count, at_count - value)


def counts_with(value_at: ValueAt, known: Points, value: float, tolerance: float) -> Iterator[Fit]:
    """Yield the counts whose value lies within `tolerance` of the requested one, between the known
    `points`.

    Between two points the value is assumed to rise or to fall throughout. Of successive counts that
    match, the roundest is yielded. Counts without a reference value are skipped.
    """
    for low, high in pairwise(known):
        bounds = sorted((low[1], high[1]))
        if value + tolerance < bounds[0] or value - tolerance > bounds[1]:
            continue
        rises = high[1] > low[1]
        ends = (value - tolerance, value + tolerance) if rises else (
            value + tolerance, value - tolerance)  # fmt: skip
        first = _first_beyond(value_at, low, high, ends[0], rises, strict=False)
        at_first = value_at(first) if first <= high[0] else None
        from_first = low if at_first is None else (first, at_first)
        last = _first_beyond(value_at, from_first, high, ends[1], rises, strict=True) - 1
        if first <= last:
            count = roundest(first, last)
            at_count = value_at(count)
            if at_count is not None and abs(at_count - value) <= tolerance:
                yield Fit(count, at_count, at_count - value)
    if len(known) == 1 and abs(known[0][1] - value) <= tolerance:
        yield Fit(*known[0], known[0][1] - value)


def nearest_count(value_at: ValueAt, known: Points, value: float) -> Fit | None:
    """Return the count whose value is nearest to the requested one."""
    tried = list(known)
    for low, high in pairwise(known):
        if min(low[1], high[1]) <= value <= max(low[1], high[1]):
            place = _first_beyond(value_at, low, high, value, high[1] > low[1], strict=False)
            tried += [
                (count, at_count)
                for count in (place - 1, place)
                if low[0] <= count <= high[0] and (at_count := value_at(count)) is not None
            ]
    fits = (Fit(count, at_count, at_count - value) for count, at_count in tried)
    return min(fits, key=lambda fit: abs(fit.gap), default=None)


def _first_beyond(
    value_at: ValueAt, low: Point, high: Point, bound: float, rises: bool, *, strict: bool
) -> int:
    """Return the first count from `low` to `high` whose value has reached the bound, or, if
    `strict`, has passed it; the count after `high` if none has.

    Most values follow the logarithm of the count: the search interpolates so, and bisects every
    third time.
    """
    sign = 1 if rises else -1

    def is_beyond(value: float) -> bool:
        beyond = sign * (value - bound)
        return beyond > 0 if strict else beyond >= 0

    if is_beyond(low[1]):
        return low[0]
    if not is_beyond(high[1]):
        return high[0] + 1
    before, at_before = low
    after: int = high[0]
    at_after: float | None = high[1]
    turn = 0
    while after - before > 1:
        middle = (before + after) // 2
        if at_after is not None and turn % 3 < 2:
            share = (bound - at_before) / (at_after - at_before)
            guess = round(before * (after / before) ** share)
            middle = min(max(guess, before + 1), after - 1)
        value = value_at(middle)
        if value is None or is_beyond(value):
            after, at_after = middle, value
        else:
            before, at_before = middle, value
        turn += 1
    return after


def roundness(count: int) -> float:
    """Cost of assuming a count: 0 for a power of two, more for an unusual one."""
    if count & (count - 1) == 0:
        return 0.0
    if count <= 12 or count % 64 == 0:
        return 0.4
    if (count % 16 == 0 and count < 512) or count % 100 == 0 or (count < 100 and count % 10 == 0):
        return 0.6
    return 1.5


def roundest(first: int, last: int) -> int:
    """Return the roundest of successive counts, nearest to the middle."""
    middle = (first + last) // 2
    if last - first > MAX_COMPARED_COUNTS:
        power = 2 ** int(math.log2(last))
        return power if power >= first else middle
    return min(range(first, last + 1), key=lambda count: (roundness(count), abs(count - middle)))
