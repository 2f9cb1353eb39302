"""Datasets for Doctor: a large file, or pairs that are there, with their profile."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lossprism.explorer.lab.doctor.pair_table_profile import Profile, profiled
from lossprism.explorer.lab.doctor.reference_values import ConfiguredLoss
from lossprism.explorer.lab.doctor.similarity_file_reader import read_similarities
from lossprism.explorer.lab.doctor.similarity_gap_findings import Similarities
from lossprism.explorer.lab.doctor.texts_with_classes_reader import (
    ClassTable,
    pairs_or_classes,
    read_classes,
)
from lossprism.explorer.lab.large.large_pair_table_reader import FilePairs, read_pairs
from lossprism.explorer.runtime.jobs import Report
from lossprism.explorer.runtime.json_encoding import whole_letters
from lossprism.explorer.runtime.limits import LARGE_FILE_BYTES, LARGE_PAIRS
from lossprism.explorer.runtime.local_path import local_path
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.hub_datasets import first_rows, repository_and_subset
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.sources.parquet import is_parquet
from lossprism.explorer.sources.tables_at_local_paths import content_of_table
from lossprism.losses import LOSSES, LossSpec

HUB_ROWS = (10, LARGE_PAIRS)  # that are read of a dataset of the hub


@dataclass(frozen=True, eq=False)
class Read:
    """The profile of a dataset; `file` has the file's other findings, None where the pairs came
    from elsewhere."""

    profile: Profile
    file: FilePairs | None = None

    def spec(self, loss: ConfiguredLoss) -> LossSpec:
        """The loss as a training on these rows has it: some are another for given triplets."""
        triplets = self.profile.of_triplets
        return LOSSES[loss.name].under(loss.convention, given_triplets=triplets)

    def row(self, pair: int) -> int:
        """The row of the table that a pair, counted from 1, stands in."""
        return pair if self.file is None else int(self.file.rows[pair - 1])


Table = Read | ClassTable | Similarities
Content = bytes | Path  # a file's, or a Parquet file on the disk


def read_content(
    content: Content,
    name: str,
    report: Report,
    *,
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    encoding: str = "",
) -> Read:
    """Read the pairs of a file by its contents, as `read_pairs` does; Doctor ignores a column of
    similarities.

    Raises Problem if there is no table of pairs.
    """
    roles = {**(columns or {}), "similarity": ""}
    pairs = read_pairs(content, name, roles, header, report, encoding, taught=True)
    return Read(profiled(pairs, report, pairs.rows).prepared(), pairs)


def read_table(
    content: Content,
    name: str,
    report: Report,
    *,
    columns: Mapping[str, str] | None = None,
    header: bool | None = None,
    encoding: str = "",
) -> Table:
    """Pairs as `read_content` reads them; or texts with their classes, where the columns of these
    were chosen, or no columns were, and that is what they are called, or all that they can be; or
    similarities without texts.

    Raises Problem if it is neither.
    """
    head = content if isinstance(content, bytes) else b""
    if not columns and (similarities := read_similarities(head)):
        return similarities
    chosen = {"columns": columns, "header": header, "encoding": encoding}
    return pairs_or_classes(
        head,
        columns,
        lambda: read_content(content, name, report, **chosen),
        lambda: read_classes(content, name, report, **chosen),
    )


def texts_only(read: Table) -> Read | ClassTable:
    """Return the table. Raises Problem for similarities."""
    if isinstance(read, Similarities):
        raise Problem("similarities_no_texts")
    return read


def pairs_only(read: Table) -> Read:
    """Return the table. Raises Problem also for a table of classes, which has no pairs to
    encode."""
    if isinstance(table := texts_only(read), ClassTable):
        raise Problem("classes_no_pairs")
    return table


def content_of(path: str | Path) -> tuple[Content, str]:
    """Return the content of a file or saved dataset of this computer, and its name; a Parquet file
    stays on the disk. Raises Problem where it cannot be read, or is larger than the page takes."""
    file = local_path(str(path))
    with contextlib.suppress(OSError):  # which `content_of_table` reports
        if is_parquet(file):
            return file, whole_letters(file.name)
    return content_of_table(path, None, LARGE_FILE_BYTES, "large_file_too_large")


def hub_content(hub: str, split: str, rows: int, report: Report) -> tuple[bytes, str]:
    """Read the first rows of a dataset of the hub as a file of JSON lines, and its name.

    Raises Problem where it cannot be read, or for too many rows.
    """
    if not hub.strip():
        raise Problem("training_no_hub_id")
    least, top = HUB_ROWS
    if not least <= rows <= top:
        raise Problem("hub_set_count", value=rows, least=least, most=top)
    split = split.strip() or "train"
    repo, subset = repository_and_subset(hub)
    parts = filter(None, (repo.rpartition("/")[2], subset, split))
    return first_rows(hub.strip(), split, rows, report), f"{'-'.join(parts)}.jsonl"


def read_given(pairs: Pairs, report: Report) -> Read:
    """Pairs that are there already."""
    return Read(profiled(pairs, report).prepared())
