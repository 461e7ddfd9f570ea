"""`kraft-spec conformance profiles`: where the profiles differ, and where Apache Kafka was read."""

from msgspec import to_builtins

from kraft_cli.commands.options import Json
from kraft_conformance.console import print_json, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_reference.profile import KAFKA_4, KIP, PROFILES
from kraft_vectors.profiles import EXPERIMENTAL, Difference, read_kafka_file, shown_profile


def profiles(as_json: Json = False) -> int:
    """Show where the profiles of Apache Kafka differ from kip, and the source files that they were read from."""
    known = read_kafka_file()
    if as_json:
        names = [{"name": name, "experimental": name in EXPERIMENTAL} for name in PROFILES]
        differences = [
            {**to_builtins(one), "subject": one.subject, "verified": one.verified} for one in known.difference
        ]
        unexpressed = [{**to_builtins(one), "verified": one.verified} for one in known.unexpressed]
        print_json({"profiles": names, "differences": differences, "unexpressed": unexpressed})
        return ExitCode.CONFORMANT
    show_table(
        f"{len(known.difference)} differences",
        ("decision", KIP.name, shown_profile(KAFKA_4.name), "earlier", "sources", "vectors"),
        [
            (
                one.decision,
                one.answers[KIP.name],
                one.answers[KAFKA_4.name],
                _earlier(one),
                "verified" if one.verified else "not verified",
                len(one.vectors),
            )
            for one in known.difference
        ],
    )
    return ExitCode.CONFORMANT


def _earlier(one: Difference) -> str:
    """What the profiles of earlier releases answer otherwise than that of the newest."""
    newest = one.answers[KAFKA_4.name]
    return ", ".join(
        f"{name}: {answer}" for name, answer in one.answers.items() if name != KIP.name and answer != newest
    )
