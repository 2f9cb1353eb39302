"""A user's own loss opens in the explorer; a wrong place is answered with a sentence."""

from __future__ import annotations

import dataclasses
import os

import pytest

from lossprism.explorer.core import own_loss_from_python_file
from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.own_loss_from_python_file import (
    add_own_loss,
    may_edit,
    read_text,
    set_page_host,
    write,
)
from lossprism.explorer.core.remarks import remarks
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export.drawing_data_of_exploration import picture
from lossprism.explorer.locale import catalogue
from lossprism.explorer.runtime.json_encoding import plain as as_sent
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.web.api.endpoint_functions import list_losses
from lossprism.losses import LOSSES
from tests.sentences import raises_problem

PLAIN = """
import torch

def soft_order(scores, labels, *, slope=5.0, twice=False):
    gaps = scores[:, None] - scores[None, :]
    wrong = labels[:, None] < labels[None, :]
    terms = torch.sigmoid(slope * gaps) * wrong
    return terms.sum() * (2 if twice else 1)
"""


@pytest.fixture
def own(tmp_path):
    before, files = dict(LOSSES), dict(own_loss_from_python_file._OWN_LOSSES)

    def write(text, name):
        path = tmp_path / "mine.py"
        path.write_text(text, encoding="utf-8")
        return add_own_loss(f"{path}:{name}")

    yield write
    for kept, held in ((LOSSES, before), (own_loss_from_python_file._OWN_LOSSES, files)):
        kept.clear()
        kept.update(held)


def test_a_plain_function_gets_sliders_and_a_derivation(own):
    spec = own(PLAIN, "soft_order")
    assert [p.name for p in spec.parameters] == ["slope", "twice"]
    assert spec.parameters[0].minimum == 0
    assert spec.parameters[0].maximum == 20
    found = explore(Scenario(loss="soft_order"))
    assert [s.name for s in found.trace.steps] == ["gaps", "wrong", "terms", "return"]
    assert "torch.sigmoid" in found.trace.listing
    made = as_sent(picture(found))
    assert made["steps"][made["chosen"]]["name"] == "terms"
    assert made["shown"]["row_axis"]["name"] == "pair"
    assert len(found.heaviest) > 0


def test_programs_find_it_by_its_name_and_title(own):
    catalogue("en")  # which has the titles of the losses that there are when it is read
    spec = own(PLAIN.replace("soft_order", "late_order"), "late_order")
    assert list_losses()[spec.group] == {"late_order": spec.title}
    assert list_losses("late_order")["title"] == spec.title


def test_its_parameters_act(own):
    own(PLAIN, "soft_order")
    once = explore(Scenario(loss="soft_order")).loss
    twice = explore(Scenario(loss="soft_order", parameters=(("twice", True),))).loss
    assert twice == pytest.approx(2 * once)


def test_a_file_may_bring_its_own_spec(own):
    text = (
        PLAIN
        + """
from lossprism.losses import LossSpec, Parameter
SPEC = LossSpec(function=soft_order, title="Soft order", formula="x", terms="terms",
                parameters=(Parameter("slope", 3.0, "k", 1.0, 9.0, 0.1),),
                reads={"scores": "scores", "labels": "binary_labels"})
"""
    )
    spec = own(text, "soft_order")
    assert spec.title == "Soft order"
    assert explore(Scenario(loss="soft_order")).parameters == {"slope": 3.0}


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nothing", "path/to/file.py:function"),
        ("no/such/file.py:f", "no file"),
    ],
)
def test_a_wrong_place_is_answered(place, message):
    with pytest.raises(Problem, match=message):
        add_own_loss(place)


def test_an_absent_function_is_answered_with_those_present(own):
    with raises_problem("own_loss_no_function", known="soft_order"):
        own(PLAIN, "soft_ordre")


def test_arguments_that_no_batch_has_are_named(own):
    with pytest.raises(Problem, match="pixels"):
        own("def f(pixels, labels):\n    return pixels.sum()\n", "f")


def test_a_loss_that_returns_a_vector_is_answered(own):
    own("def g(scores, labels):\n    return scores * 2\n", "g")
    with raises_problem("not_one_number"):
        explore(dataclasses.replace(Scenario(), loss="g"))


FAULTY = """
import torch

def helper(scores):
    raise RuntimeError("the sizes do not\\nmatch")

def raises(scores, labels):
    doubled = scores * 2
    return helper(doubled)

def below_torch(scores, labels):
    return torch.cat([scores, labels[None]]).sum()

def gives_nan(scores, labels):
    roots = (scores - 2).sqrt()
    return roots.sum()

def detached(scores, labels):
    return (scores.detach() * labels).sum() + torch.zeros((), requires_grad=True)

def unnamed(scores, labels):
    gaps = scores - labels
    return gaps.square().mean()
"""


@pytest.mark.parametrize(
    ("name", "kind", "line"), [("raises", "RuntimeError", 5), ("below_torch", "RuntimeError", 12)]
)
def test_an_error_of_a_users_function_is_reported_with_its_line(own, name, kind, line):
    own(FAULTY, name)
    with pytest.raises(Problem) as result:
        explore(Scenario(loss=name))
    values = result.value.values
    assert (result.value.key, values["kind"], values["line"]) == (
        "problem.own_loss_raised",
        kind,
        line,
    )
    assert values["file"].name == "mine.py"
    assert "\n" not in str(result.value)


@pytest.mark.parametrize(
    ("text", "kind", "line"), [("a = 1\nb = missing\n", "NameError", 2), ("(\n", "SyntaxError", 1)]
)
def test_a_file_that_does_not_run_is_reported_with_its_line(own, text, kind, line):
    with pytest.raises(Problem) as result:
        own(text, "anything")
    assert (result.value.values["kind"], result.value.values["line"]) == (kind, line)


def test_a_fault_of_ours_is_not_called_theirs(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("ours")

    monkeypatch.setattr("lossprism.explorer.core.explore.trace", broken)
    with pytest.raises(RuntimeError, match="ours"):
        explore(Scenario())


def test_a_loss_that_is_nan_and_one_without_gradient_are_reported(own):
    own(FAULTY, "gives_nan")
    found = {one.key: one.values for one in remarks(explore(Scenario(loss="gives_nan")), most=10)}
    assert found["not_finite"] == {
        "name": found["not_finite"]["name"],
        "loss": "NaN",
        "step": "roots",
    }
    own(FAULTY, "detached")
    keys = [one.key for one in remarks(explore(Scenario(loss="detached")), most=10)]
    assert keys[0] == "no_gradient"
    own(FAULTY, "unnamed")
    plain = explore(Scenario(loss="unnamed"))
    assert plain.weights is None  # the page says what to name, not that nothing carries weight
    assert {"not_finite", "no_gradient"}.isdisjoint(one.key for one in remarks(plain, most=10))
    assert picture(plain).figures.terms is None


# ---- Read again, and written


FIRST = """\
def rank(scores, labels, *, slope=2.0):
    gaps = slope * scores
    return gaps.sum()
"""
SCENE = Scenario(loss="rank")


def changed(own, text):
    """The file with another text, and nothing else about it that would tell."""
    path = own_loss_from_python_file.own_loss("rank").path
    before = path.stat()
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


def test_a_changed_file_is_read_again(own):
    own(FIRST, "rank")
    once = explore(SCENE).loss
    first = own_loss_from_python_file.own_loss("rank").digest
    changed(own, FIRST.replace("slope * scores", "scores * 3.00"))
    found = explore(SCENE)
    assert found.loss == pytest.approx(1.5 * once)
    assert "scores * 3.00" in found.trace.listing
    assert own_loss_from_python_file.own_loss("rank").digest != first
    changed(own, FIRST.replace("slope * scores", "scores * 4.00"))  # of the same length
    assert explore(SCENE).loss == pytest.approx(2 * once)
    assert "scores * 4.00" in explore(SCENE).trace.listing


def test_a_comment_that_changes_is_listed(own):
    own(FIRST.replace("gaps =", "gaps = 1 *"), "rank")
    explore(SCENE)
    changed(own, FIRST.replace("slope * scores", "slope * scores  # steep"))
    assert "# steep" in explore(SCENE).trace.listing


def test_its_parameters_are_those_of_the_file_and_old_ones_are_passed_over(own):
    own(FIRST, "rank")
    changed(own, FIRST.replace("slope", "steepness"))
    found = explore(dataclasses.replace(SCENE, parameters=(("slope", 5.0),)))
    assert found.parameters == {"steepness": 2.0}


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [("def rank(:\n", "SyntaxError", 1), ("a = 1\nraise SystemExit\n", "SystemExit", 2)],
)
def test_a_file_that_no_longer_runs_is_reported_until_it_does(own, text, kind, line):
    own(FIRST, "rank")
    before = explore(SCENE).loss
    changed(own, text)
    for _ in range(2):
        with pytest.raises(Problem) as result:
            explore(SCENE)
        assert (result.value.values["kind"], result.value.values["line"]) == (kind, line)
    changed(own, FIRST)
    assert explore(SCENE).loss == before


def test_a_file_that_is_only_touched_is_not_run_again(own, monkeypatch):
    own(FIRST, "rank")
    monkeypatch.setattr(own_loss_from_python_file, "_read", lambda _: pytest.fail("it was run"))
    changed(own, FIRST)
    explore(SCENE)


def test_a_missing_file_is_reported(own):
    own(FIRST, "rank")
    own_loss_from_python_file.own_loss("rank").path.unlink()
    with raises_problem("own_loss_no_file"):
        explore(SCENE)


@pytest.fixture
def local(monkeypatch):
    monkeypatch.delenv("SPACE_ID", raising=False)
    set_page_host("127.0.0.1")
    yield
    set_page_host("")


def test_what_is_written_is_computed(own, local):
    own(FIRST, "rank")
    once = explore(SCENE).loss
    found, text, digest = read_text("rank")
    mode = found.path.stat().st_mode
    write("rank", text.replace("slope * scores", "2 * slope * scores"), digest)
    assert explore(SCENE).loss == pytest.approx(2 * once)
    assert found.path.stat().st_mode == mode
    assert [path.name for path in found.path.parent.iterdir()] == ["mine.py"]


def test_what_changed_on_disk_meanwhile_is_not_overwritten(own, local):
    own(FIRST, "rank")
    found, text, digest = read_text("rank")
    changed(own, FIRST + "# by another editor\n")
    with raises_problem("own_loss_changed"):
        write("rank", text, digest)
    assert found.path.read_text().endswith("# by another editor\n")
    _, _, digest = read_text("rank")
    write("rank", FIRST, digest)
    assert found.path.read_text() == FIRST


def test_the_ends_of_lines_stay_as_they_are(own, local):
    own(FIRST, "rank")
    own_loss_from_python_file.own_loss("rank").path.write_bytes(
        FIRST.replace("\n", "\r\n").encode()
    )
    found, text, digest = read_text("rank")
    assert "\r" not in text
    write("rank", text + "# more\n", digest)
    assert found.path.read_bytes() == (FIRST + "# more\n").replace("\n", "\r\n").encode()


def test_what_cannot_be_edited_or_written_is_reported(own, local, monkeypatch):
    own(FIRST, "rank")
    found, _, digest = read_text("rank")
    with raises_problem("file_too_large", name="mine.py", most=1):
        write("rank", "#" * (own_loss_from_python_file.MAX_FILE_BYTES + 1), digest)

    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(own_loss_from_python_file.shutil, "copymode", full)
    with raises_problem("own_loss_not_written", name="mine.py"):
        write("rank", "# gone\n", digest)
    assert found.path.read_text() == FIRST
    found.path.write_bytes(b"# \xff\n")
    with raises_problem("file_unreadable"):
        read_text("rank")


@pytest.mark.parametrize(
    ("host", "space", "may"),
    [
        ("127.0.0.1", "", True),
        ("localhost", "", True),
        ("::1", "", True),
        ("0.0.0.0", "", False),
        ("192.168.1.5", "", False),
        ("example.org", "", False),
        ("", "", False),
        ("127.0.0.1", "someone/space", False),
    ],
)
def test_a_file_is_edited_only_where_no_other_computer_reaches_it(
    own, local, monkeypatch, host, space, may
):
    own(FIRST, "rank")
    digest = read_text("rank")[2]
    monkeypatch.setenv("SPACE_ID", space)
    set_page_host(host)
    assert may_edit() is may
    if may:
        write("rank", FIRST, digest)
        return
    with raises_problem("own_loss_not_here"):
        read_text("rank")
    with raises_problem("own_loss_not_here"):
        write("rank", "", digest)
    assert own_loss_from_python_file.own_loss("rank").path.read_text() == FIRST


def test_a_loss_that_ships_has_no_file_to_edit(local):
    with pytest.raises(Problem):
        write("cosent", "", "")
