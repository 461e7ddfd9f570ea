"""Profiles: decisions at the points that the KIPs leave open.

At some points the KIPs contradict themselves, and at some Apache Kafka differs from them: these are the fields of
`Profile`.  At others any implementation may choose: these are the fields of `Latitude`, which a reader of the KIPs may
skip, because every named profile has the defaults.  The model takes the same decisions as data.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args, get_type_hints


@dataclass(frozen=True, slots=True)
class Latitude:
    """Decisions that the rules leave to every implementation."""

    leader_high_watermark: Literal["kept", "unknown"] = "kept"
    """High watermark of a new Leader until it commits a record of its epoch, and of a Resigned replica.

    Rules: hw.own-epoch, hw.monotonic."""

    own_vote_at_restart: Literal["candidate", "prospective", "unattached"] = "candidate"
    """Role at a restart with a vote for itself and no known leader.  Rule: durable.restart.voted-self."""

    voted_directory_at_version_0: Literal["forgotten", "remembered"] = "forgotten"
    """Directory id of the vote after a restart at kraft.version 0.

    Rules: durable.vote.v0-uuid-in-memory, identity.voted-uuid-volatile-at-version-0."""

    vote_of_lost_file: Literal["spent", "free"] = "spent"
    """Vote of the log's epoch, if the quorum state file is behind the log.  Rule: durable.restart.log-epoch."""

    announcement_again: Literal["when-idle", "by-timer"] = "when-idle"
    """Time of a second BeginQuorumEpoch to a voter that has not responded: when the connection is idle, or when the
    begin-quorum timer fires.

    Rule: begin-quorum.resend."""

    announced_to: Literal["not-fetching", "all", "all-again"] = "not-fetching"
    """Voters that get a BeginQuorumEpoch: those that have not fetched in the check-quorum period, those that have not
    acknowledged in the announcement period, or all at any time.

    Rule: begin-quorum.resend."""

    diverging_cut: Literal["own-offset", "smaller-offset"] = "own-offset"
    """Truncation offset of a Follower without records of the diverging epoch: the end of its own smaller epochs, or at
    most the end of the diverging epoch at the leader.

    Rule: fetch.diverging.truncate."""

    unanswered_fetch: Literal["leader-again", "servers-too"] = "leader-again"
    """Target of the next Fetch after a request timeout: the leader; or a bootstrap server, too, until a Fetch from the
    leader succeeds.

    Rule: fetch.who-fetches."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Decisions at the points at which Apache Kafka differs from the KIPs."""

    name: str
    """Name of these settings and of those of `latitude`."""

    observer_refusal: Literal["expires", "lasts", "timer-unused"] = "expires"
    """Rejection of Pre-Votes by an observer that has fetched, once its fetch timer fires: it expires or lasts.

    With timer-unused it lasts, too, and the observer does not look for the leader at the bootstrap servers.

    Rules: prevote.follower.refusal-expires, observer.fetch-timeout."""

    prospective_announcement: Literal["follower", "stays"] = "follower"
    """Effect of a BeginQuorumEpoch of the known leader on a Prospective.

    Rules: begin-quorum.accept, state.prospective.discovers-leader."""

    end_quorum_fetched_flag: Literal["cleared", "kept"] = "cleared"
    """Cleared: after an EndQuorumEpoch a Follower grants Pre-Votes again.  Rule: end-quorum.frees-followers."""

    diverging_fetch: Literal["counts", "ignored"] = "counts"
    """Effect of a diverging Fetch on check quorum.  Rule: check-quorum.counts-keys."""

    restart_precedence: Literal["known-leader", "own-vote"] = "known-leader"
    """Field of the quorum state file that decides first at a restart.  Rule: durable.restart.voted-self."""

    voter_key_error: Literal["INVALID_REQUEST", "INVALID_VOTER_KEY"] = "INVALID_REQUEST"
    """Error of a request that addresses another replica key.  Rules: vote.voter-key, begin-quorum.voter-key."""

    kraft_version_gate: Literal["commit", "append"] = "commit"
    """Time from which a new kraft.version decides about requests.  Rule: kraft-version.finalized-when."""

    update_voter_credit: Literal["none", "fetch"] = "none"
    """Effect of an accepted UpdateVoter on check quorum and on the sender's fetch timer.

    Rules: check-quorum.counts-keys, fetch.timer."""

    report_at_version_0: Literal["noted", "refused"] = "noted"
    """UpdateVoter at kraft.version 0.

    Rule: update-voter.in-memory-at-version-0."""

    lagging_voter: Literal["awaited", "refused", "added"] = "awaited"
    """Response to the AddVoter of a replica whose versions arrive before it has caught up.

    Kafka's leader, by its clock, adds one that was caught up within the hour, and refuses others.  It has no named
    profile, because vectors have no clock.  With either setting a leader may take the other.

    Rule: add-voter.catch-up-first."""

    resigned_metric: Literal["resigned", "unattached"] = "resigned"
    """Metric current-state of a Resigned replica.  Rule: metric.current-state."""

    latitude: Latitude = Latitude()


KIP = Profile("kip")
"""The newest wording of the KIPs; the rule catalogue closes the gaps."""

KAFKA_4 = Profile(
    "kafka-4",
    observer_refusal="timer-unused",
    prospective_announcement="stays",
    end_quorum_fetched_flag="kept",
    diverging_fetch="ignored",
    restart_precedence="own-vote",
    voter_key_error="INVALID_VOTER_KEY",
    kraft_version_gate="append",
    update_voter_credit="fetch",
    resigned_metric="unattached",
)
"""Apache Kafka 4.2 and 4.3; the page results/profiles has the evidence for each decision."""

KAFKA_4_1 = replace(KAFKA_4, name="kafka-4.1", observer_refusal="lasts")
"""Apache Kafka 4.1."""

KAFKA_4_0 = replace(KAFKA_4_1, name="kafka-4.0", update_voter_credit="none", report_at_version_0="refused")
"""Apache Kafka 4.0, and 3.9, which has no Pre-Vote."""

KAFKA_PROFILES = (KAFKA_4, KAFKA_4_1, KAFKA_4_0)
"""Profiles of Apache Kafka, newest first."""

PROFILES: dict[str, Profile] = {profile.name: profile for profile in (KIP, *KAFKA_PROFILES)}

_OF_LATITUDE = get_type_hints(Latitude)

DECISIONS: Mapping[str, tuple[str, ...]] = {
    name: get_args(hint)
    for name, hint in (get_type_hints(Profile) | _OF_LATITUDE).items()
    if name not in ("name", "latitude")
}
"""Settings of each decision, of `Profile` and of `Latitude`, by its name."""


def settings(profile: Profile) -> dict[str, str]:
    """Return the setting of each decision, as the trace format and the model list them."""
    return {name: getattr(profile.latitude if name in _OF_LATITUDE else profile, name) for name in DECISIONS}


def with_settings(profile: Profile, name: str | None = None, **chosen: str) -> Profile:
    """Return the profile with other settings, by the name of the decision, and with another name if there is one."""
    latitude = {decision: setting for decision, setting in chosen.items() if decision in _OF_LATITUDE}
    own = {decision: setting for decision, setting in chosen.items() if decision not in latitude}
    changed = replace(profile.latitude, **latitude)  # type: ignore[arg-type]
    return replace(profile, name=name or profile.name, latitude=changed, **own)  # type: ignore[arg-type]
