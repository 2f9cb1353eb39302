"""Tables of pairs and of classes with a known number of faults of each kind."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lossprism.explorer.lab.doctor.class_dataset_checks import examine_classes
from lossprism.explorer.lab.doctor.dataset_reader import read_content
from lossprism.explorer.lab.doctor.finding import Fault
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import possible_losses
from lossprism.explorer.lab.doctor.pair_dataset_checks import examine
from lossprism.explorer.lab.doctor.pair_table_profile import profiled
from lossprism.explorer.lab.doctor.text_measurements import folded
from lossprism.explorer.lab.doctor.texts_with_classes_reader import read_classes
from lossprism.explorer.sources.pairs import Pairs
from lossprism.losses import LOSSES

Row = tuple[str, str, float]
DRAWS, COUNT, BATCH, TOKENS = 6, 300, 32, 256
WORDS = [
    "river",
    "lamp",
    "seven",
    "green",
    "walk",
    "quiet",
    "paper",
    "under",
    "storm",
    "bread",
    "clock",
    "north",
]


@dataclass
class Table:
    """Rows with faults in them, and which rows, counted from 1, have which."""

    rows: list[Row]
    loss: str = "cosent"
    labelled: bool = True
    has: dict[str, set[int]] = field(default_factory=dict)


def text(draw: random.Random, place: int) -> str:
    """Its last word is its own, so that no two are alike."""
    return " ".join(draw.choices(WORDS, k=draw.randint(3, 12))) + f" w{place}"


def base(draw: random.Random) -> list[Row]:
    return [
        (text(draw, 2 * place), text(draw, 2 * place + 1), (place % 5) / 4)
        for place in range(COUNT)
    ]


def dressed(draw: random.Random, text: str) -> str:
    """The same text after normalisation: other case, blanks, or full-width letters."""
    wide = "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text)
    return draw.choice([text.upper(), text.replace(" ", "  "), wide, f" {text}\t", text])


def mixed(draw: random.Random, rows: list, planted: dict[str, list]) -> Table:
    """The rows with the planted ones among them, in random order."""
    marked = [("", row) for row in rows]
    marked += [(name, row) for name, some in planted.items() for row in some]
    draw.shuffle(marked)
    found = Table([row for _, row in marked])
    for place, (name, _) in enumerate(marked, 1):
        if name:
            found.has.setdefault(name, set()).add(place)
    return found


def of_pairs(draw: random.Random) -> Table:
    """Faults of single rows; copies and contradictions are shown with what they repeat."""
    rows = base(draw)
    some = [rows.pop() for _ in range(12)]
    copied, contradicted = some[: draw.randint(1, 5)], some[6 : 6 + draw.randint(1, 6)]
    again = [(dressed(draw, a), dressed(draw, b), label) for a, b, label in copied]
    other = [
        (dressed(draw, a), dressed(draw, b), (label + 0.5) % 1.25) for a, b, label in contradicted
    ]
    rows += some[len(copied) : 6] + some[6 + len(contradicted) :]
    same = [text(draw, 9000 + place) for place in range(draw.randint(1, 6))]
    foreign = [f"两个人在第{place}条街上跑步" for place in range(draw.randint(1, 6))]
    long = [" ".join(draw.choices(WORDS, k=400)) + f" l{p}" for p in range(draw.randint(1, 6))]
    return mixed(
        draw,
        rows,
        {
            "copies": [*copied, *again],
            "conflicting_labels": [*contradicted, *other],
            "same_on_both_sides": [(one, dressed(draw, one), 1.0) for one in same],
            "mixed_scripts": [(one, text(draw, 7000 + p), 0.5) for p, one in enumerate(foreign)],
            "cut_off": [(text(draw, 8000 + p), one, 0.25) for p, one in enumerate(long)],
        },
    )


def of_noise(draw: random.Random) -> Table:
    """Pairs that stand twice, with labels at most 10 % of the scale apart."""
    rows = base(draw)
    judged = [rows.pop() for _ in range(draw.randint(1, 5))]
    again = [
        (
            dressed(draw, a),
            dressed(draw, b),
            label + draw.uniform(0.01, 0.1) * (-1) ** (label > 0.5),
        )
        for a, b, label in judged
    ]
    return mixed(draw, rows, {"rater_noise": [*judged, *again]})


def of_twins(draw: random.Random) -> Table:
    """One key that several queries have, across the whole table; a softmax over the batch."""
    rows = [(a, b, 1.0) for a, b, _ in base(draw)]
    key = rows[0][1]
    sharing = [rows.pop(0)]
    sharing += [(text(draw, 5000 + p), dressed(draw, key), 1.0) for p in range(draw.randint(2, 5))]
    found = mixed(draw, rows, {"twins": sharing})
    found.loss, found.labelled = "info_nce", False
    return found


def of_triplets(draw: random.Random) -> Table:
    """Faults of rows with two negatives, among rows whose anchor and positive mining took several
    times, which are none."""
    made = [[text(draw, 4 * place + column) for column in range(4)] for place in range(COUNT // 2)]
    plain = made[40:]
    for anchor, positive, *_ in made[:8]:
        plain.append([anchor, positive, *(text(draw, 9000 + len(plain) * k) for k in (3, 4))])
    plain += made[:8]
    repeated, opposed = made[8 : 8 + draw.randint(1, 5)], made[16 : 16 + draw.randint(1, 5)]
    again = [[dressed(draw, one) for one in (a, p, m, n)] for a, p, n, m in repeated]
    against = [[a, text(draw, 5000 + at), dressed(draw, p), text(draw, 6000 + at)]
               for at, (a, p, *_) in enumerate(opposed)]  # fmt: skip
    own = [[a, p, n, dressed(draw, draw.choice([a, p]))]
           for a, p, n, _ in made[24 : 24 + draw.randint(1, 5)]]  # fmt: skip
    same = [[a, dressed(draw, a), n, m] for a, _, n, m in made[32 : 32 + draw.randint(1, 5)]]
    return mixed(
        draw,
        plain,
        {
            "copies": [*repeated, *again],
            "conflicting_labels": [*opposed, *against],
            "negative_is_own": own,
            "same_on_both_sides": same,
        },
    )


def examined_triplets(rows: list, called: str) -> dict[str, set[int]]:
    """The rows of each finding, under a loss of the registry or of a library."""
    lines = ("\t".join(" ".join(cell.split()) for cell in row) for row in rows)
    content = "\n".join(("anchor\tpositive\tnegative_1\tnegative_2", *lines))
    read = read_content(content.encode(), "t.tsv", lambda *far: None)
    spec = read.spec(possible_losses(Known(loss=called))[0])
    found = examine(read.profile, spec, BATCH, most_tokens=TOKENS)
    return {one.name: {*map(read.row, one.rows)} for one in found.faults}


# Whether a loss of a library takes another row's texts for negatives, where it is given triplets.
CONVENTIONS = {
    "TripletLoss": False,
    "BatchAllTripletLoss": True,
    "FlagEmbedding": False,
    "VICReg": False,
}


def of_conventions(draw: random.Random) -> Iterator[tuple[str, set, set]]:
    """Positives that several rows share, under losses that take them for negatives and others."""
    rows = [[text(draw, 4 * place + column) for column in range(4)] for place in range(60)]
    for row in rows[1 : 2 + draw.randint(1, 4)]:
        row[1] = dressed(draw, rows[0][1])
    shared = {at for at, row in enumerate(rows, 1) if folded(row[1]) == folded(rows[0][1])}
    for called, takes in CONVENTIONS.items():
        reported = examined_triplets(rows, called)
        for name in {*reported, *({"twins_met"} if takes else ())}:
            yield (
                name,
                shared if takes and name == "twins_met" else set(),
                reported.get(name, set()),
            )


def of_writing(draw: random.Random) -> tuple[str, set, set]:
    """Of pairs that share a text those that write it otherwise."""
    table = of_twins(draw)
    first, second, labels = zip(*table.rows, strict=True)
    sharing = [(row, second[row - 1]) for row in sorted(table.has["twins"])]
    written = {one for _, one in sharing}
    apart = {row for row, _ in sharing} if len(written) > 1 else set()
    profile = profiled(Pairs(first, second, labels, labelled=False))
    return OTHERWISE, apart, {*(profile.sharing_only_folded + 1).tolist()}


OTHERWISE = "twins (written otherwise)"
# Margins, and labels of inference: the loss, the header, what stands beside a row's texts at a
# place, with the fault and without it.
Cells = Callable[[int], str]
BY_FILE: dict[str, tuple[str, str, Cells, Cells]] = {
    "inference_labels": (
        "cosent",
        "premise\thypothesis\tlabel",
        lambda place: str(place % 3),
        lambda place: str(place % 6),
    ),
    "margins_out_of_reach": (
        "margin_mse",
        "query\tdocument\tscore\tteacher",
        lambda place: f"{1 - place % 2}\t{7 - 14 * (place % 2)}",
        lambda place: f"{1 - place % 2}\t{0.5 - place % 2}",
    ),
}


def of_files(name: str) -> Iterator[tuple[str, bool]]:
    """Return the findings on a table with the fault, and on one without."""
    loss, head, wrong, right = BY_FILE[name]
    for cells, planted in ((wrong, True), (right, False)):
        lines = (f"q {place // 2 * 2}\td {place}\t{cells(place)}" for place in range(60))
        read = read_content("\n".join((head, *lines)).encode(), "t.tsv", lambda *far: None)
        names = {one.name for one in examine(read.profile, LOSSES[loss], BATCH).faults}
        yield name if name in names else "", planted


# Faults of a whole table: rows to begin with → rows, loss, whether there are labels.
Whole = Callable[[list[Row]], tuple[list[Row], str, bool]]


def relabelled(loss: str, label: Callable[[int], float], labelled: bool = True) -> Whole:
    return lambda rows: (
        [(a, b, label(place)) for place, (a, b, _) in enumerate(rows)],
        loss,
        labelled,
    )


def listed(loss: str, label: Callable[[int], float]) -> Whole:
    """Lists of three candidates, by the place of the candidate."""
    return lambda rows: (
        [(f"query {place // 3}", b, label(place)) for place, (_, b, _) in enumerate(rows)],
        loss,
        True,
    )


def rewritten(write: Callable[[int, str, str], tuple[str, str]]) -> Whole:
    return lambda rows: (
        [(*write(place, a, b), label) for place, (a, b, label) in enumerate(rows)],
        "cosent",
        True,
    )


WHOLE: dict[str, Whole] = {
    "no_labels": relabelled("cosent", lambda place: 1.0, labelled=False),
    "one_label": relabelled("cosent", lambda place: 1.0),
    "degrees_lost": relabelled("contrastive", lambda place: (place % 5) / 4),
    "labels_out_of_reach": relabelled("cosine_mse", lambda place: float(place % 6)),
    "no_positive": relabelled("info_nce", lambda place: (place % 2) * 0.25),
    "no_negative": relabelled("contrastive", lambda place: 0.75 + (place % 2) / 4),
    "batches_without_positive": relabelled("info_nce", lambda place: float(place % 100 == 0)),
    "labels_outside": relabelled("BinaryCrossEntropyLoss", lambda place: float(place % 5)),
    "lists_of_one": relabelled("list_net", lambda place: (place % 5) / 4),
    "lists_of_one_label": listed("ListNetLoss", lambda place: float(place // 3 % 2)),
    "lists_without_positive": listed("margin_mse", lambda place: float(place % 6 == 0)),
    "groups_without_negative": listed("margin_mse", lambda place: float(place % 6 < 4)),
    "no_teacher": relabelled("margin_mse", lambda place: (place % 5) / 4),
    "not_latin": rewritten(lambda p, a, b: (f"第{p}句话在这里", f"第{p}句回答在那里")),
    "two_scripts": rewritten(lambda p, a, b: (a, f"第{p}句回答在那里")),
}
# Of the same table, and no invention: MarginMSE compares candidates, and reads no degrees.
BESIDE = {
    "no_teacher": {"lists_of_one", "degrees_lost"},
    "lists_without_positive": {"no_teacher", "batches_without_positive"},
    "groups_without_negative": {"no_teacher"},
}


def of_classes(draw: random.Random) -> tuple[list[tuple[str, str]], dict[str, set[int]]]:
    plain = [(text(draw, place), f"c{place % 6}") for place in range(COUNT)]
    twice = [plain.pop() for _ in range(draw.randint(1, 2))]
    both = [plain.pop() for _ in range(2)]
    marked = [("", row) for row in plain]
    marked += [("texts_in_classes", row) for row in both]
    marked += [("texts_in_classes", (dressed(draw, one), kind + "x")) for one, kind in both[:1]]
    marked += [("texts_in_classes", (dressed(draw, one), "c0" if kind != "c0" else "c1"))
               for one, kind in both[1:]]  # fmt: skip
    marked += [("first", row) for row in twice]
    marked += [("again", (dressed(draw, one), kind)) for one, kind in twice]
    marked += [("class_spellings", (text(draw, 7000 + p), f" C{draw.randint(0, 5)} "))
               for p in range(draw.randint(1, 4))]  # fmt: skip
    marked += [("classes_of_one", (text(draw, 6000 + p), f"lonely {p}"))
               for p in range(draw.randint(1, 4))]  # fmt: skip
    draw.shuffle(marked)
    rows = [(" ".join(one.split()), kind) for _, (one, kind) in marked]
    has: dict[str, set[int]] = {}
    kinds = [kind for _, (_, kind) in marked]
    seen: set[str] = set()
    for place, (name, (one, kind)) in enumerate(marked, 1):
        if name in ("first", "again"):  # whichever comes later repeats the other
            key = folded(one)
            name = "texts_again" if key in seen else ""
            seen.add(key)
        if kinds.count(kind) == 1:
            has.setdefault("classes_of_one", set()).add(place)
        if name and name != "classes_of_one":
            has.setdefault(name, set()).add(place)
    return rows, has


def examined(table: Table) -> dict[str, Fault]:
    first, second, labels = zip(*table.rows, strict=True)
    pairs = Pairs(first, second, labels, labelled=table.labelled)
    spec = possible_losses(Known(loss=table.loss))[0].spec
    found = examine(profiled(pairs), spec, BATCH, most_tokens=TOKENS)
    return {fault.name: fault for fault in found.faults}


def examined_classes(rows: list[tuple[str, str]]) -> dict[str, Fault]:
    content = "text,label\n" + "".join(f"{one},{kind}\n" for one, kind in rows)
    read = read_classes(content.encode(), "t.csv", lambda *far: None)
    return {fault.name: fault for fault in examine_classes(read, BATCH).faults}


# Faults of a whole table of classes: the place of a row → its class; "" is a table without any.
WHOLE_CLASSES: dict[str, Callable[[int], str]] = {
    "": lambda place: f"c{place % 3}",
    "one_class": lambda place: "c",
    "rows_alone": lambda place: f"c{place // 2}",
}


def measured(draws: int = DRAWS) -> Iterator[tuple[str, set, set]]:
    """Kind, what was planted of it (rows, or tables), and what was said: all rows of a finding, not
    the first few."""
    for number in range(draws):
        draw = random.Random(number)
        for table in (of_pairs(draw), of_twins(draw), of_noise(random.Random(number))):
            reported = examined(table)
            for name in {*table.has, *reported}:
                rows = set(reported[name].rows) if name in reported else set()
                yield name, table.has.get(name, set()), rows
        table = of_triplets(draw)
        reported = examined_triplets(table.rows, "list_net")
        for name in {*table.has, *reported}:
            yield name, table.has.get(name, set()), reported.get(name, set())
        yield from of_conventions(draw)
        yield of_writing(draw)
        for name in BY_FILE:
            for found, planted in of_files(name):
                yield name, {number} if planted else set(), {number} if found else set()
        for margin in (draw.uniform(0.1, 2), draw.uniform(2.1, 9)):
            first, second, labels = zip(*base(draw), strict=True)
            pairs = Pairs(first, second, labels)
            faults = examine(profiled(pairs), LOSSES["triplet"], BATCH, margin=margin).faults
            is_said = any(one.name == "margin_beyond" for one in faults)
            yield "margin_beyond", {number} if margin > 2 else set(), {number} if is_said else set()
        for planted, make in WHOLE.items():
            rows, loss, labelled = make(base(draw))
            expected = {planted, *BESIDE.get(planted, ())}
            for name in {*examined(Table(rows, loss, labelled)), *expected}:
                reported = examined(Table(rows, loss, labelled))
                there, is_said = name in expected, name in reported
                yield name, {number} if there else set(), {number} if is_said else set()
        rows, has = of_classes(draw)
        reported = {name: set(fault.rows) for name, fault in examined_classes(rows).items()}
        # It is of the batches, and shown by no rows: here by the number of the table.
        has["rows_alone"] = {number} if "classes_of_one" in has else set()
        reported["rows_alone"] = {number} if "rows_alone" in reported else set()
        for name in {*has, *reported}:
            yield name, has.get(name, set()), reported.get(name, set())
        for planted, kind in WHOLE_CLASSES.items():
            rows = [(text(draw, place), kind(place)) for place in range(COUNT)]
            reported = {*examined_classes(rows)}
            for name in {planted, *reported} - {""}:
                yield (
                    name,
                    {number} if name == planted else set(),
                    {number} if name in reported else set(),
                )
