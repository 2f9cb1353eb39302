"""Reader of training logs, recognised by their content rather than by their names.

    trainer_state.json           of a checkpoint of transformers' Trainer
    README.md of a model         loss, parameters, batch, and the curve of its training logs
    a run folder of Fine-tune    config.json, state.json, log.jsonl
    CSV, TSV, JSON, Parquet …    scalars, wide or long: exports of wandb, trackio, TensorBoard
    events.out.tfevents.…        of TensorBoard
    a trackio project's .db      its SQLite file
    console output               of a Trainer, Lightning, Keras, ms-swift, or a custom loop

Of a folder, the fullest of these is read, with the card for the loss. Only wandb reads its offline
runs: the problem names its export command.
"""

import contextlib
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lossprism.explorer.lab.doctor.logs import (
    console_log_reader,
    lossprism_run,
    model_card,
    scalar_table_reader,
    tensorboard_events,
    trackio,
    trainer_state,
)
from lossprism.explorer.lab.doctor.logs.log import Log
from lossprism.explorer.lab.doctor.similarity_file_reader import read_similarities
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.limits import FILE_BYTES, MIB
from lossprism.explorer.runtime.local_path import local_path
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.character_encodings import decode
from lossprism.explorer.sources.tables_at_local_paths import is_table, tables_in

MAX_TABLES = 5  # that a problem names
EVENT_FILES = "*tfevents*"
WANDB_EXTENSION = ".wandb"
# Offline runs in their own folder, in that of all runs, and in that of the training.
WANDB_FILES = ("*.wandb", "*run-*/*.wandb", "wandb/*run-*/*.wandb")


def read_run(place: str, step: str = "") -> Log:
    """Read the log in a local file or folder; `step` as in `scalar_table_reader.read`.

    Raises Problem without a log, saying what is accepted, and for a damaged one.
    """
    path = local_path(place)
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise Problem("run_missing", name=shortened(place))
    _refuse_wandb(path)
    journal = trackio.journal_of(path)
    check_size(path.name, path.stat().st_size + (journal.stat().st_size if journal else 0))
    content = path.read_bytes()
    if journal and trackio.is_database(content):
        content = trackio.read_with_journal(path)
    return read_content(path.name, content, step)


def check_size(name: str, size: int) -> None:
    """Raise Problem for a log of more than `FILE_BYTES` bytes."""
    if size > FILE_BYTES:
        raise Problem("run_too_large", name=name, most=FILE_BYTES // MIB)


def read_content(name: str, content: bytes, step: str = "") -> Log:
    """Read the log in the content of a file; `step` chooses the column of steps of a table.

    Raises Problem without a log, saying what a table must have."""
    read = log_reader(name, content)
    return (
        read(step)
        if read
        else scalar_table_reader.read(name, scalar_table_reader.grid_of(name, content), step)
    )


def log_reader(name: str, content: bytes) -> Callable[[str], Log] | None:
    """Return the reader of a file's content or of pasted text; None if that is no log.

    The reader takes the column of steps ("" finds it).
    """
    for fits, read in _READERS:
        if fits(content):
            return lambda step: read(name, content)
    if read_similarities(content):
        return None
    if (
        grid := scalar_table_reader.grid_if_scalars(name, content)
    ) and not console_log_reader.prints_objects(content):
        return lambda step: scalar_table_reader.read(name, grid, step)
    text = _as_utf8(name, content)
    if console_log_reader.is_console(text):
        return lambda step: console_log_reader.read(name, text)
    messages = console_log_reader.messages_in(text)
    return (
        (lambda step: console_log_reader.read(name, messages))
        if console_log_reader.is_console(messages)
        else None
    )


def _as_utf8(name: str, content: bytes) -> bytes:
    """Return a text in UTF-8: Windows writes what a console shows in UTF-16, or in GBK. Anything
    else stays as it is."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        with contextlib.suppress(Problem):
            return decode(content, name)[0].encode("utf-8")
    return content


def is_run(place: str) -> bool:
    """True if a file or folder is the log of a run rather than a table of pairs."""
    path = local_path(place)
    if not path.is_file():
        return path.is_dir() and not is_table(path)
    if path.suffix == WANDB_EXTENSION:  # `read_run` refuses it and names the export command
        return True
    if path.stat().st_size > FILE_BYTES:
        return False
    return log_reader(path.name, path.read_bytes()) is not None


def _is_trainer_state(content: bytes) -> bool:
    return b'"log_history"' in content and content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _is_card(content: bytes) -> bool:
    return b"\n### Training Logs" in content or b"* Loss: " in content


_READERS: tuple[tuple[Callable[[bytes], bool], Callable[[str, bytes], Log]], ...] = (
    (_is_trainer_state, trainer_state.read),
    (trackio.is_database, trackio.read),
    (tensorboard_events.is_events, tensorboard_events.read),
    (_is_card, model_card.read),
)


def _read_folder(folder: Path) -> Log:
    """Read a folder of a run: its curves from the fullest log, its loss from the card."""
    if (folder / "config.json").is_file() and (folder / "log.jsonl").is_file():
        return lossprism_run.read(folder)
    logs: list[Log] = []
    states = [*folder.glob("trainer_state.json"), *folder.glob("checkpoint-*/trainer_state.json")]
    if states:
        logs.append(read_run(str(max(states, key=_saved_step))))
    for at in ("", "*/", "runs/*/"):
        logs += [read_run(str(path)) for path in sorted(folder.glob(f"{at}{EVENT_FILES}"))]
    if not logs and (database := _database_in(folder)):
        logs.append(read_run(str(database)))
    cards = [path for path in (folder / "README.md", *folder.glob("*/README.md")) if path.is_file()]
    card = next((one for one in map(_read_card, cards) if one is not None), None)
    if not logs:
        if card is None:
            _refuse_wandb(folder)
            if tables := tables_in(folder):
                shown = ", ".join(tables[:MAX_TABLES])
                raise Problem("folder_of_tables", name=shortened(str(folder)), tables=shown)
            raise Problem("run_folder", name=shortened(str(folder)))
        return card
    fullest = max(logs, key=lambda log: sum(map(len, log.curves.values())))
    if card is None:
        return fullest
    return replace(
        fullest,
        known=fullest.known.completed(card.known),
        called=fullest.called or card.called,
        precision=fullest.precision or card.precision,
    )


def _database_in(folder: Path) -> Path | None:
    """Return the project of a trackio folder. Raises Problem for several, with their names."""
    databases = [one for one in sorted(folder.glob("*.db")) if trackio.is_database(_head_of(one))]
    if len(databases) > 1:
        names = ", ".join(one.name for one in databases)[:400]
        raise Problem("run_several_projects", name=shortened(str(folder)), known=names)
    return databases[0] if databases else None


def _head_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(trackio.SIGNATURE))


def _refuse_wandb(path: Path) -> None:
    """Raise Problem, with the export command, for an offline run of wandb or a folder of some."""
    files = [path] if path.suffix == WANDB_EXTENSION else []
    if path.is_dir():
        files = [one for at in WANDB_FILES for one in sorted(path.glob(at))]
    if files:
        last = max(files, key=lambda one: one.stat().st_mtime)
        command = f"wandb sync {shlex.quote(str(last.parent))}"
        raise Problem("run_wandb", name=shortened(str(path)), command=command)


def _saved_step(path: Path) -> int:
    try:
        saved = read_json(path.read_text(encoding="utf-8"))
        return int(saved["global_step"])
    except (ValueError, KeyError, TypeError, OSError, OverflowError):
        return -1


def _read_card(path: Path) -> Log | None:
    content = path.read_bytes()
    return model_card.read(path.name, content) if _is_card(content) else None
