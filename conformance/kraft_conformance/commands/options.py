"""Options that several commands share."""

from typing import Annotated

import typer

from kraft_conformance.failure import usage_error
from kraft_spec.rules import UnknownRuleError, load_registry

Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Profile = Annotated[str, typer.Option(help="Answers to the open points of the KIPs: kip or kafka-4.")]
SwitchOff = Annotated[list[str] | None, typer.Option("--switch-off", help="A rule id to leave out; repeatable.")]


def known_rules(rule_ids: list[str] | None) -> tuple[str, ...]:
    """The rule ids of the command line, checked.

    Raises:
        CommandError: one does not exist; near matches are named.
    """
    registry = load_registry()
    for rule_id in rule_ids or ():
        try:
            registry[rule_id]
        except UnknownRuleError as error:
            raise usage_error(str(error)) from error
    return tuple(sorted(set(rule_ids or ())))
