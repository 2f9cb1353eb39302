"""Remedies to paste: for texts that stand in a batch twice, each tried on the data before it is
advised, and for labels of one pair that differ as raters do."""

from __future__ import annotations

import json

from explorer.lab.doctor.profile import Profile
from explorer.runtime.numbers import percent
from explorer.sources.samplers import Epoch, epoch_without_duplicates, largest_without_duplicates
from losses import LOSSES, LossSpec

# To paste beside `from sentence_transformers.sentence_transformer import losses`.
NO_DUPLICATES = "batch_sampler=BatchSamplers.NO_DUPLICATES"
SMALLER_BATCH = "per_device_train_batch_size={size}, " + NO_DUPLICATES
# And beside `from losses.sentence_transformers import training_loss`, which has the mask.
MASKED = 'loss = training_loss("{loss}")(model, {convention}twins="leave_out")'

# One row, with the mean label, for each pair whose labels differ by at most `limit`.
MEAN_LABELS = """\
import unicodedata
from datasets import Dataset
def folded(text):
    text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", text).split())
table = dataset.to_pandas()
pair = table[{names}].apply(lambda row: tuple({order}(map(folded, row))), axis=1)
labels = table.groupby(pair)[{label}]
is_noise = labels.transform("max") - labels.transform("min") <= {limit}
table[{label}] = table[{label}].where(~is_noise, labels.transform("mean"))
dataset = Dataset.from_pandas(table[~(is_noise & pair.duplicated())], preserve_index=False)"""


def mean_labels(profile: Profile) -> str:
    """The mean in place of the labels of one pair that differ as raters do, to paste."""
    return MEAN_LABELS.format(
        names=json.dumps(list(profile.text_columns), ensure_ascii=False),
        label=json.dumps(profile.label_column, ensure_ascii=False),
        order="sorted" if profile.is_symmetric else "",
        limit=round(profile.rater_noise * (1 + 1e-9), 12),
    )


def without_duplicates(profile: Profile, spec: LossSpec, batch: int) -> tuple[Epoch, list[str]]:
    """Draw an epoch of these rows in which no text stands twice in a batch, and return what it
    holds, with what to paste: first what makes a whole epoch of this batch size, then less."""
    texts = _texts(profile)
    epoch = epoch_without_duplicates(texts, min(batch, len(texts)))
    masked = [masked_call(spec)] if spec.reads_texts else []
    if epoch.works:
        return epoch, [NO_DUPLICATES, *masked]
    fits = largest_without_duplicates(texts, min(batch, len(texts)))
    return epoch, [*masked, *([SMALLER_BATCH.format(size=fits)] if fits else [])]


def epoch_values(epoch: Epoch, rows: int) -> dict[str, int | float | str]:
    """The numbers of an epoch, for a sentence."""
    return {
        "batches": epoch.batches,
        "expected": epoch.expected,
        "seen": epoch.seen,
        "rows": rows,
        "repeats": percent(epoch.repeats),
    }


def _texts(profile: Profile) -> list[tuple[int, ...]]:
    """The numbers of the texts of each row, each once."""
    rows: list[dict[int, None]] = [{} for _ in profile.heads]
    for side in (profile.first, profile.second):
        for row, text in zip(profile.row_of.tolist(), side.tolist(), strict=True):
            rows[row][text] = None
    return [tuple(texts) for texts in rows]


def masked_call(spec: LossSpec) -> str:
    """The loss of this repository that leaves keys of the same text out, to paste."""
    own = LOSSES[spec.name]
    alike = spec.defaults == own.defaults and spec.definition is own.definition
    convention = "" if alike else f"convention={json.dumps(spec.convention)}, "
    return MASKED.format(loss=spec.name, convention=convention)
