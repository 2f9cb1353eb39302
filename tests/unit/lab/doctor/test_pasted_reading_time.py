"""Whatever is pasted, saying what it is takes time by its bytes: no pattern goes over them again
from each of their places."""

from __future__ import annotations

import contextlib
import itertools
import time

import pytest

from lossprism.explorer.lab.doctor.dataset_reader import read_table
from lossprism.explorer.lab.doctor.pasted_input import read_pasted
from lossprism.explorer.runtime.problem import Problem

BYTES = 2**15
SECONDS = 1.5  # of a processor; half a second of it is what a first reading loads
AROUND = {
    "alone": ("", ""),
    "after a value": ("loss 0.5 ", "x"),
    "in a table": ("text1,text2,label\na,b,1\n", ""),
}
PIECES = (
    " ", "\t", "\n", "\u3000", "1", "a.", ",", "|", "-", "= ", "[", "{", "(", '"', "'\\'", "*",
    "<td>", "<table>", "('a', 1),", "INSERT INTO a VALUES (", "a: 1\n", "Q: a\n", "loss ",
    "step 1 ", "1/2 ", "{'loss': 0.5}", "__label__x ", "a -> ", "中", "：", "q0 d1 0\n", "e5",
)  # fmt: skip


OTHERS = [pytest.param(one, marks=pytest.mark.thorough) for one in [*AROUND][1:]]


@pytest.mark.parametrize("around", ["alone", *OTHERS])
@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_a_piece_that_comes_again_and_again_is_soon_read_or_refused(piece, around):
    before, after = AROUND[around]
    pasted = (before + "".join(itertools.repeat(piece, BYTES // len(piece))) + after).encode()
    for read in (read_pasted, lambda content: read_table(content, "pasted.txt", lambda *_: None)):
        began = time.process_time()
        with contextlib.suppress(Problem):
            read(pasted)
        assert time.process_time() - began < SECONDS
