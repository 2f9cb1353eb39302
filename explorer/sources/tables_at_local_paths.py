"""Reader of a table on this computer: a file, a folder that `datasets.save_to_disk` wrote, or one
as BEIR has them."""

import io
import json
from collections.abc import Collection, Sequence
from pathlib import Path

from lossprism.explorer.runtime.json_encoding import whole_letters
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.runtime.local_path import is_inside, local_path
from lossprism.explorer.runtime.problem import Problem

STATE, SPLITS, USUAL_SPLIT = "state.json", "dataset_dict.json", "train"
TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arrow", ".gz")  # endings of their names


def content_of_table(
    path: str | Path, name: str | None, most: int, too_large: str
) -> tuple[bytes, str]:
    """Return the content of the table, and its name: the user's `name`, if there is one.

    Raises Problem where it cannot be read, or `too_large` where it has more than `most` bytes.
    """
    path = local_path(str(path))
    name = whole_letters(name or path.name)
    try:
        judgements = _judgements_of(path)
        files = saved_set_files(path) or _beir_files(path, judgements) or [path]
        if sum(file.stat().st_size for file in files) > most:
            raise Problem(too_large, name=name, most=most // MIB)
        if files == [path]:
            return path.read_bytes(), name
        if judgements:
            try:
                return _with_judged_texts(*files), f"{name}.json"
            except (ValueError, KeyError, TypeError):
                raise Problem("file_broken", name=name, kind="BEIR") from None
        return _joined(files), f"{name}.arrow"
    except OSError:
        raise Problem("file_unreadable", name=name) from None


def is_table(folder: Path) -> bool:
    """True if a folder is read as one table."""
    return bool(saved_set_files(folder) or _judgements_of(folder))


def tables_in(folder: Path) -> list[str]:
    """Return the paths of the tables in a folder and in its folders, sorted."""
    found = (path for at in ("*", "*/*") for path in folder.glob(at) if path.suffix in TABLES)
    return sorted(str(path.relative_to(folder)) for path in found if path.is_file())


def _judgements_of(folder: Path) -> list[Path]:
    """Return the judgements in a folder of BEIR, those of "train" first; none in any other."""
    if not all((folder / f"{name}.jsonl").is_file() for name in ("queries", "corpus")):
        return []
    found = sorted((folder / "qrels").glob("*.tsv"))
    return sorted(found, key=lambda path: path.stem != USUAL_SPLIT)


def _beir_files(folder: Path, judgements: Sequence[Path]) -> list[Path]:
    names = ("queries.jsonl", "corpus.jsonl")
    return [*(folder / name for name in names), judgements[0]] if judgements else []


def _with_judged_texts(queries: Path, corpus: Path, judgements: Path) -> bytes:
    """Return the queries, the judged documents and the judgements as one JSON object."""
    judged: dict[str, dict[str, str]] = {}
    lines = judgements.read_text("utf-8-sig").splitlines()
    for line in lines[1:]:
        query, *_, document, score = line.split("\t")
        judged.setdefault(query, {})[document] = score
    documents = {document for known in judged.values() for document in known}
    whole = {
        "queries": _texts_by_id(queries, judged.keys()),
        "corpus": _texts_by_id(corpus, documents),
        "qrels": judged,
    }
    return json.dumps(whole, ensure_ascii=False).encode()


def _texts_by_id(path: Path, ids: Collection[str]) -> dict[str, object]:
    with path.open(encoding="utf-8-sig") as lines:
        rows = (read_json(line) for line in lines if line.strip())
        return {row["_id"]: row for row in rows if row["_id"] in ids}


def saved_set_files(folder: Path) -> list[Path]:
    """The Arrow files of a dataset that `datasets.save_to_disk` wrote into a folder; of several
    splits those of "train", or else of the first. None of any other folder."""
    splits = _listed(folder / SPLITS, "splits")
    inner = folder / str(USUAL_SPLIT if USUAL_SPLIT in splits else splits[0]) if splits else folder
    listed = _listed(inner / STATE, "_data_files")
    names = (one.get("filename") for one in listed if isinstance(one, dict))
    files = [inner / name for name in names if isinstance(name, str)]
    return [file for file in files if is_inside(file, folder)]


def _listed(path: Path, name: str) -> list:
    """The list of this name in a file of JSON; empty where there is none."""
    try:
        parsed = read_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    listed = parsed.get(name) if isinstance(parsed, dict) else None
    return listed if isinstance(listed, list) else []


def _joined(files: Sequence[Path]) -> bytes:
    """The rows of all files as one Arrow stream."""
    import pyarrow as pa  # takes its time to load, and most tables are no Arrow files

    if len(files) == 1:
        return files[0].read_bytes()
    whole = io.BytesIO()
    with pa.ipc.open_stream(files[0]) as first, pa.ipc.new_stream(whole, first.schema) as writer:
        for file in files:
            with pa.ipc.open_stream(file) as part:
                for batch in part:
                    writer.write_batch(batch)
    return whole.getvalue()
