"""S3: controllers that join of their own accord."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import observe
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

VARIANTS = Variants()
_FORMATTED = without_list(2, 3)

ONE_AT_A_TIME = "voters.one-change-at-a-time"


def _observers(d: Director) -> None:
    """The end of S1, and step 1."""
    d.election_timeout(1)
    d.line(1, voter_set(1), 3, "1:3", 3)
    d.step("1. 2 and 3 fetch up to 3, see {1} without their ids")
    observe(d, 1, 2, 3)
    d.voters(2, voter_set(1))
    d.voters(3, voter_set(1))
    d.line(1, voter_set(1), 3, "1:3 2:3 3:3", 3)


def _second_commits(d: Director) -> None:
    d.step("4. 1 sends BeginQuorumEpoch to 2 although 2 knows only {1}; ack(2)=4")
    d.voters(2, voter_set(1))
    d.begin_quorum_epoch(1, 2)
    d.fetch(2, 1)
    d.voters(2, voter_set(1, 2))
    d.line(1, voter_set(1, 2), 4, "1:4 2:3", 3)
    d.fetch(2, 1)
    d.line(1, voter_set(1, 2), 4, "1:4 2:4", 4)


@VARIANTS.variant("right", cluster(3, (1,), formatted=_FORMATTED, joining=(2, 3)))
def auto_join(d: Director) -> None:
    """{1}, {1,2}, {1,2,3} one after the other; HW 5."""
    # Reading: the table has the answers in the steps 4 and 6, when the changes commit. A joining controller asks for an
    # answer at the append (KIP-1186), so here it comes in the steps 3 and 5; otherwise 2 could not fetch in step 4,
    # since its only connection to 1 would wait for the answer, and 1 would lose its check quorum.
    _observers(d)
    d.step("2. 2: AddVoter(2,U2,30 s); 3: AddVoter(3,U3,30 s)")
    d.join(2, 1)
    d.line(1, voter_set(1), 3, "1:3 2:3 3:3", 3)
    d.step("3. 1 takes 2's request: V{1,2}@3; 3's request gets REQUEST_TIMED_OUT")
    d.join(3, 1, "REQUEST_TIMED_OUT")
    d.learn_versions(1, 2)
    d.set_offset(1, 3)
    d.line(1, voter_set(1, 2), 4, "1:4 2:3", 3)
    d.change_answer(1, 2, "ok")
    d.check("N2 waits for", d.state(2).awaiting, {})
    _second_commits(d)
    d.step("5. 3 retries; 3 at 4; V{1,2,3}@4")
    observe(d, 1, 3)
    d.join(3, 1)
    d.learn_versions(1, 3)
    d.set_offset(1, 4)
    d.line(1, voter_set(1, 2, 3), 5, "1:5 2:4 3:4", 4)
    d.change_answer(1, 3, "ok")
    d.step("6. ack(2)=5")
    d.replicate(2, 1)
    d.line(1, voter_set(1, 2, 3), 5, "1:5 2:5 3:4", 5)
    observe(d, 1, 3)
    d.voters(3, voter_set(1, 2, 3))


@VARIANTS.variant("right-client", cluster(3, (1,), formatted=_FORMATTED))
def by_a_client(d: Director) -> None:
    """The same by a client, with both answers after the commits."""
    # The same with an admin client, which is answered after the commit: the answers are where the table has them.
    _observers(d)
    d.step("2. and 3. AddVoter(2,U2), AddVoter(3,U3)")
    second = d.add_voter(1, 2)
    d.answered(d.add_voter(1, 3), "REQUEST_TIMED_OUT")
    d.learn_versions(1, 2)
    d.line(1, voter_set(1, 2), 4, "1:4 2:3", 3)
    d.answered(d.add_voter(1, 3), "REQUEST_TIMED_OUT")
    d.unanswered(second)
    _second_commits(d)
    d.answered(second, "NONE")
    d.step("5. AddVoter(3,U3) again; V{1,2,3}@4")
    observe(d, 1, 3)
    third = d.add_voter(1, 3)
    d.learn_versions(1, 3)
    d.line(1, voter_set(1, 2, 3), 5, "1:5 2:4 3:4", 4)
    d.unanswered(third)
    d.step("6. ack(3)=5")
    d.replicate(3, 1)
    d.line(1, voter_set(1, 2, 3), 5, "1:5 2:4 3:5", 5)
    d.answered(third, "NONE")


@VARIANTS.variant(
    "wrong", cluster(3, (1,), formatted=_FORMATTED), "ConfigOverlap", "OnePendingChange", mutants=(ONE_AT_A_TIME,)
)
def both_at_once(d: Director) -> None:
    """{1} jumps to {1,2,3}: {1} and {2,3} could decide without each other."""
    # Hazard (a): {1} and {2,3} are disjoint deciders.
    # Reading: two AddVoter requests do not get there without another rule broken, because the second new voter has to
    # fetch @3 first and commits it by that. So the sets are appended as they are. Nothing is lost in this story: nobody
    # but 1 used {1}, and 1 has both records on its disk. For a loss see S11.
    _observers(d)
    d.step("3. both are appended")
    d.append_voters(1, voter_set(1, 2))
    d.line(1, voter_set(1, 2), 4, "1:4 2:3", 3)
    d.append_voters(1, voter_set(1, 2, 3))
    d.line(1, voter_set(1, 2, 3), 5, "1:5 2:3 3:3", 3)


SCENARIOS = (
    Scenario(
        24,
        "s3-automatic-joining",
        "Automatic joining of 2 and 3",
        "KIP-853, S3",
        ("auto-join.add-self", "auto-join.uses-the-ordinary-rpcs", ONE_AT_A_TIME, "add-voter.catch-up-first"),
        tuple(VARIANTS),
    ),
)
