"""Run a loss once and record every named intermediate with its gradient.

While the function's own frame runs, a line tracer compares its locals before and after each
statement. A tensor that is new, or was changed in place, is one step; a name assigned twice gives
two. Each step's gradient arrives through a hook when the loss is differentiated. The function need
not cooperate, so this works for our definitions, a module's `forward`, and other libraries' code.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

import torch
from torch import Tensor

from lossprism.explorer.core.function_source import source_of
from lossprism.explorer.runtime.problem import Problem


@dataclass(eq=False)
class Step:
    """An assignment: its name, place and source, its value, and ∂loss/∂value.

    `part` is the label of the part of the loss whose function contains it; "" for the loss's own.
    """

    name: str
    line: int
    source: str
    value: Tensor
    gradient: Tensor | None = None
    part: str = ""


@dataclass(eq=False)
class Trace:
    """Everything a function did with its named tensors, in order.

    `inputs` are the tensors it was called with, `steps` its assignments, `loss` its result,
    `listing` its source with the number of its first line. `beside` says whether some gradient
    reaches the inputs without passing the step `through`. `selectors` are boolean steps that select
    cells without excluding any.
    """

    inputs: list[Step]
    steps: list[Step]
    loss: Tensor
    listing: str
    first_line: int
    gradients: tuple[Tensor | None, ...] = field(default=())
    beside: bool = False
    selectors: tuple[str, ...] = ()
    _present: dict[int, Tensor | None] = field(default_factory=dict)

    @property
    def tensors(self) -> list[Step]:
        """The inputs, then the steps; a view's step is an index into these."""
        return [*self.inputs, *self.steps]

    def last(self, name: str) -> Step | None:
        """Return the last step, or else the input, of this name; None if there is none."""
        for step in reversed(self.tensors):
            if step.name == name:
                return step
        return None

    def named(self, name: str) -> Step:
        """Return the last step, or else the input, of this name. Raises KeyError without one."""
        step = self.last(name)
        if step is None:
            raise KeyError(name)
        return step

    def mask_of(self, step: Step, *, earlier: bool = False) -> Tensor | None:
        """Return the cells of a step that take part, as bools; None if nothing is masked.

        A boolean step is its own mask, −inf marks absent cells, and any other step shares the mask
        of the last boolean step with its shape that is no selector; with `earlier`, only of those
        before it, which have acted on it.
        """
        if step.value.dtype == torch.bool:
            return step.value
        if id(step) not in self._present:
            absent = step.value.isneginf()
            self._present[id(step)] = ~absent if bool(absent.any()) else None
        if (present := self._present[id(step)]) is not None:
            return present
        known = (
            self.steps[: self.steps.index(step)] if earlier and step in self.steps else self.steps
        )
        shape = step.value.shape
        for other in reversed(known):
            mask = other.value
            if other.name in self.selectors or other.part not in ("", step.part):
                continue
            if mask.dtype == torch.bool and mask.ndim >= 2 and mask.shape == shape[-mask.ndim :]:
                return mask.expand(shape)
        return None


def trace(
    function: Callable[..., Tensor],
    *arguments: Any,
    wrt: tuple[Tensor, ...] = (),
    within: Callable[..., Any] | None = None,
    through: str = "",
    parts: Sequence[tuple[str, Callable[..., Tensor]]] = (),
    **keywords: Any,
) -> Trace:
    """Call `function` and record it.

    Args:
        function: a function, bound method, or `nn.Module`, returning a 0-d tensor.
        arguments, keywords: its arguments. If no tensor among them requires a gradient, copies of
            all floating ones do: the caller's tensors are never touched.
        wrt: tensors upstream of the arguments whose gradients are also needed, returned as
            `Trace.gradients`, in order.
        within: the function to record, if it is one that `function` calls.
        through: the name of a step; `Trace.beside` tells whether gradients bypass it.
        parts: the functions that it calls, in order, to record as well, each with the label that
            prefixes the names of its steps.

    Raises:
        Problem: if the function returned anything but one number.
        Whatever the function raises; the tracer that was active before is restored first.
    """
    watched = code_of(within or function)
    if not any(tensor.requires_grad for tensor in _tensors((arguments, keywords))):
        arguments, keywords = _as_leaves(arguments), _as_leaves(keywords)
    before = sys.gettrace()
    labelled = [(label, code_of(part)) for label, part in parts]
    recorder = _Recorder(watched, before, labelled, through)
    sys.settrace(recorder.on_call)
    try:
        loss = function(*arguments, **keywords)
    finally:
        sys.settrace(before)
    if not isinstance(loss, Tensor) or loss.ndim != 0:
        shape = tuple(loss.shape) if isinstance(loss, Tensor) else type(loss).__name__
        raise Problem("not_one_number", name=getattr(function, "__name__", "loss"), shape=shape)
    targets = [t for t in _tensors((wrt, arguments, keywords)) if t.requires_grad]
    found: dict[int, Tensor | None] = {}
    if loss.requires_grad and targets:
        gradients = torch.autograd.grad(loss, targets, allow_unused=True)
        found = {id(t): gradient for t, gradient in zip(targets, gradients, strict=True)}
    return Trace(
        inputs=recorder.inputs,
        steps=recorder.steps,
        loss=loss.detach(),
        listing=recorder.listings.text,
        first_line=source_of(watched).first_line,
        gradients=tuple(found.get(id(tensor)) for tensor in wrt),
        beside=bool(through) and _bypasses(recorder.node, loss.grad_fn),
    )


class _Listings:
    """The listings of the traced functions, one below the other."""

    def __init__(self, codes: Iterable[CodeType]) -> None:
        first, *others = dict.fromkeys(codes)
        whole = source_of(first)
        self.text = whole.text
        self._shift = {first: 0}  # what is added to a line of each
        for code in others:
            source = source_of(code)
            lines = self.text.count("\n") + 1
            self._shift[code] = whole.first_line + lines - source.first_line
            self.text += f"\n{source.text}"

    def statement(self, code: CodeType, line: int) -> tuple[int, str]:
        """Return the first line in all listings, and the text, of the statement that contains
        `line`."""
        start, source = source_of(code).statement(line)
        return start + self._shift[code], source


class _Recorder:
    """The tracer of one call: follows one frame and those of its parts, and records new tensors."""

    def __init__(
        self,
        watched: CodeType,
        before: Any,
        parts: Sequence[tuple[str, CodeType]] = (),
        through: str = "",
    ) -> None:
        self.before = before  # the tracer that sees all other frames
        self.inputs: list[Step] = []
        self.steps: list[Step] = []
        self.through = through
        self.node: Any = None  # where the step called `through` stands in the graph of the loss
        self.listings = _Listings([watched, *(code for _, code in parts)])
        self._expected = [("", watched), *parts]
        self._seen: dict[str, tuple[Tensor, int]] = {}

    def on_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        if self._expected and frame.f_code is self._expected[0][1]:
            label, _ = self._expected.pop(0)
            watch = _FrameWatcher(self, frame, label)
            changes = list(watch.changes(frame))
            (self.steps if label else self.inputs).extend(changes)
            return watch.on_line
        if self.before is None:
            return None
        follow = self.before(frame, event, argument)
        if sys.gettrace() != self.on_call:  # coverage's takes the place of whoever calls it
            sys.settrace(self.on_call)
        return follow

    def is_new(self, name: str, value: Tensor, *, handed: bool) -> bool:
        """Return whether the tensor differs from the last one of this name, or was changed since;
        for one `handed` to a part, whether it was seen under no other name."""
        seen, version = self._seen.get(name, (None, -1))
        known = handed and self.has_seen(value)
        self._seen[name] = value, value._version
        return not known and (seen is not value or version != value._version)

    def has_seen(self, value: Tensor) -> bool:
        return any(value is tensor for tensor, _ in self._seen.values())

    def step(self, watch: _FrameWatcher, name: str, value: Tensor) -> Step:
        line, source = self.listings.statement(watch.code, watch.line)
        step = Step(name, line, source, value.detach().clone(), part=watch.label)
        if value.requires_grad:
            if name == self.through:
                self.node = torch.autograd.graph.get_gradient_edge(value).node
            value.register_hook(functools.partial(_keep_gradient, step))
        return step

    def forget(self) -> None:
        """Drop all tensors, so that no graph outlives the call."""
        self._seen = {}


class _FrameWatcher:
    """A traced frame: of the loss, or of its part with this `label`."""

    def __init__(self, recorder: _Recorder, frame: FrameType, label: str) -> None:
        self.code, self.label, self.line = frame.f_code, label, frame.f_lineno
        self._recorder, self._entered = recorder, False

    def on_line(self, frame: FrameType, event: str, argument: Any) -> Any:
        self._entered = True
        if event in ("line", "return"):
            self._recorder.steps += self.changes(frame)
            self.line = frame.f_lineno
        if event == "return":
            self._note_returned(argument)
            if not self.label:
                self._recorder.forget()
        return self.on_line

    def changes(self, frame: FrameType) -> Iterator[Step]:
        for name, value in frame.f_locals.items():
            if not isinstance(value, Tensor):
                continue
            whole, handed = self._named(name), bool(self.label) and not self._entered
            if self._recorder.is_new(whole, value, handed=handed):
                step = self._recorder.step(self, whole, value)
                if handed:
                    step.source = ""  # it was made on the way to the call
                yield step

    def _named(self, name: str) -> str:
        return f"{self.label}_{name}" if self.label else name

    def _note_returned(self, value: Any) -> None:
        if isinstance(value, Tensor) and not self._recorder.has_seen(value):
            name = self._named("loss" if self.label else "return")
            if self._recorder.is_new(name, value, handed=False):
                self._recorder.steps.append(self._recorder.step(self, name, value))


def _bypasses(node: Any, start: Any) -> bool:
    """Return whether a path from `start` down the graph reaches a leaf without passing `node`."""
    seen, left = {None, node}, [start]
    while left:
        at = left.pop()
        if at in seen:
            continue
        seen.add(at)
        if hasattr(at, "variable"):
            return True
        left += [below for below, _ in at.next_functions]
    return False


def _keep_gradient(step: Step, gradient: Tensor) -> None:
    step.gradient = gradient.detach()


def code_of(function: Any) -> CodeType:
    """Return the code that does the work of a function, a method, or a module's forward."""
    return function_of(function).__code__


def function_of(function: Any) -> Any:
    """Return the Python function that does the work. Raises Problem if there is none."""
    if isinstance(function, torch.nn.Module):
        function = function.forward
    if isinstance(function, functools.partial):
        return function_of(function.func)
    function = inspect.unwrap(function)
    if not hasattr(function, "__code__") and callable(function):
        function = function.__call__ if not inspect.ismethod(function) else function.__func__
    if getattr(function, "__code__", None) is None:
        raise Problem("not_python", name=getattr(function, "__name__", str(function)))
    return function


def _tensors(nested: Any) -> Iterator[Tensor]:
    if isinstance(nested, Tensor):
        yield nested
    elif isinstance(nested, dict):
        for value in nested.values():
            yield from _tensors(value)
    elif isinstance(nested, list | tuple):
        for value in nested:
            yield from _tensors(value)


def _as_leaves(nested: Any) -> Any:
    """Return the arguments with every floating tensor detached and requiring a gradient."""
    if isinstance(nested, Tensor):
        return nested.detach().requires_grad_() if nested.is_floating_point() else nested
    if isinstance(nested, dict):
        return {key: _as_leaves(value) for key, value in nested.items()}
    if isinstance(nested, list | tuple):
        return type(nested)(_as_leaves(value) for value in nested)
    return nested
