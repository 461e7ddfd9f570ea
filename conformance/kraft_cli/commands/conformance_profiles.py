"""`kraft-spec conformance profiles`: the differences of the profiles, and the Apache Kafka sources behind them."""

from msgspec import to_builtins

from kraft_cli.commands.options import Json
from kraft_conformance.console import print_json, show_table
from kraft_conformance.exit_codes import ExitCode
from kraft_reference.profile import KAFKA_4, KIP, PROFILES
from kraft_vectors.profiles import EXPERIMENTAL, Difference, read_kafka_file, shown_profile


def profiles(as_json: Json = False) -> int:
    """Show where the profiles of Apache Kafka differ from kip, and the source files that they were read from."""
    kafka = read_kafka_file()
    if as_json:
        names = [{"name": name, "experimental": name in EXPERIMENTAL} for name in PROFILES]
        differences = [{**to_builtins(it), "subject": it.subject, "verified": it.verified} for it in kafka.difference]
        unexpressed = [{**to_builtins(decision), "verified": decision.verified} for decision in kafka.unexpressed]
        print_json({"profiles": names, "differences": differences, "unexpressed": unexpressed})
        return ExitCode.CONFORMANT
    show_table(
        f"{len(kafka.difference)} differences",
        ("decision", KIP.name, shown_profile(KAFKA_4.name), "earlier", "sources", "vectors"),
        [
            (
                it.decision,
                it.answers[KIP.name],
                it.answers[KAFKA_4.name],
                _list_earlier(it),
                "verified" if it.verified else "not verified",
                len(it.vectors),
            )
            for it in kafka.difference
        ],
    )
    return ExitCode.CONFORMANT


def _list_earlier(difference: Difference) -> str:
    """Return the settings of earlier releases' profiles that differ from the newest profile's."""
    newest = difference.answers[KAFKA_4.name]
    return ", ".join(
        f"{name}: {answer}" for name, answer in difference.answers.items() if name != KIP.name and answer != newest
    )
