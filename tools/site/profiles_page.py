"""The profiles: every difference of the profiles, and every known one that they don't say."""

from collections.abc import Iterator

from kraft_dev.markdown import code, codes, table
from kraft_kafka.recorded import load_recorded
from kraft_reference.profile import KAFKA_4, KIP
from kraft_vectors.profiles import (
    REPOSITORY,
    Difference,
    KafkaFile,
    Source,
    Unexpressed,
    read_kafka_file,
)

PAGE = "results/profiles.md"


def profiles_page() -> str:
    """The text of the page."""
    known = read_kafka_file()
    return (
        "\n".join([*_head(known), *_differences(known), *_alike(known), *_unexpressed(known), *_agreeing(known)]) + "\n"
    )


def _head(known: KafkaFile) -> Iterator[str]:
    expressed, shown = len(known.difference), sum(bool(one.vectors) for one in known.difference)
    verified = sum(one.verified for one in known.difference)
    vectors = sum(len(one.vectors) for one in known.difference)
    yield from (
        "# Profiles",
        "",
        "From `conformance/kraft_vectors/kafka_4.toml`.",
        "",
        "A *profile* answers the points at which the KIPs contradict themselves or Apache Kafka departs from them"
        " ([decisions](../decisions.md)).",
        f"`{KIP.name}` is the KIPs in their newest wording; the others are releases of Apache Kafka:",
        "",
        *table(
            ("profile", "the releases that were run and do as it says"),
            [(code(name), ", ".join(versions)) for name, versions in _releases_of().items()],
        ),
        "",
        "Each answer was read in Kafka, at the revisions that stand beside it, and shown by running releases as far as"
        " its table of releases names a vector: one that was *only read* says so.",
        f"An answer is *verified* if every file was read at the revision that stands beside it; {verified} of"
        f" {expressed} are.",
        "",
        f"`kraft-spec conformance run --profile {KAFKA_4.name}` runs the vectors that hold under it and skips the"
        " others.",
        f"{shown} of the {expressed} differences have vectors, {vectors} of them under profiles of Kafka alone.",
        "Where the same events lead to something else there are two of them: the one of Kafka has the id of the other,"
        " followed by the name of the newest profile that it holds under, or stands beside it below.",
        f"A vector of `{KIP.name}` without a twin comes from a scenario that takes another course under"
        " the profile, because of one of these differences at some replica.",
        "",
        "## Revisions",
        "",
        f"Commits of {REPOSITORY}, as a public index of its files names them, and releases.",
        "",
        *table(("commit", "what it is"), [(code(one.commit), one.what) for one in known.revision]),
        "",
    )


def _differences(known: KafkaFile) -> Iterator[str]:
    yield "## Differences"
    for one in known.difference:
        yield from (
            "",
            f"### {one.decision}",
            "",
            *([f"Subject: `{one.subject}`."] if one.subject == "partitions" else []),
            f"Rules: {codes(one.rules)}.",
            "",
            f"- `{KIP.name}`: {one.kip}",
            f"- Apache Kafka, {'verified' if one.verified else 'not verified'}: {one.kafka}",
            *([f"- {one.caution}"] if one.caution else []),
            "",
            "Read in:",
            "",
            *map(_source, one.source),
            *(f"{_source(later)}, which does otherwise" for later in one.later),
            "",
            *_vectors(one),
            *(_shown(one) if one.subject == "replica" else ()),
        )
    yield ""


def _releases_of() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for run in reversed(load_recorded().releases):
        found.setdefault(run.profile, []).append(run.version)
    return found


def _shown(one: Difference) -> Iterator[str]:
    """What each release answers, and the first vector that showed it there."""
    rows = [
        (run.version, code(one.answers[run.profile]), codes(one.shown_on(run.statuses)[:1]) or "only read")
        for run in load_recorded().releases
    ]
    yield from ("", *table(("release", "answer", "shown by"), rows))


def _vectors(one: Difference) -> Iterator[str]:
    if not one.vectors:
        yield f"No vector: {one.without_vector}"
        return
    rows = [
        (code(variant) if (variant := one.kip_variant(vector)) else "takes another course", code(vector))
        for vector in one.vectors
    ]
    yield from table((code(KIP.name), "Apache Kafka"), rows)


def _alike(known: KafkaFile) -> Iterator[str]:
    yield from ("## Decisions that both answer alike", "")
    for one in known.alike:
        read = "verified" if one.verified else "not verified"
        yield from (
            f"- `{one.decision}`, {read}: {one.answer}",
            f"  Rules: {codes(one.rules)}.",
            *(f"  {_source(source)}" for source in one.source),
        )
    yield ""


def _unexpressed(known: KafkaFile) -> Iterator[str]:
    yield from (
        "## Differences that the profiles don't say",
        "",
        "Those that a vector or a schedule shows on a running release are on "
        "[the page of Kafka](../kafka.md#what-is-known-to-differ); these are not seen there.",
        "",
        *table(("rules", "Apache Kafka", "why not", "read in"), map(_unexpressed_row, known.unexpressed)),
        "",
    )


def _unexpressed_row(one: Unexpressed) -> tuple[str, ...]:
    sources = "<br>".join(_source(source).removeprefix("- ") for source in one.source) or "not verified"
    return codes(one.rules), one.kafka, one.reason, sources


def _agreeing(known: KafkaFile) -> Iterator[str]:
    yield from (
        "## Notes that are no differences",
        "",
        "The catalogue says something of Kafka beside these rules that a replica does not show.",
        "",
        *table(("rule", ""), [(code(rule), why) for rule, why in known.agreeing.items()]),
    )


def _source(source: Source) -> str:
    name = source.path.rpartition("/")[2]
    unread = "" if source.verified else ", not verified"
    return f"- `{name}` at `{source.revision[:12]}`: {source.where}{unread} (`{source.path}`)"
