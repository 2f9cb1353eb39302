"""Encoding of a large file that is killed midway, in processes of its own."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests import warm
from tests.tiny import save_bert, sentence

PART, PARTS, AT_MOST = 32, 6, 5  # parts are as large as they take to write, not to encode
COUNT = PARTS * PART - 10  # the last part is a shorter one
PATIENCE = 900  # seconds, on a machine that has other things to do
ENCODE = """
import sys
import numpy as np
from lossprism.explorer.lab.large import encoder_pair_scores
from lossprism.explorer.sources.encoders import locate

encoder_pair_scores.PAIRS_IN_PART = int(sys.argv[4])
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
half = len(lines) // 2

def heard(done, total):
    print(done, flush=True)
    sys.stdin.readline()  # it goes on at a command

halves = lines[:half], lines[half:]
found = encoder_pair_scores.encoded(*halves, locate(sys.argv[2]), heard, with_vectors=False)
np.save(sys.argv[3], np.stack([found.cosines, found.angles]))
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("killed")
    (folder / "model").mkdir()
    save_bert(folder / "model")
    draw = random.Random(0)
    lines = [sentence(draw, 8) for _ in range(2 * COUNT)]
    (folder / "sentences.txt").write_text("\n".join(lines), encoding="utf-8")
    return folder


def start(work: Path, cache: str) -> subprocess.Popen:
    """Encode into this cache folder, saying how far it is."""
    arguments = [work / "sentences.txt", work / "model", work / f"{cache}.npy", PART]
    return subprocess.Popen(
        [warm.python(), "-c", ENCODE, *map(str, arguments)],
        env={**os.environ, "LOSSPRISM_CACHE": str(work / cache)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def parts(work: Path, cache: str) -> dict[str, int]:
    """The parts on disk, and when each was written."""
    found = (work / cache).glob("scores/*.npy")
    return {path.name: path.stat().st_mtime_ns for path in found}


def test_what_was_encoded_before_a_kill_is_not_encoded_again(work):
    first = start(work, "killed")
    first.stdin.write("\n" * AT_MOST)  # it cannot end before it is killed
    first.stdin.flush()
    deadline = time.monotonic() + PATIENCE
    while len(parts(work, "killed")) < 3:
        assert first.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    first.stdout.read()  # until nobody is left who encodes
    first.stdout.close()
    first.stdin.close()
    kept = parts(work, "killed")
    assert 3 <= len(kept) <= AT_MOST
    assert not (work / "killed.npy").exists()

    time.sleep(0.05)  # what is written from now on is later
    begun = time.time_ns()
    second = start(work, "killed")
    reports, _ = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0
    assert [int(line) for line in reports.split()] == [*range(0, COUNT, PART), COUNT]
    after = parts(work, "killed")
    assert len(after) == PARTS
    assert {name for name, written in after.items() if written < begun} == set(kept)
    assert all(after[name] == written for name, written in kept.items())

    whole = start(work, "whole")
    whole.communicate(timeout=PATIENCE)
    assert whole.returncode == 0
    scores = np.load(work / "killed.npy")
    assert scores.shape == (2, COUNT)
    assert np.array_equal(scores, np.load(work / "whole.npy"))
