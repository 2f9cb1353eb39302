"""The layers of a model's transformer."""

from torch import nn


def layer_stack(model: nn.Module) -> nn.ModuleList | tuple[()]:
    """Return the layers of the model's transformer in order; empty without any."""
    stacks = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
    size = {id(s): sum(p.numel() for p in s.parameters()) for s in stacks}
    return max(stacks, key=lambda stack: size[id(stack)], default=())


def move_only(model: nn.Module, layers: int, *, head: bool = False) -> None:
    """Freeze all but the last `layers` of the transformer, and its `head` if it uses one."""
    stack = layer_stack(model)
    if not stack or layers >= len(stack):
        return
    kept = stack[len(stack) - layers :]
    moving = {id(weight) for layer in kept for weight in layer.parameters()}
    if head:
        named = model.named_parameters()
        moving |= {id(weight) for name, weight in named if "pooler" in name or "class" in name}
    transformer = next(part for part in model.children() if any(m is stack for m in part.modules()))
    for weight in transformer.parameters():
        weight.requires_grad_(id(weight) in moving)
