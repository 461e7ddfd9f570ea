"""Many random schedules on releases of Apache Kafka, recorded for the site."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

import msgspec

from kraft_conformance.random_runs.campaign import random_campaign
from kraft_conformance.random_runs.outcome import RandomOutcome
from kraft_conformance.random_runs.plan import RandomPlan
from kraft_conformance.random_runs.seats import REFERENCE, Command, Reference, Seat
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_dev.markdown import Section, page
from kraft_dev.results import not_recorded, result_file
from kraft_kafka.adapter import command_line
from kraft_kafka.differences import known_in_schedules
from kraft_kafka.patching.patches import Patch, patched
from kraft_kafka.releases import nearest
from kraft_kafka.unpinned import release_of
from kraft_traces.streams import atomic_file

STEPS = 300
"""Events before faults stop, as in `kraft-spec kafka run`."""
REPLY_S = 60.0
"""Timeout of a reply, which may have to wait for a JVM."""
FILE = result_file("kafka-seeds")
HEADS = (
    "cluster",
    "workload",
    "seeds",
    "events",
    "TLC checked",
    "accepted in full",
    "known",
    "to the end",
    "unexplained",
)
BUG_HEADS = ("bug", "release", "workload", "runs", "last run: its first named rules, and its outcome")
RULES_NAMED = 3
KNOWN_HEADS = ("known difference", "runs")


class Campaign(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Counts of a workload's seeds on one cluster."""

    cluster: str
    """Implementations that the replicas are assigned to, separated by commas."""
    bug: str
    """The mutant of Kafka; empty for Kafka itself.  The runs of a mutant end at the first failure."""
    workload: str
    first: int
    end: int
    """The seed after the last one."""
    events: int
    until_known: int
    """Events before the first known difference of a run; TLC checked them."""
    to_the_end: int
    """Runs that reached their planned end, with the liveness that is required there."""
    statuses: dict[str, int]
    known: dict[str, int]
    """Number of runs that show each known difference, by its reason."""
    failures: tuple[str, ...]
    """Unexplained runs: their id, the first rules that they name, and the outcome."""
    date: str
    """YYYY-MM-DD, UTC."""
    commit: str
    """Commit, with `-dirty` appended if there were uncommitted changes."""

    @property
    def command(self) -> str:
        """Command that repeats the campaign."""
        seeds = f"{self.first}:{self.end}"
        patch = f" --mutant {self.bug}" if self.bug else ""
        words = f"--cluster {self.cluster}{patch} --workload {self.workload} --seeds {seeds}"
        return f"python -m kraft_dev kafka-seeds {words}"


def _seat(name: str, patch: Patch | None) -> Seat:
    if name == REFERENCE:
        return Reference()
    kafka = release_of(name)
    return Command(command_line(kafka if patch is None else patched(kafka, patch), "state"))


def workloads_of(cluster: str) -> tuple[str, ...]:
    """Return the workloads whose features all releases of a cluster have, in the order of the newest release."""
    theirs = [nearest(name).workloads for name in cluster.split(",") if name != REFERENCE]
    return tuple(name for name in theirs[-1] if all(name in names for names in theirs))


def make_runs(
    cluster: str,
    patch: Patch | None,
    workloads: tuple[str, ...],
    seeds: range,
    on_run: Callable[[RandomOutcome], None],
) -> None:
    """Make the runs on processes that are started once; with a mutant, stop at the first failure.

    The cluster is named as on the command line: `4.1.2,4.3.1,reference`.

    Raises:
        KafkaUnavailableError: A release cannot run here.
        AdapterFault: An adapter cannot start.
    """
    plan = RandomPlan(
        tuple([_seat(name, patch) for name in cluster.split(",")]),
        seeds,
        workloads,
        STEPS,
        shrinks=patch is None,
        stops_at_first=patch is not None,
        known=known_in_schedules(),
        reply_timeout_s=REPLY_S,
    )

    def on_made(outcome: RandomOutcome) -> None:
        if outcome.outcome.status is not Status.SKIPPED:
            on_run(outcome)

    random_campaign(plan, on_made)


def count_campaign(
    cluster: str, patch: Patch | None, workload: str, first: int, outcomes: Sequence[RandomOutcome], commit: str
) -> Campaign:
    """Return the campaign of runs that were made at a commit."""
    failing = [outcome.outcome for outcome in outcomes if outcome.outcome.status in FAILING]
    return Campaign(
        cluster,
        "" if patch is None else patch.name,
        workload,
        first,
        first + len(outcomes),
        sum(outcome.events for outcome in outcomes),
        sum(outcome.until_known if outcome.known else outcome.events for outcome in outcomes),
        sum(outcome.is_whole for outcome in outcomes),
        dict(sorted(Counter(str(outcome.outcome.status) for outcome in outcomes).items())),
        dict(Counter(reason for outcome in outcomes for reason in outcome.known).most_common()),
        tuple(map(_failure, failing)),
        datetime.now(UTC).date().isoformat(),
        commit,
    )


def _failure(outcome: Outcome) -> str:
    what = str(outcome.differences[0]) if outcome.differences else outcome.reason
    return f"{outcome.id}: {', '.join(outcome.rules[:RULES_NAMED])}: {what}"


def load_campaigns() -> tuple[Campaign, ...]:
    """Return the recorded campaigns.

    Raises:
        msgspec.DecodeError: the file is malformed.
    """
    return msgspec.json.decode(FILE.read_bytes(), type=tuple[Campaign, ...]) if FILE.exists() else ()


def record(new: Campaign) -> None:
    """Record a campaign in place of earlier ones with the same cluster, mutant and workload and an overlapping seed
    range.
    """
    kept_campaigns = [
        campaign for campaign in load_campaigns() if _runs(campaign) != _runs(new) or not _overlap(campaign, new)
    ]
    kept = sorted([*kept_campaigns, new], key=lambda campaign: (*_runs(campaign), campaign.first))
    FILE.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(FILE) as output:
        output.write(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")


def _runs(campaign: Campaign) -> tuple[str, str, str]:
    return campaign.bug, campaign.cluster, campaign.workload


def _overlap(campaign: Campaign, other: Campaign) -> bool:
    return max(campaign.first, other.first) < min(campaign.end, other.end)


def markdown(campaigns: Sequence[Campaign]) -> str:
    """Return the page."""
    words = (
        "Each run is a cluster under random faults, `kraft-spec kafka run --workload`, with the "
        "[judges of random runs](../conformance.md#who-judges). "
        "A run with a known difference continues, as [described there](../kafka.md#what-is-known-to-differ).",
        "",
        *(_origins(campaigns) if campaigns else [not_recorded("python -m kraft_dev kafka-seeds --record")]),
    )
    return page("Random schedules on Apache Kafka", words, sections_of(campaigns))


def _origins(campaigns: Iterable[Campaign]) -> Iterable[str]:
    runs = Counter((campaign.date, campaign.commit) for campaign in campaigns)
    for (date, commit), number in sorted(runs.items()):
        yield f"- {number} rows were measured on {date} at commit {commit}"
    for campaign in list(campaigns)[:1]:
        yield f"- command for one row: `{campaign.command}`"


def sections_of(campaigns: Sequence[Campaign]) -> tuple[Section, ...]:
    """Return the tables, for the site and for a terminal."""
    return (
        *_plain([campaign for campaign in campaigns if not campaign.bug]),
        *_of_mutants([campaign for campaign in campaigns if campaign.bug]),
    )


def _of_mutants(campaigns: Sequence[Campaign]) -> tuple[Section, ...]:
    if not campaigns:
        return ()
    words = ("The runs end at the first failure.",)
    rows = [
        (
            campaign.bug,
            campaign.cluster,
            campaign.workload,
            str(campaign.end - campaign.first),
            "".join(campaign.failures) or "none fails",
        )
        for campaign in campaigns
    ]
    return (Section("Mutants of Kafka", words, BUG_HEADS, tuple(rows)),)


def _plain(campaigns: Sequence[Campaign]) -> tuple[Section, ...]:
    if not campaigns:
        return ()
    runs = sum(campaign.end - campaign.first for campaign in campaigns)
    events = sum(campaign.events for campaign in campaigns)
    checked = sum(campaign.until_known for campaign in campaigns)
    failing = [failure for campaign in campaigns for failure in campaign.failures]
    words = (
        f"{runs} runs with {events} events. TLC checked the {checked} events before the first known difference of "
        f"each run; the comparison with the reference, the invariants and the liveness checks cover all. "
        f"{len(failing)} runs are unexplained.",
        *[f"- {failure}" for failure in failing],
    )
    differences: Counter[str] = Counter()
    for campaign in campaigns:
        differences.update(campaign.known)
    return (
        Section("Results of the runs", words, HEADS, tuple(map(_row, campaigns))),
        Section(
            "Known differences, with their number of runs",
            (),
            KNOWN_HEADS,
            tuple((reason, str(number)) for reason, number in differences.most_common()),
        ),
    )


def _row(campaign: Campaign) -> tuple[str, ...]:
    numbers = (
        campaign.events,
        campaign.until_known,
        campaign.statuses.get(Status.PASS, 0),
        campaign.statuses.get(Status.EXPECTED_FAILURE, 0),
        campaign.to_the_end,
        len(campaign.failures),
    )
    return (
        campaign.cluster.replace(",", ", "),
        campaign.workload,
        f"{campaign.first} to {campaign.end - 1}",
        *map(str, numbers),
    )
