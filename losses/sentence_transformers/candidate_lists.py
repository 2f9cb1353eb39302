"""Lists of candidates in a trainer's batch, and what the labels beside them mean.

    two texts and a label            rows with the same first text are its list
    one text and K texts, and a      a list a row; the label of a row is a list, a number for each
    label that is a list             candidate
    one text and a list of texts,    the same for a cross-encoder, of any lengths, as
    and a label that is a list       sentence-transformers has it; for a bi-encoder `whole_lists`
                                     makes a batch of it

A loss on pairs that reads labels takes those of a list for its pairs; where it compares pairs with
each other, it does so within each list, also as a part of a sum. One number beside three texts
or more says nothing to it: there the columns are anchor, positive, negatives.

For a loss that learns from a teacher the label is what the teacher gave; of an anchor, a positive
and negatives it may be the margins instead, one for each negative. Beside lists of texts it may be
two numbers for each candidate, its label and what the teacher gave it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from lossprism.losses.combined.combined_loss_spec import part_inputs, part_values
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.query_groups import lists_of
from lossprism.losses.sentence_transformers.duplicate_texts import special_tokens, text_numbers
from lossprism.losses.spec import LossSpec


class LabelColumns(NamedTuple):
    """Labels and a teacher's scores of a batch's pairs, column by column: [P] each, None without
    any."""

    labels: Tensor | None
    teacher: Tensor | None


def split_labels(
    labels: Tensor | Sequence[Tensor] | None, columns: Sequence[Any], spec: LossSpec
) -> LabelColumns:
    """Split the labels of a batch into labels and a teacher's scores, pair by pair.

    Raises:
        ValueError: unless there is one for each pair, candidate, or margin.
    """
    learns = "teacher" in spec.needs
    if labels is None:
        return LabelColumns(None, None)
    others = len(columns) - 1
    if is_ragged(columns) or (others < 2 and not isinstance(labels, Tensor)):
        return _split_lists([torch.as_tensor(one) for one in labels], columns, learns)
    if not isinstance(labels, Tensor):  # so a cross-encoder's trainer hands lists over
        labels = _of_one_length(labels)
    rows = labels.view(len(labels), -1)
    if others < 2:
        if rows.shape[1] != 1:
            raise ValueError(
                f"labels have the shape {tuple(labels.shape)}; with {others + 1} columns of text "
                "each row needs one number"
            )
        return LabelColumns(None if learns else labels, labels.view(-1).float() if learns else None)
    if "lists" not in spec.needs:
        if spec.reads_labels and rows.shape[1] not in (1, others):
            raise _misfit(
                labels,
                others,
                ", or one, which says nothing of an anchor, a positive and negatives",
            )
        of_each = spec.reads_labels and rows.shape[1] == others
        return LabelColumns(rows.T.reshape(-1) if of_each else None, None)
    if learns and rows.shape[1] == others - 1:  # margins of the positive above each negative
        rows = torch.cat([torch.zeros_like(rows[:, :1]), -rows], dim=1)
    if rows.shape[1] != others:
        margins = f", or a margin for each of the {others - 1} negatives"
        raise _misfit(labels, others, margins if learns else "")
    flat = rows.T.reshape(-1)
    return LabelColumns(None if learns else flat, flat if learns else None)


def _misfit(labels: Tensor, candidates: int, instead: str) -> ValueError:
    """Return the error of labels that are not one for each candidate, nor `instead`."""
    return ValueError(
        f"the labels have shape {tuple(labels.shape)}; a row needs a number for each of the "
        f"{candidates} candidates{instead}"
    )


def _of_one_length(labels: Sequence[Tensor]) -> Tensor:
    """Stack lists of labels, [K] each, as rows."""
    tensors = [torch.as_tensor(one) for one in labels]
    if len({one.numel() for one in tensors}) > 1:
        raise ValueError(
            f"the rows have {[one.numel() for one in tensors]} labels; where each candidate has a "
            "column, all rows have as many"
        )
    return torch.stack(tensors)


def _split_lists(labels: Sequence[Tensor], columns: Sequence[Any], learns: bool) -> LabelColumns:
    """Split labels that come list by list, [K] or [K, 2] each."""
    sizes = [len(one) if one.ndim == 2 else one.numel() for one in labels]
    if is_ragged(columns):
        expected = [len(one) for one in columns[1]]
        if sizes != expected:
            raise ValueError(f"there are {sizes} labels for lists of {expected} texts")
    elif [len(sizes), sum(sizes)] != (expected := [rows_in(column) for column in columns]):
        raise ValueError(
            f"there are {len(sizes)} lists of {sum(sizes)} labels for columns of {expected} texts"
        )
    if learns and all(one.ndim == 2 for one in labels):
        both = torch.cat(list(labels)).float()
        return LabelColumns(both[:, 0], both[:, 1])
    flat = torch.cat([one.view(-1) for one in labels])
    return LabelColumns(None if learns else flat, flat if learns else None)


def sizes_of(labels: Any, columns: Sequence[Any]) -> Tensor | None:
    """Return the number of candidates of each row if rows are lists; else None."""
    if is_ragged(columns):
        return torch.tensor([len(one) for one in columns[1]])
    if isinstance(labels, list | tuple) and len(columns) == 2:
        return torch.tensor([len(one) for one in labels])
    return None


def by_pair(columns: tuple[Tensor, ...], sizes: Tensor | None) -> tuple[Tensor, ...]:
    """Return one row per pair: if rows are lists, the first text's is repeated for each
    candidate."""
    if sizes is None:
        return columns
    first, *others = columns
    return (first.repeat_interleave(sizes.to(first.device), dim=0), *others)


def whole_lists(collate: Callable[[list[dict]], dict]) -> Callable[[list[dict]], dict]:
    """Return a collator for a bi-encoder's trainer, for rows of one text, a list of texts, and a
    label that is a list.

    Each first text is encoded once, and the label becomes a tensor for each list, which tells the
    loss where a list ends::

        trainer.data_collator = whole_lists(trainer.data_collator)
    """

    def of_lists(rows: list[dict]) -> dict:
        first, second = (name for name in rows[0] if name != "label")
        batch = collate([{first: row[first]} for row in rows])
        batch |= collate([{second: text} for row in rows for text in row[second]])
        return {**batch, "label": [torch.tensor(row["label"]) for row in rows]}

    # The library's trainers ask their collator which columns are labels.
    of_lists.__dict__.update(vars(collate))
    return of_lists


def lists_of_columns(
    columns: Sequence[Any],
    sizes: Tensor | None,
    model: nn.Module,
    spec: LossSpec,
    rows_are_lists: bool,
) -> Tensor | None:
    """Return the pairs of each list [L, K] for a loss on lists, and, if a row is a list with a
    label for each candidate, for one that compares pairs; None for any other."""
    if not compares_each_list_alone(spec, rows_are_lists):
        return None
    if sizes is not None:
        starts = sizes.cumsum(0) - sizes
        places = torch.arange(int(sizes.max()))
        return torch.where(places < sizes[:, None], starts[:, None] + places, -1)
    if len(columns) > 2:
        count = rows_in(columns[0])
        return torch.arange(count)[:, None] + count * torch.arange(len(columns) - 1)
    return lists_of(_numbers(columns[0], model))


def compares_each_list_alone(spec: LossSpec, rows_are_lists: bool) -> bool:
    """Return whether the loss compares the candidates of each list alone: one on lists, and, if a
    row is a list with a label for each candidate, one that compares pairs."""
    return "lists" in spec.needs or (rows_are_lists and compares_within_lists(spec))


def compares_within_lists(spec: LossSpec) -> bool:
    """Return whether the loss, or a part of a sum, compares pairs: if rows are lists, within
    each."""
    return spec.compares_pairs or any(part.spec.compares_pairs for part in spec.parts)


# Of a loss, what its batch offers by argument name, and its parameters, such a value: the loss,
# or a reference value, which is None where it is not known.
ValueOf = Callable[[LossSpec, Mapping[str, Tensor], Mapping[str, Any]], Any]


def value_within_lists(
    spec: LossSpec,
    value_of: ValueOf,
    read: Mapping[str, Tensor],
    settings: Mapping[str, Any],
    lists: Tensor,
) -> Any:
    """Compute a loss without comparing pairs of different lists.

    A loss that compares pairs is averaged over lists with its own weights of lists; another one
    takes the whole batch. In a sum each part follows its own rule.

    Args:
        read: the inputs of all pairs by argument name.
        lists: [L, K], the places of their pairs, −1 for none.
    """
    if spec.parts:
        return _sum_of_parts(spec, value_of, read, settings, lists)
    if not spec.compares_pairs:
        return value_of(spec, read, settings)
    each = [_of_list(spec, read, row[row >= 0]) for row in lists]
    weights = [spec.weight_of_list(one[spec.label_argument]) for one in each]
    if not any(weights):  # all of equal labels: 0, with a gradient
        return value_of(spec, each[0], settings)
    weighted = [(one, weight) for one, weight in zip(each, weights, strict=True) if weight > 0]
    values = [value_of(spec, one, settings) for one, _ in weighted]
    return _weighted_sum(values, [weight / sum(weights) for _, weight in weighted])


def _sum_of_parts(
    spec: LossSpec,
    value_of: ValueOf,
    read: Mapping[str, Tensor],
    settings: Mapping[str, Any],
    lists: Tensor,
) -> Any:
    values = []
    for part in spec.parts:
        own = {n: v for n, v in part_inputs(part, read, settings).items() if v is not None}
        values.append(
            value_within_lists(part.spec, value_of, own, part_values(part, settings), lists)
        )
    return _weighted_sum(values, [settings[p.weight] if p.weight else 1 for p in spec.parts])


def _weighted_sum(values: Sequence[Any], weights: Sequence[Any]) -> Any:
    if any(value is None for value in values):
        return None
    return sum(value * weight for value, weight in zip(values, weights, strict=True))


def _of_list(spec: LossSpec, read: Mapping[str, Tensor], places: Tensor) -> dict[str, Tensor]:
    """Return the inputs of the pairs at these places."""
    axes = {name: READABLE[what].axes for name, what in spec.reads.items()}
    return {
        name: value.index_select(axes[name].index("pair"), places)
        if "pair" in axes.get(name, ())
        else value
        for name, value in read.items()
    }


def is_ragged(columns: Sequence[Any]) -> bool:
    """Return whether each row of a cross-encoder has a list of texts beside the first one."""
    return (
        len(columns) == 2
        and isinstance(columns[1], list | tuple)
        and any(isinstance(one, list | tuple) for one in columns[1])
    )


def paired(columns: Sequence[Any]) -> list[tuple[str, str]]:
    """Pair the first text of each row with each of its others: column by column, or list by
    list."""
    if is_ragged(columns):
        return [(one, text) for one, texts in zip(*columns, strict=True) for text in texts]
    return [pair for other in columns[1:] for pair in zip(columns[0], other, strict=True)]


def rows_in(column: Any) -> int:
    """Count the texts of a column."""
    if not isinstance(column, Mapping):
        return len(column)
    return len(column["offsets"] if "offsets" in column else next(iter(column.values())))


def _numbers(column: Any, model: nn.Module) -> Tensor:
    """Number the texts, equal ones alike."""
    if isinstance(column, Mapping):
        return text_numbers(column, special_tokens(model))
    numbers: dict[str, int] = {}
    return torch.tensor([numbers.setdefault(text, len(numbers)) for text in column])
