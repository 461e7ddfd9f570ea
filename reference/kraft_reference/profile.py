"""Profiles: how the open points of the KIPs are decided.

The KIPs contradict themselves in places and Apache Kafka departs from them in known ones.
Each such point is one field here; a profile is one answer to each.
The model takes the same answers as data (`config.decisions` in Definitions.tla).
"""

from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, slots=True)
class Profile:
    """A set of answers to the open points."""

    name: str

    observer_refusal: Literal["expires", "lasts", "timer-unused"] = "expires"
    """Does an observer that fetched once refuse Pre-Votes after its fetch timer fired?  It does, too, where that timer
    means nothing to an observer, so that it does not look for the leader elsewhere either.

    Rules: prevote.follower.refusal-expires, observer.fetch-timeout."""

    prospective_announcement: Literal["follower", "stays"] = "follower"
    """What BeginQuorumEpoch of the already known leader does to a Prospective.

    Rules: begin-quorum.accept, state.prospective.discovers-leader."""

    end_quorum_fetched_flag: Literal["cleared", "kept"] = "cleared"
    """Does EndQuorumEpoch let a Follower grant Pre-Votes again?  Rule: end-quorum.frees-followers."""

    diverging_fetch: Literal["counts", "ignored"] = "counts"
    """Does a Fetch that turns out to diverge count for check quorum?  Rule: check-quorum.counts-keys."""

    restart_precedence: Literal["known-leader", "own-vote"] = "known-leader"
    """What a restart looks at first in the quorum state file.  Rule: durable.restart.voted-self."""

    voter_key_error: Literal["INVALID_REQUEST", "INVALID_VOTER_KEY"] = "INVALID_REQUEST"
    """The error for a request that addresses another replica key.  Rules: vote.voter-key, begin-quorum.voter-key."""

    kraft_version_gate: Literal["commit", "append"] = "commit"
    """When a Leader lets a new kraft.version decide which requests it accepts.  Rule: kraft-version.finalized-when."""

    update_voter_credit: Literal["none", "fetch"] = "none"
    """What does an UpdateVoter that is taken count as, for check quorum at the leader and the sender's fetch timer?

    Rules: check-quorum.counts-keys, fetch.timer."""

    report_at_version_0: Literal["noted", "refused"] = "noted"
    """Do voters report themselves at kraft.version 0, for a leader to note?

    Rule: update-voter.in-memory-at-version-0."""

    vote_of_non_voter: Literal["by-log", "refuse-and-campaign"] = "by-log"
    """What a voter does when somebody outside its own voters set asks for its vote: KIP-853's answer, or KIP-642's.

    Rules: vote.membership-not-checked, reassign.votes-from-non-voters."""

    leader_high_watermark: Literal["kept", "unknown"] = "kept"
    """What a new Leader knows until a majority has a record of its epoch, and a Resigned: what it knew, or nothing.

    Rules: hw.own-epoch, hw.monotonic."""

    own_vote_at_restart: Literal["candidate", "prospective", "unattached"] = "candidate"
    """As what a replica starts that has voted for itself and knows no leader.  Rule: durable.restart.voted-self."""

    voted_directory_at_version_0: Literal["forgotten", "remembered"] = "forgotten"
    """Does a restart at kraft.version 0 forget the directory id of its vote?

    Rules: durable.vote.v0-uuid-in-memory, identity.voted-uuid-volatile-at-version-0."""

    vote_of_lost_file: Literal["spent", "free"] = "spent"
    """The vote of the log's epoch where the quorum state file is behind it.  Rule: durable.restart.log-epoch."""

    announcement_again: Literal["when-idle", "by-timer"] = "when-idle"
    """When a Leader announces itself again to a voter that has not answered in time: as soon as the connection is idle,
    or when the begin-quorum timer fires.

    Rule: begin-quorum.resend."""

    announced_to: Literal["not-fetching", "all", "all-again"] = "not-fetching"
    """The voters to which a Leader announces itself: those that have not fetched in the check-quorum period, all that
    have not acknowledged it in the announcement period, or all, as often as it likes.

    Rule: begin-quorum.resend."""

    diverging_cut: Literal["own-offset", "smaller-offset"] = "own-offset"
    """Where a Follower cuts that has nothing of the diverging epoch: where its own smaller epochs end, or no later than
    the diverging epoch ends at the leader.

    Rule: fetch.diverging.truncate."""

    unanswered_fetch: Literal["leader-again", "servers-too"] = "leader-again"
    """Whom a Follower asks after its leader has not answered in time: the leader again, or any bootstrap server, too,
    until it has fetched from its leader.

    Rule: fetch.who-fetches."""

    resigned_metric: Literal["resigned", "unattached"] = "resigned"
    """The value of current-state for Resigned.  Rule: metric.current-state."""


KIP = Profile("kip")
"""The KIPs in their newest wording, gaps closed as the rule catalogue says."""

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
"""Apache Kafka 4.2 and 4.3: the page results/profiles has for each answer what showed it, or where it was read."""

KAFKA_4_1 = replace(KAFKA_4, name="kafka-4.1", observer_refusal="lasts")
"""Apache Kafka 4.1."""

KAFKA_4_0 = replace(KAFKA_4_1, name="kafka-4.0", update_voter_credit="none", report_at_version_0="refused")
"""Apache Kafka 4.0, and 3.9, which has no Pre-Vote."""

KAFKA_PROFILES = (KAFKA_4, KAFKA_4_1, KAFKA_4_0)
"""Those of Apache Kafka, the newest first."""

PROFILES: dict[str, Profile] = {profile.name: profile for profile in (KIP, *KAFKA_PROFILES)}
