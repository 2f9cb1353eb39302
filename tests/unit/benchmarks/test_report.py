"""Every benchmark has a file of its last whole run, and writes the next one in its place."""

import argparse
import re
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.__main__ import MODULES

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
HEAD = r"# .+\n\n`python -m benchmarks (\w+)` on (\d{4}-\d\d-\d\d): .+ cores, .*torch 2.+\.\n\n\| "


@pytest.mark.parametrize("name", MODULES)
def test_the_last_run_says_when_and_where_and_the_readme_leads_to_it(name):
    found = re.match(HEAD, (report.RESULTS / f"{name}.md").read_text(encoding="utf-8"))
    assert found
    assert found[1] == name
    assert f"(results/{name}.md)" in README


def test_the_readme_keeps_no_figures_of_its_own():
    tables = re.findall(r"^\|.*\d.*\|$", README, flags=re.MULTILINE)
    assert not tables


def test_what_is_written_has_the_form_of_the_files_that_are_there(tmp_path):
    rows = [("start", "4.70 s", "≤ 6 s")]
    report.write(
        tmp_path, "large", "A page", "a machine, 2 cores, torch 2.13", (report.HEADS, rows)
    )
    text = (tmp_path / "large.md").read_text(encoding="utf-8")
    assert re.match(HEAD, text)
    assert text.endswith(
        "| what | measured | target |\n| --- | --- | --- |\n| start | 4.70 s | ≤ 6 s |\n"
    )


def test_a_part_of_a_run_replaces_no_table():
    parser = argparse.ArgumentParser()
    report.add_option(parser)
    assert report.folder(parser.parse_args([]), whole=False) is None
    assert report.folder(parser.parse_args([]), whole=True) == report.RESULTS
    chosen = parser.parse_args(["--results", "elsewhere"])
    assert report.folder(chosen, whole=False) == Path("elsewhere")
