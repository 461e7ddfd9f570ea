"""Extent of the comparison of a trace: its recorded fields, and the properties for which they are enough."""

from collections import Counter

import pytest
from msgspec import UNSET
from tests.traces.check.foreign import without
from tests.traces.check.recorded import Recorded, recorded, verdict_on
from tests.traces.checkpointed import FOREIGN

from kraft_traces.check import Compared, Extent, VerdictKind
from kraft_traces.check.compared import GROUPS, PROPERTIES, REQUIREMENTS
from kraft_traces.check.observation import STATE_FIELDS

EVERYTHING = ("message", "effects", "refusal", "answer", "state")
"""What says anything of what a replica did."""


@pytest.fixture(scope="module")
def trace() -> Recorded:
    return recorded("chaos", 3, 150)


def compared(trace: Recorded, at: int | None, *left_out: tuple[str | int, ...]) -> Compared:
    """Return the extent of the comparison of a foreign trace whose events of a type, or all if None, omit fields."""
    lines = [without(line, *(left_out if at in (None, n) else ())) for n, line in enumerate(trace.lines)]
    verdict = verdict_on(trace.header(FOREIGN), lines)
    assert verdict.kind is VerdictKind.ACCEPTED, verdict
    return verdict.compared


def too_few(extent: Compared) -> Counter[str]:
    """The fields, groups and properties for which some events do not show enough, with how many these are."""
    counts = {**extent.fields, **extent.properties, **{f"group {name}": count for name, count in extent.groups.items()}}
    return Counter({name: count.events - count.shown for name, count in counts.items() if not count.always})


def test_every_field_that_is_compared_is_in_one_group() -> None:
    grouped = Counter(field for fields in GROUPS.values() for field in fields)
    assert set(grouped.values()) == {1}
    assert {f"state.{name}" for name, _, _ in STATE_FIELDS} < grouped.keys()
    assert {field for ways in PROPERTIES.values() for way in ways for field in way} <= grouped.keys()
    assert {group for groups in REQUIREMENTS.values() for group in groups} <= GROUPS.keys()


def test_a_trace_that_shows_everything_is_complete_whoever_wrote_it(trace: Recorded) -> None:
    own = verdict_on(trace.header(), trace.raw).compared
    assert own.whole is Extent.COMPLETE
    assert not too_few(own)
    at_replicas = sum(line.replica is not UNSET for line in trace.lines)
    assert own.groups["role"].shown == own.properties["ElectionSafety"].shown == at_replicas < len(trace.lines)
    assert compared(trace, None) == own
    assert not any(own.lacking(name) for name in (*REQUIREMENTS, *PROPERTIES))


@pytest.mark.parametrize(
    ("event", "left_out", "lacking"),
    [
        ("Poll", ("state", "high_watermark"), {"TypeOk", "HwMonotonic", "ConfigOverlap", "group high_watermark"}),
        ("Poll", ("state", "epoch"), {"TypeOk", "ElectionSafety", "EpochMonotonic", "group role"}),
        ("Poll", ("state", "voters", "target"), {"TypeOk", "ConfigAgreement", "IdentityBinding", "group voters"}),
        ("Poll", ("refusal",), {"refusal", "group refusal"}),
        ("HandleVoteRequest", ("message", "last_epoch"), {"message", "PreVoteIsPure", "IdentityBinding"}),
        ("HandleVoteRequest", ("effects",), {"group writes", "group sends", "LogMatching", "OffsetEpochUnique"}),
        ("HandleFetchResponse", ("state", "log_end_offset"), {"TypeOk", "group log"}),
        ("PollFetch", ("input", "destination"), {"input", "group input"}),
    ],
)
def test_what_one_event_leaves_out_is_not_counted_there_and_everywhere_else(
    trace: Recorded, event: str, left_out: tuple[str, ...], lacking: set[str]
) -> None:
    at = next(n for n, line in enumerate(trace.lines) if line.event == event)
    extent = compared(trace, at, left_out)
    few = too_few(extent)
    assert extent.whole is Extent.PARTIAL
    assert set(few.values()) == {1}
    assert lacking <= few.keys()
    if left_out[0] != "effects":
        assert "LogMatching" not in few
    # Nothing is said of an epoch by a high watermark, nor the other way round.
    assert ("HwMonotonic" in few) == (left_out == ("state", "high_watermark"))
    assert ("EpochMonotonic" in few) == (left_out == ("state", "epoch"))


def test_effects_that_leave_out_a_message_s_field_show_writes_and_no_sends(trace: Recorded) -> None:
    place = next(
        (n, index)
        for n, line in enumerate(trace.lines)
        for index, effect in enumerate(line.effects or ())
        if getattr(getattr(effect, "message", None), "last_epoch", None) is not None
    )
    few = too_few(compared(trace, place[0], ("effects", place[1], "message", "last_epoch")))
    assert few == {"sends": 1, "group sends": 1}


def test_names_alone_are_names_only_and_lack_every_requirement() -> None:
    run = recorded("calm", 1, 30)
    names = Recorded(run.configuration, ())
    names.lines = run.lines[:12]
    extent = compared(names, None, *((name,) for name in EVERYTHING))
    assert extent.whole is Extent.NAMES_ONLY
    assert all(count.shown == 0 for count in extent.properties.values())
    assert all(extent.lacking(name) for name in (*REQUIREMENTS, *PROPERTIES) if name != "PreVoteIsPure")
