"""Runs that fail: the loss, the memory, the disk."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import warm
from tests.browser.finetune.steering import PAGE, UNFOLD, begin, read, visitor, wait_for
from tests.browser.serving import Server
from tests.sentences import wording
from tests.warm import joining

pytestmark = pytest.mark.browser


# The logarithm of what it makes smaller; where it is `greedy`, what no machine has the memory for
# with 7 to 16 pairs (the probe batch has more).
ODD = """
import torch


def odd(scores, labels, *, greedy=0.0):
    if greedy:
        torch.empty(2**60 if 6 < len(scores) <= 16 else 1, dtype=torch.uint8)
        return (scores - labels).square().mean()
    return scores.mean().log() + 0 * labels.mean()
"""


@pytest.fixture(scope="module")
def odd(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page of a server with that loss of the user's own."""
    folder = tmp_path_factory.mktemp("odd")
    (folder / "odd.py").write_text(ODD)
    own = ("--loss", f"{folder / 'odd.py'}:odd")
    served = Server(folder, *own, "--runs", str(folder / "runs"))
    with served as running, visitor(browser, running) as page:
        yield page


def test_a_loss_that_stops_being_a_number_names_the_step_and_the_pairs(odd: Page) -> None:
    begin(odd, loss="odd", steps=500)
    wait_for(odd, "failed")
    done = read(odd, "steps.length")
    kept = read(odd, "about.problem.values.kept")
    assert 0 < done == kept
    element = odd.locator(".lp-finetune_run .lp-problem:visible")
    values = {"step": done + 1, "kept": kept, "more": 13}
    expect(element).to_contain_text(wording("problem.training_own_not_finite", **values))
    expect(element).to_contain_text(", on “")


def test_out_of_memory_names_the_batch_that_fits_and_that_one_trains(odd: Page) -> None:
    begin(odd, loss="odd", parameters={"greedy": 1}, batch_size=16)
    element = odd.locator(".lp-finetune_run .lp-problem:visible")
    expect(element).to_contain_text(wording("problem.training_out_of_memory", batch=16, fits=4))
    # What was chosen is still there, and the batch that was named is enough.
    assert odd.evaluate(f"{PAGE}.plan.parameters") == {"greedy": 1}
    odd.evaluate(UNFOLD)
    expect(odd.locator("#lp-finetune-batch_size")).to_have_value("16")
    odd.fill("#lp-finetune-batch_size", "4")
    odd.click("#lp-finetune-start")
    wait_for(odd, "finished")


# Runs in their own small file system, which only those see that join this process: no right of an
# administrator's is needed, but a system that lets its users do so.
SMALL_DISK = "mount -t tmpfs -o size=704k runs {folder} && echo there && exec cat"


@pytest.fixture
def cramped(tmp_path: Path) -> Iterator[Server]:
    """A server whose runs are on a disk of 704 kB."""
    runs, python = tmp_path / "runs", tmp_path / "python"
    runs.mkdir()
    inside = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
    disk = (*inside, SMALL_DISK.format(folder=shlex.quote(str(runs))))
    with subprocess.Popen(disk, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True) as holding:
        if holding.stdout.readline() != "there\n":
            pytest.skip(f"no small file system can be made here: {holding.stderr.read()}")
        line = [warm.python(), joining.__file__, holding.pid, python]
        python.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, line))} "$@"\n')
        python.chmod(0o755)
        with Server(tmp_path, "--runs", str(runs), python=str(python)) as running:
            yield running
        holding.stdin.close()


def test_a_full_disk_is_reported_and_the_run_can_go_on(browser: Browser, cramped: Server) -> None:
    with visitor(browser, cramped) as page:
        begin(page, steps=10_000, evaluations=1000)
        wait_for(page, "failed", "interrupted")
        done = read(page, "steps.length")
        assert done > 100
        element = page.locator(".lp-finetune_run .lp-problem:visible")
        expect(element).to_contain_text(wording("problem.training_disk_full", free=0))
        expect(element).to_contain_text(wording("problem.training_disk_full"))
        expect(page.locator("#lp-finetune-resume")).to_be_visible()
        # Nor can another run be kept there.
        page.click("#lp-finetune-start")
        wrong = page.locator(".lp-start-box .lp-wrong:visible")
        expect(wrong).to_contain_text("No space left on device")
        page.click("#lp-finetune-delete")
        page.click("#lp-finetune-delete")
        expect(page.locator("#lp-finetune-quick")).to_be_visible()
        # The weights of this one are larger than the disk.
        begin(page, dimension=4096)
        wait_for(page, "failed", "interrupted")
        expect(element).to_contain_text(wording("problem.training_disk_full"))
