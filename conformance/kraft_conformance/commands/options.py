"""Options that several commands share."""

from typing import Annotated

import typer

from kraft_conformance.failure import usage_error
from kraft_spec.action_rules import switchable_rules
from kraft_spec.rules import UnknownRuleError, load_registry

Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Profile = Annotated[str, typer.Option(help="Answers to the open points of the KIPs: kip or kafka-4.")]
SwitchOff = Annotated[list[str] | None, typer.Option("--switch-off", help="A rule id to leave out; repeatable.")]


def known_rules(rule_ids: list[str] | None) -> tuple[str, ...]:
    """The rule ids of the command line, checked.

    Raises:
        CommandError: one does not exist, or has no switch; near matches are named.
    """
    registry = load_registry()
    for rule_id in rule_ids or ():
        try:
            registry[rule_id]
        except UnknownRuleError as error:
            raise usage_error(str(error)) from error
        if rule_id not in switchable_rules():
            known = ", ".join(switchable_rules())
            raise usage_error(f"the rule {rule_id} has no switch; those that have one: {known}")
    return tuple(sorted(set(rule_ids or ())))
