"""A training that is started, watched and asked of over HTTP."""

from __future__ import annotations

import time

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from tests.unit.web.test_api_offered import training_pairs


def test_a_training_over_http(address, kept):
    client = Client(address, verbose=False)
    given = {**training_pairs(), "encoder": "scratch"}
    options = {"steps": 4, "batch_size": 4, "dimension": 8}
    started = client.predict(
        loss="cosent",
        **given,
        options=options,
        parameters={"scale": 10},
        api_name="/start_training",
    )
    end = time.monotonic() + 600
    while (status := client.predict(started["id"], api_name="/training_status"))["state"] not in (
        "finished",
        "failed",
    ):
        assert time.monotonic() < end
        time.sleep(0.2)
    assert status["problem"] is None
    assert status["summary"]["steps"] == 4
    assert [r["step"] for r in status["records"] if r["kind"] == "step"] == [1, 2, 3, 4]
    with pytest.raises(AppError, match="is “Finished”"):
        client.predict(started["id"], api_name="/stop_training")
