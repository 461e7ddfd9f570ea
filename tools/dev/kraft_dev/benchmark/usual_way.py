"""The checker against the usual way to check a trace: a process of `tlc2.TLC` for each of them.

Both sides start from nothing and count it.
Ours is one `kraft-spec validate` over a folder of traces: Python, one Java, one parse of the model.
The usual way has Java start, TLC parse the model and the trace, and walk through it, for each trace anew.
What turns a trace into the TLA+ module that TLC reads is not counted.
"""

import shutil
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from kraft_dev.benchmark.batch_module import batch_module
from kraft_dev.benchmark.figure import BenchmarkError, Figure
from kraft_dev.benchmark.recording import Recording
from kraft_dev.benchmark.whole_commands import cost_of, run_command, write_files
from kraft_spec.experiments import model_without
from kraft_spec.tlc import jvm
from kraft_spec.tlc.model_check import ModelCheckOptions, check_model
from kraft_spec.tlc.model_report import ModelCheckReport, Outcome
from kraft_traces.check import EVERY
from kraft_traces.reader import trace_of_bytes

RATIO_TARGET = 100
"""How many times faster than the usual way."""

CONFIGURATION = "TraceBatch"


def check_in_tlc(folder: Path, recording: Recording, *, every: int = EVERY) -> ModelCheckReport:
    """Have a process of TLC walk through a trace; `folder` is one of `batch_folder`."""
    module = _write_module(folder, "Recorded", recording, every)
    return _check_module(folder, module)


def batch_folder(folder: Path, switched_off: Collection[str] = ()) -> Path:
    """Put the modules of the model without these rules into a folder, for the generated modules to extend."""
    with model_without(switched_off) as source:
        for module in source.glob("*.tla"):
            shutil.copyfile(module, folder / module.name)
        shutil.copyfile(source / f"{CONFIGURATION}.cfg", folder / f"{CONFIGURATION}.cfg")
    return folder


def accepts(report: ModelCheckReport, events: int) -> bool:
    """Did TLC take every line?  Two states a line, and the first."""
    return report.outcome is Outcome.OK and report.progress.states_distinct == 2 * events + 1


def compare(
    recordings: Sequence[Recording],
    *,
    sample: int | None = None,
    every: int = EVERY,
    on_trace: Callable[[], None] | None = None,
) -> list[Figure]:
    """Check the traces both ways; `sample` measures the usual way with the first so many only.

    Raises:
        BenchmarkError: a side does not accept a trace.
    """
    sampled = recordings[:sample]
    with TemporaryDirectory(prefix="kraft-spec-bench-") as temporary:
        traces = Path(temporary) / "traces"
        write_files(recordings, traces)
        own = cost_of(lambda: run_command("validate", "--every", str(every), str(traces)))
        models = Path(temporary) / "models"
        models.mkdir()
        batch_folder(models)
        modules = [_write_module(models, f"Recorded{i}", one, every) for i, one in enumerate(sampled)]

        def check_all() -> None:
            for one, module in zip(sampled, modules, strict=True):
                report = _check_module(models, module)
                if not accepts(report, one.events):
                    raise BenchmarkError(f"TLC does not accept {one.name}: {report.outcome.value} {report.message}")
                if on_trace is not None:
                    on_trace()

        usual = cost_of(check_all)
        first_event = _write_module(models, "FirstEvent", recordings[0], every, events=1)
        start = cost_of(lambda: _check_module(models, first_event))
    number, scale = len(recordings), len(recordings) / len(sampled)
    extrapolated = "" if scale == 1 else f", extrapolated from {len(sampled)}"
    per_trace = f"one process of TLC for each of {number} traces{extrapolated}"
    return [
        Figure("against TLC per trace, CPU time", usual.cpu_seconds * scale / own.cpu_seconds, RATIO_TARGET),
        Figure("against TLC per trace, by the clock", usual.seconds * scale / own.seconds),
        Figure(f"kraft-spec validate, {number} traces", own.cpu_seconds, unit="CPU s"),
        Figure(per_trace, usual.cpu_seconds * scale, unit="CPU s"),
        Figure("one process of TLC, a trace of one event, by the clock", start.seconds, unit="s"),
    ]


def _write_module(folder: Path, name: str, recording: Recording, every: int, events: int | None = None) -> str:
    jvm.start()  # Keys of one id are written in the order of TLC's own table.
    text = batch_module(name, trace_of_bytes(recording.content, recording.name), every=every, events=events)
    (folder / f"{name}.tla").write_text(text, encoding="utf-8")
    return name


def _check_module(folder: Path, module: str) -> ModelCheckReport:
    return check_model(folder, module, CONFIGURATION, ModelCheckOptions(workers=1, check_deadlock=True))
