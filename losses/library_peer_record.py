"""Functions and classes of libraries that compute a loss, by name.

A `LossSpec` names those that compute the loss itself, and a `Convention` its own. No library is
imported.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

SENTENCE_TRANSFORMERS = "sentence-transformers"
METRIC_LEARNING = "pytorch-metric-learning"

# What libraries take, each with what it is read as (`READABLE`).
SCORES = {"scores": "scores", "labels": "labels"}
CLASSED = {"embeddings": "embeddings", "classes": "classes"}
LISTED = {"scores": "list_scores", "labels": "list_labels", "mask": "list_mask"}
OF_PAIRS = {"first": "queries", "second": "keys"}
PROTOTYPED = {**CLASSED, "prototypes": "prototypes"}
VALUED = {"first": "first", "second": "second", "labels": "labels"}
OF_SIDES = {**VALUED, "labels": "binary_labels"}
QUERIED = {"queries": "queries", "keys": "keys", "negatives": "negatives"}
OWNED = {**QUERIED, "owners": "negative_owners"}
GUIDED = {
    **QUERIED,
    "guide_queries": "guide_queries",
    "guide_keys": "guide_keys",
    "guide_negatives": "guide_negatives",
}
# The vectors of pairs, and which of them stand in each list, or are each row's two sides.
LISTED_VECTORS = {
    "first": "first",
    "second": "second",
    "places": "list_places",
    "teacher": "list_teacher",
}
MARGIN_VECTORS = {
    "first": "first",
    "second": "second",
    "positives": "positive_places",
    "negatives": "negative_places",
    "teacher": "teacher_margins",
}


@dataclass(frozen=True)
class Peer:
    """A function or class of a library that computes a loss.

    `library` is its pip name, or a repository without a package. `reads` is as in `LossSpec.reads`,
    empty if its input is not a batch of tensors; `settings` are passed if its own defaults compute
    something else.
    """

    library: str
    called: str
    reads: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
