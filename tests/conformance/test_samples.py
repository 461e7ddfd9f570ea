"""The recorded samples are what the reference does today, and what their descriptions say."""

from itertools import zip_longest

import pytest

from kraft_conformance.samples import SAMPLES, Sample, recorded, sample_folder
from kraft_traces.check import RejectionKind, VerdictKind, check_reader
from kraft_traces.reader import open_trace


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_recording_again_gives_the_same_bytes(sample: Sample) -> None:
    committed = (sample_folder() / sample.name).read_bytes().splitlines()
    again = recorded(sample).splitlines()
    differing = [number for number, pair in enumerate(zip_longest(committed, again), 1) if pair[0] != pair[1]]
    assert not differing, f"lines {differing[:5]} differ; if the change is meant: make samples"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_the_verdict_on_a_sample(sample: Sample) -> None:
    with open_trace(sample_folder() / sample.name) as reader:
        verdict = check_reader(reader)
    if sample.name != "planted-bug.jsonl":
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
