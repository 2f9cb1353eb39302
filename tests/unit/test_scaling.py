"""docs/scaling.md has the figures of the formulas that `benchmarks scaling` checks."""

from pathlib import Path

import pytest

from benchmarks import distributed_info_nce, report

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scaling.md"


@pytest.mark.parametrize("world", distributed_info_nce.PAPER)
@pytest.mark.parametrize("way", distributed_info_nce.WAYS)
def test_the_page_has_the_figures_of_the_formulas(way, world):
    row = report.line(distributed_info_nce.on_paper(way, world, distributed_info_nce.ROWS))
    assert row in PAGE.read_text(encoding="utf-8").splitlines()
