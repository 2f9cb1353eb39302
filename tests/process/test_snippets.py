"""Code to take away, run by itself where nothing of ours can be imported, prints the number."""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from lossprism.explorer.core.own_loss_from_python_file import add_own_loss
from lossprism.explorer.core.scenario import Data, Rules
from lossprism.explorer.export.code import (
    Code,
    library_code,
    module_code,
    package_code,
    packed,
    standalone_code,
)
from lossprism.losses import LOSSES
from tests import warm
from tests.unit.export.explored import ENGLISH, SMALL, explorations, seen

ROOT = Path(__file__).resolve().parents[2]

# Runs programs in their folders; what is named in `without` is nowhere to be found.
RUNNER = """
import contextlib, io, json, runpy, sys
asked = json.load(sys.stdin)
class Missing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in asked["without"]:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
printed = []
for program in asked["programs"]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(program, run_name="__main__")
    printed.append(out.getvalue())
assert not {name.partition(".")[0] for name in sys.modules} & set(asked["without"])
json.dump(printed, sys.stdout)
"""


def printed_by(codes, folder, without=("explorer", "losses")):
    """What each prints, in a folder of its own, in one process that knows nothing of this one."""
    programs = []
    for place, code in enumerate(codes):
        (folder / f"{place}").mkdir()
        for name, text in {"loss.py": code.text, **code.beside}.items():
            (folder / f"{place}" / name).write_text(text, encoding="utf-8", newline="")
        programs.append(f"{folder}/{place}/loss.py")
    done = subprocess.run(
        [warm.python(), "-c", RUNNER],
        input=json.dumps({"programs": programs, "without": without}),
        cwd=folder if "losses" in without else ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [float(text) for text in json.loads(done.stdout)]


def test_code_with_torch_alone_prints_the_loss(tmp_path):
    found = explorations()
    assert len({e.spec.name for e in found}) == len(LOSSES)
    codes = [standalone_code(e, from_files=place % 2 == 0) for place, e in enumerate(found)]
    for e, code, number in zip(found, codes, printed_by(codes, tmp_path), strict=True):
        assert number == pytest.approx(e.loss, rel=1e-9, abs=1e-300), code.text


def test_code_with_the_package_prints_the_loss(tmp_path):
    found = list(explorations())
    codes = [package_code(e) for e in found]
    for loss in ("info_nce+angle", "matryoshka(info_nce)", "queue(info_nce)"):
        found.append(seen(ENGLISH, loss))
        module = module_code(found[-1])
        assert module
        codes.append(module)
    printed = printed_by(codes, tmp_path, without=("explorer",))
    for e, number in zip(found, printed, strict=True):
        assert number == pytest.approx(e.loss, rel=1e-9, abs=1e-15), e.spec.name


def test_duplicates_print_the_loss(tmp_path):
    pytest.importorskip("sentence_transformers")
    chosen = [
        seen(SMALL, "contrastive", distance=distance, half=half)
        for distance in ("euclidean", "cosine")
        for half in (False, True)
    ]
    chosen += [seen(SMALL, "triplet", mining="semi_hard", distance="cosine", margin=0.3)]
    chosen += [seen(ENGLISH, "info_nce", rules=Rules(extra_negatives=False), symmetric=True)]
    prefixes = "matryoshka(info_nce)"
    chosen += [seen(ENGLISH, prefixes, rules=Rules(extra_negatives=False))]
    pairs = [(e, code) for e in (*explorations(), *chosen) if (code := library_code(e))]
    names = {e.spec.name for e, _ in pairs}
    assert names == {
        *(
            "cosent",
            "angle",
            "cosine_mse",
            "embedding_mse",
            "info_nce",
            "nt_xent",
            "contrastive",
            "triplet",
        ),
        *("online_contrastive", "mega_batch_margin", "orthogonal", prefixes),
    }
    printed = printed_by([code for _, code in pairs], tmp_path)
    for (e, code), number in zip(pairs, printed, strict=True):
        assert "sentence_transformers" in code.text
        assert number == pytest.approx(e.loss, rel=1e-5, abs=1e-12), code.text


OWN = """
import math
import torch
import losses.geometry
from lossprism.losses import LossSpec, geometry
from lossprism.losses.kernels import mean_of

STEEP = 2.0 * math.pi
BEND: float = 0.5

def unit(x):
    return torch.tanh(BEND * x)

def soft(first, second, labels, *, slope=2.0):
    cosines = geometry.cosine(first, second)
    bent = unit(slope * cosines) + STEEP
    return mean_of(bent - cosines, labels > labels.min())

SPEC = LossSpec(function=soft, title="Soft", formula="x")
"""


@pytest.mark.encoder
def test_code_of_typed_pairs_and_of_an_own_loss_prints_the_loss(tmp_path):
    strange = ("quote \" ' \\", "newline\n{brace} \u202e שלום", "0.5")
    few = (("a cat", "a dog", "1"), ("a car", "the sea", "0"), strange)
    many = few + tuple((f"number {i}", f"count {i + 1}", str(i % 5)) for i in range(40))
    own = tmp_path / "mine.py"
    own.write_text(OWN)
    add_own_loss(f"{own}:soft")
    try:
        rules = Rules(threshold=0.5, extra_negatives=False)
        found = [
            seen(Data(source="table", rows=rows), loss, rules=rules)
            for rows in (few, many)
            for loss in ("cosent", "info_nce", "soft")
        ]
        codes = [standalone_code(e) for e in found]
        for e, code, number in zip(found, codes, printed_by(codes, tmp_path), strict=True):
            assert number == pytest.approx(e.loss, rel=1e-9), code.text
        assert package_code(found[2]) == codes[2]
        assert all("\u202e" not in code.text for code in codes)  # nothing reorders the code shown
    finally:
        del LOSSES["soft"]


def test_a_zip_holds_the_pairs_beside_the_script(tmp_path):
    found = seen(ENGLISH)
    with zipfile.ZipFile(io.BytesIO(packed(found, "alone"))) as opened:
        texts = {name: opened.read(name).decode() for name in opened.namelist()}
    assert set(texts) == {"loss.py", "pairs.csv"}
    assert texts["pairs.csv"].startswith("sentence1,sentence2,scores,labels\n")
    assert found.batch.pairs.first[0] in texts["pairs.csv"]
    code = Code(texts.pop("loss.py"), texts)
    assert printed_by([code], tmp_path) == [pytest.approx(found.loss, rel=1e-12)]
    cut = "".join(texts["pairs.csv"].splitlines(keepends=True)[:-4])
    (tmp_path / "cut").mkdir()
    fewer = printed_by([dataclasses.replace(code, beside={"pairs.csv": cut})], tmp_path / "cut")
    assert fewer != [pytest.approx(found.loss, rel=1e-3)]  # it is the file that is read
