"""What `docs/kafka-unread-voters.md` says, on releases of Kafka: a voters record that a truncated replica never reads.

The replicas are compared by all that they show but their voters sets, so that the cluster can follow Kafka's way;
the sets are kept aside.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, cast

import pytest
from msgspec import UNSET
from msgspec.structs import replace
from tests.conformance.test_kafka import VERSION, kafka

from kraft_conformance.kafka.adapter import command_line
from kraft_conformance.kafka.jars import KafkaUnavailableError, released
from kraft_conformance.kafka.patching.patches import patched, patches
from kraft_conformance.kafka.releases import newest, releases
from kraft_conformance.protocol.messages import ObserveReply
from kraft_conformance.random_runs.model import verdict_on
from kraft_conformance.random_runs.notes import Notes
from kraft_conformance.random_runs.running import line_shown
from kraft_conformance.random_runs.seats import Command
from kraft_conformance.random_runs.table import Table
from kraft_conformance.runner.session import Adapter
from kraft_reference.cluster.checkpoint import Checkpoints
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.profile import PROFILES
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import elect, observe, take_over
from kraft_reference.scenarios.scenario import cluster, without_list
from kraft_traces.check.model import trace_model
from kraft_traces.check.verdict import Verdict
from kraft_traces.lines import EventLine

__all__ = ["kafka"]

FIX = "next-offset-set-back"
STALE, TRUE = (1, 2, 3), (1, 2, 3, 4)


class _SetAside:
    """An adapter whose voters set is kept aside; all else is passed on."""

    def __init__(self, session: Adapter) -> None:
        self._session = session
        self.voters: tuple[int, ...] = ()

    def ask(self, kind: Any, *args: Any, **fields: Any) -> Any:
        reply = self._session.ask(kind, *args, **fields)
        if isinstance(reply, ObserveReply) and reply.state.voters is not UNSET:
            self.voters = tuple(one.id for one in reply.state.voters.voters or ())
            return replace(reply, state=replace(reply.state, voters=UNSET))
        return reply

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


class _SetsAside(Table):
    def session(self, replica_id: int) -> Adapter:
        found: Any = super().session(replica_id)
        if not isinstance(found, _SetAside):
            kept: Any = _SetAside(found)
            self._sessions[replica_id] = found = kept
        return cast(Adapter, found)

    def voters(self, replica_id: int) -> tuple[int, ...]:
        """The voters that this Kafka shows."""
        return cast(_SetAside, self.session(replica_id)).voters

    def __enter__(self) -> Self:
        super().__enter__()
        return self


class _Recorded(Director):
    lines: list[EventLine]

    def do(self, move: Callable[[], Occurrence]) -> Occurrence:
        return super().do(lambda: self._kept(move()))

    def _kept(self, occurrence: Occurrence) -> Occurrence:
        line = line_shown(self.world, occurrence)
        message = line.message if line.message is UNSET else replace(line.message, id=UNSET)
        self.lines.append(replace(line, cause=UNSET, message=message, effects=UNSET))
        return occurrence


@dataclass(frozen=True)
class Played:
    """What became of it."""

    director: _Recorded
    voters: tuple[int, ...]
    """Those of replica 1 in the end, as it shows them."""
    verdict: Verdict
    violated: tuple[str, ...]
    """The invariants that TLC finds violated in the state of the cluster in the end, each set as the log has it."""


def play(version: str, script: Callable[[Director, _SetsAside], None], patch: str | None = None) -> Played:
    try:
        release = released(releases()[version])
    except KafkaUnavailableError as error:
        if "cannot fetch" in str(error) or shutil.which("mvn") is None:
            pytest.skip(f"SKIPPED: {error}: KAFKA IS NOT RUN")
        raise
    command = command_line(release if patch is None else patched(release, patches()[patch]), "state", None, None)
    profile = PROFILES.get(f"kafka-{version[:3]}", PROFILES["kafka-4"])
    configuration = cluster(5, STALE, formatted=without_list(4, 5), profile=profile)
    notes = Notes()
    with _SetsAside((Command(command),), 30) as table:
        director = _Recorded("unread-voters", configuration, table.maker(notes, stops=False, dies_in_steps=False))
        director.lines = []
        script(director, table)
        voters = table.voters(1)
    assert not notes.is_over, notes.undecided or notes.first
    checkpoints = Checkpoints(configuration)
    for occurrence in director.occurrences:
        checkpoints.follow(occurrence)
    model = trace_model()
    violated = model.violated_invariants(model.state_at(configuration, checkpoints.now()))
    return Played(director, voters, verdict_on(configuration, director.lines, "unread-voters"), violated)


# -------------------------------------------------------------------------------------------------------------
# The schedule.
# -------------------------------------------------------------------------------------------------------------


def voter_added_below_the_old_end(d: Director) -> None:
    """N1 is truncated from 7 to 3, and fetches the set with 4 at offset 4, as everybody does."""
    d.step("N1 leads e1, and has X@3 to X@6 alone")
    elect(d, 1, 1)
    observe(d, 1, 2, 3)
    d.append(1, 7)
    d.lose(1)
    d.step("N2 leads e2 with N3; N1 is truncated")
    take_over(d, 2, 3)
    d.begin_quorum_epoch(2, 3)
    observe(d, 2, 3, 4, 5)
    d.begin_quorum_epoch(2, 1)
    observe(d, 2, 1)
    d.end_offsets(4, 4, 4, 4, 4)
    d.step("AddVoter(4): V{1,2,3,4}@4, committed and known to everybody")
    added = d.add_voter(2, 4)
    d.learn_versions(2, 4)
    observe(d, 2, 1, 3, 4, 5)
    d.answered(added, "NONE")
    d.records(1, 2, "V LC V")


def cut_off_with_one(d: Director) -> None:
    """V{1,2,3,4,5}@5 and X@6 are committed by 2, 4 and 5; N1 asks N3 whether it would vote for it."""
    d.step("N1 and N3 are cut off; AddVoter(5): V{1,2,3,4,5}@5, and X@6, committed by 2, 4 and 5")
    for one in (1, 3):
        d.cut(one, 2, 4, 5)
    added = d.add_voter(2, 5)
    d.learn_versions(2, 5)
    observe(d, 2, 4, 5)
    d.answered(added, "NONE")
    d.append(2, 7)
    observe(d, 2, 4, 5)
    d.high_watermark(2, 7)
    d.step("ft(1), ft(3); N3 grants its Pre-Vote to N1")
    d.fetch_timeout(1)
    d.fetch_timeout(3)
    d.pre_vote(1, 3, "granted")
    d.lose(1)


def two_commit(d: Director) -> None:
    """N1 leads by the set of three, and commits other records at 5 and 6."""
    d.step("N1 leads e3 with N3, beside N2 with 4 and 5")
    d.vote(1, 3, "granted")
    d.lose(1)
    d.roles("L(3)", "L(2)")
    d.begin_quorum_epoch(1, 3)
    observe(d, 1, 3)
    d.append(1, 7)
    observe(d, 1, 3)
    d.high_watermark(1, 7)
    d.records(1, 5, "LC X")
    d.high_watermark(2, 7)
    d.records(2, 5, "V X")


def unsafe(d: Director, table: _SetsAside) -> None:
    voter_added_below_the_old_end(d)
    assert [table.voters(one) for one in (1, 2, 3, 4)] == [STALE, TRUE, TRUE, TRUE]
    cut_off_with_one(d)
    two_commit(d)


def two_leaders(d: Director, table: _SetsAside) -> None:
    unsafe(d, table)
    d.step("N2 restarts; N4 leads e3, too, with the votes of 2 and 5")
    d.crash(2)
    d.restart(2)
    d.fetch_timeout(4)
    d.fetch_timeout(5)
    d.pre_vote(4, 2, "granted")
    d.pre_vote(4, 5, "granted")
    d.lose(4)
    d.vote(4, 2, "granted")
    d.vote(4, 5, "granted")
    d.roles("L(3)", "", "F(3,1)", "L(3)")


def told_of_the_other(d: Director, table: _SetsAside) -> None:
    unsafe(d, table)
    d.step("N2 hears of e3: told to cut off what it has committed, its process ends")
    for one in (1, 3):
        d.heal(one, 2, 4, 5)
    d.request_timeout(1, 2)
    d.begin_quorum_epoch_timeout(1)
    d.begin_quorum_epoch(1, 2)
    d.fetch(2, 1)
    d.roles("L(3)", "stopped", "F(3,1)", "F(2,2)")


def safe(d: Director, table: _SetsAside) -> None:
    voter_added_below_the_old_end(d)
    assert [table.voters(one) for one in (1, 2, 3, 4)] == [TRUE] * 4
    cut_off_with_one(d)
    d.roles("P(2,2)", "L(2)", "P(2,2)")


def restarted(d: Director, table: _SetsAside) -> None:
    voter_added_below_the_old_end(d)
    assert table.voters(1) == STALE
    d.crash(1)
    d.restart(1)
    assert table.voters(1) == TRUE
    observe(d, 2, 1)
    cut_off_with_one(d)
    d.roles("P(2,2)", "L(2)", "P(2,2)")


# -------------------------------------------------------------------------------------------------------------
# The releases.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kafka")
@pytest.mark.parametrize(
    ("version", "script", "also"),
    [
        (VERSION, two_leaders, ("ElectionSafety",)),
        (newest(), two_leaders, ("ElectionSafety",)),
        (VERSION, told_of_the_other, ()),
    ],
)
def test_a_record_that_is_not_read_makes_two_committed_histories(
    version: str, script: Callable[[Director, _SetsAside], None], also: tuple[str, ...]
) -> None:
    played = play(version, script)
    assert played.voters == STALE
    assert played.violated == (*also, "LeaderCompleteness", "CommittedNeverLost", "StateMachineSafety")
    rejection = played.verdict.rejection
    assert rejection is not None
    assert (rejection.event, rejection.replica) == ("HandleVoteResponse", 1)
    assert ("state.role", "Prospective", "Candidate") in [
        (one.field, one.expected, one.actual) for one in rejection.differences
    ]


@pytest.mark.usefixtures("kafka")
@pytest.mark.parametrize(
    ("version", "script", "patch"), [(VERSION, safe, FIX), (newest(), safe, FIX), (VERSION, restarted, None)]
)
def test_the_fix_and_a_restart_make_it_safe(
    version: str, script: Callable[[Director, _SetsAside], None], patch: str | None
) -> None:
    played = play(version, script, patch)
    assert played.voters == TRUE
    assert played.violated == ()
    assert (played.verdict.rejection, played.verdict.events) == (None, played.director.sequence)
