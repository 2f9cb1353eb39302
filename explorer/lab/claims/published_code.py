"""Claims about code that the sources print: S0's masked logsumexp, S3's hinge over all pairs."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lossprism.explorer.lab.claims.batches import S0_EXAMPLE, S1_EXAMPLE
from lossprism.explorer.lab.claims.claim import (
    CORRECTED,
    Check,
    Claim,
    ClaimBatch,
    Comparison,
    Side,
    Tolerance,
)
from lossprism.explorer.lab.claims.ordered_pair_common import loss_of, ordered
from lossprism.explorer.runtime.number_format import display_number
from lossprism.losses import pairwise_hinge

TYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
MASK = 1e12
# Of a loss in float32.
FLOAT32_TOLERANCE = Tolerance(1e-5, 1e-6)
# What S0 prints, by the names of its batch.
SYMBOLS = {
    "scaled": "a",
    "differences": "d",
    "ordered": r"[y_j < y_i]",
    "masked": r"m",
    "terms": "t",
}
# It prints five digits.
FIVE_DIGITS = Tolerance(0.0, 5e-5)
# S3's margin, and the ε of its denominator.
MARGIN, EPS = 0.3, 1e-6


def _steps(latex: str, ours: Tensor, printed: Tensor) -> Iterator[Comparison]:
    """Compare each row of a step, [R, N], with the printed one by its largest difference."""
    for place, (own, theirs) in enumerate(zip(ours, printed, strict=True), 1):
        name = latex if len(ours) == 1 else rf"{latex}_{{{place}\cdot}}"
        gap = ((own - theirs).abs() / theirs.abs().clamp_min(1)).max()
        yield Comparison(
            Side(name, float(gap), _numbers(own)),
            "=",
            Side(rf"{name}^{{\text{{S0}}}}", 0.0, _numbers(theirs)),
            tolerance=FIVE_DIGITS,
        )


def _numbers(row: Tensor) -> str:
    return ", ".join(display_number(one, 5) for one in row.tolist())


def printed_example(batch: ClaimBatch) -> Check:
    """Compare each step that S0 prints, and the loss by them, with ours."""
    scaled = batch.scale * batch.scores
    differences = scaled[:, None] - scaled[None, :]
    kept = ordered(batch).T  # the source's rows are the lower pairs
    masked = differences - (1 - kept.long()) * MASK
    found = {
        "scaled": scaled,
        "differences": differences,
        "ordered": kept.double(),
        "masked": masked,
        "terms": differences[kept],
    }
    comparisons = [
        row
        for name, numbers in batch.printed.items()
        for row in _steps(
            SYMBOLS[name],
            found[name].reshape(-1, len(batch)),
            torch.tensor(numbers).double().reshape(-1, len(batch)),
        )
    ]
    printed = float(torch.cat([torch.zeros(1).double(), masked.flatten()]).logsumexp(0))
    ours = loss_of(batch)
    single = float(_as_printed(batch, torch.float32))
    loss = Comparison(
        Side(r"\operatorname{logsumexp}(0, t)", printed), "=", Side(r"\mathcal L", ours)
    )
    facts = [Side(r"\mathcal L_{\texttt{float32}}", single)]
    if ours:
        facts.append(
            Side(
                r"\lvert\mathcal L_{\texttt{float32}} / \mathcal L - 1\rvert",
                abs(single / ours - 1),
            )
        )
    return Check((loss, *comparisons), tuple(facts))


def _as_printed(batch: ClaimBatch, dtype: torch.dtype, mask: Tensor | float = MASK) -> Tensor:
    """S0's loss on scores of a type; a mask that is a tensor keeps that type."""
    scaled = batch.scores.to(dtype) * batch.scale
    differences = scaled[:, None] - scaled[None, :]
    apart = 1 - ordered(batch).T.long()
    terms = (differences - apart * mask).flatten()
    return torch.cat([torch.zeros(1).to(terms), terms]).logsumexp(0)


def subtracted_mask(batch: ClaimBatch) -> Check:
    """Compute S0's loss in four types, as printed and with the constant as a tensor of the type."""
    comparisons = []
    for dtype in TYPES:
        name = str(dtype).removeprefix("torch.")
        scaled = batch.scores.to(dtype) * batch.scale
        # Each type rounds its scores; the exact loss of the rounded differences is the right one.
        rounded = (scaled[:, None] - scaled[None, :]).double()[ordered(batch).T]
        exact = float(torch.cat([torch.zeros(1).double(), rounded]).logsumexp(0))
        side = Side(rf"\mathcal L_{{\texttt{{{name}}}}}", float(_as_printed(batch, dtype)))
        right = Side(r"\mathcal L", exact)
        as_tensor = float(_as_printed(batch, dtype, torch.tensor(MASK).to(dtype)))
        eps = torch.finfo(dtype).eps
        comparisons += [
            Comparison(side, "=", right, tolerance=FLOAT32_TOLERANCE),
            Comparison(
                replace(side, value=as_tensor),
                "=",
                right,
                part="tensor",
                tolerance=Tolerance(4 * eps, max(4 * eps, FLOAT32_TOLERANCE.least)),
            ),
        ]
    return Check(tuple(comparisons))


def _refusal(attempt: Callable[[], object]) -> str:
    """Return the name of the error that the attempt raises, "" if none."""
    try:
        attempt()
    except (NameError, RuntimeError, TypeError) as error:
        return type(error).__name__
    return ""


def hinge_code(batch: ClaimBatch) -> Check:
    """Run each step of S3's code, and compare the loss by the corrected steps with ours."""
    scores, labels = batch.scores, batch.labels
    column, count = scores[:, None], len(batch)
    with_itself: tuple[Any, ...] = (column, 1, 0)
    attempts: dict[str, Callable[[], object]] = {
        r"\texttt{label}": lambda: eval("label", {"labels": labels}),
        rf"\texttt{{score.expand(1, {count})}}": lambda: column.expand(1, count),
        r"\texttt{x.transpose(x, 1, 0)}": lambda: column.transpose(*with_itself),
    }
    errors = {latex: _refusal(attempt) for latex, attempt in attempts.items()}
    refused = [
        Comparison(Side(latex, float(bool(error)), error or "✓"), "=", Side("", 0.0, "✓"))
        for latex, error in errors.items()
    ]
    # Every pair's row against every pair's column.
    higher, lower = scores[:, None].expand(count, count), scores[None, :].expand(count, count)
    gaps = torch.relu(labels[:, None] - labels[None, :])
    hinge = torch.relu(lower - higher + MARGIN)
    corrected = float((hinge * gaps).sum() / (gaps.sum() + EPS))
    ours = float(pairwise_hinge(scores, labels, margin=MARGIN, eps=EPS))
    same = Comparison(
        Side(r"\mathcal L_{\text{S3}}", corrected),
        "=",
        Side(r"\mathcal L_{\text{hinge}}", ours),
        part=CORRECTED,
    )
    return Check((*refused, same))


def all_pairs(batch: ClaimBatch) -> Check:
    """Count the pairs of pairs in S3's matrices, and those that carry loss."""
    count = len(batch)
    cells = ~torch.eye(count, dtype=torch.bool)
    weighted = torch.relu(batch.labels[:, None] - batch.labels[None, :]) > 0
    pairs = Comparison(
        Side(r"\#\{(i, j): i \ne j\}", float(cells.sum())),
        "=",
        Side("N^2 - N", float(count**2 - count)),
    )
    carry = Comparison(
        Side(r"\#\{(i, j): \operatorname{relu}(y_i - y_j) > 0\}", float(weighted.sum())),
        "=",
        Side("N^2 - N", float(count**2 - count)),
        part="carry",
    )
    corrected = Comparison(carry.left, "≤", Side(r"(N^2 - N)/2", (count**2 - count) / 2), CORRECTED)
    return Check((pairs, carry, corrected))


CLAIMS = (
    Claim(
        name="S0-example",
        source="S0",
        formula=r"\mathcal L = \operatorname{logsumexp}\,[0, -14, -16, -12, -14]",
        check=printed_example,
        examples=(S0_EXAMPLE,),
        losses=("cosent",),
    ),
    Claim(
        name="S0-mask",
        source="S0",
        formula=r"t_{ji} = \lambda(s_j - s_i) - 10^{12}\,[y_j \ge y_i]",
        check=subtracted_mask,
        examples=(S0_EXAMPLE,),
        losses=("cosent",),
    ),
    Claim(
        name="S3-code",
        source="S3",
        formula=r"\mathcal L = \frac{\sum_{i,j} \operatorname{relu}(s_j - s_i + m)\,"
        r"\operatorname{relu}(y_i - y_j)}{\sum_{i,j} \operatorname{relu}(y_i - y_j) + \epsilon}",
        check=hinge_code,
        examples=(S1_EXAMPLE,),
        losses=("pairwise_hinge",),
        scaled=False,
    ),
    Claim(
        name="S3-pairs",
        source="S3",
        formula=r"\#\{(i, j): i \ne j\} = N^2 - N",
        check=all_pairs,
        examples=(S0_EXAMPLE,),
        losses=("pairwise_hinge",),
        scaled=False,
    ),
)
