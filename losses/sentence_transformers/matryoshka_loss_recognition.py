"""The library's losses around another loss, and the prefixes on which that one is computed."""

from collections.abc import Sequence

from torch import nn

from lossprism.losses import LOSSES, LossSpec

# Around a loss on layers of the model, whose vectors no batch shows.
ON_LAYERS = ("AdaptiveLayerLoss", "Matryoshka2dLoss")


def inner_of(loss: nn.Module) -> nn.Module | None:
    """Return the loss that a ``MatryoshkaLoss`` computes on each of its prefixes; None for any
    other loss, and for one that samples prefixes at each step."""
    inner = getattr(loss, "loss", None)
    if type(loss).__name__ != "MatryoshkaLoss" or not isinstance(inner, nn.Module):
        return None
    drawn = getattr(loss, "n_dims_per_step", -1)
    return None if 0 < drawn < len(_lengths(loss)) else inner


def on_prefixes(spec: LossSpec, loss: nn.Module) -> tuple[LossSpec, dict[str, float]] | None:
    """Return this loss on the prefixes of a ``MatryoshkaLoss`` with their weights; None if ours
    does not support such prefixes (`losses.combined.combined_loss_names`)."""
    name = f"matryoshka({spec.name},{','.join(map(str, _lengths(loss)))})"
    if name not in LOSSES:
        return None
    found = LOSSES[name]
    weights = getattr(loss, "matryoshka_weights")  # noqa: B009  # a module or a tensor, says torch
    pairs = zip(found.parts, weights, strict=True)
    return found, {part.weight: float(weight) for part, weight in pairs}


def _lengths(loss: nn.Module) -> Sequence[int]:
    return getattr(loss, "matryoshka_dims")  # noqa: B009
