"""Rare cases: future levels, and requests at unusual moments."""

from dataclasses import replace

from kraft_reference.events import AdvanceReassignment, Poll, PollFetch, UpdateFeatures
from kraft_reference.outcome import Refusal
from kraft_reference.profile import KIP, with_settings
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import start
from kraft_simulation.scenarios.scenario import cluster
from kraft_vectors.openings import lead_unannounced, overtake, start_reported
from kraft_vectors.staging import RecordingDirector
from kraft_vectors.target import OBSERVED, STATIC, THREE, Targets, with_replicas

TARGETS = Targets()


@TARGETS.vector(
    "change.newer-voter",
    1,
    "add-voter.version-must-be-supported",
    configuration=with_replicas(OBSERVED, 4, max_version=2),
    level="effects",
)
def _newer_voter(d: Director) -> None:
    """A new voter may support more than the level in force."""
    start(d, 1, 1, end_offset=4)
    d.add_voter(1, 4)
    d.step("4 supports a level more than the one in force")
    d.learn_versions(1, 4)
    d.set_offset(1, 4)


@TARGETS.vector(
    "change.no-such-level",
    1,
    "kraft-version.upgrade-needs-all-voters",
    configuration=with_replicas(STATIC, 1, 2, 3, max_version=2),
)
def _no_such_level(d: Director) -> None:
    """The only upgrade is from level 0 to level 1."""
    start_reported(d)
    d.step("all support level 2, which is two above the one in force")
    d.happen(1, UpdateFeatures(1, 2, 0, 2))
    d.answered(1, "INVALID_UPDATE_VERSION")


@TARGETS.vector("idle.reassignment", 2, "reassign.request-leader-only")
def _not_leading(d: RecordingDirector) -> None:
    """A replica that does not lead takes no step of a reassignment."""
    start(d, 1, 1)
    d.fetch_timeout(2)
    d.step("a step of a reassignment, where no Leader is")
    d.refuses(2, AdvanceReassignment(None), Refusal.NOT_IN_ROLE)


@TARGETS.vector("resignation.last-of-six", 6, "end-quorum.handle", configuration=cluster(6))
def _last_of_six(d: Director) -> None:
    """The fifth of the preferred candidates waits."""
    start(d, 1, 1)
    d.shutdown(1)
    d.step("6 is the fifth of the preferred candidates: it waits")
    d.end_quorum_epoch(1, 6)


@TARGETS.vector("fetch.upgrade-reverted", 1, "fetch.diverging.truncate", configuration=STATIC, level="state")
def _upgrade_reverted(d: Director) -> None:
    """Truncating the record removes its level, wherever the log ends then."""
    _overtaken_with_an_upgrade(d)
    d.step("f(1>2): the upgrade goes, and the record before it")
    d.fetch(1, 2)


def _overtaken_with_an_upgrade(d: Director) -> None:
    start_reported(d)
    d.cut(1, 2, 3)
    d.append(1)
    d.update_features(1, 1)
    overtake(d, 2, 3)


@TARGETS.vector(
    "fetch.upgrade-reverted-file",
    1,
    "durable.version-by-kraft",
    configuration=STATIC,
    level="effects",
)
def _file_after_a_reverted_upgrade(d: Director) -> None:
    """After a truncated upgrade, the quorum state file is written in version 0 again."""
    _overtaken_with_an_upgrade(d)
    d.fetch(1, 2)
    d.crash(2)
    d.step("v(3>1): the epoch is written in version 0, where that of 2 was written in version 1")
    d.fetch_timeout(1)
    d.fetch_timeout(3)
    d.pre_vote(3, 1, "granted")
    d.vote(3, 1, "granted")


@TARGETS.vector(
    "announcement.unanswered-until-the-timer",
    1,
    "begin-quorum.resend",
    configuration=replace(THREE, profile=with_settings(KIP, "kip-announces-by-timer", announcement_again="by-timer")),
)
def _announces_by_timer(d: RecordingDirector) -> None:
    """A Leader that announces itself only by its timer does not repeat an announcement before."""
    lead_unannounced(d, 1)
    d.poll(1)
    d.step("2 has not answered in time, and is told again when the timer fires; 3 may still answer")
    d.request_timeout(1, 2)
    d.refuses(1, Poll())
    d.request_timeout(1, 3)
    d.begin_quorum_epoch_timeout(1)
    d.poll(1)


@TARGETS.vector(
    "fetch.unanswered-asks-servers",
    2,
    "fetch.who-fetches",
    configuration=replace(THREE, profile=with_settings(KIP, "kip-asks-servers-too", unanswered_fetch="servers-too")),
)
def _asks_servers_too(d: RecordingDirector) -> None:
    """A Follower whose leader does not respond may ask any server, until it has fetched from its leader."""
    start(d, 1, 1)
    d.step("1 has not answered 2 in time: 2 asks 3, then 1 again, and after that 1 alone")
    d.happen(2, PollFetch(1))
    d.request_timeout(2, 1)
    d.fetch(2, 3, "NOT_LEADER_OR_FOLLOWER")
    d.fetch(2, 1)
    d.refuses(2, PollFetch(3))
