"""The checker against the usual way to check a trace: a process of `tlc2.TLC` for each of them.

Both sides start from nothing and count it.
Ours is one `kraft-spec validate` over a folder of traces: Python, one Java, one parse of the model.
The usual way has Java start, TLC parse the model and the trace, and walk through it, for each trace anew.
What turns a trace into the TLA+ module that TLC reads is not counted.
"""

import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from kraft_dev.benchmark.batch_module import batch_module
from kraft_dev.benchmark.figure import BenchmarkError
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


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both ways over the same traces."""

    traces: int
    events: int
    """In all traces."""
    own_seconds: float
    own_cpu_seconds: float
    usual_traces: int
    """How many traces the usual way was measured with; all, unless a sample was asked for."""
    usual_seconds: float
    """Of all traces; extrapolated if only a sample was measured."""
    usual_cpu_seconds: float
    start_seconds: float
    """One process of TLC with a trace of one event: what starting and parsing the model alone cost."""

    @property
    def is_extrapolated(self) -> bool:
        """Was only a sample of the traces measured in the usual way?"""
        return self.usual_traces < self.traces

    @property
    def ratio(self) -> float:
        """By the clock, one process after the other."""
        return self.usual_seconds / self.own_seconds

    @property
    def cpu_ratio(self) -> float:
        """In CPU time of all threads."""
        return self.usual_cpu_seconds / self.own_cpu_seconds


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
) -> Comparison:
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
    scale = len(recordings) / len(sampled)
    return Comparison(
        traces=len(recordings),
        events=sum(one.events for one in recordings),
        own_seconds=own.seconds,
        own_cpu_seconds=own.cpu_seconds,
        usual_traces=len(sampled),
        usual_seconds=usual.seconds * scale,
        usual_cpu_seconds=usual.cpu_seconds * scale,
        start_seconds=start.seconds,
    )


def _write_module(folder: Path, name: str, recording: Recording, every: int, events: int | None = None) -> str:
    jvm.start()  # Keys of one id are written in the order of TLC's own table.
    text = batch_module(name, trace_of_bytes(recording.content, recording.name), every=every, events=events)
    (folder / f"{name}.tla").write_text(text, encoding="utf-8")
    return name


def _check_module(folder: Path, module: str) -> ModelCheckReport:
    return check_model(folder, module, CONFIGURATION, ModelCheckOptions(workers=1, check_deadlock=True))
