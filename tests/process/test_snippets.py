"""Snippets, run by themselves, print the number that was shown."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from explorer.core.own_loss import add_own_loss
from explorer.core.scenario import Data, Rules
from explorer.export.code import (
    snippet,
    twin_snippet,
)
from losses import LOSSES
from tests import warm
from tests.unit.export.explored import ENGLISH, SMALL, explorations, seen

ROOT = Path(__file__).resolve().parents[2]

RUNNER = """
import contextlib, io, json, sys
printed = []
for text in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "snippet", "exec"), {"__name__": "__main__"})
    printed.append(out.getvalue())
json.dump(printed, sys.stdout)
"""


def printed_by(snippets):
    """What each prints, all run in one fresh process that knows nothing of this one."""
    done = subprocess.run(
        [warm.python(), "-c", RUNNER],
        input=json.dumps(snippets),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [float(text) for text in json.loads(done.stdout)]


def test_snippets_print_the_loss():
    found = explorations()
    printed = printed_by([snippet(e) for e in found])
    assert len({e.spec.name for e in found}) == len(LOSSES)
    for e, number in zip(found, printed, strict=True):
        assert number == pytest.approx(e.loss, rel=1e-9, abs=1e-300), snippet(e)


def test_twins_print_the_loss():
    pytest.importorskip("sentence_transformers")
    chosen = [
        seen(SMALL, "contrastive", distance=distance, half=half)
        for distance in ("euclidean", "cosine")
        for half in (False, True)
    ]
    chosen += [seen(SMALL, "triplet", mining="semi_hard", distance="cosine", margin=0.3)]
    chosen += [seen(ENGLISH, "info_nce", rules=Rules(extra_negatives=False), symmetric=True)]
    pairs = [(e, text) for e in (*explorations(), *chosen) if (text := twin_snippet(e))]
    printed = printed_by([text for _, text in pairs])
    names = {e.spec.name for e, _ in pairs}
    assert names == {
        *("cosent", "angle", "cosine_mse", "info_nce", "nt_xent", "contrastive", "triplet")
    }
    for (e, text), number in zip(pairs, printed, strict=True):
        assert "sentence_transformers" in text
        assert number == pytest.approx(e.loss, rel=1e-5, abs=1e-12), text


@pytest.mark.encoder
def test_snippets_of_typed_pairs_print_the_loss(tmp_path):
    strange = ("quote \" ' \\", "newline\n{brace} \u202e שלום", "0.5")
    few = (("a cat", "a dog", "1"), ("a car", "the sea", "0"), strange)
    many = few + tuple((f"number {i}", f"count {i + 1}", str(i % 5)) for i in range(40))
    own = tmp_path / "mine.py"
    own.write_text("def soft(scores, labels, *, slope=2.0):\n    return (slope * scores).mean()\n")
    add_own_loss(f"{own}:soft")
    try:
        rules = Rules(threshold=0.5, extra_negatives=False)
        found = [
            seen(Data(source="table", rows=rows), loss, rules=rules)
            for rows in (few, many)
            for loss in ("cosent", "info_nce", "soft")
        ]
        texts = [snippet(e) for e in found]
        for e, number in zip(found, printed_by(texts), strict=True):
            assert number == pytest.approx(e.loss, rel=1e-9)
        assert all("\u202e" not in text for text in texts)  # nothing reorders the code shown
    finally:
        del LOSSES["soft"]
