"""S4: the disk of a voter is replaced."""

from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import lead, observe
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set

VARIANTS = Variants()
_ALL = cluster(3)

_NEW = ReplicaKey(3, "U3'")
_WITH_NEW: VoterSet = voter_set(1, 2) | {_NEW}


def _new_disk(d: Director) -> None:
    """The start and step 1; 1 has a snapshot at 80, so that 3' fetches snapshot and log."""
    lead(d, 1, 5, 100, 2, 3)
    d.line(1, voter_set(1, 2, 3), 100, "1:100 2:100 3:100", 100)
    d.take_snapshot(1, 80)
    d.step("3's disk is replaced and formatted: (3,U3'), empty")
    d.crash(3)
    d.replace_disk(3, "U3'")
    d.end_offsets(100, 100, 0)
    d.step("1. 3' starts, finds L=1 through bootstrap servers, fetches snapshot and log")
    d.restart(3)
    d.voters(3, frozenset())
    d.fetch(3, 2, "FENCED_LEADER_EPOCH")
    d.roles("L(5)", "F(5,1)", "F(5,1)")
    d.fetch(3, 1)
    d.fetch_snapshot(3, 1)
    d.set_offset(3, 79)
    d.voters(3, voter_set(1, 2, 3))
    observe(d, 1, 3)
    d.end_offsets(100, 100, 100)
    d.line(1, voter_set(1, 2, 3), 100, "1:100 2:100 3-U3:100 3-U3':100", 100)
    d.never_nominates(3)


def _removed(d: Director) -> None:
    d.set_offset(1, 100)
    d.line(1, voter_set(1, 2), 101, "1:101 2:100", 100)


def _removal_commits(d: Director) -> None:
    d.step("4. ack(2)=101")
    d.replicate(2, 1)
    d.line(1, voter_set(1, 2), 101, "1:101 2:101", 101)


def _added(d: Director) -> None:
    d.learn_versions(1, 3)
    d.set_offset(1, 101)
    d.line(1, _WITH_NEW, 102, "1:102 2:101 3:101", 101)


def _addition_commits(d: Director) -> None:
    d.step("6. ack(3')=102")
    d.fetch(3, 1)
    d.voters(3, _WITH_NEW)
    d.fetch(3, 1)
    d.line(1, _WITH_NEW, 102, "1:102 2:101 3:102", 102)


@VARIANTS.variant("right", _ALL)
def by_a_client(d: Director) -> None:
    """DUPLICATE_VOTER; then {1,2} at 100 and {1,2,3'} at 101; HW 102."""
    # The consistent version of the table: ids are unique in a set, so the old disk goes first.
    # The literal walk-through of the KIP, which adds (3,U3') beside (3,U3), is superseded by DUPLICATE_VOTER.
    _new_disk(d)
    d.step("2. AddVoter(3,U3'): DUPLICATE_VOTER")
    d.answered(d.add_voter(1, _NEW), "DUPLICATE_VOTER")
    d.line(1, voter_set(1, 2, 3), 100, "1:100 2:100", 100)
    d.step("3. RemoveVoter(3,U3): V{1,2}@100")
    d.answered(d.remove_voter(1, _NEW), "VOTER_NOT_FOUND")
    removal = d.remove_voter(1, 3)
    _removed(d)
    d.unanswered(removal)
    _removal_commits(d)
    d.answered(removal, "NONE")
    d.step("5. 3' at 101; AddVoter(3,U3'): V{1,2,(3,U3')}@101")
    observe(d, 1, 3)
    addition = d.add_voter(1, 3)
    _added(d)
    d.unanswered(addition)
    _addition_commits(d)
    d.answered(addition, "NONE")


@VARIANTS.variant("right-auto-join", cluster(3, joining=(3,)))
def by_itself(d: Director) -> None:
    """3' removes (3,U3) and adds itself."""
    # With auto join 3' does the steps 3 and 5.
    _new_disk(d)
    d.step("3. 3' sends RemoveVoter(3,U3): V{1,2}@100")
    d.remove_old_self(3, 1)
    _removed(d)
    _removal_commits(d)
    d.change_answer(1, 3, "ok")
    d.step("5. 3' at 101 sends AddVoter(3,U3'): V{1,2,(3,U3')}@101")
    observe(d, 1, 3)
    d.join(3, 1)
    _added(d)
    d.change_answer(1, 3, "ok")
    _addition_commits(d)


@VARIANTS.variant("right-second-failure", _ALL)
def second_failure(d: Director) -> None:
    """2 fails between the steps: 1 commits nothing."""
    # Between the steps 4 and 6 the loss of 1 or 2 stops the quorum.
    _new_disk(d)
    d.step("3. RemoveVoter(3,U3)")
    d.remove_voter(1, 3)
    _removed(d)
    _removal_commits(d)
    d.step("2 crashes: nothing commits, and 1 gives up")
    d.crash(2)
    d.append(1)
    d.replicate(3, 1)
    d.line(1, voter_set(1, 2), 102, "1:102 2:101 3-U3':102", 101)
    d.check_quorum_timeout(1)
    d.roles("R(5)", "stopped", "F(5,1)")


SCENARIOS = (
    Scenario(
        25,
        "s4-disk-failure",
        "Disk failure of voter 3",
        "KIP-853, S4",
        (
            "add-voter.duplicate-id",
            "remove-voter.exact-key",
            "auto-join.remove-stale-self-first",
            "identity.replica-key",
        ),
        tuple(VARIANTS),
    ),
)
