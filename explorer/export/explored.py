"""An exploration as the Explore page is told of it: what a worker process can make by itself."""

from __future__ import annotations

import dataclasses

from explorer.core.batch import Batch
from explorer.core.explore import explore
from explorer.core.marks import planted, said_by_teacher, same_texts
from explorer.core.models import has_words
from explorer.core.remarks import remarks, speaks_another_language, suggested_scale
from explorer.core.resolve import Resolved
from explorer.export.picture import describe_batch, picture
from explorer.runtime.cache import Cache
from explorer.runtime.limits import KEPT_BATCHES
from explorer.runtime.wire import Json

# By their names: whoever asks again need not send them.
_batches: Cache[Batch] = Cache(KEPT_BATCHES)


def explored(resolved: Resolved, batch: Batch, key: str = "") -> Json:
    """{picture, batch?}: what does not change while a slider moves is told under the `key` of the
    batch, if that is given."""
    found = explore(resolved, batch)
    answer: Json = {"picture": picture(found)}
    answer["picture"]["remarks"] = [dataclasses.asdict(remark) for remark in remarks(found)]
    if key:
        data, seen = found.scenario.data, found.batch
        answer["batch"] = {
            "key": key,
            "scale": suggested_scale(seen),
            "sigma": float(seen.scores.std(correction=0)),
            "foreign": speaks_another_language(found),
            "editable": has_words(data),
            "same_texts": [dataclasses.asdict(one) for one in same_texts(seen, data)],
            "planted": [dataclasses.asdict(one) for one in planted(seen.pairs, data)],
            "teacher": said_by_teacher(seen.pairs),
            **describe_batch(seen),
        }
    return answer


def told(
    resolved: Resolved, key: str = "", name: str = "", batch: Batch | None = None
) -> Json | None:
    """What `explored` tells. A random batch is drawn here; another is sent once, and then goes by
    its `name`: None where there is none of that name."""
    if batch is not None:
        _batches.put(name, batch)
    elif name:
        batch = _batches.get(name)
    else:
        batch = resolved.batch
    return None if batch is None else explored(resolved, batch, key)
