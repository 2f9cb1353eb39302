"""The wheel holds all of both packages, and the command it installs works from anywhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import httpx
import pytest

from explorer.core.scenario import Scenario

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("explorer", "losses")


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=elsewhere(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def elsewhere() -> dict[str, str]:
    """The environment without what would lead Python back into the repository."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(
        *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"),
        *("--quiet", "--wheel-dir", folder, ROOT),
        cwd=folder,
    )
    return next(folder.glob("lossprism-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that holds the wheel, and sees the packages of this one.

    Its name begins with a dot, as the README's does: Gradio refuses files of such folders unless
    they are allowed by name.
    """
    home = tmp_path_factory.mktemp("home") / ".venv"
    run(sys.executable, "-m", "venv", "--without-pip", home, cwd=home.parent)
    python = home / "bin" / "python"
    run(
        *(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps"),
        wheel,
        cwd=home.parent,
    )
    packages = Path(
        run(python, "-c", "import sysconfig as s; print(s.get_path('purelib'))", cwd=home)[:-1]
    )
    (packages / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home / "bin"


def test_it_holds_every_file_of_both_packages(wheel):
    expected = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.suffix not in (".pyc", ".pyi")
    }
    with zipfile.ZipFile(wheel) as packed:
        held = {name for name in packed.namelist() if ".dist-info/" not in name}
    assert held == expected


def test_it_asks_for_torch_alone_and_offers_the_extras(wheel):
    with zipfile.ZipFile(wheel) as packed:
        about = next(name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        lines = packed.read(about).decode().split("\n\n")[0].splitlines()
    always = [line for line in lines if line.startswith("Requires-Dist:") and ";" not in line]
    assert always == ["Requires-Dist: torch>=2.8"]
    assert {f"Provides-Extra: {extra}" for extra in ("app", "train", "dev")} <= set(lines)


def test_it_explores_a_scene_outside_the_repository(installed, tmp_path):
    said = run(
        *(installed / "python", "-c"),
        "import explorer, losses\n"
        "from explorer.core.explore import explore\n"
        "from explorer.core.scenario import Scenario\n"
        "print(explorer.__file__, losses.__file__, explore(Scenario()).loss)\n",
        cwd=tmp_path,
    )
    *places, loss = said.split()
    assert all(Path(place).is_relative_to(installed.parent) for place in places)
    assert 0 < float(loss) < 100


def test_its_command_writes_a_figure(installed, tmp_path):
    run(
        *(installed / "lossprism", "figure", "--scenario", Scenario().to_link(), "--out", "f.html"),
        cwd=tmp_path,
    )
    assert (tmp_path / "f.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_its_command_serves_the_page_with_all_that_it_loads(installed, tmp_path):
    command = [installed / "lossprism", "--no-browser", "--runs", str(tmp_path / "runs")]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=elsewhere(), stdout=subprocess.PIPE, text=True
    )
    try:
        address = re.search(r"http://\S+", process.stdout.readline())[0].rstrip("/")
        page = httpx.get(address)
        assert page.status_code == 200
        files = set(re.findall(r"served/\w+/[\w/.-]+\.(?:js|css)\b", page.text))
        assert {Path(file).suffix for file in files} == {".js", ".css"}
        for file in files:
            served = httpx.get(f"{address}/{file}")
            assert served.status_code == 200, file
            (own,) = installed.parent.glob(
                f"lib/*/site-packages/explorer/web/{file.split('/', 2)[2]}"
            )
            assert served.content == own.read_bytes()
    finally:
        process.terminate()
        process.wait(timeout=20)
