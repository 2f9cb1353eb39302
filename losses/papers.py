"""The papers that losses come from, as BibTeX for the card of a trained model.

Of the `references` of a `LossSpec`, those that brought the loss; papers about an option of it or
its background are named in `docs/sources.md` alone. Sentence-BERT, where `cosine_mse` is from, is
cited by every card of sentence-transformers.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Paper:
    """A paper and its place: "arXiv:…", "doi:…" or an address."""

    authors: str
    year: int
    title: str
    place: str

    @property
    def bibtex(self) -> str:
        """The entry of a bibliography; its key is the first author, the year and the first word."""
        first = self.authors.partition(" and ")[0].split()[-1]
        key = re.sub(r"[^a-z0-9]", "", f"{first}{self.year}{self.title.split()[0]}".lower())
        kind, _, number = self.place.partition(":")
        entries = {"title": self.title, "author": self.authors, "year": self.year}
        if kind == "arXiv":
            entries |= {"eprint": number, "archivePrefix": kind}
        else:
            entries |= {"doi": number} if kind == "doi" else {"url": self.place}
        lines = (f"    {name}={{{value}}},\n" for name, value in entries.items())
        return f"@misc{{{key},\n{''.join(lines)}}}\n"


def citation(references: Iterable[str]) -> str:
    """Return the BibTeX of the papers among these references of a loss, "" without any."""
    named = (PAPERS.get(re.sub(r",? eq\. .*", "", reference)) for reference in references)
    return "".join(paper.bibtex for paper in dict.fromkeys(named) if paper)


def _papers() -> dict[str, Paper]:
    """Return the papers of `papers.json` by the reference that names them."""
    text = Path(__file__).with_name("papers.json").read_text("utf-8")
    return {reference: Paper(**fields) for reference, fields in json.loads(text).items()}


PAPERS = _papers()
