"""Diagnosis of pasted text, for programs: numbers, the log of a run or a table of pairs."""

from dataclasses import dataclass
from typing import Literal

from lossprism.explorer.lab.doctor import USUAL_BATCH, USUAL_LOSS
from lossprism.explorer.lab.doctor.classes_report import DoctoredClasses
from lossprism.explorer.lab.doctor.data_report import DoctoredData
from lossprism.explorer.lab.doctor.logs.findings import examine_run
from lossprism.explorer.lab.doctor.logs.run_report import DoctoredRun, doctored_run
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.number_report import ExplainedValue, number_answer
from lossprism.explorer.lab.doctor.pasted_input import read_pasted
from lossprism.explorer.lab.doctor.possible_meanings_of_number import explain_values
from lossprism.explorer.lab.doctor.similarity_gap_findings import DoctoredSimilarities
from lossprism.explorer.locale import LANGUAGES
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.response_parent_classes import Whole
from lossprism.explorer.web.api.dataset_diagnosis import doctor_data
from lossprism.explorer.web.api.request_parsing import read_choice, read_text
from lossprism.explorer.web.api.response_schemas import in_json


@dataclass(frozen=True)
class DoctoredPaste(Whole):
    """Pasted text, its diagnosis, and its skipped lines."""

    kind: Literal["numbers", "run", "table"]
    numbers: list[str]
    left_lines: list[int]
    explained: ExplainedValue | None
    run: DoctoredRun | None
    data: DoctoredData | DoctoredClasses | DoctoredSimilarities | None


@in_json
def doctor_pasted(
    text: str,
    loss: str = "",
    batch: int | None = None,
    negatives: int | None = None,
    scale: float | None = None,
    language: str = "en",
) -> DoctoredPaste:
    """Diagnose pasted text: numbers, console lines of a training, its log, or a table.

    Args:
        text: numbers such as "2.09 2.081"; lines that a Trainer, Lightning, Keras or ms-swift
            prints, with other lines between them; a log, as doctor_run takes it; or a table, as
            doctor_data does
        loss, batch, negatives, scale, language: see explain_loss_value

    Returns:
        An object with kind, "numbers", "run" or "table"; numbers, the values as they were written,
        also of a log with fewer than three; left_lines, the numbers of the lines in which nothing
        was read; and, of the others null, explained (as explain_loss_value answers, of their mean,
        with the loss and counts that the text names where the arguments leave them out),
        run (as doctor_run) or data (as doctor_data).

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.

    Examples:
        >>> answer = doctor_pasted("{'loss': 0.6925, 'epoch': 0.1}", "info_nce", batch=2)
        >>> answer["kind"], answer["explained"]["standing"]["place"]
        ('numbers', 'collapse')
    """
    known = Known(loss=read_text("loss", loss), batch=batch, negatives=negatives, scale=scale)
    content = read_text("text", text).encode("utf-8", "replace")
    read_choice("language", language, LANGUAGES)
    with jobs.heavy_work_turn():
        pasted = read_pasted(content)
        explained = run = data = None
        if pasted.kind == "numbers":
            explained = number_answer(
                explain_values(pasted.numbers, known.completed(pasted.known)), language
            )
        elif pasted.log is not None:
            run = doctored_run(examine_run(pasted.log, known), None, language)
    if pasted.kind == "table":
        usual = {"loss": loss or USUAL_LOSS, "batch": batch or USUAL_BATCH}
        data = doctor_data(table=text, language=language, **usual)
    left = [] if pasted.log is None else list(pasted.log.left_lines)
    return DoctoredPaste(pasted.kind, [*pasted.numbers], left, explained, run, data)
