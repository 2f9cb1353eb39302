"""Numbers to take away: tables as CSV, and Python that computes the same loss again.

Headers and row names are English, so that a script reads the same file in any language. A text
cell that a spreadsheet would run as a formula is made harmless with an apostrophe.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from explorer.caption import pair_numbers
from explorer.explore import Exploration
from explorer.locale import say
from explorer.picture import picture
from explorer.scenario import Rules, Scenario
from losses import LOSSES, LossSpec

# A snippet holds its numbers itself up to this many pairs and numbers; beyond, it makes the
# batch anew from where it came from.
MOST_PAIRS, MOST_NUMBERS = 32, 256
# Numbers are shortened as long as the loss moves by no more than this, relatively.
UNMOVED = 1e-11

_STARTS_A_FORMULA = tuple("=+-@\t\r\n＝＋－＠")


# ---- Tables --------------------------------------------------------------------------------


def matrix_csv(exploration: Exploration, step: int | None = None) -> str:
    """The matrix of a step by its place (None: the chosen one), as the page arranges it.

    The facet is that of `scenario.view`. The first row and column name the items. An absent
    cell (−inf) is empty, yes and no are 1 and 0. As on the page, a step of more than 1024 rows
    or columns is cut to the first 1024.
    """
    if step is not None:
        view = dataclasses.replace(exploration.scenario.view, step=step)
        scenario = dataclasses.replace(exploration.scenario, view=view)
        exploration = dataclasses.replace(exploration, scenario=scenario)
    shown = picture(exploration)["shown"]
    found = [*exploration.trace.inputs, *exploration.trace.steps][shown["step"]]
    facet = exploration.scenario.view.facet
    facet = facet if facet != "value" and shown[facet] is not None else "value"
    whole = {
        "value": lambda: found.value,
        "gradient": lambda: found.gradient,
        "weight": lambda: exploration.weights.shares,
        "mask": lambda: exploration.trace.mask_of(found),
    }[facet]()
    rows, columns = shown["row_axis"], shown["column_axis"]
    matrix = whole.reshape(shown["all_rows"], shown["all_columns"]).cpu()
    matrix = matrix[rows["items"]][:, columns["items"]]
    names = _Names(exploration)
    body = [
        [names.of_place(rows, place), *(_cell(value) for value in line)]
        for place, line in enumerate(matrix.tolist())
    ]
    heads = [names.of_place(columns, place) for place in range(len(columns["items"]))]
    return _csv([f"{found.name} ({facet})", *heads], body)


def terms_csv(exploration: Exploration) -> str:
    """The heaviest terms: which items, value, weight, and the weight up to and with them."""
    terms = picture(exploration)["heaviest"]
    names = _Names(exploration)
    most = max((len(term["items"]) for term in terms), default=2)
    sides = ("row", "column") if most == 2 else ("item", "row", "column")[:most]
    heads = [head for side in sides for head in (side, f"{side}_text")]
    body = []
    for rank, term in enumerate(terms, 1):
        items = [
            text
            for item in term["items"]
            for text in (
                names.number(item["axis"], item["item"], item["pair"]),
                names.words(item["axis"], item["pair"], item["sentence"]),
            )
        ]
        numbers = (exploration.heaviest[rank - 1].value, term["share"], term["so_far"])
        body.append([rank, *items, *map(_cell, numbers)])
    return _csv(["rank", *heads, "value", "weight", "cumulative_weight"], body)


def suspects_csv(exploration: Exploration) -> str:
    """The pairs whose label looks wrong: how often it is contradicted, and which would fit."""
    numbers = pair_numbers(exploration)
    body = [
        [
            numbers[suspect.pair],
            *_pair_cells(exploration, suspect.pair),
            suspect.rate,
            suspect.fitting,
        ]
        for suspect in exploration.suspects
    ]
    return _csv([*PAIR_HEADS, "contradicted_share", "fitting_label"], body)


def pairs_csv(exploration: Exploration) -> str:
    """Every pair: its sentences, its label, its similarity, and the gradient it feels."""
    gradient = exploration.pair_gradient.tolist()
    body = [
        [number, *_pair_cells(exploration, pair), _cell(gradient[pair])]
        for pair, number in enumerate(pair_numbers(exploration))
    ]
    return _csv([*PAIR_HEADS, "gradient"], body)


PAIR_HEADS = ["pair", "sentence1", "sentence2", "score", "cosine"]


def _pair_cells(e: Exploration, pair: int) -> list[object]:
    pairs = e.batch.pairs
    similarity = float(e.batch.scores[pair])
    return [pairs.first[pair], pairs.second[pair], _cell(pairs.labels[pair]), _cell(similarity)]


# Their items are called by the number of their pair, as on the page.
PAIRED = ("pair", "level", "query", "key", "view")


class _Names:
    """What a row, a column or a term is called in a table."""

    def __init__(self, exploration: Exploration) -> None:
        self.pairs = exploration.batch.pairs
        self.numbers = pair_numbers(exploration)

    def of_place(self, axis: dict, place: int) -> str:
        pair, sentence = (
            axis[kind][place] if place < len(axis[kind]) else -1 for kind in ("pairs", "sentences")
        )
        number = self.number(axis["name"], axis["items"][place], pair)
        return ": ".join(filter(None, (number, self.words(axis["name"], pair, sentence))))

    def number(self, axis: str, item: int, pair: int) -> str:
        by_pair = axis in PAIRED and pair >= 0
        number = self.numbers[pair] if by_pair else item + 1
        if axis == "level":  # the levels stand below each other
            level = item // len(self.pairs) + 1
            return f"level {level}, pair {number}" if by_pair else f"level {item + 1}"
        return f"{say('en', f'axis.one.{axis}') if axis else 'place'} {number}"

    def words(self, axis: str, pair: int, sentence: int) -> str:
        if axis not in ("pair", "level") and sentence >= 0:
            return self.pairs.sentences[sentence]
        return f"{self.pairs.first[pair]} | {self.pairs.second[pair]}" if pair >= 0 else ""


def _cell(value: float | bool) -> object:
    """A number as it is; empty for what is absent."""
    if isinstance(value, bool):
        return int(value)
    return "" if value == -math.inf else value


def _csv(heads: Sequence[str], body: Iterable[Sequence[object]]) -> str:
    """RFC 4180: commas, quotes where needed, CR LF."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(_harmless, heads))
    writer.writerows(map(_harmless, row) for row in body)
    return out.getvalue()


def _harmless(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    cell = cell.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return f"'{cell}" if cell.startswith(_STARTS_A_FORMULA) else cell


# ---- Snippets ------------------------------------------------------------------------------


def snippet(exploration: Exploration) -> str:
    """Python that computes the same loss with this library, and prints it."""
    imports, inputs, given = _inputs(exploration, exploration.spec.reads)
    loaded, prepared, called = _called(exploration)
    given += [f"{name}={value!r}" for name, value in exploration.parameters.items()]
    body = [*inputs, *prepared, *_folded(f"loss = {called}({', '.join(given)})")]
    return _program(exploration, [*imports, loaded], body)


def twin_snippet(exploration: Exploration) -> str | None:
    """The same with sentence-transformers, or None where that library has no such loss."""
    twin = _twin(exploration)
    if twin is None:
        return None
    imports, inputs, given = _inputs(exploration, twin.reads)
    body = twin.body
    if "negatives" in twin.reads and len(given) < len(twin.reads):
        body = body.replace(", negatives]", "]")
    loaded = f"from sentence_transformers.sentence_transformer.losses import {twin.imports}"
    return _program(exploration, [*imports, loaded], [*inputs, *body.strip().splitlines()])


def _program(e: Exploration, imports: list[str], body: list[str]) -> str:
    own = any(line.startswith(("from explorer", "from losses")) for line in imports)
    return "\n".join(
        [
            f"# {' '.join(e.spec.title.split())}: prints {e.loss!r}.",
            *(["# Run it in the folder of LossPrism."] if own else []),
            "import torch",
            *sorted(imports),
            "",
            "torch.set_default_dtype(torch.float64)",
            *body,
            "print(loss.item())",
            "",
        ]
    )


def _called(e: Exploration) -> tuple[str, list[str], str]:
    """An import, lines before the call, and what is called."""
    spec, convention = e.spec, e.scenario.convention
    if not _is_ours(spec):
        place = f"{Path(spec.function.__code__.co_filename).resolve()}:{spec.name}"
        prepared = [f"spec = add_own_loss({place!r})"]
        return "from explorer.own_loss import add_own_loss", prepared, "spec.definition"
    if _as_defined_here(spec):
        return f"from losses import {spec.name}", [], spec.name
    prepared = [f'spec = LOSSES["{spec.name}"].under({convention!r})']
    return "from losses import LOSSES", prepared, "spec.definition"


def _is_ours(spec: LossSpec) -> bool:
    return spec.function.__module__.startswith("losses.")


def _as_defined_here(spec: LossSpec) -> bool:
    """Whether the convention, if there is one, changes no more than parameters."""
    return spec.definition is LOSSES[spec.name].definition


def _inputs(e: Exploration, reads: Mapping[str, str]) -> tuple[list[str], list[str], list[str]]:
    """Imports, lines that make the inputs, and the arguments that hand them over."""
    batch = e.batch
    read = {name: batch.read(what, batch.vectors, batch.scores) for name, what in reads.items()}
    tensors = {name: tensor for name, tensor in read.items() if tensor is not None}
    given = [f"{name}={name}" for name in tensors]
    numbers = sum(tensor.numel() for tensor in tensors.values())
    if len(batch) <= MOST_PAIRS and numbers <= MOST_NUMBERS:
        digits = _digits_needed(e, read) if reads == e.spec.reads else 12
        lines = [line for name in tensors for line in _written(name, tensors[name], digits)]
        return [], lines, given
    imports, lines = _batch_again(e)
    for name in tensors:
        lines.append(f'{name} = batch.read("{reads[name]}", batch.vectors, batch.scores)')
    return imports, lines, given


def _digits_needed(e: Exploration, read: Mapping[str, Tensor | None]) -> int:
    """As few significant digits as leave the loss where it is."""
    for digits in (4, 6, 8, 10, 12, 15):
        given = {name: _rounded(tensor, digits) for name, tensor in read.items()}
        loss = float(e.spec.definition(**given, **e.parameters))
        if abs(loss - e.loss) <= UNMOVED * abs(e.loss):
            return digits
    return 17


def _rounded(tensor: Tensor | None, digits: int) -> Tensor | None:
    if tensor is None or not tensor.is_floating_point():
        return tensor
    near = [float(f"{value:.{digits}g}") for value in tensor.flatten().tolist()]
    return torch.tensor(near, dtype=tensor.dtype, device=tensor.device).reshape(tensor.shape)


def _written(name: str, tensor: Tensor, digits: int) -> list[str]:
    """The lines that write a vector or a matrix out."""
    values = _rounded(tensor, digits).tolist()
    if tensor.ndim == 1:
        return _folded(f"{name} = torch.tensor({values!r})")
    rows = [line for row in values for line in _folded(f"        {row!r},")]
    return [f"{name} = torch.tensor(", "    [", *rows, "    ]", ")"]


def _folded(line: str) -> list[str]:
    """A long line of numbers and names, broken at blanks inside its brackets."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    wide = textwrap.TextWrapper(
        96, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return wide.wrap(line)


def _batch_again(e: Exploration) -> tuple[list[str], list[str]]:
    """Lines that make the batch from its source: an example, a draw, sentences to encode."""
    data, rules = e.scenario.data, e.scenario.rules
    imports = ["from explorer.batch import make_batch"]
    if len(data.rows) > MOST_PAIRS:
        kept = Scenario(data=data, rules=rules).to_link()
        pieces = [f"    {piece!r}" for piece in textwrap.wrap(kept, 90)]
        lines = [
            "# Data and rules, packed as in the link of the page.",
            "kept = Scenario.from_link(",
        ]
        lines += [*pieces, ")", "batch = make_batch(kept.data, kept.rules)"]
        return [*imports, "from explorer.scenario import Scenario"], lines
    imports.append("from explorer.scenario import Data, Rules")
    lines = []
    chosen = _changed(data, ("source", "example", "encoder", "cross_encoder"))
    if data.source == "random":
        imports.append("from explorer.sources.random_batch import RandomBatch")
        lines += _folded(f"drawn = {data.random!r}")  # in full, should a default ever change
        chosen.append("random=drawn")
    elif data.source == "table":
        lines += ["rows = (", *(f"    {row!r}," for row in data.rows), ")"]
        chosen.append("rows=rows")
    lines.append(f"data = Data({', '.join(chosen)})")
    ruled = _changed(rules, Rules.__dataclass_fields__)
    return imports, [*lines, f"batch = make_batch(data, Rules({', '.join(ruled)}))"]


def _changed(chosen: object, names: Iterable[str]) -> list[str]:
    """The entries that differ from their defaults, as arguments."""
    default = type(chosen)()
    return [
        f"{name}={getattr(chosen, name)!r}"
        for name in names
        if getattr(chosen, name) != getattr(default, name)
    ]


# ---- The same loss in sentence-transformers ------------------------------------------------


@dataclass(frozen=True)
class _Twin:
    """A loss of that library: what it reads, what to import, the lines that compute it."""

    reads: dict[str, str]
    imports: str
    body: str


def _twin(e: Exploration) -> _Twin | None:
    spec, p = e.spec, e.parameters
    if not _is_ours(spec):
        return None
    if spec.name == "triplet":
        return _triplet_twin(e)
    if not _as_defined_here(spec):
        return None
    if spec.name in ("cosent", "angle", "cosine_mse"):
        return _pairwise_twin(e)
    if spec.name == "contrastive":
        metric = "COSINE_DISTANCE" if p["distance"] == "cosine" else "EUCLIDEAN"
        half = "loss = twin" if p["half"] else "loss = 2 * twin"
        note = "" if p["half"] else "  # the library halves"
        return _Twin(
            {"first": "first", "second": "second", "labels": "binary_labels"},
            "ContrastiveLoss, SiameseDistanceMetric",
            f"metric = SiameseDistanceMetric.{metric}\n"
            f"twin = ContrastiveLoss(None, distance_metric=metric, margin={p['margin']!r})\n"
            f"{half}.compute_loss_from_embeddings([first, second], labels){note}",
        )
    if spec.name == "info_nce":
        way = "Symmetric" if p["symmetric"] else ""
        kind = f"MultipleNegatives{way}RankingLoss"
        return _Twin(
            {"queries": "queries", "keys": "keys", "negatives": "negatives"},
            kind,
            f"twin = {kind}(None, scale=1 / {p['temperature']!r})\n"
            "loss = twin.compute_loss_from_embeddings([queries, keys, negatives], None)",
        )
    if spec.name == "nt_xent":
        return _Twin(
            {"first": "queries", "second": "keys"},
            "MultipleNegativesRankingLoss",
            "# Keys from both sides, and the mean of both directions.\n"
            'ways = ("query_to_doc", "query_to_query")\n'
            f"scale = 1 / {p['temperature']!r}\n"
            "twin = MultipleNegativesRankingLoss(None, scale=scale, directions=ways)\n"
            "there = twin.compute_loss_from_embeddings([first, second], None)\n"
            "back = twin.compute_loss_from_embeddings([second, first], None)\n"
            "loss = (there + back) / 2",
        )
    return None


def _pairwise_twin(e: Exploration) -> _Twin | None:
    name = e.spec.name
    if name != "angle" and not _scores_are_cosines(e):
        return None
    kind = {"cosent": "CoSENTLoss", "angle": "AnglELoss", "cosine_mse": "CosineSimilarityLoss"}[
        name
    ]
    scale = f", scale={e.parameters['scale']!r}" if "scale" in e.parameters else ""
    labels = "unit_labels" if name == "cosine_mse" else "labels"
    return _Twin(
        {"first": "first", "second": "second", "labels": labels},
        kind,
        f"twin = {kind}(None{scale})\n"
        "loss = twin.compute_loss_from_embeddings([first, second], labels)",
    )


def _scores_are_cosines(e: Exploration) -> bool:
    if e.batch.vectors is None:
        return False
    cosines = e.batch.scores_from(e.batch.vectors)
    return bool(torch.allclose(cosines, e.batch.scores, rtol=0, atol=1e-9))


_MINED = {
    "triplet_over_violating_definition": "BatchAllTripletLoss",
    "triplet_every_anchor_definition": "BatchHardTripletLoss",
}


def _triplet_twin(e: Exploration) -> _Twin | None:
    p = e.parameters
    if p.get("distance") not in ("euclidean", "cosine"):
        return None
    reads = dict(e.spec.reads)
    margin, cosine = p["margin"], p["distance"] == "cosine"
    here = _as_defined_here(e.spec)
    mined = {"semi_hard": "BatchSemiHardTripletLoss"}.get(p["mining"]) if here else None
    mined = mined or _MINED.get(e.spec.definition.__name__)
    if mined:
        metric = "cosine_distance" if cosine else "euclidean_distance"
        return _Twin(
            reads,
            f"BatchHardTripletLossDistanceFunction, {mined}",
            f"metric = BatchHardTripletLossDistanceFunction.{metric}\n"
            f"twin = {mined}(None, distance_metric=metric, margin={margin!r})\n"
            "loss = twin.compute_loss_from_embeddings([anchors], classes)",
        )
    if not here or p["mining"] != "all" or not _has_triplet(e):
        return None
    return _Twin(
        reads,
        "TripletDistanceMetric, TripletLoss",
        "# Every (anchor, positive of its class, negative of another).\n"
        "alike = classes[:, None] == classes[None, :]\n"
        "partners = alike & ~torch.eye(len(classes), dtype=torch.bool)\n"
        "valid = partners[:, :, None] & ~alike[:, None, :]\n"
        "triplets = [anchors[place] for place in valid.nonzero(as_tuple=True)]\n"
        f"metric = TripletDistanceMetric.{'COSINE' if cosine else 'EUCLIDEAN'}\n"
        f"twin = TripletLoss(None, distance_metric=metric, triplet_margin={margin!r})\n"
        "loss = twin.compute_loss_from_embeddings(triplets, None)",
    )


def _has_triplet(e: Exploration) -> bool:
    """Without any triplet our loss is 0 and the library's is the mean of nothing."""
    sizes = e.batch.classes.bincount()
    return len(sizes) > 1 and bool((sizes > 1).any())
