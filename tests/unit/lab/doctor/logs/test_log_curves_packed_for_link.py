"""What a link carries of pasted lines: their numbers, within 8 kB, and nothing else."""

from __future__ import annotations

import base64
import zlib

import numpy as np
import pytest

from lossprism.explorer.lab.doctor.logs.findings import examine_run
from lossprism.explorer.lab.doctor.logs.log import Log, curves_of
from lossprism.explorer.lab.doctor.logs.log_curves_packed_for_link import LINK_BYTES, packed_curves
from lossprism.explorer.lab.doctor.logs.run_reader import read_content


def unpacked(text):
    return zlib.decompress(base64.urlsafe_b64decode(text + "=="), -15).decode()


def log_of(count, names=("loss",)):
    draw = np.random.default_rng(0)
    points = [
        (name, step, f"{draw.random():.4f}") for name in names for step in range(1, count + 1)
    ]
    return Log("console", curves_of(points))


def test_a_short_log_comes_back_whole_with_its_digits():
    names = ("train/loss", "eval_loss", "grad_norm", "eval_ndcg@10")
    log = log_of(50, names)
    again = read_content("pasted.csv", unpacked(packed_curves(log)).encode())
    for name, other in zip(names, ("loss", *names[1:]), strict=True):
        assert again.curve(other).values.tolist() == log.curve(name).values.tolist()
        assert again.curve(other).steps.tolist() == log.curve(name).steps.tolist()
        assert (
            np.allclose(again.curve(other).unit, log.curve(name).unit, rtol=1e-6)
            or (again.curve(other).unit <= 0.0005).all()
        )
    first, second = ([one.name for one in examine_run(made).faults] for made in (log, again))
    assert first == second


@pytest.mark.parametrize("count", [3000, 40_000])
def test_a_long_log_is_cut_evenly_with_its_ends(count):
    packed = packed_curves(log_of(count))
    assert LINK_BYTES / 2 < len(packed) <= LINK_BYTES
    steps = read_content("pasted.csv", unpacked(packed).encode()).curve("loss").steps
    assert (steps[0], steps[-1]) == (1, count)
    gaps = np.diff(steps)
    assert gaps.max() - gaps.min() <= 1


@pytest.mark.parametrize(
    "secret",
    ["/home/alice/run", "C:\\Users\\bob", "hf_AbCdEfGhIjKlMnOpQrSt", "alice@example.org", "alice"],
)
def test_paths_tokens_and_names_are_left_out(secret):
    lines = (
        f"{secret} {{'loss': {0.7 - n / 100:.2f}, '{secret}': 0.5, '{secret}/eval_loss': 0.6, "
        f"'step': {n}}}"
        for n in range(1, 9)
    )
    log = read_content("pasted.txt", f"saving to {secret}\n{chr(10).join(lines)}".encode())
    text = unpacked(packed_curves(log))
    assert "loss" in text
    assert "0.69" in text
    for part in filter(None, secret.replace("\\", "/").split("/")):
        assert part not in text
