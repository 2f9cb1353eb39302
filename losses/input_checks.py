"""Input checks of public losses: raise to a safe type, refuse invalid values.

Half-precision scores and vectors are raised to float32 (labels are never lowered: in bfloat16 0.500
and 0.501 would tie). A NaN or inf is refused by name and row. On an accelerator that check would
block the queue at every step, so there a NaN propagates into the loss, as everywhere in torch.
"""

import math
from typing import cast, overload

import torch
from torch import Tensor

from lossprism.losses.torch_internals import in_torch_func

REAL = (torch.float32, torch.float64)
ORDINAL = (*REAL, torch.int64)

# Further keys for every row: a filter may leave none, and a queue begins so.
MAY_BE_EMPTY = ("negatives", "guide_negatives", "queue")


class NotFinite(ValueError):
    """A tensor with a NaN or inf."""


@overload
def real(
    least: torch.dtype = ..., check_finite: bool = ..., /, **tensors: Tensor
) -> tuple[Tensor, ...]: ...


@overload
def real(
    least: torch.dtype = ..., check_finite: bool = ..., /, **tensors: Tensor | None
) -> tuple[Tensor | None, ...]: ...


def real(
    least: torch.dtype = torch.float32, check_finite: bool = True, /, **tensors: Tensor | None
) -> tuple[Tensor | None, ...]:
    """Return the tensors in at least `least`, of one type, finite if `check_finite`; None stays."""
    dtype, alike = least, True
    for name, tensor in tensors.items():
        if tensor is None:
            continue
        must_be_tensor(name, tensor)
        if check_finite:
            must_be_finite(name, tensor)
        if tensor.dtype != dtype:
            dtype, alike = torch.promote_types(dtype, tensor.dtype), False
    provided = tuple(tensors.values())
    return provided if alike else tuple([None if t is None else t.to(dtype) for t in provided])


def ordinal(labels: Tensor, count: int) -> Tensor:
    """Return labels [count] that can be compared and subtracted, finite."""
    labels = _of_scores(labels, count)
    must_be_finite("labels", labels)
    return labels


def _of_scores(labels: Tensor, count: int) -> Tensor:
    must_be_tensor("labels", labels)
    if labels.shape != (count,):
        raise ValueError(
            f"labels has shape {tuple(labels.shape)}; "
            f"one label for each of the {count} scores is needed"
        )
    if labels.dtype in ORDINAL:
        return recordable(labels)
    # Raised, never lowered: bool has no difference, and 0 − 1 in uint8 is 255.
    exact = torch.float32 if labels.is_floating_point() else torch.int64
    return labels.to(torch.promote_types(labels.dtype, exact))


def pair_scores(scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return scores [N] and labels [N] for a ranking loss."""
    must_be_tensor("scores", scores)
    if scores.ndim != 1 or len(scores) == 0:
        raise ValueError(f"scores has shape {tuple(scores.shape)}; one score for each pair, [N]")
    if scores.dtype not in REAL:
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    scores = recordable(scores)
    labels = _of_scores(labels, len(scores))
    # One product asks about both: what is not finite stays so, even times 0.
    alike = labels.dtype == scores.dtype and may_ask(scores)
    if not (alike and math.isfinite(scores.detach().dot(labels.detach()).item())):
        must_be_finite("scores", scores)
        must_be_finite("labels", labels)
    return scores, labels


def of_one_type(scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return both in the wider of their two types."""
    if scores.dtype == labels.dtype:
        return scores, labels
    both = torch.promote_types(scores.dtype, labels.dtype)
    return scores.to(both), labels.to(both)


def for_products(vectors: Tensor) -> torch.dtype:
    """Return the least type for vectors used only in products, which are summed in float32.

    CUDA multiplies bfloat16 directly, several times as fast, and can sum in float32.
    """
    if not isinstance(vectors, Tensor) or not (vectors.is_cuda or vectors.is_meta):
        return torch.float32
    return torch.bfloat16 if vectors.dtype == torch.bfloat16 else torch.float32


@overload
def vectors(
    least: torch.dtype = ..., check_finite: bool = ..., /, **tensors: Tensor
) -> tuple[Tensor, ...]: ...


@overload
def vectors(
    least: torch.dtype = ..., check_finite: bool = ..., /, **tensors: Tensor | None
) -> tuple[Tensor | None, ...]: ...


def vectors(
    least: torch.dtype = torch.float32, check_finite: bool = True, /, **tensors: Tensor | None
) -> tuple[Tensor | None, ...]:
    """Return matrices [·, D] of one width D; None stays None."""
    raised = real(least, check_finite, **tensors)
    must_be_rows(**tensors)
    return raised


def paired(
    least: torch.dtype = torch.float32, check_finite: bool = True, /, **tensors: Tensor
) -> tuple[Tensor, ...]:
    """Return matrices of one shape [N, D] whose row i belongs to the same example."""
    raised = real(least, check_finite, **tensors)
    shapes = [one.shape for one in raised]
    if shapes.count(shapes[0]) < len(shapes) or len(shapes[0]) != 2 or shapes[0][0] == 0:
        must_be_rows(**tensors)
        must_be_paired(**tensors)
    return raised


def at_prototypes(
    embeddings: Tensor, classes: Tensor, prototypes: Tensor, *, check_finite: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """Return [N, D], the prototype number of each [N], and prototypes [C, D], used only in
    products; finite if `check_finite`."""
    embeddings, prototypes = vectors(
        for_products(embeddings), check_finite, embeddings=embeddings, prototypes=prototypes
    )
    return embeddings, class_numbers(classes, len(embeddings), most=len(prototypes)), prototypes


def with_negatives(
    least: torch.dtype, negatives: Tensor | None, /, **sides: Tensor
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return two matrices [N, D] with matching rows i, and further rows [Q, D], if any."""
    raised = vectors(least, **sides, negatives=negatives)
    first, second, more = cast("tuple[Tensor, Tensor, Tensor | None]", raised)
    must_be_paired(**dict(zip(sides, (first, second), strict=True)))
    return first, second, more


def must_be_rows(**tensors: Tensor | None) -> None:
    """Raise unless these are matrices [·, D] of one width, with rows if some are needed."""
    width = None
    for name, tensor in tensors.items():
        if tensor is None:
            continue
        shape = tensor.shape
        if len(shape) != 2 or (shape[0] == 0 and name not in MAY_BE_EMPTY):
            raise ValueError(f"{name} has shape {tuple(shape)}; one row for each sentence, [N, D]")
        if width is None:
            width = shape[1]
        elif width != shape[1]:
            raise ValueError(f"{name} has {shape[1]} dimensions where {width} were given before")


def must_be_paired(**tensors: Tensor) -> None:
    """Raise for matrices of different shapes."""
    if len({tensor.shape for tensor in tensors.values()}) > 1:
        shapes = ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in tensors.items())
        raise ValueError(f"row i of each must belong together, but the shapes differ: {shapes}")


def of_lists(name: str, given: Tensor, like: Tensor | None = None) -> Tensor:
    """Return a matrix [L, K], a row for each list, in at least float32, of the shape of `like`.

    Labels, passed with `like` as the scores, keep their type if it can be compared and subtracted.
    """
    must_be_tensor(name, given)
    if like is None:
        if given.ndim != 2 or given.numel() == 0:
            raise ValueError(f"{name} has shape {tuple(given.shape)}; a row for each list, [L, K]")
    elif given.shape != like.shape:
        raise ValueError(
            f"{name} has shape {tuple(given.shape)}; "
            f"one for each of the scores {tuple(like.shape)} is needed"
        )
    if given.dtype in REAL or (like is not None and given.dtype in ORDINAL):
        return recordable(given)
    whole = like is not None and not given.is_floating_point()
    return given.to(torch.promote_types(given.dtype, torch.int64 if whole else torch.float32))


def one_of_each(name: str, given: Tensor, lists: Tensor) -> Tensor:
    """Return a number for each list, [L], in at least float32."""
    must_be_tensor(name, given)
    if given.shape != (len(lists),):
        raise ValueError(
            f"{name} has shape {tuple(given.shape)}; one for each of the {len(lists)} rows"
        )
    if given.dtype in REAL:
        return recordable(given)
    return given.to(torch.promote_types(given.dtype, torch.float32))


def candidate_mask(mask: Tensor | None, like: Tensor, name: str = "mask") -> Tensor | None:
    """Return the mask as bools of the shape of `like`, True for a candidate; None stays None."""
    if mask is None:
        return None
    must_be_tensor(name, mask)
    if mask.shape != like.shape:
        raise ValueError(
            f"{name} has shape {tuple(mask.shape)}; "
            f"one for each of the scores {tuple(like.shape)} is needed"
        )
    if mask.is_floating_point() or mask.is_complex():
        raise ValueError(f"{name} must be true where there is a candidate, not {mask.dtype}")
    return recordable(mask if mask.dtype == torch.bool else mask != 0)


def must_be_finite_where(mask: Tensor | None, **tensors: Tensor) -> None:
    """Raise for NaN and inf where the mask has a candidate; other places may hold anything."""
    for name, tensor in tensors.items():
        if may_ask(tensor) and not math.isfinite(tensor.detach().sum().item()):
            kept = tensor.detach()
            _must_be_finite_everywhere(name, kept if mask is None else kept.masked_fill(~mask, 0))


def must_reach(least: float, mask: Tensor | None, **tensors: Tensor) -> None:
    """Raise for a number below `least` where the mask has a candidate, naming its place."""
    for name, tensor in tensors.items():
        if not may_ask(tensor):
            continue
        kept = tensor if mask is None else tensor.masked_fill(~mask, least)
        if kept.min().item() < least:
            row, column = (int(index) for index in (kept < least).nonzero()[0])
            value = kept[row, column].item()
            raise ValueError(f"{name}[{row}][{column}] is {value}; it must be at least {least:g}")


def class_numbers(
    classes: Tensor,
    count: int,
    *,
    most: int | None = None,
    of: str = "prototypes",
    name: str = "classes",
) -> Tensor:
    """Return classes [count] as int64, each below `most` if they index something (`of`)."""
    must_be_tensor(name, classes)
    if classes.shape != (count,):
        raise ValueError(
            f"{name} has shape {tuple(classes.shape)}; one class for each of the {count} rows"
        )
    if classes.is_floating_point() or classes.is_complex():
        raise ValueError(f"{name} must be whole numbers, not {classes.dtype}")
    if classes.dtype != torch.int64:
        classes = classes.to(torch.int64)
    classes = recordable(classes)
    if most is not None and may_ask(classes):
        least, largest = classes.aminmax()
        if least.item() < 0 or largest.item() >= most:
            row = int(((classes < 0) | (classes >= most)).nonzero()[0])
            raise ValueError(
                f"{name}[{row}] is {int(classes[row])}; there are {of} 0 to {most - 1}"
            )
    return classes


def must_be_texts(**rows: tuple[Tensor | None, Tensor | None]) -> None:
    """Raise for texts that do not fit their rows: (texts, rows) by the name of the texts.

    Either all present rows have texts, whole numbers [·], or none has.
    """
    if all(texts is None for texts, _ in rows.values()):
        return
    for name, (texts, of) in rows.items():
        if texts is None:
            if of is not None:
                others = ", ".join(
                    other for other, (provided, _) in rows.items() if provided is not None
                )
                raise ValueError(f"{name} is missing: it goes together with {others}")
            continue
        must_be_tensor(name, texts)
        if not isinstance(of, Tensor | None):
            continue  # refused by its own name
        count = 0 if of is None else len(of)
        if texts.shape != (count,):
            raise ValueError(
                f"{name} has shape {tuple(texts.shape)}; one text for each of the {count} rows"
            )
        if texts.is_floating_point() or texts.is_complex() or texts.dtype == torch.bool:
            raise ValueError(f"{name} must be whole numbers, not {texts.dtype}")


def above_zero(**numbers: float | Tensor) -> None:
    """Raise for a temperature, a scale or a ratio that is zero or below."""
    one_number(**numbers)
    for name, number in numbers.items():
        if not isinstance(number, Tensor) and not number > 0:
            raise ValueError(f"{name} is {number}; it must be greater than 0")


def not_below_zero(**numbers: float) -> None:
    """Raise for a weight below zero, and for a learned one."""
    plain_number(**numbers)
    for name, number in numbers.items():
        if not number >= 0:
            raise ValueError(f"{name} is {number}; it must be 0 or more")


def hard_negatives(queries: Tensor, **tensors: Tensor | None) -> None:
    """Raise unless [N, K, D] are hard negatives of the N queries; None is absent.

    "negatives" may also be [Q, D].
    """
    for name, tensor in tensors.items():
        if tensor is None:
            continue
        must_be_tensor(name, tensor)
        if tensor.ndim == 2 and name == "negatives":
            continue
        wanted = "[N, K, D]" if name != "negatives" else "[Q, D] or [N, K, D]"
        if not isinstance(queries, Tensor) or queries.ndim != 2:
            continue  # refused by its own name
        rows, width = queries.shape
        if tensor.ndim != 3 or (tensor.shape[0], tensor.shape[2]) != (rows, width):
            raise ValueError(
                f"{name} has shape {tuple(tensor.shape)}; for {rows} queries of {width} dimensions "
                f"it must be {wanted}, with a row of K for each query"
            )
        must_be_finite(name, tensor)


def must_be_owners(owners: Tensor | None, queries: Tensor, negatives: Tensor | None) -> None:
    """Raise unless each negative has an owner: a query's number, −1 for none."""
    if owners is None:
        return
    name, count = "negative_owners", 0 if negatives is None else len(negatives)
    class_numbers(owners, count, name=name)
    if may_ask(owners) and count:
        least, most = owners.min().item(), owners.max().item()
        if least < -1 or most >= len(queries):
            raise ValueError(
                f"{name} goes from {least} to {most}; there are queries 0 to {len(queries) - 1}, "
                "and −1 is nobody's"
            )


def one_number(**numbers: float | Tensor) -> None:
    """Raise for a learned tensor that is not a single number."""
    for name, number in numbers.items():
        if isinstance(number, Tensor) and number.ndim > 0:
            shape = tuple(number.shape)
            raise ValueError(f"{name} has shape {shape}; a tensor of no dimension is needed, []")


def plain_number(**numbers: float | Tensor | None) -> None:
    """Raise for a learned number where no gradient would reach it."""
    for name, number in numbers.items():
        if isinstance(number, Tensor) and number.requires_grad:
            raise ValueError(f"{name} requires a gradient, and none reaches it; give a number")


def one_of(choices: tuple[str, ...], **named: str) -> None:
    """Raise for an unknown choice, naming the valid ones."""
    for name, choice in named.items():
        if choice not in choices:
            raise ValueError(f"{name} is {choice!r}; it must be one of {', '.join(choices)}")


def must_be_tensor(name: str, given: object) -> None:
    """Raise for a list, a number, an array."""
    if not isinstance(given, Tensor):
        raise TypeError(f"{name} must be a tensor, not {type(given).__name__}")


def must_be_finite(name: str, tensor: Tensor) -> None:
    """Raise for NaN and inf, naming the tensor and the first bad row (on the CPU only)."""
    # One sum asks the question; finding the row is left to the rare bad case, and to sums that
    # overflow although every value is finite.
    if may_ask(tensor) and not math.isfinite(tensor.detach().sum().item()):
        _must_be_finite_everywhere(name, tensor.detach())


def must_be_made_of_finite(made: Tensor, **tensors: Tensor) -> None:
    """Raise for a NaN or inf among tensors, detected in a result of all their rows."""
    if may_ask(made) and not math.isfinite(made.detach().sum().item()):
        for name, tensor in tensors.items():
            must_be_finite(name, tensor)


def _must_be_finite_everywhere(name: str, tensor: Tensor) -> None:
    finite = torch.isfinite(tensor)
    if bool(finite.all()):
        return
    place = [int(index) for index in (~finite).nonzero()[0]]
    where = "".join(f"[{index}]" for index in place)
    value = float(tensor[tuple(place)])
    raise NotFinite(f"{name}{where} is {value}; every value must be a finite number")


def may_ask(tensor: Tensor) -> bool:
    """Return whether reading a number of the tensor neither blocks nor breaks a graph."""
    return tensor.is_cpu and not torch.compiler.is_compiling() and not in_torch_func()


def savable(tensor: Tensor) -> bool:
    """Return whether autograd can save it for the backward pass: not if made in inference
    mode."""
    return torch.compiler.is_compiling() or not tensor.is_inference()


def recordable(tensor: Tensor) -> Tensor:
    """Return the tensor, or a copy that autograd can save if it was made in inference mode."""
    return tensor if savable(tensor) else tensor.clone()


def would_be_lowered(tensor: Tensor) -> bool:
    """Return whether autocast would lower products of tensors raised to float32 to half
    precision."""
    device = tensor.device.type
    return torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)
