"""What can be seen in traces, by name, so that what was never seen can be listed.

Rules are those that the model's actions state: an event counts for a rule if its action states it and the rule speaks
of the replica's role (`kraft_spec.action_rules`).
"""

from collections.abc import Iterator
from itertools import product

from kraft_reference.messages import Error
from kraft_reference.roles import TRANSITIONS, Role
from kraft_spec.action_rules import EVENT_OPERATORS, rules_of_event
from kraft_traces.pipeline.observed import FAULT_KINDS
from kraft_traces.vocabulary import EVENT_NAMES

ACTION, RULE, TRANSITION, ERROR, FAULT = "action", "rule", "transition", "error", "fault"
KINDS = (ACTION, RULE, TRANSITION, ERROR, FAULT)
"""The kinds of things that are counted."""

ARROW = " -> "
"""Between the two roles of a transition."""

_ROLES = (None, *(role.value for role in Role))
_PRE_VOTES = (None, False, True)


def rule_rows() -> Iterator[tuple[str, str | None, bool | None, str]]:
    """Event, role before, whether it is a Pre-Vote, and a rule that such an event counts for: all there are."""
    for event, role, pre_vote in product(EVENT_OPERATORS, _ROLES, _PRE_VOTES):
        for rule in rules_of_event(event, role, pre_vote):
            yield event, role, pre_vote, rule


def everything() -> dict[str, tuple[str, ...]]:
    """Everything that can be seen, by kind, in an order for readers."""
    transitions = dict.fromkeys(
        f"{row.source}{ARROW}{row.target}" for row in TRANSITIONS if row.source is not row.target
    )
    return {
        ACTION: EVENT_NAMES,
        RULE: tuple(sorted({rule for *_, rule in rule_rows()})),
        TRANSITION: tuple(transitions),
        ERROR: tuple(Error),
        FAULT: FAULT_KINDS,
    }
