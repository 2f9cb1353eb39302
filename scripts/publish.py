"""Publish a version: its tag, its wheel and source archive, and its Space on the hub.

    python -m scripts.publish --space OWNER/NAME          # a dry run
    python -m scripts.publish --space OWNER/NAME --push

The dry run checks the repository, builds `dist/`, lays out the Space, and prints what else it would
run. With `--push` the tag goes to `origin` and the Space to the hub, with the token of `hf auth
login`. What is published is what is committed. `dist/` then goes to PyPI as its owner uploads it.
"""

from __future__ import annotations

import argparse
import io
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from lossprism.version import VERSION

ROOT = Path(__file__).resolve().parents[1]
# What neither runs in the Space nor is named by its card.
NOT_IN_THE_SPACE = ("tests", ".ci", ".github")
HUB_ATTRIBUTES = ROOT / "scripts" / "templates" / "gitattributes_of_the_hub.tmpl"
SPACE_BYTES = 10 * 2**20  # of one file; the hub takes a larger one by another way


def main() -> int:
    """Return the exit status: 1 with a sentence where nothing can be published."""
    parser = argparse.ArgumentParser(prog="python -m scripts.publish", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--space", required=True, metavar="OWNER/NAME", help="the Space on the hub")
    parser.add_argument("--push", action="store_true", help="tag, push the tag, upload the Space")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    chosen = parser.parse_args()
    if obstacles := obstacles_of(chosen.root):
        print(*obstacles, sep="\n", file=sys.stderr)
        return 1
    build(chosen.root)
    with tempfile.TemporaryDirectory() as folder:
        lay_out_space(chosen.root, Path(folder), chosen.space)
        for command in commands(chosen.space, folder):
            print(f"{'' if chosen.push else 'would run: '}{shlex.join(command)}", flush=True)
            if chosen.push:
                subprocess.run(command, cwd=chosen.root, check=True)
    return 0


def commands(space: str, folder: str) -> list[list[str]]:
    """Return what leaves this computer, in order; the tag last, once the Space is there."""
    tag, message = f"v{VERSION}", f"LossPrism {VERSION}"
    upload = ["hf", "upload", space, folder, ".", "--repo-type", "space"]
    return [
        [*upload, "--commit-message", message, "--delete", "*"],
        ["git", "tag", "--annotate", tag, "--message", message],
        ["git", "push", "origin", tag],
    ]


def obstacles_of(root: Path) -> list[str]:
    """Return a sentence for each reason why this state cannot be published."""
    found = []
    if git(root, "status", "--porcelain"):
        found.append("There are changes that are not committed.")
    if git(root, "tag", "--list", f"v{VERSION}"):
        found.append(f"The tag v{VERSION} is there already: change lossprism/version.py.")
    if f"\n## {VERSION}\n" not in read(root, "CHANGELOG.md"):
        found.append(f"CHANGELOG.md has no entry {VERSION}.")
    if not re.search(rf"^version: {re.escape(VERSION)}$", read(root, "CITATION.cff"), re.MULTILINE):
        found.append(f"CITATION.cff has another version than {VERSION}.")
    return found


def build(root: Path) -> None:
    """Write the wheel and the source archive to `dist/`, without a network."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist"]
    subprocess.run(command, cwd=root, check=True)


def lay_out_space(root: Path, folder: Path, space: str) -> None:
    """Write the committed files of the Space to the folder. The hub wants large-file rules, and
    the address of the thumbnail in full.

    Raises ValueError for a file that the hub does not take as it is.
    """
    others = [f":(exclude){name}" for name in NOT_IN_THE_SPACE]
    archive = subprocess.run(
        ["git", "archive", "--format", "tar", "HEAD", ".", *others],
        cwd=root,
        check=True,
        capture_output=True,
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    for path in folder.rglob("*"):
        if path.is_file() and path.stat().st_size > SPACE_BYTES:
            raise ValueError(f"{path.relative_to(folder)} is larger than the hub takes")
    (folder / ".gitattributes").write_bytes(HUB_ATTRIBUTES.read_bytes())
    card = folder / "README.md"
    address = f"https://huggingface.co/spaces/{space}/resolve/main/"
    text = card.read_text(encoding="utf-8")
    card.write_text(
        re.sub(r"^(thumbnail: )(?!https)", rf"\g<1>{address}", text, flags=re.MULTILINE),
        encoding="utf-8",
    )


def git(root: Path, *words: str) -> str:
    """Return what git prints."""
    done = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def read(root: Path, name: str) -> str:
    """Return the text of a file of the repository."""
    return (root / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
