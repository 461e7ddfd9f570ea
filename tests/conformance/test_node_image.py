"""The metadata records of a node say what the reference of partitions has stored."""

import pytest

from kraft_dev.partition_workload import random_configuration, random_run
from kraft_kafka.node.image import ABORT, BEGIN, END, changes, counted, image_of, new_partition
from kraft_kafka.node.metadata import METADATA_VERSION_RECORD, says_metadata_version
from kraft_kafka.wire.metadata_records import encode_metadata_record
from kraft_partitions.decisions import PROFILES, ReassignmentProfile
from kraft_partitions.effects import StorePartitions
from kraft_partitions.state import initial_state

IDS = {"A": "AAAAAAAAAAAAAAAAAAAAAg", "B": "AAAAAAAAAAAAAAAAAAAAAw"}


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
def test_records_are_what_is_stored(profile: ReassignmentProfile) -> None:
    """Rule: partition-reassign.persisted."""
    stored = 0
    for seed in range(12):
        configuration = random_configuration(seed, profile)
        first = initial_state(configuration).stored
        values = [encode_metadata_record("TopicRecord", name=name, topicId=id_) for name, id_ in IDS.items()]
        values += [new_partition(IDS[name.topic], name.partition, item) for name, item in first.items()]
        for occurrence in random_run(configuration, seed, 50):
            image = image_of(values)
            for effect in occurrence.effects:
                if isinstance(effect, StorePartitions):
                    values += changes(image, effect.partitions)
                    stored += 1
            assert image_of(values).partitions == occurrence.state.stored, (seed, occurrence)
    assert stored > 100


def config(value: str) -> bytes:
    return encode_metadata_record("ConfigRecord", resourceType=2, resourceName="A", name="name", value=value)


def test_what_a_transaction_has_counts_when_it_ends() -> None:
    item, two, three, four = map(config, "1234")
    assert counted([item, BEGIN, two, three]) == ((item,), True)
    assert counted([item, BEGIN, two, three, END, four]) == ((item, two, three, four), False)
    assert counted([item, BEGIN, two, three, ABORT, four]) == ((item, four), False)


def test_a_metadata_version_that_another_controller_wrote_stays() -> None:
    newer = encode_metadata_record("FeatureLevelRecord", name="metadata.version", featureLevel=29)
    other = encode_metadata_record("FeatureLevelRecord", name="group.version", featureLevel=1)
    assert [says_metadata_version(item) for item in (METADATA_VERSION_RECORD, newer, other, b"7")] == [
        True,
        True,
        False,
        False,
    ]
