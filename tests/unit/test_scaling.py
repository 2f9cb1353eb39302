"""docs/scaling.md has the figures of the formulas that `benchmarks scaling` checks."""

from pathlib import Path

import pytest

from benchmarks import report, scaling

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scaling.md"


@pytest.mark.parametrize("world", scaling.PAPER)
@pytest.mark.parametrize("way", scaling.WAYS)
def test_the_page_has_the_figures_of_the_formulas(way, world):
    row = report.line(scaling.on_paper(way, world, scaling.ROWS))
    assert row in PAGE.read_text(encoding="utf-8").splitlines()
