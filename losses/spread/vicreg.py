"""VICReg: pairs alike, every dimension in use, no two dimensions saying the same."""

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.gather import gathered
from lossprism.losses.geometry import centred, dot_matrix
from lossprism.losses.kernels.squared_column_products import between_columns
from lossprism.losses.kernels.value_with_gradient import with_gradient
from lossprism.losses.library_peer_record import METRIC_LEARNING, OF_PAIRS, Peer
from lossprism.losses.spec import Convention, LossSpec, Parameter, Symbol
from lossprism.losses.symbols import each_query, loss_symbol


def vicreg_definition(
    first: Tensor,
    second: Tensor,
    *,
    invariance_weight: float = 25.0,
    variance_weight: float = 25.0,
    covariance_weight: float = 1.0,
    eps: float = 1e-4,
) -> Tensor:
    terms = (first - second).square().sum(dim=1)
    degrees, width = max(len(first) - 1, 1), first.shape[1]
    centred_first, centred_second = centred(first), centred(second)
    covariance_first = dot_matrix(centred_first.T, centred_first.T) / degrees
    covariance_second = dot_matrix(centred_second.T, centred_second.T) / degrees
    missing_first = (1 - (covariance_first.diagonal() + eps).sqrt()).relu()
    missing_second = (1 - (covariance_second.diagonal() + eps).sqrt()).relu()
    itself = torch.eye(width, dtype=torch.bool, device=first.device)
    redundancy_first = covariance_first.masked_fill(itself, 0).square().sum() / width
    redundancy_second = covariance_second.masked_fill(itself, 0).square().sum() / width
    invariance = terms.mean()
    variance = missing_first.mean() + missing_second.mean()
    covariance = redundancy_first + redundancy_second
    loss = (
        invariance_weight * invariance + variance_weight * variance + covariance_weight * covariance
    )
    return loss


def vicreg(
    first: Tensor,
    second: Tensor,
    *,
    invariance_weight: float = 25.0,
    variance_weight: float = 25.0,
    covariance_weight: float = 1.0,
    eps: float = 1e-4,
    gather: bool = False,
) -> Tensor:
    r"""λ s(x, y) + μ (v(x) + v(y)) + ν (c(x) + c(y)) (Bardes et al. 2022).

    s is the mean over rows of ‖x_i − y_i‖², v the mean over dimensions of [1 − √(Var + ε)]₊, and c
    the sum of the squared covariances of any two dimensions over D. Variances and covariances are
    those of N − 1; of a single row they are 0.

    >>> first = second = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])  # varies in one of two dimensions
    >>> vicreg(first, second)  # 25 · 2 · (0 + 0.99) / 2
    tensor(24.7500)

    Args:
        first, second: [N, D] each, as they are: lengths count.
        invariance_weight, variance_weight, covariance_weight: λ, μ and ν.
        eps: ε.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    numbers = (invariance_weight, variance_weight, covariance_weight, eps)
    return _public(first, second, numbers, gather, _dense, _vicreg)


def _public(first, second, numbers, gather, definition, exact):
    first, second = gathered(gather, first, second)
    first, second = input_checks.paired(first=first, second=second)
    if any(isinstance(number, Tensor) for number in numbers):
        return definition(first, second, *numbers)
    return with_gradient(exact, definition, first, second, *numbers)


def _dense(first, second, *numbers):
    return vicreg_definition(first, second, **named(numbers))


def named(numbers: tuple) -> dict[str, float]:
    names = ("invariance_weight", "variance_weight", "covariance_weight", "eps")
    return dict(zip(names, numbers, strict=True))


def _vicreg(needs_grad, first, second, invariance_weight, variance_weight, covariance_weight, eps):
    count, width = first.shape
    degrees = max(count - 1, 1)
    differences = first - second
    loss = differences.square().sum() * (invariance_weight / count)
    slopes = []
    for side in (first, second):
        vectors = centred(side)
        squares = vectors.square().sum(dim=0).div_(degrees)
        deviations = (squares + eps).sqrt_()
        missing = (1 - deviations).relu_()
        redundancy, quarter = between_columns(vectors)
        share = covariance_weight / (width * degrees**2)
        loss = loss + missing.sum() * (variance_weight / width) + redundancy * share
        if any(needs_grad):  # ∂/∂ of what is centred; its columns sum to 0 already
            pull = missing.sign_().div_(deviations).mul_(-variance_weight / (width * degrees))
            slopes.append(quarter.mul_(4 * share).addcmul_(vectors, pull))
    if not any(needs_grad):
        return loss, ()
    differences.mul_(2 * invariance_weight / count)
    by_first, by_second = slopes
    return loss, (by_first.add_(differences), by_second.sub_(differences), *[None] * 4)


def vicreg_of_means_definition(
    first: Tensor,
    second: Tensor,
    *,
    invariance_weight: float = 25.0,
    variance_weight: float = 25.0,
    covariance_weight: float = 1.0,
    eps: float = 1e-4,
) -> Tensor:
    """The form of the authors' code and pytorch-metric-learning: invariance is a mean over rows and
    dimensions, and the variance of both sides is averaged."""
    terms = (first - second).square().sum(dim=1)
    degrees, width = max(len(first) - 1, 1), first.shape[1]
    centred_first, centred_second = centred(first), centred(second)
    covariance_first = dot_matrix(centred_first.T, centred_first.T) / degrees
    covariance_second = dot_matrix(centred_second.T, centred_second.T) / degrees
    missing_first = (1 - (covariance_first.diagonal() + eps).sqrt()).relu()
    missing_second = (1 - (covariance_second.diagonal() + eps).sqrt()).relu()
    itself = torch.eye(width, dtype=torch.bool, device=first.device)
    redundancy_first = covariance_first.masked_fill(itself, 0).square().sum() / width
    redundancy_second = covariance_second.masked_fill(itself, 0).square().sum() / width
    invariance = terms.mean() / width
    variance = (missing_first.mean() + missing_second.mean()) / 2
    covariance = redundancy_first + redundancy_second
    loss = (
        invariance_weight * invariance + variance_weight * variance + covariance_weight * covariance
    )
    return loss


def vicreg_of_means(
    first: Tensor,
    second: Tensor,
    *,
    invariance_weight: float = 25.0,
    variance_weight: float = 25.0,
    covariance_weight: float = 1.0,
    eps: float = 1e-4,
    gather: bool = False,
) -> Tensor:
    """`vicreg` as its authors' code and pytorch-metric-learning weigh it: λ/D and μ/2.

    >>> first = second = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    >>> vicreg_of_means(first, second)  # half of what `vicreg` makes of it
    tensor(12.3750)

    Args:
        first, second: [N, D] each, as they are: lengths count.
        invariance_weight, variance_weight, covariance_weight: λ, μ and ν.
        eps: ε.
        gather: of the batch that all processes make together (see `losses.gather`).
    """
    numbers = (invariance_weight, variance_weight, covariance_weight, eps)
    return _public(first, second, numbers, gather, _dense_of_means, _of_means)


def _dense_of_means(first, second, *numbers):
    return vicreg_of_means_definition(first, second, **named(numbers))


def _of_means(needs_grad, first, second, invariance_weight, variance_weight, *others):
    weights = (invariance_weight / first.shape[1], variance_weight / 2)
    return _vicreg(needs_grad, first, second, *weights, *others)


def _collapse(tensors: dict[str, Tensor], variance_weight: float = 25.0, eps: float = 1e-4, **_):
    return variance_weight * 2 * max(1 - eps**0.5, 0.0)


def floor_if_independent(tensors: dict[str, Tensor], **_: object) -> float | None:
    """Return the minimum, known if N rows can vary in D dimensions independently."""
    count, width = tensors["first"].shape
    return 0.0 if count > width else None


SIDES = {
    "first": Symbol("x_i", ("query", "dimension"), stem="x"),
    "second": Symbol("y_i", ("query", "dimension"), stem="y"),
    "centred_first": Symbol(r"x_i - \bar x", ("query", "dimension")),
    "centred_second": Symbol(r"y_i - \bar y", ("query", "dimension")),
    "itself": Symbol("j = k", ("dimension", "dimension"), "«r» = «c»", indices=("j", "k")),
}

DIMENSIONS = ("dimension", "dimension")


def _of_side(letter: str, side: str) -> dict[str, Symbol]:
    return {
        f"covariance_{side}": Symbol(
            rf"C^{letter}_{{jk}}",
            DIMENSIONS,
            equals=rf"\frac{{1}}{{N - 1}} \sum_i ({letter}_{{ij}} -"
            rf" \bar {letter}_j)({letter}_{{ik}} - \bar {letter}_k)",
            indices=("j", "k"),
        ),
        f"missing_{side}": Symbol(
            rf"\Bigl[1 - \sqrt{{C^{letter}_{{jj}} + \varepsilon}}\Bigr]_+",
            ("dimension",),
            rf"\Bigl[1 - \sqrt{{«covariance_{side}[r,r]» + «eps»}}\Bigr]_+",
            signed=False,
            indices=("j",),
        ),
        f"redundancy_{side}": Symbol(
            rf"c({letter})",
            equals=rf"\frac1D \sum_{{j \ne k}} (C^{letter}_{{jk}})^2",
            live=rf"\frac{{«covariance_{side}.masked_fill(itself, 0).square().sum()»}}"
            rf"{{«len(covariance_{side})»}}",
            signed=False,
        ),
    }


VICREG = LossSpec(
    function=vicreg,
    definition=vicreg_definition,
    title="VICReg",
    about="Keeps pairs alike, every dimension in use, and no two dimensions correlated.",
    steps={
        "covariance": "Dimensions that say the same.",
        "covariance_first": "How any two dimensions of the first sentences vary together.",
        "covariance_second": "The same of the second sentences.",
        "invariance": "Pairs that are not alike.",
        "missing_first": "What each dimension's deviation falls short of 1.",
        "missing_second": "The same of the second sentences.",
        "redundancy_first": "Squared covariances of different dimensions.",
        "redundancy_second": "The same of the second sentences.",
        "terms": "How far the two sentences of each pair are apart, squared.",
        "variance": "Dimensions that are not used.",
    },
    group="spread",
    without_others={},
    aliases=("variance-invariance-covariance", "VICRegLoss"),
    formula=r"\frac\lambda N \sum_i \lVert x_i - y_i \rVert^2 + \mu\,\bigl(v(x) + v(y)\bigr)"
    r" + \nu\,\bigl(c(x) + c(y)\bigr)",
    symbols={
        **SIDES,
        **_of_side("x", "first"),
        **_of_side("y", "second"),
        "terms": each_query(
            "t_i",
            "«Σ (first[r] - second[r]) ** 2»",
            equals=r"\lVert x_i - y_i \rVert^2",
            signed=False,
        ),
        "invariance": Symbol(
            "s", equals=r"\overline{t_i}", live=r"\frac{«Σ terms»}{«len(terms)»}", signed=False
        ),
        "variance": Symbol(
            r"v(x) + v(y)",
            live=r"\frac{«Σ missing_first»}{«len(missing_first)»}"
            r" + \frac{«Σ missing_second»}{«len(missing_second)»}",
            signed=False,
        ),
        "covariance": Symbol(
            "c(x) + c(y)", live="«redundancy_first» + «redundancy_second»", signed=False
        ),
        "loss": loss_symbol(
            r"\lambda s + \mu\,(v(x) + v(y)) + \nu\,(c(x) + c(y))",
            r"«invariance_weight» \cdot «invariance» + «variance_weight» \cdot «variance»"
            r" + «covariance_weight» \cdot «covariance»",
        ),
    },
    parameters=(
        Parameter(
            "invariance_weight", 25.0, r"\lambda", 0.0, 100.0, 0.5, label="weight of invariance"
        ),
        Parameter("variance_weight", 25.0, r"\mu", 0.0, 100.0, 0.5, label="weight of variance"),
        Parameter("covariance_weight", 1.0, r"\nu", 0.0, 100.0, 0.1, label="weight of covariance"),
        Parameter(
            "eps", 1e-4, r"\varepsilon", 1e-8, 1e-2, 1e-5, logarithmic=True, label="stabiliser"
        ),
    ),
    reads={"first": "queries", "second": "keys"},
    terms="covariance_first",
    selectors=("itself",),
    collapse=_collapse,
    collapse_formula=r"2 \mu\, (1 - \sqrt\varepsilon)",
    floor=floor_if_independent,
    floor_formula="0",
    references=("Bardes et al. 2022 (VICReg)",),
    note="With fewer rows than dimensions the covariance cannot be 0, so the minimum is unknown. "
    "Lengths count: each dimension of unit vectors varies by 1/D, so the variance term stays "
    "near its highest value.",
    conventions=(
        Convention(
            "pytorch-metric-learning 2.9 VICRegLoss, facebookresearch/vicreg (λ/D, μ/2)",
            {},
            vicreg_of_means_definition,
            formula=r"\frac{\lambda}{N D} \sum_i \lVert x_i - y_i \rVert^2"
            r" + \frac\mu2\,\bigl(v(x) + v(y)\bigr) + \nu\,\bigl(c(x) + c(y)\bigr)",
            symbols={
                "invariance": Symbol(
                    "s",
                    equals=r"\overline{t_i} / D",
                    live=r"\frac{«Σ terms»}{«first.numel()»}",
                    signed=False,
                ),
                "variance": Symbol(
                    r"\tfrac12\,(v(x) + v(y))",
                    live=r"\frac{«Σ missing_first»}{2 \cdot «len(missing_first)»}"
                    r" + \frac{«Σ missing_second»}{2 \cdot «len(missing_second)»}",
                    signed=False,
                ),
                "loss": loss_symbol(
                    r"\lambda s + \tfrac\mu2\,(v(x) + v(y)) + \nu\,(c(x) + c(y))",
                    r"«invariance_weight» \cdot «invariance» + «variance_weight» \cdot"
                    r" «variance» + «covariance_weight» \cdot «covariance»",
                ),
            },
            function=vicreg_of_means,
            note="The code sums differently from the paper: the invariance is a mean over rows "
            "and dimensions, and the variance is averaged over both sides.",
            peers=(
                Peer(METRIC_LEARNING, "VICRegLoss", OF_PAIRS),
                Peer("facebookresearch/vicreg", "VICReg"),
                Peer("lightly", "VICRegLoss", OF_PAIRS),
            ),
        ),
    ),
)
