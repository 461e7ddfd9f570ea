"""What is left open of writes, syncs and timers is right, all of it at once; the nearest wrong choice is not."""

import pytest
from tests.conformance.free_adapter import AllChoices, Free

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.protocol.features import Level
from kraft_conformance.random_runs.campaign import RandomPlan, random_campaign
from kraft_conformance.random_runs.seats import InProcess, LocalSession, Reference
from kraft_conformance.runner.outcome import Outcome, Status
from kraft_conformance.runner.running import run_vector
from kraft_conformance.vectors.catalogue import Catalogue


def outcome(adapter: ReferenceAdapter, vector_id: str) -> Outcome:
    vector = Catalogue().of_replica(vector_id)
    return run_vector(LocalSession(adapter), vector, vector.requires.profiles[0])


@pytest.mark.parametrize(("level", "least"), [("state", 1.0), ("effects", 0.7), ("wire", 0.5)])
def test_all_choices_at_once_are_right(level: Level, least: float) -> None:
    outcomes = [outcome(AllChoices(level), one.id) for one in Catalogue().of_replicas()]
    assert not {one.id: one.reason for one in outcomes if one.status is Status.FAIL}
    assert sum(one.status is Status.PASS for one in outcomes) >= least * len(outcomes)


@pytest.mark.parametrize("checks_model", [True, False])
def test_all_choices_at_once_are_right_in_a_cluster(checks_model: bool) -> None:
    plan = RandomPlan((InProcess(AllChoices), Reference()), range(1), ("storm",), 120, checks_model=checks_model)
    (found,) = random_campaign(plan)
    assert (found.outcome.status, found.violation, found.outcome.differences) == (Status.PASS, None, ())


@pytest.mark.parametrize(
    ("choice", "vector", "said"),
    [
        ("forgets-vote-first", "candidate.wins", "before that"),
        ("vote-in-old-epoch-first", "announcement.next-leader", "before that"),
        ("another-vote-first", "vote.granted", "before that"),
        ("file-of-another-epoch", "announcement.again", "PersistQuorumState: expected nothing"),
        ("never-again", "resignation.restarted-leader-asks", "StartTimer election: expected "),
        ("never-again", "prevote.lost-with-a-leader-out-of-reach", "StartTimer election: expected "),
        ("restarts-on-pre-vote", "prevote.grant-changes-nothing", "StartTimer election: expected nothing"),
        ("restarts-on-refusal", "constructed.candidate-asked", "StartTimer election: expected nothing"),
        ("fires-at-once", "prevote.majority", "StartTimer election.duration_ms: expected more than 0"),
    ],
)
def test_the_nearest_wrong_choice_fails(choice: str, vector: str, said: str) -> None:
    found = outcome(Free(choice), vector)
    assert (found.status, said in found.reason) == (Status.FAIL, True)
