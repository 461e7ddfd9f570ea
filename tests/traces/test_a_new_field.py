"""A field that a message gets is declared in the reference, said in the model's record and filled by the rule: no more.

The field of the example is that of KIP-1166: a Fetch says which high watermark its sender knows.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kraft_spec.edits import Edit, apply_edits

ROOT = Path(__file__).parents[2]

EDITS = (
    Edit(
        "reference/kraft_reference/messages.py",
        '''    """Epoch of the sender's last record, 0 for an empty log."""
''',
        '''    """Epoch of the sender's last record, 0 for an empty log."""
    high_watermark: int
    """The largest one that the sender knows."""
''',
    ),
    Edit(
        "reference/kraft_reference/replication.py",
        "        last_epoch=state.log.last_epoch,\n",
        "        last_epoch=state.log.last_epoch,\n        high_watermark=state.high_watermark,\n",
    ),
    Edit(
        "spec/kraft_spec/tla/Replication.tla",
        "fetch_offset |-> EndOffset(s), ",
        "fetch_offset |-> EndOffset(s), high_watermark |-> s.high_watermark, ",
    ),
)
"""The dataclass, the rule and the model's record."""


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages with the field."""
    copy = tmp_path_factory.mktemp("scratch")
    for package in ("reference", "spec", "traces", "conformance"):
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__", "data", "samples"))
    apply_edits(copy, EDITS)
    return copy


def run(scratch: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(str(scratch / package) for package in ("reference", "spec", "traces", "conformance"))
    command = [sys.executable, "-c", "from kraft_cli.cli import main; raise SystemExit(main())", *words]
    return subprocess.run(command, cwd=scratch, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)


@pytest.mark.nightly
def test_the_field_is_written_and_checked(scratch: Path) -> None:
    trace = scratch / "run.jsonl"
    simulated = run(scratch, "simulate", "--seed", "3", "--steps", "200", "--output", str(trace))
    assert simulated.returncode == 0, simulated.stderr
    right = run(scratch, "validate", str(trace))
    assert right.returncode == 0, right.stdout

    text = trace.read_text(encoding="utf-8")
    trace.write_text(text.replace('"last_epoch":0,"high_watermark":-1', '"last_epoch":0,"high_watermark":7', 1))
    wrong = run(scratch, "validate", str(trace))
    assert wrong.returncode == 1
    assert "effects[0].message.high_watermark" in wrong.stdout


@pytest.mark.nightly
def test_a_line_without_the_field_is_no_whole_line(scratch: Path) -> None:
    trace = scratch / "other.jsonl"
    assert run(scratch, "simulate", "--seed", "4", "--steps", "50", "--output", str(trace)).returncode == 0
    text = trace.read_text(encoding="utf-8")
    trace.write_text(text.replace('"last_epoch":0,"high_watermark":-1', '"last_epoch":0', 1))
    assert "missing" in run(scratch, "validate", str(trace)).stdout


@pytest.mark.nightly
def test_scenarios_and_experiments_know_the_field(scratch: Path) -> None:
    played = run(scratch, "scenario", "full-omission-flip-flop")
    assert played.returncode == 0, played.stdout
