"""Short scripts, each for one rule or a few, over real runs of a cluster."""

from kraft_conformance.vectors.target import Target
from kraft_conformance.vectors.targeted import (
    additions,
    announcements,
    candidates,
    constructed,
    kafka_differences,
    large_numbers,
    other_sets,
    own_events,
    pre_vote_answers,
    pre_votes,
    quorum_targets,
    rare_cases,
    removals,
    replication,
    reports,
    resignations,
    restarts,
    snapshots,
    starts,
    votes,
)

TARGETS: tuple[Target, ...] = (
    *starts.TARGETS,
    *pre_votes.TARGETS,
    *pre_vote_answers.TARGETS,
    *candidates.TARGETS,
    *votes.TARGETS,
    *announcements.TARGETS,
    *resignations.TARGETS,
    *replication.TARGETS,
    *snapshots.TARGETS,
    *restarts.TARGETS,
    *additions.TARGETS,
    *removals.TARGETS,
    *reports.TARGETS,
    *quorum_targets.TARGETS,
    *other_sets.TARGETS,
    *kafka_differences.TARGETS,
    *constructed.TARGETS,
    *own_events.TARGETS,
    *large_numbers.TARGETS,
    *rare_cases.TARGETS,
)
"""All of them."""
