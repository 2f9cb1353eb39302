"""With which status a command ends."""

from __future__ import annotations

import sys
import threading

import pytest

from lossprism.explorer import cli
from lossprism.explorer.lab.doctor import possible_meanings_of_number, terminal_commands
from lossprism.explorer.locale import catalogue
from lossprism.explorer.web.pages.compare.questions import OPENING, QUESTIONS
from lossprism.losses import LOSSES
from lossprism.version import VERSION


def broken(*_, **__):
    raise KeyError("a defect")


def lacking(*_, **__):
    raise ModuleNotFoundError("No module named 'torch'", name="torch")


def test_the_version_is_printed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["lossprism", "--version"])
    with pytest.raises(SystemExit, match="0"):
        cli.main()
    assert capsys.readouterr().out == f"LossPrism {VERSION}\n"


class WindowsEvent(threading.Event):
    """An event whose wait Ctrl-C does not interrupt, as on Windows: Python calls the handler of a
    signal between two waits."""

    waits = 0

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None, "an endless wait, in which Ctrl-C is not seen"
        assert timeout <= 1
        self.waits += 1
        if self.waits == 3:  # Ctrl-C came during the second wait
            self.set()
        return self.is_set()


def test_control_c_is_seen_on_windows():
    stopped = WindowsEvent()
    cli.wait_for(stopped)
    assert stopped.waits == 3


@pytest.mark.parametrize(
    ("command", "on_terminal", "printed"),
    [
        (None, True, "Loading torch and Gradio …\n"),
        (None, False, "Loading torch and Gradio …\n"),
        ("explain", True, "Loading torch …\n"),
        ("explain", False, ""),  # a program may read what it says
    ],
)
def test_what_is_loaded_is_announced(monkeypatch, capsys, command, on_terminal, printed):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: on_terminal)
    cli.announce_loading(command)
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", printed)


@pytest.mark.parametrize("requested", ["--help", "--version"])
def test_nothing_is_loaded_for_what_is_known(monkeypatch, capsys, requested):
    monkeypatch.setattr(sys, "argv", ["lossprism", requested])
    monkeypatch.setattr(cli, "run", lambda _: pytest.fail("it loads torch"))
    with pytest.raises(SystemExit, match="0"):
        cli.main()
    assert capsys.readouterr().err == ""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("first\tsecond\na\tb\nc\td\n")
    return str(path)


@pytest.mark.parametrize(
    ("raises", "message"), [(broken, "KeyError: 'a defect'"), (lacking, "torch is not installed")]
)
@pytest.mark.parametrize("command", ["explain", "doctor"])
def test_a_defect_is_no_finding(command, raises, message, table, monkeypatch, capsys):
    """1 is the status of something severe in the data: in somebody's CI a defect of ours must not
    be taken for it."""
    monkeypatch.setattr(possible_meanings_of_number, "explain", raises)
    monkeypatch.setattr(terminal_commands, "read_table", raises)
    words = {"explain": "5.545", "doctor": table}
    monkeypatch.setattr(sys, "argv", ["app.py", command, words[command]])
    assert cli.main() == 2
    output = capsys.readouterr()
    assert message in output.err
    assert ("Traceback" in output.err) == (raises is broken)
    assert output.out == ""


def test_control_c_ends_a_command_without_a_word(monkeypatch, capsys):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(possible_meanings_of_number, "explain", interrupted)
    monkeypatch.setattr(sys, "argv", ["app.py", "explain", "5.545"])
    assert cli.main() == 128 + 2
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("address", ["/compare", "http://127.0.0.1:7860/compare"])
def test_the_figure_of_compares_address_is_its_first_loss_on_its_batch(
    address, tmp_path, monkeypatch, capsys
):
    chosen_question = QUESTIONS[OPENING["en"]]
    out = tmp_path / "figure.svg"
    monkeypatch.setattr(sys, "argv", ["app.py", "figure", address, "--out", str(out)])
    assert cli.main() == 0, capsys.readouterr().err
    drawn = out.read_text(encoding="utf-8")
    title = catalogue("en")[f"example.{chosen_question.example}.title"]
    assert title in drawn
    assert LOSSES[chosen_question.sides[0].loss].title in drawn


@pytest.mark.parametrize("ending", [".svg", ".html", ".pdf"])
def test_the_figure_of_a_page_without_a_scenario_is_what_it_shows_first(
    ending, tmp_path, monkeypatch, capsys
):
    out = tmp_path / f"figure{ending}"
    monkeypatch.setattr(sys, "argv", ["app.py", "figure", "/learn/claims", "--out", str(out)])
    assert cli.main() == 0, capsys.readouterr().err
    if ending == ".pdf":
        assert out.read_bytes().startswith(b"%PDF")
    else:
        assert catalogue("en")["claims.curve.limit"] in out.read_text(encoding="utf-8")
