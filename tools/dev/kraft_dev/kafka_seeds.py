"""Random schedules on releases of Apache Kafka, many of them: what they come to, recorded for the site."""

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
"""Events before faults stop: those of `kraft-spec kafka run`."""
REPLY_S = 60.0
"""A reply may have to wait for a JVM."""
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
BUG_HEADS = ("bug", "release", "workload", "runs", "what the last comes to, after the rules that it names first")
RULES_NAMED = 3
KNOWN_HEADS = ("what is known", "runs")


class Campaign(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The seeds of a workload on one cluster, counted."""

    cluster: str
    """Who the replicas are dealt out to, with commas between."""
    bug: str
    """The mutant of Kafka; empty for Kafka itself.  The runs end at the first that fails."""
    workload: str
    first: int
    end: int
    """The one after the last seed."""
    events: int
    until_known: int
    """Of these events, those before anything that is known to differ: TLC checked them."""
    to_the_end: int
    """Runs that ended where they were meant to, with the liveness that is asked there."""
    statuses: dict[str, int]
    known: dict[str, int]
    """Runs that show something that is known to differ, by its reason."""
    failures: tuple[str, ...]
    """Of the runs that are unexplained: their id, the rules that they name first, and what they come to."""
    date: str
    """YYYY-MM-DD, UTC."""
    commit: str
    """With `-dirty` after it if there were changes that are not committed."""

    @property
    def command(self) -> str:
        """What repeats it."""
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
    """Those that all releases of a cluster have the features for, as the newest lists them."""
    theirs = [nearest(name).workloads for name in cluster.split(",") if name != REFERENCE]
    return tuple(name for name in theirs[-1] if all(name in one for one in theirs))


def make_runs(
    cluster: str,
    patch: Patch | None,
    workloads: tuple[str, ...],
    seeds: range,
    on_run: Callable[[RandomOutcome], None],
) -> None:
    """Make the runs on processes that are started once, up to the first that fails with a mutant.

    The cluster is named as on the command line: `4.1.2,4.3.1,reference`.

    Raises:
        KafkaUnavailableError: a release cannot be run here.
        AdapterFault: an adapter cannot be started.
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

    def on_made(one: RandomOutcome) -> None:
        if one.outcome.status is not Status.SKIPPED:
            on_run(one)

    random_campaign(plan, on_made)


def counted(
    cluster: str, patch: Patch | None, workload: str, first: int, outcomes: Sequence[RandomOutcome], commit: str
) -> Campaign:
    """What runs come to that were made at a commit."""
    failing = [one.outcome for one in outcomes if one.outcome.status in FAILING]
    return Campaign(
        cluster,
        "" if patch is None else patch.name,
        workload,
        first,
        first + len(outcomes),
        sum(one.events for one in outcomes),
        sum(one.until_known if one.known else one.events for one in outcomes),
        sum(one.is_whole for one in outcomes),
        dict(sorted(Counter(str(one.outcome.status) for one in outcomes).items())),
        dict(Counter(reason for one in outcomes for reason in one.known).most_common()),
        tuple(map(_failure, failing)),
        datetime.now(UTC).date().isoformat(),
        commit,
    )


def _failure(one: Outcome) -> str:
    what = str(one.differences[0]) if one.differences else one.reason
    return f"{one.id}: {', '.join(one.rules[:RULES_NAMED])}: {what}"


def load_campaigns() -> tuple[Campaign, ...]:
    """What is recorded.

    Raises:
        msgspec.DecodeError: the file is malformed.
    """
    return msgspec.json.decode(FILE.read_bytes(), type=tuple[Campaign, ...]) if FILE.exists() else ()


def record(new: Campaign) -> None:
    """Keep a campaign in place of earlier ones of the same cluster, bug and workload that have a seed of it."""
    others = [one for one in load_campaigns() if _runs(one) != _runs(new) or not _overlap(one, new)]
    kept = sorted([*others, new], key=lambda one: (*_runs(one), one.first))
    FILE.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(FILE) as output:
        output.write(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")


def _runs(one: Campaign) -> tuple[str, str, str]:
    return one.bug, one.cluster, one.workload


def _overlap(one: Campaign, other: Campaign) -> bool:
    return max(one.first, other.first) < min(one.end, other.end)


def markdown(found: Sequence[Campaign]) -> str:
    """The whole page."""
    words = (
        "Each run is a cluster under random faults, `kraft-spec kafka run --workload`, with the "
        "[judges of random runs](../conformance.md#who-judges). "
        "One that does what is known to differ goes on, as [it is told there](../kafka.md#what-is-known-to-differ).",
        "",
        *(_origins(found) if found else [not_recorded("python -m kraft_dev kafka-seeds --record")]),
    )
    return page("Random schedules on Apache Kafka", words, sections_of(found))


def _origins(found: Iterable[Campaign]) -> Iterable[str]:
    runs = Counter((one.date, one.commit) for one in found)
    for (date, commit), number in sorted(runs.items()):
        yield f"- {number} rows were measured on {date} at commit {commit}"
    for one in list(found)[:1]:
        yield f"- a row is repeated by a command as `{one.command}`"


def sections_of(found: Sequence[Campaign]) -> tuple[Section, ...]:
    """The tables, for the site and for a terminal."""
    return (*_plain([one for one in found if not one.bug]), *_of_mutants([one for one in found if one.bug]))


def _of_mutants(found: Sequence[Campaign]) -> tuple[Section, ...]:
    if not found:
        return ()
    words = ("The runs end at the first that fails.",)
    rows = [
        (one.bug, one.cluster, one.workload, str(one.end - one.first), "".join(one.failures) or "none fails")
        for one in found
    ]
    return (Section("Mutants of Kafka", words, BUG_HEADS, tuple(rows)),)


def _plain(found: Sequence[Campaign]) -> tuple[Section, ...]:
    if not found:
        return ()
    runs = sum(one.end - one.first for one in found)
    events = sum(one.events for one in found)
    checked = sum(one.until_known for one in found)
    failing = [failure for one in found for failure in one.failures]
    words = (
        f"{runs} runs with {events} events. TLC checked the {checked} before anything that is known to differ; "
        f"the comparison with the reference, the invariants and the liveness judge all. {len(failing)} runs are "
        "unexplained.",
        *[f"- {failure}" for failure in failing],
    )
    known: Counter[str] = Counter()
    for one in found:
        known.update(one.known)
    return (
        Section("What the runs come to", words, HEADS, tuple(map(_row, found))),
        Section(
            "What is known, and in how many runs it shows",
            (),
            KNOWN_HEADS,
            tuple((reason, str(number)) for reason, number in known.most_common()),
        ),
    )


def _row(one: Campaign) -> tuple[str, ...]:
    numbers = (
        one.events,
        one.until_known,
        one.statuses.get(Status.PASS, 0),
        one.statuses.get(Status.EXPECTED_FAILURE, 0),
        one.to_the_end,
        len(one.failures),
    )
    return (one.cluster.replace(",", ", "), one.workload, f"{one.first} to {one.end - 1}", *map(str, numbers))
