"""JSON carries every row that shows a finding, numbered as in the table."""

from __future__ import annotations

import pytest

from lossprism.explorer.lab.doctor.class_dataset_checks import examine_classes
from lossprism.explorer.lab.doctor.classes_report import classes_answer
from lossprism.explorer.lab.doctor.data_report import data_answer
from lossprism.explorer.lab.doctor.dataset_reader import pairs_only, read_table
from lossprism.explorer.lab.doctor.logs.findings import examine_run
from lossprism.explorer.lab.doctor.logs.log import log_of
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import single_loss
from lossprism.explorer.lab.doctor.pair_dataset_checks import examine
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from tests.judgements.troubleshooting import ENCODED, LONG, SAMPLES

TOKENS = len(LONG.split()) - 1
# Findings about a whole table or its batches, which no row shows more than another.
OF_WHOLE_TABLES = {
    "batches_without_positive", "degrees_lost", "margin_beyond", "no_labels", "no_negative",
    "no_positive", "no_teacher", "one_class", "one_label", "rows_alone",
}  # fmt: skip
HEADERS = ("\tclass", "\tlabel", "\tteacher", "\tnegative")
BEYOND = 5.0  # a margin that no two unit vectors have between them


def rows_of_findings(lines, loss, batch):
    """The rows of each finding as JSON has them."""
    read = read_table("\n".join([*lines, ""]).encode(), "t.tsv", lambda *far: None)
    if isinstance(read, ClassTable):
        answer = classes_answer(read, examine_classes(read, batch))
    else:
        read = pairs_only(read)
        spec = read.spec(single_loss(Known(loss=loss)))
        found = examine(read.profile, spec, batch, most_tokens=TOKENS, margin=BEYOND)
        answer = data_answer(read, found)
    return {one.name: one.rows for one in answer.findings}


def is_number(cell):
    return cell.lstrip("-").replace(".", "", 1).isdigit()


def otherwise(line):
    """The row with other texts and classes and the same labels."""
    cells = line.split("\t")
    return "\t".join(one if is_number(one) else f"{one} 2" for one in cells)


@pytest.mark.parametrize("name", sorted(SAMPLES.keys() - set(ENCODED)))
def test_the_same_rows_with_other_texts_show_a_finding_as_often(name):
    """So that no finding has only its first rows, or only one of its groups."""
    loss, batch, content = SAMPLES[name]
    lines = content.splitlines()
    header = [lines.pop(0)] if lines[0].endswith(HEADERS) else []
    once = rows_of_findings([*header, *lines], loss, batch)
    assert (once[name] == []) == (name in OF_WHOLE_TABLES)
    if once[name]:
        twice = rows_of_findings([*header, *lines, *map(otherwise, lines)], loss, batch)
        more = [row + len(lines) for row in once[name]]
        assert sorted(twice[name]) == sorted([*once[name], *more])


def test_rows_of_classes_are_those_of_the_table():
    """A row that cannot be read counts."""
    lines = ["text\tclass", "\ta", "one\ta", "One\ta", "two\tb", "three\tb"]
    assert rows_of_findings(lines, "supcon", 4)["texts_again"] == [3]


def test_a_run_has_every_step_of_a_finding():
    values = tuple([2.0] * 12 + [float("nan")] * 30)
    found = examine_run(log_of((values, None)), Known())
    (fault,) = (one for one in found.faults if one.name == "not_finite")
    assert fault.rows == tuple(range(13, 43))
