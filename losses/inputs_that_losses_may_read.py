"""Inputs that a loss may read from a batch: one table for explorer, adapters and training."""

from collections.abc import Mapping
from dataclasses import dataclass

POSITIVES, ORDER, SIDES = ("positives",), ("order",), ("order", "sides")
LISTS, TEACHER, TEACHER_VECTORS = ("lists",), ("teacher",), ("teacher_vectors",)


@dataclass(frozen=True)
class Readable:
    """An input that a batch offers under one name, and its requirements.

    `axes` says what its dimensions count, in the names of `Symbol.axes`. `made_of` is its source in
    the batch: "scores" and "labels" exist for any scored pairs, "vectors" need embeddings,
    "classes" need distinct sentences, "texts" are numbers of the sentences, equal for
    equal texts, "groups" say which pairs share their first sentence, "teacher" is a teacher's
    scores of the pairs, or its vectors. `by_threshold` is whether it depends on which pairs count
    as positive, `by_range` whether on the ends of the labels' scale (`losses.labels`). A loss
    learns nothing from it without all of `needs`: "order", two labels that differ; "sides", pairs
    on both sides of the threshold; "positives", positive pairs; "lists", first sentences with
    several pairs; "teacher", a teacher's score of each pair; "teacher_vectors", its vectors, of the
    batch's own dimension. `positives_only`: its rows are the positive pairs, and it does not exist
    without any. `optional` inputs may be missing.
    """

    meaning: str
    axes: tuple[str, ...]
    made_of: str
    by_threshold: bool = False
    by_range: bool = False
    needs: tuple[str, ...] = ()
    positives_only: bool = False
    optional: bool = False


# The only table of what a loss may read: `LossSpec.reads` maps argument names to these names, and
# whoever provides a batch (the explorer, a trainer, a test) has a method of each of them.
READABLE: Mapping[str, Readable] = {
    "scores": Readable("similarity of each pair", ("pair",), "scores"),
    "labels": Readable("what the user gave each pair", ("pair",), "labels", needs=ORDER),
    "binary_labels": Readable(
        "1 at or above the threshold", ("pair",), "labels", by_threshold=True, needs=SIDES
    ),
    "unit_labels": Readable(
        "labels brought to 0..1", ("pair",), "labels", by_range=True, needs=ORDER
    ),
    "cosine_labels": Readable(
        "labels brought to 0..1; from −1 to 1 as they are",
        ("pair",),
        "labels",
        by_range=True,
        needs=ORDER,
    ),
    "level_scores": Readable("similarities at several levels", ("level", "pair"), "vectors"),
    "pair_logits": Readable("a two-node output for each pair", ("pair", "class"), "scores"),
    "pair_classes": Readable(
        "the binary labels as class numbers", ("pair",), "labels", by_threshold=True, needs=SIDES
    ),
    "first": Readable("vectors of the first sentences", ("pair", "dimension"), "vectors"),
    "second": Readable("vectors of the second sentences", ("pair", "dimension"), "vectors"),
    "queries": Readable(
        "first sentences of the positive pairs",
        ("query", "dimension"),
        "vectors",
        by_threshold=True,
        needs=POSITIVES,
        positives_only=True,
    ),
    "keys": Readable(
        "second sentences of the positive pairs",
        ("key", "dimension"),
        "vectors",
        by_threshold=True,
        needs=POSITIVES,
        positives_only=True,
    ),
    "negatives": Readable(
        "second sentences of the other pairs",
        ("key", "dimension"),
        "vectors",
        by_threshold=True,
        optional=True,
    ),
    "guide_queries": Readable(
        "a guide's vectors of the queries: of a second encoder, or the batch's own held still",
        ("query", "guide_dimension"),
        "vectors",
        by_threshold=True,
        needs=POSITIVES,
        positives_only=True,
    ),
    "guide_keys": Readable(
        "the guide's vectors of the keys",
        ("key", "guide_dimension"),
        "vectors",
        by_threshold=True,
        needs=POSITIVES,
        positives_only=True,
    ),
    "guide_negatives": Readable(
        "the guide's vectors of the negatives",
        ("key", "guide_dimension"),
        "vectors",
        by_threshold=True,
        optional=True,
    ),
    "targets": Readable(
        "how much each key is each query's: alike for all keys of its class",
        ("query", "key"),
        "classes",
        by_threshold=True,
        needs=POSITIVES,
        positives_only=True,
    ),
    "negative_owners": Readable(
        "which query has the first sentence of each of these pairs, −1 for none",
        ("key",),
        "groups",
        by_threshold=True,
        optional=True,
    ),
    "query_texts": Readable(
        "which queries and keys hold the same text", ("query",), "texts", True, optional=True
    ),
    "key_texts": Readable("the same of the keys", ("key",), "texts", True, optional=True),
    "negative_texts": Readable("the same of the negatives", ("key",), "texts", True, optional=True),
    "list_scores": Readable(
        "similarities of the candidates of each first sentence",
        ("list", "candidate"),
        "scores",
        needs=LISTS,
    ),
    "list_labels": Readable(
        "labels of these candidates", ("list", "candidate"), "labels", needs=(*ORDER, *LISTS)
    ),
    "list_mask": Readable(
        "where there is a candidate", ("list", "candidate"), "groups", needs=LISTS
    ),
    "judged_mask": Readable(
        "where there is a candidate whose label is not −1",
        ("list", "candidate"),
        "groups",
        needs=LISTS,
    ),
    "graded_mask": Readable(
        "where there is a candidate whose label is 0 or more",
        ("list", "candidate"),
        "groups",
        needs=LISTS,
    ),
    "list_teacher": Readable(
        "what the teacher gives these candidates",
        ("list", "candidate"),
        "teacher",
        needs=(*LISTS, *TEACHER),
    ),
    "list_places": Readable(
        "which pairs these candidates are, −1 for none",
        ("list", "candidate"),
        "groups",
        needs=LISTS,
    ),
    "margin_positives": Readable(
        "similarity of each positive pair whose first sentence has negatives",
        ("row",),
        "scores",
        by_threshold=True,
        needs=(*SIDES, *LISTS),
    ),
    "margin_negatives": Readable(
        "similarities of the other pairs of that first sentence",
        ("row", "candidate"),
        "scores",
        by_threshold=True,
        needs=(*SIDES, *LISTS),
    ),
    "teacher_margins": Readable(
        "how far the teacher has the positive above each of them",
        ("row", "candidate"),
        "teacher",
        by_threshold=True,
        needs=(*SIDES, *LISTS, *TEACHER),
    ),
    "margin_mask": Readable(
        "where there is a negative", ("row", "candidate"), "groups", by_threshold=True, needs=LISTS
    ),
    "positive_places": Readable(
        "which pair each of these positives is",
        ("row",),
        "groups",
        by_threshold=True,
        needs=(*SIDES, *LISTS),
    ),
    "negative_places": Readable(
        "which pairs its negatives are, −1 for none",
        ("row", "candidate"),
        "groups",
        by_threshold=True,
        needs=(*SIDES, *LISTS),
    ),
    "triplet_anchors": Readable(
        "first sentences of the positive pairs beside which others stand, once for each of these",
        ("given_triplet", "dimension"),
        "vectors",
        by_threshold=True,
        needs=(*SIDES, *LISTS),
    ),
    "triplet_positives": Readable(
        "second sentences of these positive pairs",
        ("given_triplet", "dimension"),
        "vectors",
        by_threshold=True,
        needs=(*SIDES, *LISTS),
    ),
    "triplet_negatives": Readable(
        "second sentences of the other pairs of the same first sentence",
        ("given_triplet", "dimension"),
        "vectors",
        by_threshold=True,
        needs=(*SIDES, *LISTS),
    ),
    "embeddings": Readable("every distinct sentence", ("sentence", "dimension"), "vectors"),
    "classes": Readable(
        "connected components of the positive pairs",
        ("sentence",),
        "classes",
        by_threshold=True,
        needs=POSITIVES,
    ),
    "paired_classes": Readable(
        "the same, for a loss that forms all pairs within each class",
        ("sentence",),
        "classes",
        by_threshold=True,
        needs=POSITIVES,
    ),
    "teacher_embeddings": Readable(
        "another encoder's vectors of the same sentences",
        ("sentence", "teacher_dimension"),
        "teacher",
        needs=TEACHER_VECTORS,
    ),
    "prototypes": Readable(
        "one vector for each class", ("class", "dimension"), "vectors", by_threshold=True
    ),
}
