"""Losses as a trainer calls them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, cast

import torch
import torch.distributed as distributed
from torch import Tensor, nn
from torch.nn import functional

from lossprism.losses import LOSSES, LossSpec, input_checks
from lossprism.losses.gather import for_mean, gather_rows, processes
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.labels import UNIT, LabelRules
from lossprism.losses.module_bases import Settled, default_settings
from lossprism.losses.sentence_transformers.candidate_lists import (
    by_pair,
    compares_within_lists,
    is_ragged,
    lists_of_columns,
    paired,
    sizes_of,
    split_labels,
    value_within_lists,
)
from lossprism.losses.sentence_transformers.duplicate_texts import special_tokens, text_numbers
from lossprism.losses.sentence_transformers.guide_encoder import Guide
from lossprism.losses.sentence_transformers.label_scale_from_first_batch import BatchRules
from lossprism.losses.sentence_transformers.trainer_batch import (
    SIMILARITIES,
    Examples,
    at_least_single,
    inputs_in,
)


class CrossEncoder(Protocol):
    """The interface of a cross-encoder, beside that of a module."""

    @property
    def device(self) -> torch.device: ...

    def preprocess(
        self, inputs: Sequence[tuple[str, str]], prompt: str | None, *, task: str | None
    ) -> Mapping[str, object]: ...


class TrainingLoss(Settled):
    """A loss that a trainer calls with the columns of a batch. Subclasses name the loss.

    Args:
        model: the SentenceTransformer or CrossEncoder to be trained.
        threshold: a pair with at least this label is positive; None is the middle of the scale.
        label_range: the ends of the labels' scale; None guesses it from the first batch, with a
            warning (`BatchRules`).
        extra_negatives: whether the other pairs' second sentences serve as negatives.
        twins: "keep", or "leave_out": a key with the text of the query, or of its own key, is then
            no negative (`losses.info_nce`), for a loss that reads texts. Rows of equal tokens are
            one text, see `losses.sentence_transformers.duplicate_texts`.
        similarity: the kind of a bi-encoder's pair scores, "cosine" or "dot"; None is that of the
            convention. For a loss with a parameter of that name, that parameter.
        guide: a second encoder, for a loss that reads its vectors (`losses.gist`). It is frozen;
            without one, the model's own vectors are used, which change as it learns.
        gather: whether the batches of all processes of torch.distributed are one.
        convention: the loss as another library defines it; see `LossSpec.conventions`. "" is our
            own; None is our own, or that of the library's class with this class's name.
        **settings: the parameters of the loss; an `nn.Parameter` is learned.
    """

    name: str
    library_convention = ""  # of a class that has the name of one of the library's

    def __init__(
        self,
        model: nn.Module,
        *,
        threshold: float | None = None,
        label_range: tuple[float, float] | None = None,
        extra_negatives: bool = True,
        twins: str = "keep",
        similarity: str | None = None,
        guide: nn.Module | None = None,
        gather: bool = False,
        convention: str | None = None,
        **settings: object,
    ) -> None:
        super().__init__()
        self.model = model
        ours = LOSSES[self.name]
        convention = ours.present(self.library_convention if convention is None else convention)
        self.spec = ours.under(convention)
        self.function = self.spec.checked
        self.convention = convention
        apart = ours.for_given_triplets(convention)
        self.given_triplets = {n: v for n, v in apart.items() if n not in settings}
        self.rules = BatchRules(self.spec, type(self).__name__, threshold, label_range)
        self.extra_negatives, self.gather = extra_negatives, gather
        input_checks.one_of(("keep", "leave_out"), twins=twins)
        if twins == "leave_out" and not self.spec.reads_texts:
            able = ", ".join(name for name, spec in LOSSES.items() if spec.reads_texts)
            raise ValueError(
                f'twins is "leave_out", and {type(self).__name__} tells no texts apart; '
                f'these do: {able}. Else keep them out of the batch: batch_sampler="no_duplicates"'
            )
        if similarity is not None and "similarity" in {p.name for p in self.spec.parameters}:
            settings["similarity"], similarity = similarity, None
        if similarity is None:
            similarity = self.spec.similarity
        input_checks.one_of(tuple(SIMILARITIES), similarity=similarity)
        if similarity != "cosine" and not self.spec.reads_scores:
            raise ValueError(
                f"similarity is {similarity!r}, and {type(self).__name__} reads no pair scores"
            )
        self.twins, self.similarity = twins, similarity
        self.guide = None if guide is None else self._guide_of(guide)
        self.settings = self._settings(settings)
        self._shared = False

    def _guide_of(self, encoder: nn.Module) -> Guide:
        if not self.spec.reads_guide:
            able = ", ".join(name for name, spec in LOSSES.items() if spec.reads_guide)
            raise ValueError(f"{type(self).__name__} reads no guide; these do: {able}")
        return Guide(encoder, self.model)

    def _settings(self, chosen: Mapping[str, object]) -> dict[str, object]:
        defaults = default_settings(self.spec)
        for name in chosen:
            if name not in defaults:
                known = ", ".join(defaults) or "none"
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}; it has: {known}")
        return {**defaults, **chosen}

    def settings_for(self, examples: Examples) -> dict[str, object]:
        """Return the parameters for this batch: a convention may change some for given
        triplets."""
        return {**self.settings, **(self.given_triplets if len(examples.columns) > 2 else {})}

    def forward(
        self,
        columns: Sequence[Mapping[str, Tensor]] | Sequence[Sequence[str]],
        labels: Tensor | Sequence[Tensor] | None = None,
        prompt: str | None = None,
        task: str | None = None,
    ) -> Tensor:
        examples = self.examples(list(columns), labels, prompt, task)
        if not examples.labelled and self.spec.reads_labels:
            raise ValueError(
                f"{type(self).__name__} learns from labels, and the dataset has two columns of "
                "text and no label; add a column of labels, or one of negatives"
            )
        of_positives = any(reading.positives_only for reading in self.spec.readings)
        if of_positives and not examples.some(examples.positive):
            return 0 * examples.embeddings.sum()  # nothing to learn from in this batch
        self._share_own_weights()
        read = self.arguments(examples)
        lists = self.lists_compared(examples)
        if self.gather:
            read = {name: self._joined(name, value) for name, value in read.items()}
            lists = None if lists is None else _gathered(_as_wide_everywhere(lists, -1))
        function = self.function if lists is None else partial(self._within_lists, lists)
        return self.value(function, read, self.settings_for(examples))

    def lists_compared(self, examples: Examples) -> Tensor | None:
        """Return the lists [L, K] within which the loss, or a part of it, compares pairs; None if
        it compares all."""
        within = compares_within_lists(self.spec) and examples.rows_are_lists
        return examples.list_places if within else None

    def _within_lists(self, lists: Tensor, /, **inputs: Any) -> Tensor:
        """Compute the loss, called as `function` is, comparing pairs only within these lists."""
        settings = {name: inputs.pop(name) for name in self.spec.defaults}
        return value_within_lists(self.spec, _value_of, inputs, settings, lists)

    def called_with(
        self, read: Mapping[str, Tensor], settings: Mapping[str, object]
    ) -> tuple[Mapping[str, Tensor], Mapping[str, object]]:
        """Return the arguments of the function for the last batch, given its inputs."""
        return read, settings

    def value(
        self,
        function: Callable[..., Tensor],
        read: Mapping[str, Tensor],
        settings: Mapping[str, object],
    ) -> Tensor:
        """Compute the loss `function` from the inputs of all processes."""
        return function(**read, **settings)

    def _joined(self, name: str, value: Tensor) -> Tensor:
        axes = READABLE[self.spec.reads[name]].axes if name in self.spec.reads else ("",)
        if axes[0] == "class":  # prototypes, alike in all processes
            return value
        if axes[0] in ("list", "row"):
            value = _as_wide_everywhere(value, _NOWHERE.get(self.spec.reads[name], 0))
        if axes == ("query", "key"):  # nothing is known of another process's keys
            every, here = gather_rows(value[:, :1])
            value = functional.pad(value, (here.start, len(every) - here.stop))
        if axes[0] == "level":  # the pairs are its columns
            return _gathered(value.T).T
        return _gathered(value)

    def _share_own_weights(self) -> None:
        """Synchronise the loss's own weights over processes, as the trainer does for the model, and
        average their gradients as they arrive."""
        if processes() == 1 or self._shared:
            return
        self._shared = True
        for name, weight in self.named_parameters():
            if not name.startswith("model."):
                distributed.broadcast(weight.data, src=0)
                weight.register_hook(_mean_of_processes)

    def arguments(self, examples: Examples) -> dict[str, Tensor]:
        """Return the arguments of the loss's function, without its parameters."""
        return inputs_in(examples, self.spec.reads)

    def examples(
        self,
        columns: list,
        labels: Tensor | Sequence[Tensor] | None,
        prompt: str | None,
        task: str | None,
    ) -> Examples:
        embedded, texts = isinstance(columns[0], Mapping), None
        split = split_labels(labels, columns, self.spec)
        if len(columns) == 1 and not (embedded and labels is not None and self._takes_classes):
            raise ValueError(
                f"{type(self).__name__} needs two columns of text; one column and a class for "
                "each row suffice for losses that read classes only, with a bi-encoder"
            )
        sizes = sizes_of(labels, columns)
        in_lists = sizes is not None or (split.labels is not None and len(columns) > 2)
        lists = lists_of_columns(columns, sizes, self.model, self.spec, in_lists)
        if embedded:
            if self.twins == "leave_out":
                texts = torch.cat(by_pair(self._texts(columns), sizes))
            # The guide first: the model writes into the columns.
            guide = by_pair(self.guide.vectors(columns), sizes) if self.guide else ()
            outputs = tuple(self.model(column) for column in columns)
            vectors = tuple(at_least_single(output["sentence_embedding"]) for output in outputs)
            vectors = by_pair(vectors, sizes)
            count, scores, device = len(vectors[0]), None, vectors[0].device
        else:
            outputs, vectors, guide = (), (), ()
            count, scores = len(columns[0]), self._cross_scores(columns, prompt, task)
            device = scores.device
        others = max(len(columns) - 1, 1)
        labels = split.labels
        if labels is not None and not is_ragged(columns) and labels.numel() != count * others:
            raise ValueError(
                f"there are {labels.numel()} labels for {count * others} "
                f"{'texts' if len(columns) == 1 else 'pairs'} of {count} rows"
            )
        labelled = labels is not None or others > 1
        scored = labels is not None and len(columns) > 1
        if labels is None and others > 1:
            labels = torch.cat([torch.ones(count), torch.zeros((others - 1) * count)])
        plain = LabelRules(1.0, UNIT)  # of pairs that come without a score
        labels = torch.ones(count) if labels is None else labels.view(-1)
        labels = labels.to(device)
        rules = self.rules.read(labels) if scored else plain
        return Examples(
            columns=vectors,
            outputs=outputs,
            pair_scores=scores,
            labels=labels,
            rows=count,
            bound=rules.threshold,
            labelled=labelled,
            extra_negatives=self.extra_negatives,
            label_range=rules.label_range,
            joined=self.gather,
            before=gather_rows(labels)[1].start // others if self.gather else 0,
            texts=None if texts is None else texts.to(device),
            guide=guide,
            lists=None if lists is None else lists.to(device),
            rows_are_lists=in_lists,
            teacher=None if split.teacher is None else split.teacher.to(device),
            similarity=self.similarity,
        )

    def _texts(self, columns: Sequence[Mapping[str, Tensor]]) -> tuple[Tensor, ...]:
        """Number the texts of each column."""
        apart = special_tokens(self.model)
        return tuple(text_numbers(column, apart) for column in columns)

    def _cross_scores(self, columns: list, prompt: str | None, task: str | None) -> Tensor:
        """Score the first text of each row with each of its others."""
        if not self.spec.reads_scores_only:
            kinds = ("scores", "labels", "groups", "teacher")
            unread = [w for w in self.spec.reads.values() if READABLE[w].made_of not in kinds]
            raise ValueError(
                f"{type(self).__name__} reads {', '.join(unread)}; a cross-encoder gives one "
                "score for a pair. Train a bi-encoder with it, or choose a loss on pair scores"
            )
        pairs = paired(columns)
        # Of any attribute `nn.Module` says that it is a tensor or a module.
        model = cast("CrossEncoder", self.model)
        tokens, device = model.preprocess(pairs, prompt=prompt, task=task), model.device
        on_device = {k: v.to(device) if isinstance(v, Tensor) else v for k, v in tokens.items()}
        scores = self.model(on_device)["scores"]
        if scores.ndim > 1 and scores.shape[1] > 1:
            raise ValueError(f"the cross-encoder gives {scores.shape[1]} numbers; one is needed")
        return at_least_single(scores.view(-1))

    @property
    def _takes_classes(self) -> bool:
        return all(reading.axes[0] in ("sentence", "class") for reading in self.spec.readings)

    def get_config_dict(self) -> dict[str, object]:
        """Return the settings for the model card."""
        rules: dict[str, object] = {"threshold": self.rules.bound, "label_range": self.rules.ends}
        rules |= {"gather": True} if self.gather else {}
        rules |= {"twins": self.twins} if self.twins == "leave_out" else {}
        rules |= {"guide": self.guide.name} if self.guide else {}
        if self.similarity != self.spec.similarity:
            rules["similarity"] = self.similarity
        convention = {"convention": self.convention} if self.convention else {}
        settled = {n: v for n, v in self.settings.items() if n not in self.given_triplets}
        return {**settled, **rules, **convention}


# What says that a list has no candidate in a place; of what is no place the mask says it.
_NOWHERE = {"list_places": -1, "negative_places": -1}


def _as_wide_everywhere(lists: Tensor, empty: float) -> Tensor:
    """Pad lists [L, K] to the longest of all processes; [L] is unchanged."""
    if lists.ndim == 1:
        return lists
    widths, _ = gather_rows(torch.tensor([lists.shape[1]], device=lists.device))
    return functional.pad(lists, (0, int(widths.max()) - lists.shape[1]), value=empty)


def _value_of(spec: LossSpec, read: Mapping[str, Tensor], settings: Mapping[str, object]) -> Tensor:
    return spec.checked(**read, **settings)


def _gathered(value: Tensor) -> Tensor:
    return gather_rows(for_mean(value))[0]


def _mean_of_processes(gradient: Tensor) -> Tensor:
    gradient = gradient.clone()
    distributed.all_reduce(gradient)
    return gradient / processes()
