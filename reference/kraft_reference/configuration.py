"""What the operators set up before a cluster starts.  It never changes while the cluster runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.profile import KIP, Profile

PreVoteSupport = Literal["supported", "unsupported", "ignored"]
"""How a replica's software takes Pre-Votes.

`unsupported` is software below Vote version 2: a Pre-Vote cannot be encoded for it and it sends none itself.
`ignored` is software that reads the request but handles it as a standard vote and answers PreVote=false.
Rules: prevote.unsupported-version, prevote.response.flag-false.
"""


@dataclass(frozen=True, slots=True)
class ReplicaConfiguration:
    """One replica as its operator formatted it."""

    key: ReplicaKey
    endpoint: str
    pre_vote: PreVoteSupport = "supported"
    speaks_endpoints: bool = True
    """Whether its requests and responses carry the leader's endpoint (KIP-853 versions of the RPCs).

    Rules: begin-quorum.endpoint, discovery.endpoint-lookup."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Durations in milliseconds; the relations between them matter, not the values."""

    election_timeout_ms: int = 1000
    """Lower bound T of the random election timeout, drawn from [T, 2T).  Rule: state.timers.random."""
    election_backoff_max_ms: int = 1000
    """Longest wait of a Candidate that lost.  Rule: state.candidate.lost."""
    fetch_timeout_ms: int = 2000
    """Rule: fetch.timer."""
    fetch_interval_ms: int = 200
    """How long a Follower that is up to date waits before the next Fetch (long polling)."""
    request_timeout_ms: int = 700
    """When an outstanding request is given up and its connection free again."""

    @property
    def check_quorum_period_ms(self) -> int:
        """Longer than the fetch timeout, so that a healthy follower is seen in it.  Rule: check-quorum.period."""
        return self.fetch_timeout_ms * 3 // 2

    @property
    def begin_quorum_epoch_interval_ms(self) -> int:
        """Not longer than the check-quorum period.  Rule: begin-quorum.resend."""
        return self.fetch_timeout_ms // 2


@dataclass(frozen=True, slots=True)
class Configuration:
    """A cluster as its operators set it up."""

    replicas: Mapping[int, ReplicaConfiguration]
    """By replica id; voters and observers."""
    voters: VoterSet
    """controller.quorum.voters at kraft.version 0 (no directory ids), else the bootstrap checkpoint's voters.

    Rule: state.voters-set.fallback-static."""
    kraft_version: Literal[0, 1] = 1
    bootstrap_servers: tuple[int, ...] = ()
    """controller.quorum.bootstrap.servers, by replica id; empty falls back to the voters.

    Rule: discovery.bootstrap-fallback."""
    cluster_id: str = "kraft-spec"
    fetch_max_records: int = 0
    """Most records in one Fetch response, 0 for no limit."""
    profile: Profile = KIP
    switched_off: frozenset[str] = frozenset()
    """Ids of rules that an experiment switches off: the product runs with none."""
    timeouts: Timeouts = field(default_factory=Timeouts)

    def enforces(self, rule: str) -> bool:
        """Is the rule with this id in force?"""
        return rule not in self.switched_off

    def bootstrap_server_ids(self, own_id: int) -> tuple[int, ...]:
        """Whom a replica without a leader asks, itself left out, in ascending order.

        Rules: discovery.bootstrap, discovery.bootstrap-fallback.
        """
        servers = self.bootstrap_servers or tuple(voter.id for voter in self.voters)
        return tuple(sorted(set(servers) - {own_id}))
