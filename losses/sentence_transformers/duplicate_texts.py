"""Equal texts among the rows of a trainer's batch, as far as the model can tell them apart."""

import hashlib
from collections.abc import Collection, Iterator, Mapping

import torch
from torch import Tensor, nn


def text_numbers(column: Mapping[str, Tensor], apart: Collection[int]) -> Tensor:
    """Number the texts of a column, equal texts alike in every process: int64 [N].

    The trainer passes tokens and no texts, so rows of equal tokens are one text: a lower-casing
    model does not distinguish case, and only the part of a truncated text that the model reads
    counts. The prompt before a text, if the column tells its length, is no part of it, nor are the
    tokens `apart`, which surround every text.

    Raises:
        ValueError: if the column has no tokens.
    """
    if "input_ids" not in column:
        raise ValueError(
            "which rows hold the same text is told by their tokens, and a column has none: it "
            f"has {', '.join(column)}, and no input_ids"
        )
    rows = [_number([one for one in row if one not in apart]) for row in rows_of_tokens(column)]
    return torch.tensor(rows, dtype=torch.int64)


def special_tokens(model: nn.Module) -> set[int]:
    """Return the tokens that the model puts around texts. An unknown word's token is part of the
    text."""
    tokenizer = getattr(model, "tokenizer", None)
    special: Collection[int] = getattr(tokenizer, "all_special_ids", ())
    unknown = getattr(tokenizer, "unk_token_id", None)
    return {token for token in special if token != unknown}


def rows_of_tokens(column: Mapping[str, Tensor]) -> Iterator[list[int]]:
    """Return the tokens of each text of a column, without padding and prompt."""
    tokens = column["input_ids"]
    if tokens.ndim == 1:  # of a static embedding: one text after the other
        starts = column["offsets"].tolist()
        for start, stop in zip(starts, [*starts[1:], len(tokens)], strict=True):
            yield tokens[start:stop].tolist()
        return
    mask = column.get("attention_mask")
    there = torch.ones_like(tokens) if mask is None else mask
    length = column.get("prompt_length", 0)
    skipped = length.flatten()[0].item() if isinstance(length, Tensor) else length
    for row, kept in zip(tokens.cpu(), there.cpu().bool(), strict=True):
        yield row[kept][int(skipped) :].tolist()


def _number(tokens: list[int]) -> int:
    written = torch.tensor(tokens, dtype=torch.int64).numpy().tobytes()
    digest = hashlib.blake2b(written, digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
