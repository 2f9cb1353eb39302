"""A callback for Lightning that logs measurements of a training's batches, and saves some of them.

from lossprism.losses.lightning import PrismCallback
lightning.Trainer(callbacks=[PrismCallback(every=50, folder="prism")]).fit(module, data)
"""

from pathlib import Path
from typing import Any

from lossprism.losses.sentence_transformers.loss_call_recorder import losses_in
from lossprism.losses.sentence_transformers.step_probe import StepProbe

try:
    from lightning.pytorch.callbacks import Callback  # pyright: ignore[reportMissingImports]
except ImportError:
    raise ImportError(
        "lossprism.losses.lightning needs Lightning, which is not installed: pip install lightning"
    ) from None

PREFIX = "prism_"


class PrismCallback(Callback):
    """Measurements of batches, for a LightningModule that has a module of `losses.modules`.

    At the first step and every `every` steps it logs what `lossprism.probe` measures of that step's
    batch to the trainer's loggers: ``prism_loss``, ``prism_collapse``, ``prism_floor``,
    ``prism_effective_terms``, ``prism_gradient_norm``, ``prism_positive_cosine`` and
    ``prism_negative_cosine``. The first process measures its own batch; of accumulated batches it
    measures the last.

    Args:
        every: steps between measurements.
        folder: the folder for saved batches, to open with ``python app.py --open FOLDER``; None
            saves none.
        most: maximum number of saved batches, spread over the training.

    An error in here never ends the training; it is reported once.
    """

    def __init__(
        self, every: int = 50, folder: str | Path | None = None, *, most: int = 50
    ) -> None:
        self.steps = StepProbe(every, folder, most)

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        if not [*losses_in(pl_module)]:
            reason = "the module has no module of lossprism.losses.modules; nothing is logged"
            self.steps.say("begin", reason)

    def on_train_batch_start(
        self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int
    ) -> None:
        if trainer.is_global_zero:
            self.steps.begin_step(trainer.global_step + 1, losses_in(pl_module), pl_module)

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        self.steps.measure()

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if self.steps.measured is not None:
            self.steps.guarded(lambda: self._log_measured(trainer))
        self.steps.end_step()

    def _log_measured(self, trainer: Any) -> None:
        measured = self.steps.measured
        assert measured is not None
        figures = {f"{PREFIX}{name}": value for name, value in measured.figures.items()}
        for logger in trainer.loggers:
            logger.log_metrics(figures, step=trainer.global_step)
        self.steps.save(measured, trainer.global_step)
