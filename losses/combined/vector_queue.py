"""Vectors of earlier batches as further keys: the queue of MoCo and the cross-batch memory.

A batch and its queue are one: the last `length` rows of inputs with a row for each key are of
earlier batches. They are keys for everyone, detached, and no queries. So a single batch shows the
effect of a queue, and a trainer appends its stored rows to each batch (`Earlier`).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast, overload

import torch
from torch import Tensor, nn

from lossprism.losses.spec import Parameter, Part

LENGTH = Parameter("length", 8.0, "Q", 1, 65_536, 1, logarithmic=True, whole=True)
REFERENCES = ("He et al. 2020 (MoCo)", "Wang et al. 2020 (XBM)")
# By the losses that take a queue: what each of their arguments becomes, the number of queued rows
# being `length`. What stands in the queue has no owner, and its text is compared like the others'.
QUEUED: Mapping[str, Mapping[str, str]] = {
    "info_nce": {
        "queries": "current(queries, keys, length)",
        "keys": "current(keys, keys, length)",
        "negatives": "with_earlier(keys, negatives, length)",
        "negative_owners": "without_owner(keys, negative_owners, length)",
        "query_texts": "current(query_texts, keys, length)",
        "key_texts": "current(key_texts, keys, length)",
        "negative_texts": "with_earlier(key_texts, negative_texts, length)",
    },
    "supcon": {
        "embeddings": "current(embeddings, embeddings, length)",
        "classes": "current(classes, embeddings, length)",
        "queue": "earlier(embeddings, length)",
        "queue_classes": "earlier(classes, length)",
    },
}

# What the page says beside them.
NOTES: Mapping[str, str] = {
    "info_nce": (
        "The last pairs of the batch stand for earlier batches: their second sentences are keys "
        "for every query and get no gradient. Without in-batch negatives this is MoCo's loss; "
        "with them, a cross-batch memory's."
    ),
    "supcon": (
        "The last sentences of the batch stand for earlier batches: they are keys for every "
        "anchor, positives within their class, and get no gradient. In training the queue holds "
        "sentences as they were then."
    ),
}
# What has a row for each key of theirs, and is laid behind the next batch.
STORED_INPUTS: Mapping[str, tuple[str, ...]] = {
    "info_nce": ("keys", "key_texts"),
    "supcon": ("embeddings", "classes"),
}


def current_rows(count: int, length: float) -> int:
    """Return the number of rows, of so many, that are of the batch itself: at least one."""
    return max(count - int(length), min(count, 1))


@overload
def current(rows: Tensor, keys: Tensor, length: float) -> Tensor: ...
@overload
def current(rows: None, keys: Tensor, length: float) -> None: ...
def current(rows: Tensor | None, keys: Tensor, length: float) -> Tensor | None:
    """The rows of the batch itself, of keys whose last `length` are queued; of None, None.

    >>> current(torch.tensor([5, 6, 7]), torch.eye(3), 2)
    tensor([5])
    """
    return None if rows is None else rows[: current_rows(len(keys), length)]


def earlier(keys: Tensor, length: float) -> Tensor:
    """Return the last `length` of the keys, detached."""
    return keys[current_rows(len(keys), length) :].detach()


def with_earlier(keys: Tensor | None, others: Tensor | None, length: float) -> Tensor | None:
    """Return the queued keys, followed by the other candidates that every query sees."""
    if keys is None:
        return None
    queued = earlier(keys, length)
    return queued if others is None else torch.cat((queued, others))


def without_owner(keys: Tensor, owners: Tensor | None, length: float) -> Tensor | None:
    """Return the owner of each of `with_earlier`: nobody, −1, for queued keys, and for negatives of
    a query from an earlier batch."""
    if owners is None:
        return None
    asking = current_rows(len(keys), length)
    queued = owners.new_full((len(keys) - asking,), -1)
    return torch.cat((queued, owners.masked_fill(owners >= asking, -1)))


class Earlier(nn.Module):
    """The last rows of arrays with a row for each key, by name; all keep the same rows. `before`
    are the rows before the last batch.

    They are buffers, so that they are on the model's device and in a checkpoint.
    """

    def __init__(self) -> None:
        super().__init__()
        self.before: dict[str, Tensor] = {}
        self.register_load_state_dict_pre_hook(_resize)

    @property
    def kept(self) -> dict[str, Tensor]:
        return dict(self.named_buffers())

    def keep(self, rows: Mapping[str, Tensor], length: int) -> None:
        """Keep the last `length` rows of the stored ones and these."""
        self.before = self.kept
        latest = {name: one.detach()[-length:] for name, one in rows.items()}
        same = self.before.keys() == rows.keys()
        self.hold(
            {
                n: _followed(self.before[n] if same else one[:0], one, length)
                for n, one in latest.items()
            }
        )

    def hold(self, kept: Mapping[str, Tensor]) -> None:
        """Store these, and nothing else."""
        for name in self.kept.keys() - kept.keys():
            delattr(self, name)
        for name, one in kept.items():
            self.register_buffer(name, one)


def _followed(older: Tensor, latest: Tensor, length: int) -> Tensor:
    """Return the last `length` rows of the older and the latest, in memory of their own."""
    missing = max(length - len(latest), 0)
    return torch.cat((older[max(len(older) - missing, 0) :].to(latest), latest))


def _resize(queue: Earlier, saved: Mapping[str, Tensor], prefix: str, *_: object) -> None:
    """Resize a queue before loading to the length of the saved one."""
    tensors = {n.removeprefix(prefix): one for n, one in saved.items() if n.startswith(prefix)}
    queue.hold({name: torch.empty_like(one) for name, one in tensors.items()})


def append_stored(
    rows: Mapping[str, Tensor], kept: Mapping[str, Tensor]
) -> tuple[dict[str, Tensor], int]:
    """Append the stored rows to each input, and return their number: 0 if other arrays are
    stored."""
    if kept.keys() != rows.keys():
        return dict(rows), 0
    joined = {name: torch.cat((one, kept[name].to(one))) for name, one in rows.items()}
    return joined, min(map(len, kept.values()), default=0)


class Queues(nn.Module):
    """The queues of a loss that is called batch after batch: one for each part that has one.

    While gradients are computed each call appends the stored rows to its batch, and stores the
    batch; without gradients, during evaluation, the queue does not change.
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        super().__init__()
        self.parts = tuple(part for part in parts if part.length)
        self.queues = nn.ModuleList(Earlier() for _ in self.parts)

    @property
    def queued_parts(self) -> list[tuple[Part, Earlier]]:
        return list(zip(self.parts, cast("list[Earlier]", list(self.queues)), strict=True))

    def value(
        self,
        function: Callable[..., Tensor],
        tensors: Mapping[str, Tensor],
        settings: Mapping[str, Any],
    ) -> Tensor:
        """Compute the loss on a batch and the earlier rows."""
        joined, settled = self._joined(
            tensors, settings, [queue.kept for _, queue in self.queued_parts]
        )
        if torch.is_grad_enabled():
            for part, queue in self.queued_parts:
                queue.keep(_rows_of(part, tensors), int(settings[part.length]))
        return function(**joined, **settled)

    def met(
        self, tensors: Mapping[str, Tensor], settings: Mapping[str, Any]
    ) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the arguments of the loss when this batch was the last with gradients."""
        return self._joined(tensors, settings, [queue.before for _, queue in self.queued_parts])

    def _joined(
        self,
        tensors: Mapping[str, Tensor],
        settings: Mapping[str, Any],
        queued: Iterable[Mapping[str, Tensor]],
    ) -> tuple[dict[str, Tensor], dict[str, Any]]:
        joined, settled = dict(tensors), dict(settings)
        for (part, _), kept in zip(self.queued_parts, queued, strict=True):
            rows, settled[part.length] = append_stored(_rows_of(part, tensors), kept)
            joined |= rows
        return joined, settled


def _rows_of(part: Part, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensors[name] for name in STORED_INPUTS[part.spec.name] if name in tensors}
