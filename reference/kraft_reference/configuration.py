"""Configuration of a cluster by its operators; while it runs, only the software of a replica may change."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from kraft_reference.identity import ReplicaId, ReplicaKey, VoterDetails, VoterSet
from kraft_reference.log import Snapshot
from kraft_reference.profile import KIP, Profile

PreVoteSupport = Literal["supported", "unsupported", "ignored"]
"""Pre-Vote support of a replica's software.

`unsupported`: software below Vote version 2; a Pre-Vote cannot be encoded for it, and it sends none.
`ignored`: software that handles a Pre-Vote as a standard vote and responds with PreVote=false.
Rules: prevote.unsupported-version, prevote.response.flag-false.
"""


@dataclass(frozen=True, slots=True)
class ReplicaConfiguration:
    """Configuration of one replica."""

    key: ReplicaKey
    endpoint: str
    pre_vote: PreVoteSupport = "supported"
    sends_leader_endpoint: bool = True
    """True if its messages carry the leader's endpoint (KIP-853 versions of the RPCs).

    Rules: begin-quorum.endpoint, discovery.endpoint-lookup."""
    min_version: int = 0
    """Lowest kraft.version that its software supports.  Rule: kraft-version.levels."""
    max_version: int = 1
    """Highest one."""
    initial_voters: VoterSet | None = None
    """Voters that it was formatted with; None for those of the cluster, empty for none.

    They must be equal on all voters; the protocol does not verify it.
    Rules: bootstrap.sets-must-be-equal, bootstrap.no-list-means-observer, bootstrap.multi-voter."""
    auto_join: bool = False
    """controller.quorum.auto.join.enable.  Rule: auto-join.enabled-by-config."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Durations in milliseconds; only the relations between them matter."""

    election_timeout_ms: int = 1000
    """Lower bound T of the random election timeout, drawn from [T, 2T).  Rule: state.timers.random."""
    election_backoff_max_ms: int = 1000
    """Longest wait of a Candidate that lost.  Rule: state.candidate.lost."""
    fetch_timeout_ms: int = 2000
    """Rule: fetch.timer."""
    fetch_interval_ms: int = 200
    """Wait of an up-to-date Follower before its next Fetch (long polling)."""
    request_timeout_ms: int = 700
    """Timeout of an outstanding request, after which its connection is idle again."""
    voter_change_timeout_ms: int = 30_000
    """Time for a voter change whose request has no timeout.

    Rules: remove-voter.reply-after-commit, auto-join.add-self."""

    @property
    def check_quorum_period_ms(self) -> int:
        """Longer than the fetch timeout, so that a healthy follower is seen in it.  Rule: check-quorum.period."""
        return self.fetch_timeout_ms * 3 // 2

    @property
    def begin_quorum_epoch_interval_ms(self) -> int:
        """Half the fetch timeout, so that a voter hears of the leader again before its fetch timer fires.

        Rule: begin-quorum.resend.
        """
        return self.fetch_timeout_ms // 2


@dataclass(frozen=True, slots=True)
class Configuration:
    """Configuration of a cluster."""

    replicas: Mapping[int, ReplicaConfiguration]
    """Voters and observers, by replica id."""
    voters: VoterSet
    """controller.quorum.voters at kraft.version 0 (no directory ids), else the bootstrap checkpoint's voters.

    Rule: state.voters-set.fallback-static."""
    kraft_version: Literal[0, 1] = 1
    bootstrap_servers: tuple[ReplicaId, ...] = ()
    """controller.quorum.bootstrap.servers, as replica ids; if empty, the voters.

    Rule: discovery.bootstrap-fallback."""
    cluster_id: str = "kraft-spec"
    fetch_max_records: int = 0
    """Maximum number of records in one Fetch response, 0 for no limit."""
    profile: Profile = KIP
    timeouts: Timeouts = field(default_factory=Timeouts)

    def with_software(self, software: Mapping[int, PreVoteSupport]) -> "Configuration":
        """Return the configuration after a change of software.

        Args:
            software: Pre-Vote support of the new software, by replica id.
        """
        changed = {own_id: replace(self.replicas[own_id], pre_vote=support) for own_id, support in software.items()}
        return replace(self, replicas={**self.replicas, **changed}) if changed else self

    def checkpoint(self, replica_id: int) -> Snapshot:
        """Return the checkpoint 0-0 that a replica is formatted with; at kraft.version 0 it has the static voters.

        Rule: bootstrap.static-quorum.
        """
        return self._checkpoint_of(self.initial_voters(replica_id))

    def initial_voters(self, replica_id: int) -> VoterSet:
        """Return the voters of that checkpoint: the replica's own list, or the cluster's.

        Rules: bootstrap.standalone, bootstrap.multi-voter, bootstrap.no-list-means-observer,
        bootstrap.sets-must-be-equal.
        """
        own_list = self.replicas[replica_id].initial_voters
        return self.voters if own_list is None else own_list

    def empty_checkpoint(self) -> Snapshot:
        """Return the checkpoint of a replaced disk: at kraft.version 1 without voters, which may have changed since."""
        return self._checkpoint_of(self.voters if self.kraft_version == 0 else frozenset())

    def _checkpoint_of(self, voters: VoterSet) -> Snapshot:
        # A node without a list has the default level.  Rule: kraft-version.levels.
        level = self.kraft_version if voters else 0
        return Snapshot(0, 0, level, voters, self.details_of(voters))

    def details_of(self, voters: VoterSet) -> tuple[VoterDetails, ...]:
        """Return the details of these voters at their formatting; static voters have an endpoint only.

        Rules: bootstrap.multi-voter, voters.static-set-at-version-0.
        """
        configured = sorted(voter.id for voter in voters if voter.id in self.replicas)
        return tuple([self._details_of(self.replicas[voter_id]) for voter_id in configured])

    def _details_of(self, replica: ReplicaConfiguration) -> VoterDetails:
        versions = (replica.min_version, replica.max_version) if self.kraft_version else (0, 0)
        return VoterDetails(replica.key.id, replica.endpoint, *versions)

    def bootstrap_server_ids(self, own_id: int) -> tuple[int, ...]:
        """Return the servers that a replica without a leader fetches from, in ascending order.

        Rules: discovery.bootstrap, discovery.bootstrap-fallback.
        """
        servers = self.bootstrap_servers or tuple(voter.id for voter in self.voters)
        return tuple(sorted(set(servers) - {own_id}))
