"""What processes receive and multiply is what the formulas of docs/scaling.md say."""

from functools import partial

import pytest

from benchmarks.distributed_info_nce import WAYS, counts_of_a_step, multiplied, received
from tests.process.gather.team import COUNTS, on_each

ROWS, WIDTH = 24, 10  # of each process


def counted(rank, world, *, way):
    return counts_of_a_step(way, world, ROWS, WIDTH)


@pytest.mark.parametrize("world", COUNTS)
@pytest.mark.parametrize("way", WAYS)
def test_a_step_receives_and_multiplies_what_the_formulas_say(way, world):
    expected = tuple(formula(way, world, ROWS, WIDTH) for formula in (received, multiplied))
    assert on_each(world, partial(counted, way=way)) == [expected] * world
