"""Global orthogonal regularisation: cosines of unrelated sentences as of random directions."""

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import cosine_matrix, unit_and_pull
from lossprism.losses.kernels.squared_column_products import between_columns
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.sentence_transformers_equivalent_record import Equivalent
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import loss_symbol, pair_by_pair

AGGREGATIONS = ("mean", "sum")


def orthogonal_definition(
    first: Tensor,
    second: Tensor,
    *,
    mean_weight: float = 1.0,
    second_moment_weight: float = 1.0,
    aggregation: str = "mean",
) -> Tensor:
    itself = torch.eye(len(first), dtype=torch.bool, device=first.device)
    pairs, width = max(len(first) * (len(first) - 1), 1), first.shape[1]
    cosines_first = cosine_matrix(first, first).masked_fill(itself, 0)
    cosines_second = cosine_matrix(second, second).masked_fill(itself, 0)
    mean_first = cosines_first.sum() / pairs
    mean_second = cosines_second.sum() / pairs
    excess_first = (cosines_first.square().sum() / pairs - 1 / width).relu()
    excess_second = (cosines_second.square().sum() / pairs - 1 / width).relu()
    cost_first = mean_weight * mean_first.square() + second_moment_weight * excess_first
    cost_second = mean_weight * mean_second.square() + second_moment_weight * excess_second
    loss = (cost_first + cost_second) / (2 if aggregation == "mean" else 1)
    return loss


def orthogonal(
    first: Tensor,
    second: Tensor,
    *,
    mean_weight: float = 1.0,
    second_moment_weight: float = 1.0,
    aggregation: str = "mean",
    gather: bool = False,
) -> Tensor:
    r"""(mean cos)² + [mean cos² − 1/D]₊ of each side with itself (Zhang et al. 2017).

    The means run over all pairs of two rows of one side: as between random directions they should
    be 0 and 1/D. sentence-transformers calls it GlobalOrthogonalRegularizationLoss. With one row
    the loss is 0.

    >>> first, second = torch.ones(2, 2), torch.eye(2)
    >>> orthogonal(first, second)  # (1² + 1 − ½ + 0) / 2
    tensor(0.7500)

    Args:
        first, second: [N, D] each.
        mean_weight: of the squared mean.
        second_moment_weight: of what the mean square has beyond 1/D.
        aggregation: "mean" of both sides, or their "sum".
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    input_checks.one_of(AGGREGATIONS, aggregation=aggregation)
    first, second = gathered(gather, first, second)
    first, second = input_checks.paired(first=first, second=second)
    arguments = (first, second, mean_weight, second_moment_weight, aggregation)
    if isinstance(mean_weight, Tensor) or isinstance(second_moment_weight, Tensor):
        return _dense(*arguments)
    return with_gradient(_orthogonal, _dense, *arguments)


def _dense(first, second, mean_weight, second_moment_weight, aggregation):
    return orthogonal_definition(
        first,
        second,
        mean_weight=mean_weight,
        second_moment_weight=second_moment_weight,
        aggregation=aggregation,
    )


def _orthogonal(needs_grad, first, second, mean_weight, second_moment_weight, aggregation):
    count, width = first.shape
    pairs, sides = max(count * (count - 1), 1), 2 if aggregation == "mean" else 1
    loss, gradients = 0, []
    for side in (first, second):
        units, pull = unit_and_pull(side)
        whole = units.sum(dim=0)
        mean = ((whole - units) * units).sum() / pairs
        total, quarter = between_columns(units.T)
        excess = (total / pairs - 1 / width).relu_()
        loss = loss + (mean_weight * mean.square() + second_moment_weight * excess) / sides
        if any(needs_grad):
            slopes = quarter.T * (excess.sign() * (4 * second_moment_weight / (pairs * sides)))
            slopes.add_((whole - units).mul_(mean * (4 * mean_weight / (pairs * sides))))
            gradients.append(pull(slopes))
    return loss, (*gradients, None, None, None) if gradients else ()


def _collapse(
    tensors: dict[str, Tensor],
    mean_weight: float = 1.0,
    second_moment_weight: float = 1.0,
    aggregation: str = "mean",
) -> float:
    count, width = tensors["first"].shape
    if count == 1:
        return 0.0
    cost = mean_weight + second_moment_weight * (1 - 1 / width)
    return cost if aggregation == "mean" else 2 * cost


def _equivalent(
    *, mean_weight: float, second_moment_weight: float, aggregation: str
) -> Equivalent | None:
    if not mean_weight and not second_moment_weight:
        return None
    return Equivalent(
        "GlobalOrthogonalRegularizationLoss",
        {"first": "first", "second": "second"},
        "theirs = GlobalOrthogonalRegularizationLoss(\n"
        f"    None, mean_weight={mean_weight!r},\n"
        f"    second_moment_weight={second_moment_weight!r}, aggregation={aggregation!r},\n"
        ")\n"
        "loss = sum(theirs.compute_loss_from_embeddings([first, second]).values())\n",
    )


def _of_side(letter: str, side: str) -> dict[str, Symbol]:
    return {
        side: Symbol(f"{letter}_i", ("pair", "dimension"), stem=letter),
        f"cosines_{side}": pair_by_pair(
            rf"s^{letter}_{{ik}}", equals=rf"\cos({letter}_i, {letter}_k)\ \text{{where}}\ i \ne k"
        ),
        f"mean_{side}": Symbol(
            rf"\overline{{s^{letter}_{{ik}}}}",
            live=rf"\frac{{«cosines_{side}.sum()»}}{{«max(len({side}) * (len({side}) - 1), 1)»}}",
        ),
        f"excess_{side}": Symbol(
            rf"\Bigl[\overline{{(s^{letter}_{{ik}})^2}} - \tfrac1D\Bigr]_+",
            live=rf"\Bigl[\frac{{«cosines_{side}.square().sum()»}}"
            rf"{{«max(len({side}) * (len({side}) - 1), 1)»}}"
            rf" - \frac{{1}}{{«{side}.shape[1]»}}\Bigr]_+",
            signed=False,
        ),
        f"cost_{side}": Symbol(
            rf"g({letter})",
            live=rf"«mean_weight» \cdot («mean_{side}»)^2"
            rf" + «second_moment_weight» \cdot «excess_{side}»",
            signed=False,
        ),
    }


ORTHOGONAL = LossSpec(
    function=orthogonal,
    definition=orthogonal_definition,
    title="Global orthogonal regularisation",
    about="Makes unrelated sentences as dissimilar as random directions are.",
    steps={
        "cosines_first": "Cosines of the first sentences with each other.",
        "cosines_second": "Cosines of the second sentences with each other.",
        "cost_first": "What the first sentences cost.",
        "cost_second": "What the second sentences cost.",
        "excess_first": "What their mean square has beyond that of random directions.",
        "excess_second": "What their mean square has beyond that of random directions.",
        "itself": "A sentence compared with itself says nothing.",
        "mean_first": "Their mean, which should be 0.",
        "mean_second": "Their mean, which should be 0.",
    },
    group="spread",
    aliases=("GOR", "GlobalOrthogonalRegularizationLoss", "spread-out"),
    formula=r"\frac12 \sum_{x, y} \Bigl(w_1\, \overline{s_{ik}}^2"
    r" + w_2\, \Bigl[\overline{s_{ik}^2} - \tfrac1D\Bigr]_+\Bigr)",
    symbols={
        "itself": pair_by_pair("i = k", "«r» = «c»"),
        **_of_side("x", "first"),
        **_of_side("y", "second"),
        "loss": loss_symbol(
            r"\tfrac12\,(g(x) + g(y))\ \text{or}\ g(x) + g(y)",
            r"\frac{«cost_first» + «cost_second»}{«2 if aggregation == 'mean' else 1»}",
        ),
    },
    parameters=(
        Parameter("mean_weight", 1.0, "w_1", 0.0, 10.0, 0.1, label="weight of the mean"),
        Parameter(
            "second_moment_weight", 1.0, "w_2", 0.0, 10.0, 0.1, label="weight of the second moment"
        ),
        Parameter("aggregation", "mean", choices=AGGREGATIONS, label="both sides"),
    ),
    variants={
        "aggregation=sum": r"\sum_{x, y} \Bigl(w_1\, \overline{s_{ik}}^2"
        r" + w_2\, \Bigl[\overline{s_{ik}^2} - \tfrac1D\Bigr]_+\Bigr)"
    },
    terms="cosines_first",
    selectors=("itself",),
    collapse=_collapse,
    collapse_formula=r"w_1 + w_2\,\bigl(1 - \tfrac1D\bigr)\ \text{or twice that}",
    floor=lambda tensors, **_: 0.0,
    floor_formula="0",
    references=("Zhang et al. 2017 (GOR)", "EmbeddingGemma 2025"),
    note="It asks nothing of positive pairs, so combine it with another loss.",
    equivalent=_equivalent,
    conventions=(
        Convention("sentence-transformers 6.2 GlobalOrthogonalRegularizationLoss", {}),
        Convention(
            "EmbeddingGemma (second moment alone, summed)",
            {"mean_weight": 0.0, "aggregation": "sum"},
            note="As sentence-transformers 6.2 describes that paper's spread-out regulariser.",
        ),
    ),
)
