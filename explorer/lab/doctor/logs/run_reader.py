"""A run from whatever was kept of it: recognised by what it holds, not by what it is called.

    trainer_state.json           what transformers' Trainer saves in each checkpoint
    README.md of a model         loss, parameters, batch, and the curve of its training logs
    a run folder of ours         config.json, state.json, log.jsonl
    CSV, TSV, JSON, Parquet …    of scalars, wide or long: exports of wandb, trackio, TensorBoard
    events.out.tfevents.…        what TensorBoard writes
    a trackio project's .db      its SQLite file
    console output               lines of a Trainer, Lightning, Keras, ms-swift, or a loop

A folder is looked through for these: the state of its last checkpoint, with the card for the loss;
or a trackio project. An offline run of wandb is read by wandb alone, whose command is named.
"""

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lossprism.explorer.lab.doctor.known_loss_and_batch import Known
from lossprism.explorer.lab.doctor.logs import (
    console,
    model_card,
    run_folder,
    scalars,
    tensorboard_events,
    trackio,
    trainer_state,
)
from lossprism.explorer.lab.doctor.logs.log import Log
from lossprism.explorer.lab.doctor.similarity_gap import read_similarities
from lossprism.explorer.runtime.limits import FILE_BYTES, MIB
from lossprism.explorer.runtime.local_path import local_path
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.local_files import saved_set_files

EVENTS = "*tfevents*"
OFFLINE_RUN = ".wandb"
# Where an offline run lies in its own folder, in that of all runs, and in that of the training.
WANDB = ("*.wandb", "*run-*/*.wandb", "wandb/*run-*/*.wandb")


def read_run(place: str, step: str = "") -> Log:
    """The log in a file or folder of this computer; `step` as `scalars.read` takes it.

    Raises Problem where there is none, saying what is accepted; and for a damaged one.
    """
    path = local_path(place)
    if path.is_dir():
        return _folder(path)
    if not path.is_file():
        raise Problem("run_missing", name=shortened(place))
    _refuse_wandb(path)
    beside = trackio.journal_of(path)
    must_fit(path.name, path.stat().st_size + (beside.stat().st_size if beside else 0))
    content = path.read_bytes()
    if beside and trackio.is_database(content):
        content = trackio.with_journal(path)
    return read_content(path.name, content, step)


def must_fit(name: str, size: int) -> None:
    """Check the size of a log. Raises Problem for a file of more bytes than are read."""
    if size > FILE_BYTES:
        raise Problem("run_too_large", name=name, most=FILE_BYTES // MIB)


def read_content(name: str, content: bytes, step: str = "") -> Log:
    """The log in the content of a file; of a table the column of its steps may be chosen.

    Raises Problem where it holds none, saying what a table must have."""
    read = log_reader(name, content)
    return read(step) if read else scalars.read(name, scalars.grid_of(name, content), step)


def log_reader(name: str, content: bytes) -> Callable[[str], Log] | None:
    """Return the reader of the log in the content of a file or of pasted text; None where it holds
    none.

    The reader takes the column of steps ("" finds it).
    """
    for fits, read in _KINDS:
        if fits(content):
            return lambda step: read(name, content)
    if read_similarities(content):
        return None
    if (grid := scalars.grid_if_scalars(name, content)) and not console.prints_objects(content):
        return lambda step: scalars.read(name, grid, step)
    if console.is_console(content):
        return lambda step: console.read(name, content)
    return None


def is_run(place: str) -> bool:
    """True if a file or folder is the log of a run, and no table of pairs."""
    path = local_path(place)
    if not path.is_file():
        return path.is_dir() and not saved_set_files(path)
    if path.suffix == OFFLINE_RUN:  # `read_run` refuses it and names the export command
        return True
    if path.stat().st_size > FILE_BYTES:
        return False
    return log_reader(path.name, path.read_bytes()) is not None


def _is_json(content: bytes) -> bool:
    return b'"log_history"' in content and content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _is_card(content: bytes) -> bool:
    return b"\n### Training Logs" in content or b"* Loss: " in content


_KINDS: tuple[tuple[Callable[[bytes], bool], Callable[[str, bytes], Log]], ...] = (
    (_is_json, trainer_state.read),
    (trackio.is_database, trackio.read),
    (tensorboard_events.is_events, tensorboard_events.read),
    (_is_card, model_card.read),
)


def _folder(folder: Path) -> Log:
    """Read a folder of a run: its curves from the fullest log, its loss from the card."""
    if (folder / "config.json").is_file() and (folder / "log.jsonl").is_file():
        return run_folder.read(folder)
    found: list[Log] = []
    states = [*folder.glob("trainer_state.json"), *folder.glob("checkpoint-*/trainer_state.json")]
    if states:
        found.append(read_run(str(max(states, key=_step_of))))
    for path in (
        one for at in ("", "*/", "runs/*/") for one in sorted(folder.glob(f"{at}{EVENTS}"))
    ):
        found.append(read_run(str(path)))
    if not found and (database := _database_in(folder)):
        found.append(read_run(str(database)))
    cards = [path for path in (folder / "README.md", *folder.glob("*/README.md")) if path.is_file()]
    card = next((one for one in map(_card_in, cards) if one is not None), None)
    if not found and card is None:
        _refuse_wandb(folder)
        raise Problem("run_folder", name=shortened(str(folder)))
    if not found:
        assert card is not None
        return card
    best = max(found, key=lambda log: sum(map(len, log.curves.values())))
    if card is None:
        return best
    known = _filled(best.known, card.known)
    return replace(
        best,
        known=known,
        called=best.called or card.called,
        precision=best.precision or card.precision,
    )


def _database_in(folder: Path) -> Path | None:
    """The project of a trackio folder. Raises Problem, naming them, where there are several."""
    found = [one for one in sorted(folder.glob("*.db")) if trackio.is_database(_head_of(one))]
    if len(found) > 1:
        names = ", ".join(one.name for one in found)[:400]
        raise Problem("run_several_projects", name=shortened(str(folder)), known=names)
    return found[0] if found else None


def _head_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(trackio.SIGNATURE))


def _refuse_wandb(path: Path) -> None:
    """Raise Problem for an offline run of wandb, or a folder of some, naming the export command."""
    files = [path] if path.suffix == OFFLINE_RUN else []
    if path.is_dir():
        files = [one for at in WANDB for one in sorted(path.glob(at))]
    if files:
        last = max(files, key=lambda one: one.stat().st_mtime)
        command = f"wandb sync {shlex.quote(str(last.parent))}"
        raise Problem("run_wandb", name=shortened(str(path)), command=command)


def _step_of(path: Path) -> int:
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        return int(saved["global_step"])
    except (ValueError, KeyError, TypeError, OSError):
        return -1


def _card_in(path: Path) -> Log | None:
    content = path.read_bytes()
    return model_card.read(path.name, content) if _is_card(content) else None


def _filled(known: Known, other: Known) -> Known:
    """Add the other's values to the known ones; a scale is not added to a temperature, nor that to
    it."""
    if known.temperature is not None or known.scale is not None:
        other = replace(other, temperature=None, scale=None)
    blank = (None, "")
    return Known(
        **{
            name: getattr(other, name) if value in blank else value
            for name, value in vars(known).items()
        }
    )
