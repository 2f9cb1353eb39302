"""Which Pythons are promised, and where they are found."""

import sys

import pytest

from tests import interpreters


def test_the_promised_ones_are_those_of_pyproject():
    assert interpreters.promised() == ["3.11", "3.12", "3.13", "3.14"]


def test_the_one_that_runs_this_is_present():
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert interpreters.present(version)
    assert interpreters.present("3.99") is None


@pytest.mark.parametrize("fails", [(), ("3.12",)])
def test_one_that_fails_is_named_and_none_that_is_absent_counts(monkeypatch, capsys, fails):
    monkeypatch.setattr(interpreters, "present", lambda v: None if v in ("3.13", "3.14") else v)
    requests = []

    def tried(python, folder, arguments):
        requests.append((python, arguments))
        return python not in fails

    monkeypatch.setattr(interpreters, "tried", tried)
    assert interpreters.main() == len(fails)
    assert requests == [(version, interpreters.USUAL) for version in ("3.11", "3.12")]
    output = capsys.readouterr().out
    assert "Python 3.11: passed" in output
    assert ("Python 3.12: FAILED" in output) == bool(fails)
    assert "Python 3.13: not on this machine" in output


def test_without_torch_a_few_small_packages_are_installed_as_the_requirements_have_them():
    install, compiled, *_ = interpreters.torchless_commands()
    lines = install[install.index("--quiet") + 1 :]
    assert len(lines) == len(interpreters.PACKAGES)
    assert "numpy>=2" in lines
    assert all((interpreters.ROOT / name).exists() for name in interpreters.SOURCES)
    assert all((interpreters.ROOT / name).is_file() for name in interpreters.TORCHLESS_TESTS)
    assert set(interpreters.SOURCES) < set(compiled)
