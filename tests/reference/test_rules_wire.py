"""wire.*: what the messages and files of voter changes hold, as far as the reference has it."""

from dataclasses import fields

from tests.reference.builders import DRAW, THREE, established, key, keys, states, step, unattached, voters_record
from tests.reference.wire import vote

from kraft_reference.effects import PersistQuorumState
from kraft_reference.events import AddVoter, Receive, RemoveVoter
from kraft_reference.identity import VoterDetails
from kraft_reference.messages import (
    AddVoterRequest,
    AddVoterResponse,
    RemoveVoterRequest,
    RemoveVoterResponse,
    Reply,
    UpdateVoterRequest,
    UpdateVoterResponse,
)
from kraft_reference.replica import Replica

ENVELOPE = ["source", "destination", "correlation_id"]
LED = ["error", "epoch", "leader_id", "leader_endpoint"]


def names(message: type) -> list[str]:
    """The fields of a message in their order."""
    return [field.name for field in fields(message)]


@states("wire.add-voter")
def test_what_an_add_voter_holds() -> None:
    # Kafka's fields: no topic, and AckWhenCommitted of version 1.
    own = ["voter", "endpoint", "timeout_ms", "when_committed", "cluster_id"]
    assert names(AddVoterRequest) == [*ENVELOPE, *own]
    assert names(AddVoter) == ["request", *own]
    assert (names(AddVoterResponse), names(Reply)) == ([*ENVELOPE, *LED], ["request", *LED])


@states("wire.remove-voter")
def test_what_a_remove_voter_holds() -> None:
    assert names(RemoveVoterRequest) == [*ENVELOPE, "voter", "cluster_id"]
    assert names(RemoveVoter) == ["request", "voter", "cluster_id"]
    assert names(RemoveVoterResponse) == [*ENVELOPE, *LED]


@states("wire.update-voter")
def test_what_an_update_voter_holds() -> None:
    # With the epoch, as Kafka has it and the KIP has not.
    own = ["epoch", "voter", "endpoint", "min_version", "max_version", "cluster_id"]
    assert names(UpdateVoterRequest) == [*ENVELOPE, *own]
    assert names(UpdateVoterResponse) == [*ENVELOPE, *LED]


@states("wire.voters-record")
def test_what_a_voters_record_holds() -> None:
    record = step(established(4), RemoveVoter(9, key(3))).state.log.records[-1]
    assert (record.voters, [entry.id for entry in record.details]) == (keys(1, 2), [1, 2])
    assert record == voters_record(4, 1, 2)
    assert VoterDetails._fields == ("id", "endpoint", "min_version", "max_version")


@states("wire.quorum-state")
def test_what_the_quorum_state_file_holds() -> None:
    written = Replica(unattached(7), THREE).step(Receive(vote(3, 1, 7)), DRAW).effects[0]
    assert written == PersistQuorumState(epoch=7, leader_id=None, voted_key=key(3), version=1)
    assert [field.name for field in fields(PersistQuorumState)] == ["epoch", "leader_id", "voted_key", "version"]
