"""Any sentence encoder, run by OpenVINO on the processor: "openvino:" before its name in float32,
"openvino-int8:" with weights of 8 bits.

The packages are extras, `pip install lossprism[openvino]` and `lossprism[openvino-int8]`, and are
used by these names alone.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import logging
from typing import TYPE_CHECKING, Any

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import encoders
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.encoders.bundled_encoder import OPENVINO, OPENVINO_INT8
from lossprism.explorer.sources.encoders.encoder_interface import Backend
from lossprism.explorer.sources.encoders.sentence_encoder import SENTENCE_ENCODER, SentenceEncoder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from transformers.modeling_outputs import BaseModelOutput

# The packages that each kind of name needs.
PACKAGES = {OPENVINO: ("openvino",), OPENVINO_INT8: ("openvino", "nncf")}


class OpenVinoEncoder(SentenceEncoder):
    """A sentence encoder whose transformer OpenVINO runs; sentence-transformers does all else. Its
    vectors differ from the encoder's own, so they are cached apart."""

    def model(self, device: str | None) -> SentenceTransformer:
        load = _load_with_8_bits if _approximated_by(self.name) else _load
        return self.loaded(load, SENTENCE_ENCODER, "cpu")


def _load_with_8_bits(path: str, **options: Any) -> SentenceTransformer:
    return _load(path, with_8_bits=True, **options)


def _load(path: str, *, with_8_bits: bool = False, **options: Any) -> SentenceTransformer:
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
    if with_8_bits:
        graph = _with_weights_of_8_bits(graph)
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


def _with_weights_of_8_bits(graph: Any) -> Any:
    """Return the graph with integer weights and a scale and zero for each channel; OpenVINO then
    also multiplies them by activations of 8 bits, in groups with a scale of their own."""
    import nncf  # pyright: ignore[reportMissingImports]

    # It logs a table of the layers and prints a progress bar. Errors of other threads still show.
    nncf.set_log_level(logging.ERROR)
    with contextlib.redirect_stdout(io.StringIO()):
        return nncf.compress_weights(graph)


def _prefix_of(name: str) -> str | None:
    return next((prefix for prefix in PACKAGES if name.startswith(prefix)), None)


def _own_name(name: str) -> str:
    return name.removeprefix(_prefix_of(name) or "").strip()


def _approximated_by(name: str) -> str:
    return _own_name(name) if name.startswith(OPENVINO_INT8) else ""


def _find(name: str) -> OpenVinoEncoder:
    prefix = _prefix_of(name) or OPENVINO
    for package in PACKAGES[prefix]:
        if importlib.util.find_spec(package) is None:
            raise Problem("openvino_missing", about="encoder", package=package)
    encoder = encoders.locate(_own_name(name))
    if type(encoder) is not SentenceEncoder:
        values = {"encoder": shortened(encoder.name), "prefix": prefix}
        raise Problem("openvino_encoder", about="encoder", **values)
    return OpenVinoEncoder(name, prefix + encoder.identity, encoder.path)


BACKEND = Backend(
    takes=lambda name: _prefix_of(name) is not None,
    find=_find,
    is_here=lambda name: encoders.is_here(_own_name(name)),
    check_consent=lambda name: encoders.check_consent(_own_name(name)),
    check_size=lambda name: encoders.check_download(_own_name(name)),
    approximates=_approximated_by,
)
