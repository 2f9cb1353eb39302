"""Cache of a hosted page's downloads from the hub: models and datasets, up to a number of each;
the least recently used leave.

A download has a mark in its folder from before its first byte, whose age is that of its last use:
so nothing of a killed process stays, and nothing leaves that was there before it, such as the
models of someone who tries `--hosted` on a machine of their own.
"""

import os
import shutil
import threading
import uuid
from pathlib import Path
from typing import Literal

from lossprism.explorer.runtime.deployment_policy import deployment_policy
from lossprism.explorer.runtime.folder_files_and_their_age import age_of
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.limits import MIB

Kind = Literal["model", "dataset"]
KINDS: tuple[Kind, ...] = ("model", "dataset")
MARK_FILE = ".lossprism"
PREPARED = "prepared"  # of a dataset, what is made of its files
_LEAVING = ".leaving-"
_UNFINISHED = "*.incomplete"
UNFINISHED_S = 3600.0  # no download takes as long
_lock = threading.Lock()


def prepare_download(kind: Kind, repo: str, size: int = 0) -> Path | None:
    """Make room on a hosted page for a download of so many bytes, before it begins: delete what was
    not used for longest. Return the folder of the repository, None at home."""
    if not deployment_policy().has_budgets:
        return None
    folder = _folder(kind, repo)
    if not folder.exists():
        folder.mkdir(parents=True)
        (folder / MARK_FILE).touch()
    mark_used(kind, repo)
    prune(kind, size)
    return folder


def mark_used(kind: Kind, repo: str) -> None:
    """Mark a download of a hosted page as used now."""
    if deployment_policy().has_budgets:
        try:
            os.utime(_folder(kind, repo) / MARK_FILE)
        except FileNotFoundError:  # it was there before, or has left
            return


def prune(kind: Kind, coming: int = 0) -> None:
    """Keep as many as the budgets allow, and no more bytes, the `coming` ones included; the last
    used one stays."""
    limit, bytes_ = budget("hub_kept"), budget("hub_kept_mib") * MIB
    with _lock:
        total = coming
        for place, folder in enumerate(_marked(kind)):
            total += _size(folder)
            if place and (place >= limit or total > bytes_):
                _remove(folder)


def delete_expired() -> None:
    """Keep to the budgets, and remove what a process that was killed has left half done."""
    if not deployment_policy().has_budgets:
        return
    for kind in KINDS:
        prune(kind)
        for folder in _marked(kind):
            for path in folder.glob(f"blobs/{_UNFINISHED}"):
                if age_of(path, path.stat().st_mtime) >= UNFINISHED_S:
                    path.unlink(missing_ok=True)
    for path in _root().glob(f"{_LEAVING}*"):
        shutil.rmtree(path, ignore_errors=True)


def _root() -> Path:
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def _folder(kind: Kind, repo: str) -> Path:
    from huggingface_hub.file_download import repo_folder_name

    return _root() / repo_folder_name(repo_id=repo, repo_type=kind)


def _marked(kind: Kind) -> list[Path]:
    """The folders that a hosted page has made, the one used last first."""
    marks = _root().glob(f"{kind}s--*/{MARK_FILE}")
    marked = [(age_of(mark, mark.stat().st_mtime), mark.parent) for mark in marks]
    return [folder for _, folder in sorted(marked)]


def _size(folder: Path) -> int:
    """Size in bytes; links to other files of the folder are not counted."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                about = os.lstat(os.path.join(place, name))
            except FileNotFoundError:  # it left while we looked
                continue
            total += about.st_size
    return total


def _remove(folder: Path) -> None:
    """Remove a folder at once for concurrent readers: half of a model would be a broken one."""
    aside = _root() / f"{_LEAVING}{uuid.uuid4().hex}"
    try:
        folder.rename(aside)
    except FileNotFoundError:  # another process was first
        return
    shutil.rmtree(aside, ignore_errors=True)
