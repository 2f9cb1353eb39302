"""A request that names a path, wherever it names it, has nothing looked at before its owner agrees;
and nothing at all on another computer."""

from __future__ import annotations

import builtins
import io
import itertools
import os
from collections.abc import Iterator

import pytest

from lossprism.explorer.runtime import downloads
from lossprism.explorer.runtime.owner_consent import allow_folder, with_consent
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.encoders import locate
from tests import wire
from tests.expected import FILE, known_requests, requests_of
from tests.unit.web.test_owner_permissions import LOSS_OF

pytestmark = pytest.mark.encoder

STRANGE = "strange-place"
PATHS = [
    f"/{STRANGE}/model",
    f"/{STRANGE}/step-1.safetensors",
    f"~/{STRANGE}",
    f"{STRANGE}/../../model",
    f"\\\\{STRANGE}\\share",
    f"file://{STRANGE}/share",
    f"/{STRANGE}/loss.py:mine",
]
OWN = str(downloads.FOLDER)  # a file packed there is named after the one that was handed in
# What begins a training or writes a file of its own.
NOT_CALLED = ("start", "repeat", "trials", "own_write")
LOOKS = (
    *((os, name) for name in ("stat", "lstat", "scandir", "listdir", "open", "readlink", "access")),
    *((os.path, name) for name in ("isdir", "isfile", "exists", "realpath")),
    *((builtins, "open"), (io, "open")),
)


@pytest.fixture
def looked(monkeypatch):
    """The strange paths that anything looked at, in this test."""
    found = []

    def spied(look):
        def spy(path=".", *more, **how):
            if STRANGE in str(path) and not str(path).startswith(OWN):
                found.append(str(path))
            return look(path, *more, **how)

        return spy

    for module, name in LOOKS:
        monkeypatch.setattr(module, name, spied(getattr(module, name)))
    return found


def with_path(value: object, paths: Iterator[str]) -> Iterator[object]:
    """The same request with the next path in place of one of its texts, each in turn."""
    if isinstance(value, str):
        yield next(paths)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from ({**value, key: changed} for changed in with_path(one, paths))
    elif isinstance(value, list):
        for place, one in enumerate(value):
            for changed in with_path(one, paths):
                yield [*value[:place], changed, *value[place + 1 :]]


def scenarios(paths: Iterator[str]) -> list[dict]:
    """A scenario for each of the models that it can name, at the next path."""
    rows = [["A cat.", "A dog.", "1"], ["A bird.", "The sun.", "0"]]
    return [
        {"data": {"source": "table", "rows": rows, place: next(paths)}, "loss": loss}
        for place, loss in LOSS_OF.items()
    ]


def with_scenario(request: object, scenario: dict) -> object:
    return {**request, "scenario": scenario} if isinstance(request, dict) else request


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOSSPRISM_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield wire.served_functions()


@pytest.mark.parametrize("page", ["explore", "compare", "doctor", "large", "finetune"])
def test_no_request_of_a_page_has_a_strange_path_looked_at(page, functions, looked):
    file = functions["explore"]["read_file"](FILE)["file"]
    known = known_requests(file, "no-run")
    # Each place gets a plain path and one of the others in turn.
    tried, others = 0, itertools.cycle(PATHS[1:])
    for name, function in functions[page].items():
        if name in NOT_CALLED:
            continue
        request = requests_of(page, name, known)[0]
        for paths in (itertools.repeat(PATHS[0]), others):
            odd = [*with_path(request, paths)]
            if isinstance(request, dict) and "scenario" in request:
                odd += [with_scenario(request, scenario) for scenario in scenarios(paths)]
            for one in odd:
                function(one)
                tried += 1
                assert looked == [], (name, one)
    assert tried > 2 * len(PATHS)


@pytest.mark.parametrize("path", [path for path in PATHS if path.startswith(("/", "~"))])
def test_a_path_is_looked_at_once_its_owner_agrees(path, looked):
    with with_consent({}), pytest.raises(Problem) as requested:
        locate(path)
    assert (requested.value.about, requested.value.values["name"]) == ("leave", path)
    assert looked == []
    with with_consent({path: 1}), pytest.raises(Problem) as missing:
        locate(path)
    assert missing.value.about == "encoder"
    assert looked


def test_a_file_is_agreed_to_with_its_folder_and_nothing_beside_it(looked):
    with with_consent({f"/{STRANGE}": 1, "\\\\host\\share": 1}):
        for outside in (f"/{STRANGE}/a/step-1.safetensors", f"/{STRANGE}/../step-1.safetensors"):
            with pytest.raises(Problem) as requested:
                locate(outside)
            assert requested.value.about == "leave"
        assert looked == []
        with pytest.raises(Problem) as missing:
            locate(f"/{STRANGE}/step-1.safetensors")
    assert missing.value.key == "problem.kept_missing"


def test_what_the_app_trained_itself_is_read_without_a_question(tmp_path):
    own = tmp_path / "runs"
    (own / "run").mkdir(parents=True)
    (own / "out").symlink_to(tmp_path)
    allow_folder(own)
    cases = {"run/model": "encoder", "run/../../model": "leave", "out/model": "leave"}
    with with_consent({}):
        for place, about in cases.items():
            with pytest.raises(Problem) as problem:
                locate(f"{own}/{place}")
            assert problem.value.about == about, place
