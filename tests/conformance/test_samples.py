"""The recorded samples are what the reference does today, and what their descriptions say."""

from itertools import zip_longest

import pytest

from kraft_dev.samples import (
    ALL_SAMPLES,
    PARTITION_SAMPLES,
    SAMPLES,
    Sample,
    sample_folder,
)
from kraft_traces.check import RejectionKind, VerdictKind, check_reader
from kraft_traces.partitions.checker import check_partition_file
from kraft_traces.partitions.process import PartitionProcess
from kraft_traces.reader import open_trace


@pytest.mark.parametrize("sample", ALL_SAMPLES, ids=lambda sample: sample.name)
def test_recording_again_gives_the_same_bytes(sample: Sample) -> None:
    committed = (sample_folder() / sample.name).read_bytes().splitlines()
    again = b"".join(sample.record()).splitlines()
    differing = [number for number, pair in enumerate(zip_longest(committed, again), 1) if pair[0] != pair[1]]
    assert not differing, f"lines {differing[:5]} differ; if the change is meant: make samples"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_the_verdict_on_a_sample(sample: Sample) -> None:
    with open_trace(sample_folder() / sample.name) as reader:
        verdict = check_reader(reader)
    if sample.name == "resumed-too-early.jsonl":
        assert verdict.rejection is not None
        assert (verdict.rejection.event, verdict.rejection.properties) == ("AdvanceReassignment", ("ConfigOverlap",))
        assert verdict.rejection.rules[0] == "voters.epoch-committed-before-change"
        return
    if sample.name != "mutant.jsonl":
        assert verdict.kind is VerdictKind.ACCEPTED
        assert verdict.rejection is None
        return
    assert verdict.kind is VerdictKind.REJECTED
    rejection = verdict.rejection
    assert rejection is not None
    assert rejection.kind is RejectionKind.MISMATCH
    assert (rejection.event, rejection.role) == ("HandleVoteRequest", "Follower")
    assert "prevote.follower.rejects-after-fetch" in rejection.rules[:3]
    assert [difference.field for difference in rejection.differences] == ["effects[0].message.granted"]


def test_the_verdicts_on_the_samples_of_partitions() -> None:
    with PartitionProcess() as process:
        verdicts = {
            sample.name: process.ask(check_partition_file, sample_folder() / sample.name, sample.name, strict=True)
            for sample in PARTITION_SAMPLES
        }
    rejected = verdicts.pop("partition-mutant.jsonl").rejection
    assert rejected is not None
    assert (rejected.kind, rejected.event) == (RejectionKind.MISMATCH, "CompleteReassignment")
    assert rejected.explained_by == ("partition-reassign.add-before-remove",)
    assert {name: (verdict.kind, verdict.given_up) for name, verdict in verdicts.items()} == {
        "partition-normal.jsonl": (VerdictKind.ACCEPTED, ()),
        "partition-override-kafka-4.jsonl": (
            VerdictKind.ACCEPTED,
            ("CancelRestores", "CompletesAsAsked", "ListsAreConsistent"),
        ),
        "partition-chaos.jsonl": (VerdictKind.ACCEPTED, ()),
    }
    assert not any(verdict.other_model for verdict in verdicts.values())


def test_the_page_has_every_sample() -> None:
    page = (sample_folder() / "README.md").read_text(encoding="utf-8")
    assert {sample.name for sample in ALL_SAMPLES} == {
        line.split("`")[1] for line in page.splitlines() if line.startswith("| `")
    }
    assert {file.name for file in sample_folder().glob("*.jsonl")} == {s.name for s in ALL_SAMPLES}
