"""The adapter's log in memory, and Kafka's own MockLog: both give the same answers."""

import os
import shlex
import subprocess
from pathlib import Path

from tests.conformance.adapter_builds import KAFKAS_TESTS, skipped_if_missing

from kraft_kafka.adapter import command_line
from kraft_kafka.jars import fetched, released
from kraft_kafka.releases import releases

COMPARISON = Path(__file__).parent / "java" / "LogComparison.java"
SEEDS = 60
OPERATIONS = 50


def test_the_log_gives_the_answers_of_mock_log(tmp_path: Path) -> None:
    with skipped_if_missing():
        kafka = released(releases()[KAFKAS_TESTS.version])
        mocks = fetched((KAFKAS_TESTS,))
        adapter = Path(shlex.split(command_line(kafka, "wire"))[0]).parent / "classes"
    path = os.pathsep.join(map(str, (tmp_path, adapter, *kafka.class_path, *mocks)))
    subprocess.run(["javac", "-nowarn", "-cp", path, "-d", str(tmp_path), str(COMPARISON)], check=True)
    command = ["java", "-cp", path, "org.apache.kafka.raft.LogComparison", str(SEEDS), str(OPERATIONS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    times = {name: int(number) for name, _, number in (line.rpartition(" ") for line in done.stdout.splitlines())}
    operations = {name.removesuffix(" refused") for name in times}
    assert len(operations) == 12, times
    assert min(times.get(name, 0) for name in operations) > 20, times
