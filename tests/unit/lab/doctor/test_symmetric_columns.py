"""A pair is the same the other way round where both of its columns are of one kind."""

from __future__ import annotations

import pytest

from lossprism.explorer.lab.doctor.dataset_reader import read_content
from lossprism.explorer.lab.doctor.pair_dataset_checks import examine
from lossprism.explorer.sources.column_names import name_same_kind
from lossprism.explorer.sources.column_roles import ANCHOR_NAMES, PAIR_NAMES, POSITIVE_NAMES
from lossprism.losses import LOSSES

ORDERED = {"premise", "context", "claim", "query", "question", "前提", "查询"}
ORDERED |= {"anfrage", "consulta", "requête"}


def faults(header, swapped_label, loss="cosent"):
    """Ten graded pairs, then five of them the other way round under this label."""
    rows = [(f"text a {n}", f"text b {n}", (n % 5) / 4) for n in range(10)]
    rows += [(b, a, label if swapped_label is None else swapped_label) for a, b, label in rows[:5]]
    lines = "\n".join(("\t".join(header), *("\t".join(map(str, row)) for row in rows)))
    read = read_content(lines.encode(), "t.tsv", lambda *far: None)
    found = examine(read.profile, LOSSES[loss], 4)
    return {one.name: one for one in found.faults}, len(found.cleaned.left_out)


@pytest.mark.parametrize("names", PAIR_NAMES)
def test_swapped_pairs_repeat_and_contradict_where_both_sides_are_of_one_kind(names):
    symmetric = names[0] not in ORDERED
    header = (*names, "score")
    copies, left = faults(header, None)
    assert ("copies" in copies) == symmetric
    assert left == (5 if symmetric else 0)
    conflicts, left = faults(header, 0.62)
    assert ("conflicting_labels" in conflicts) == symmetric
    assert left == (10 if symmetric else 0)
    if symmetric:
        assert copies["copies"].values["count"] == 5
        assert conflicts["conflicting_labels"].values == {"count": 5, "rows": 10}
        assert conflicts["conflicting_labels"].rows[:2] == (1, 11)


def test_only_sides_of_one_kind_are_symmetric():
    pairs = [names for names in POSITIVE_NAMES + ANCHOR_NAMES if len(names) == 2]
    alike = {names for names in pairs if name_same_kind(*names)}
    assert alike == {("sent0", "sent1")}
    assert all(name_same_kind(*names) == (names[0] not in ORDERED) for names in PAIR_NAMES)
