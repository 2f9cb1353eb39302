"""From a value back to a count: at which whole number a landmark has it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

ValueAt = Callable[[int], float | None]
# Two counts and a third that is no power of two tell a landmark that does not depend on the count.
PROBES = (2, 3, 7)
# Of a longer row of counts that all fit, these many are looked at for the roundest.
MOST_FITS = 4096
# So short a row of counts is looked at whole: what it has may rise and fall again.
SHORT = 16
# Of a row not much longer so many of its counts are looked at, evenly apart.
MIDDLING = 128


@dataclass(frozen=True)
class Fit:
    """A count at which the landmark has a value: `gap` is that value less the one asked for."""

    count: int
    value: float
    gap: float


def steps(most: int, least: int = 1) -> tuple[int, ...]:
    """`least`, the powers of four above it up to `most`, and that itself; every count of a short
    row, and of one not much longer some between the powers."""
    if most - least < SHORT:
        return tuple(range(least, most + 1))
    powers = [4**power for power in range(most.bit_length() // 2 + 1)]
    found = {least, most, *(power for power in powers if least < power < most)}
    if most - least < MIDDLING:
        found |= {least + place * (most - least) // SHORT for place in range(SHORT)}
    return tuple(sorted(found))


def round_counts(
    value_at: ValueAt, value: float, near: float, most: int, least: int = 1
) -> Iterator[Fit]:
    """The powers of two whose value lies so near to the one asked for."""
    for (low, at_low), (high, at_high) in pairwise(_known(value_at, most, least)):
        if value + near < min(at_low, at_high) or value - near > max(at_low, at_high):
            continue
        for power in range(low.bit_length() - 1, high.bit_length()):
            found = value_at(2**power) if low <= 2**power <= high else None
            if found is not None and abs(found - value) <= near:
                yield Fit(2**power, found, found - value)


def _known(value_at: ValueAt, most: int, least: int) -> list[tuple[int, float]]:
    values = [(count, value_at(count)) for count in steps(most, least)]
    return [(count, value) for count, value in values if value is not None]


def constant(value_at: ValueAt) -> float | None:
    """The value of a landmark that no count changes; None of any other."""
    found = [value_at(count) for count in PROBES]
    first = found[0]
    if first is None or any(one is None for one in found):
        return None
    alike = all(math.isclose(one or 0.0, first, rel_tol=1e-9, abs_tol=1e-12) for one in found)
    return first if alike else None


def counts_with(
    value_at: ValueAt, value: float, tolerance: float, most: int, least: int = 1
) -> Iterator[Fit]:
    """The counts from `least` to `most` whose value lies within `tolerance` of the one asked for.

    Between two neighbours of 1, 4, 16 … the value is taken to rise or to fall throughout. Of many
    counts in a row the roundest is given. Those at which the landmark does not exist are passed
    over.
    """
    known = _known(value_at, most, least)
    for (low, at_low), (high, at_high) in pairwise(known):
        rises = at_high > at_low
        bounds = sorted((at_low, at_high))
        if value + tolerance < bounds[0] or value - tolerance > bounds[1]:
            continue
        ends = (value - tolerance, value + tolerance) if rises else (
            value + tolerance, value - tolerance)  # fmt: skip
        first = _first(value_at, low, high, ends[0], rises, strict=False)
        last = _first(value_at, low, high, ends[1], rises, strict=True) - 1
        if first <= last:
            count = roundest(first, last)
            found = value_at(count)
            if found is not None and abs(found - value) <= tolerance:
                yield Fit(count, found, found - value)
    if len(known) == 1 and abs(known[0][1] - value) <= tolerance:
        yield Fit(*known[0], known[0][1] - value)


def nearest_count(value_at: ValueAt, value: float, most: int, least: int = 1) -> Fit | None:
    """The count whose value is nearest to the one asked for."""
    known = _known(value_at, most, least)
    tried = list(known)
    for (low, at_low), (high, at_high) in pairwise(known):
        if min(at_low, at_high) <= value <= max(at_low, at_high):
            place = _first(value_at, low, high, value, at_high > at_low, strict=False)
            tried += [
                (count, found)
                for count in (place - 1, place)
                if low <= count <= high and (found := value_at(count)) is not None
            ]
    fits = (Fit(count, found, found - value) for count, found in tried)
    return min(fits, key=lambda fit: abs(fit.gap), default=None)


def _first(
    value_at: ValueAt, low: int, high: int, bound: float, rises: bool, *, strict: bool
) -> int:
    """The first count from `low` to `high` at which a value that rises has reached the bound, or,
    if it is `strict`, has passed it; `high` + 1 if none has."""
    sign = 1 if rises else -1

    def there(count: int) -> bool:
        found = value_at(count)
        if found is None:
            return True
        beyond = sign * (found - bound)
        return beyond > 0 if strict else beyond >= 0

    first, beyond = low, high + 1
    while first < beyond:
        middle = (first + beyond) // 2
        if there(middle):
            beyond = middle
        else:
            first = middle + 1
    return first


def roundness(count: int) -> float:
    """How little is assumed by a count: 0 for a power of two, more for one that nobody chooses."""
    if count & (count - 1) == 0:
        return 0.0
    if count <= 12 or count % 64 == 0:
        return 0.4
    if (count % 16 == 0 and count < 512) or count % 100 == 0 or (count < 100 and count % 10 == 0):
        return 0.6
    return 1.5


def roundest(first: int, last: int) -> int:
    """The count of a row of them that assumes least; of several, the one in the middle."""
    middle = (first + last) // 2
    if last - first > MOST_FITS:
        power = 2 ** int(math.log2(last))
        return power if power >= first else middle
    return min(range(first, last + 1), key=lambda count: (roundness(count), abs(count - middle)))
