"""S1, S2 and S2b: how a quorum begins."""

from kraft_reference.effects import AppendRecords
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import observe
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

STANDALONE_START = Variants()
THREE_VOTERS = Variants()
LISTS_DIFFER = Variants()
_ONE = cluster(3, (1,), formatted=without_list(2, 3))

_EQUAL_SETS = "bootstrap.sets-must-be-equal"


def _standalone(d: Director) -> None:
    d.step("1. format 1 --standalone: 0-0.checkpoint {KV(1), V{(1,U1)}}")
    d.end_offsets(0, 0, 0)
    d.voters(1, voter_set(1))
    d.set_offset(1, -1)
    d.level(1, 1)
    d.high_watermark(1, -1)
    for other in (2, 3):
        d.voters(other, frozenset())
        d.level(other, 0)
        d.never_nominates(other)
    d.step("2. start; 1 is the whole set, wins e1: LC@0, KV(1)@1, V{(1,U1)}@2 in one batch")
    d.election_timeout(1)
    d.roles("L(1)")
    batches = [effect.records for effect in d.occurrences[-1].effects if isinstance(effect, AppendRecords)]
    d.check("records in each batch", [len(records) for records in batches], [3])
    d.records(1, 0, "LC KV V")
    d.line(1, voter_set(1), 3, "1:3", 3)
    d.set_offset(1, 2)
    d.step("3. observer 2 (no set) fetches from bootstrap server 1")
    observe(d, 1, 2)
    d.end_offsets(3, 3, 0)
    d.records(2, 0, "LC KV V")
    d.voters(2, voter_set(1))
    d.set_offset(2, 2)
    d.level(2, 1)
    d.high_watermark(2, 3)
    d.never_nominates(2)


@STANDALONE_START.variant("right", _ONE)
def standalone(d: Director) -> None:
    """1 leads {1} with LC, KV, V at 0 to 2; observer 2 reads the set."""
    # The table, step by step.
    _standalone(d)


@STANDALONE_START.variant("right-snapshot", _ONE)
def standalone_snapshot(d: Director) -> None:
    """The records are gone, and 3 gets {1} from the snapshot."""
    # What the records of step 2 are for: without them the set would be in no log and in no later snapshot.
    # No switch leaves them out; the story goes to where their absence would show.
    _standalone(d)
    d.step("1 takes a snapshot at 3 and deletes its log; 3 is empty")
    d.take_snapshot(1, 3)
    d.records(1, 3, "")
    d.line(1, voter_set(1), 3, "1:3 2:3", 3)
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    d.fetch(3, 1)
    d.voters(3, frozenset())
    d.fetch_snapshot(3, 1)
    d.end_offsets(3, 3, 3)
    d.voters(3, voter_set(1))
    d.set_offset(3, 2)
    d.level(3, 1)


@THREE_VOTERS.variant("right", cluster(3))
def three_voters(d: Director) -> None:
    """2 leads e1; V{1,2,3}@2 takes the place of the checkpoint."""
    # The same list on all; later restarts use V@2.
    d.step("format 1, 2, 3 with the same list")
    for replica_id in (1, 2, 3):
        d.voters(replica_id, voter_set(1, 2, 3))
        d.set_offset(replica_id, -1)
    d.step("2 wins e1 with votes 2, 3; LC@0, KV(1)@1, V{1,2,3}@2")
    d.election_timeout(2)
    d.pre_vote(2, 3, "granted")
    d.vote(2, 3, "granted")
    d.lose(2)
    d.roles("U(0)", "L(1)", "U(1,voted=2)")
    d.records(2, 0, "LC KV V")
    d.line(2, voter_set(1, 2, 3), 3, "1:0 2:3 3:0", -1)
    d.step("ack(3)=3")
    d.begin_quorum_epoch(2, 3)
    d.fetch(3, 2)
    d.high_watermark(2, -1)
    d.fetch(3, 2)
    d.line(2, voter_set(1, 2, 3), 3, "1:0 2:3 3:3", 3)
    d.step("3 restarts and uses V@2; 1 has not fetched it and uses its checkpoint")
    d.crash(3)
    d.restart(3)
    d.voters(3, voter_set(1, 2, 3))
    d.set_offset(3, 2)
    d.set_offset(2, 2)
    d.set_offset(1, -1)


def _first_of_five(d: Director) -> None:
    d.step("1 wins e1 by {1,2} (2 of 3) and commits X@3")
    d.election_timeout(1)
    d.pre_vote(1, 2, "granted")
    d.vote(1, 2, "granted")
    d.lose(1)
    d.begin_quorum_epoch(1, 2)
    d.lose(1)
    d.append(1)
    d.replicate(2, 1)
    d.records(1, 0, "LC KV V X")
    d.line(1, voter_set(1, 2, 3), 4, "1:4 2:4", 4)


@LISTS_DIFFER.variant("right", cluster(5, (1, 2, 3)))
def equal_lists(d: Director) -> None:
    """One list: 4 and 5 are observers."""
    # With one list on all five, 4 and 5 are observers and never nominate themselves.
    _first_of_five(d)
    d.step("4 and 5 are no voters")
    for observer in (4, 5):
        d.voters(observer, voter_set(1, 2, 3))
        d.never_nominates(observer)


@LISTS_DIFFER.variant(
    "wrong",
    cluster(5, (1, 2, 3), formatted={4: voter_set(3, 4, 5), 5: voter_set(3, 4, 5)}),
    "CommittedNeverLost",
    "ConfigOverlap",
    "ElectionSafety",
    "LeaderCompleteness",
    "LogMatching",
    "OffsetEpochUnique",
    "StateMachineSafety",
)
def lists_differ(d: Director) -> None:
    """All rules in force: 1 and 4 lead e1 and commit different records."""
    # Two leaders in e1. The protocol has no guard: that the lists are equal is an assumption.
    _first_of_five(d)
    d.step("4 wins e1 by {4,5} (2 of 3) and commits Y@3")
    d.election_timeout(4)
    d.pre_vote(4, 5, "granted")
    d.vote(4, 5, "granted")
    d.lose(4)
    d.roles("L(1)", "F(1,1)", "U(0)", "L(1)", "U(1,voted=4)")
    d.begin_quorum_epoch(4, 5)
    d.lose(4)
    d.append(4)
    d.replicate(5, 4)
    d.records(4, 0, "LC KV V X")
    d.line(4, voter_set(3, 4, 5), 4, "4:4 5:4", 4)


SCENARIOS = (
    Scenario(
        21,
        "s1-standalone-start",
        "Standalone start and first leader",
        "KIP-853, S1",
        ("bootstrap.standalone", "bootstrap.single-voter-elects-itself", "bootstrap.first-leader-writes-records"),
        tuple(STANDALONE_START),
    ),
    Scenario(
        22,
        "s2-three-voters",
        "Three voters from the start",
        "KIP-853, S2",
        ("bootstrap.multi-voter", "bootstrap.first-leader-writes-records", "snapshot.bootstrap-checkpoint"),
        tuple(THREE_VOTERS),
    ),
    Scenario(
        23,
        "s2b-lists-differ",
        "Voters formatted with different lists",
        "KIP-853, S2b",
        (_EQUAL_SETS,),
        tuple(LISTS_DIFFER),
    ),
)
