"""A folder that holds a sentence encoder: a vector for each sentence, each computed once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lossprism.explorer.locale import word
from lossprism.explorer.sources.encoders.encoder_interface import Report, TokenLengths, ignore
from lossprism.explorer.sources.encoders.encoder_output_cache import Compute, cached_rows
from lossprism.explorer.sources.encoders.safe_model_loading import ModelFolder, letters_read

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

SENTENCE_ENCODER = word("model.bi", "sentence encoder")
TOKENIZED = 512  # texts whose tokens are counted at once


class SentenceEncoder(ModelFolder):
    """A folder that sentence-transformers loads as a `SentenceTransformer`."""

    def encode(self, sentences: Sequence[str], device: str | None = None) -> np.ndarray:
        """Return the vectors, float32 (S, D). Sentences not seen before are encoded in batches; if
        the job is cancelled between two (`explorer.runtime.jobs`), the finished ones need not be
        encoded again."""
        if not sentences:
            size = self.model(device).get_embedding_dimension() or 0
            return np.zeros((0, size), dtype=np.float32)

        def load() -> Compute:
            model = self.model(device)
            letters = letters_read(model.max_seq_length)

            def compute(batch: list[str]) -> np.ndarray:
                texts = [text[:letters] for text in batch]
                return model.encode(texts, convert_to_numpy=True, show_progress_bar=False)

            return compute

        return np.stack(cached_rows(self, sentences, load, "encoding"))

    def token_lengths(
        self, sentences: Sequence[str], report: Report = ignore
    ) -> TokenLengths | None:
        model = self.model(None)
        tokenizer: Any = model.tokenizer
        most = model.max_seq_length
        letters = letters_read(most)
        if most is None or letters is None or not callable(tokenizer):
            return None
        counts = np.zeros(len(sentences), dtype=np.int64)
        for start in range(0, len(sentences), TOKENIZED):
            report(start, len(sentences))
            # As far as `encode` reads, and enough beyond to know that there is more.
            part = [text[: 2 * letters] for text in sentences[start : start + TOKENIZED]]
            tokens: Any = tokenizer(part, truncation=False, padding=False, verbose=False)
            counts[start : start + TOKENIZED] = [len(one) for one in tokens["input_ids"]]
        return TokenLengths(counts, most)

    def model(self, device: str | None) -> SentenceTransformer:
        """Return the model in memory."""
        from sentence_transformers import SentenceTransformer

        return self.loaded(SentenceTransformer, SENTENCE_ENCODER, device)
