"""Short scripts, each for one rule or a few, over real runs of a cluster."""

from kraft_conformance.vectors.target import Target
from kraft_conformance.vectors.targeted import (
    candidates,
    changes,
    leaders,
    pre_votes,
    quorum_targets,
    replication,
    restarts,
    starts,
    votes,
)

TARGETS: tuple[Target, ...] = (
    *starts.TARGETS,
    *pre_votes.TARGETS,
    *candidates.TARGETS,
    *votes.TARGETS,
    *leaders.TARGETS,
    *replication.TARGETS,
    *restarts.TARGETS,
    *changes.TARGETS,
    *quorum_targets.TARGETS,
)
"""All of them."""
