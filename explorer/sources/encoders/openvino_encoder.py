"""Any sentence encoder, run by OpenVINO on the processor: "openvino:" before its name.

The package is an extra, `pip install lossprism[openvino]`, and is used by this name alone.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import encoders
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.encoders.bundled_encoder import OPENVINO
from lossprism.explorer.sources.encoders.encoder_interface import Backend
from lossprism.explorer.sources.encoders.sentence_encoder import SENTENCE_ENCODER, SentenceEncoder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from transformers.modeling_outputs import BaseModelOutput


class OpenVinoEncoder(SentenceEncoder):
    """A sentence encoder whose transformer OpenVINO runs, in float32; sentence-transformers does
    all else. Its vectors differ from the encoder's own by rounding, so they are cached apart."""

    def model(self, device: str | None) -> SentenceTransformer:
        return self.loaded(_load, SENTENCE_ENCODER, "cpu")


def _load(path: str, **options: Any) -> SentenceTransformer:
    """Return a SentenceTransformer with a compiled transformer. Its options are those of the
    class."""
    import openvino  # pyright: ignore[reportMissingImports]
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.modeling_outputs import BaseModelOutput

    model = SentenceTransformer(path, **options)
    transformer: Any = model[0].auto_model
    example = dict(model.tokenizer(["two", "texts"], return_tensors="pt"))
    with torch.no_grad():
        graph = openvino.convert_model(transformer, example_input=example)
    # Without the hint, OpenVINO computes in bfloat16 where the processor can.
    threads = torch.get_num_threads()
    config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
    compiled = openvino.compile_model(graph, "CPU", config)
    names = [read.get_any_name() for read in compiled.inputs]

    def forward(**inputs: Any) -> BaseModelOutput:
        outputs = compiled([inputs[name].numpy() for name in names])
        return BaseModelOutput(last_hidden_state=torch.from_numpy(outputs["last_hidden_state"]))

    transformer.forward = forward
    return model


def _own_name(name: str) -> str:
    return name.removeprefix(OPENVINO).strip()


def _find(name: str) -> OpenVinoEncoder:
    if importlib.util.find_spec("openvino") is None:
        raise Problem("openvino_missing", about="encoder")
    encoder = encoders.locate(_own_name(name))
    if type(encoder) is not SentenceEncoder:
        raise Problem("openvino_encoder", about="encoder", encoder=shortened(encoder.name))
    return OpenVinoEncoder(name, OPENVINO + encoder.identity, encoder.path)


BACKEND = Backend(
    takes=lambda name: name.startswith(OPENVINO),
    find=_find,
    is_here=lambda name: encoders.is_here(_own_name(name)),
    check_consent=lambda name: encoders.check_consent(_own_name(name)),
    check_size=lambda name: encoders.check_download(_own_name(name)),
)
