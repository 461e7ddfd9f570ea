"""What is proved of what, line by line: KIP, rule, the model's actions, the proof's, its obligations."""

from collections.abc import Iterable, Mapping

from tools.site.excerpts import named_rules
from tools.site.markup import prose

from kraft_dev.markdown import Section, code, codes, page
from kraft_proofs.induction import actions, logs
from kraft_proofs.induction.abstraction import SEQUENCES
from kraft_proofs.induction.obligations import obligations
from kraft_proofs.induction.state import any_state
from kraft_proofs.translation.acting import ACTIONS, EXECUTED
from kraft_spec.action_rules import EVENT_OPERATORS, rules_of_operators
from kraft_spec.rules import Registry

PAGE = "results/proved.md"

NONE = "in what several of them share"
"""For a rule that the model states in an operator of no action alone."""


def proved_page(registry: Registry) -> str:
    """The page, as Markdown."""
    stating = _stating(registry)
    counted = dict.fromkeys(stating, 0)
    for one in obligations():
        counted[one.part] = counted.get(one.part, 0) + 1
    by_rule: dict[str, list[str]] = {}
    for action, rules in stating.items():
        for rule in rules:
            by_rule.setdefault(rule, []).append(action)
    words = (
        "Each line is a chain: what the KIP says, the rule that it became, the actions of KRaft.tla that state it, the "
        "actions of the [inductive proof](../results/induction.md) that they amount to, and how many obligations are "
        "proved of these.",
        "That each step of the model is such a sequence is checked on every edge of its graph and in runs "
        "(`kraft-spec prove refinement`, `python -m kraft_dev edges --refinement`); "
        "[what must be read and believed](../results/induction.md#what-a-human-reviews) stands with the proof.",
        "A rule that is not here is not in the proof: it is about timers, Pre-Votes, errors, formats or the order of "
        "messages, which change nothing that the proof remembers, and the model and the traces check it alone.",
    )
    rows = tuple(_row(registry, rule, taken, counted) for rule, taken in sorted(by_rule.items()))
    heads = ("rule", "the KIP", "actions of KRaft.tla", "actions of the proof", "obligations")
    section = Section(f"{len(rows)} rules of {len(registry.by_id)}", (), heads, rows)
    return page("What is proved of what", words, [section, _translated()])


def _translated() -> Section:
    """Which actions of the model are proved from their text, and which are executed only."""
    words = (
        "`kraft-spec prove actions` translates an action from the text of KRaft.tla and proves, for any number of "
        "replicas and logs of any length, that each of its whole steps is a sequence of the proof's: "
        "[what that leaves open](../proofs.md#from-the-models-text-to-the-proof).",
        "Of all others, and of a crash in the middle of any step, it is executed: on every edge of the model's graph "
        "and in runs.",
    )
    rows = [(code(name), codes(SEQUENCES.get(name, ())), "proved", "") for name in ACTIONS]
    rows += [(code(name), codes(SEQUENCES.get(name, ())), "executed", why) for name, why in EXECUTED.items()]
    heads = ("action of KRaft.tla", "may amount to", "how", "why not proved")
    return Section(f"{len(ACTIONS)} actions of {len(rows)} proved from their text", words, heads, tuple(rows))


def _row(registry: Registry, rule: str, taken: Iterable[str], counted: Mapping[str, int]) -> tuple[str, ...]:
    names = tuple(taken)
    of_model = [
        event
        for event, operators in EVENT_OPERATORS.items()
        if rule in rules_of_operators(operators) and set(SEQUENCES.get(event, ())) & set(names)
    ]
    return (
        f"[{rule}](../rules/{rule}.md)",
        prose("; ".join(registry.by_id[rule].source)),
        codes(of_model) or NONE,
        codes(names),
        str(sum(counted[name] for name in names)),
    )


def _stating(registry: Registry) -> Mapping[str, tuple[str, ...]]:
    """Of each action of the proof the rules that its docstring names."""
    before = any_state()
    return {make(before).name: named_rules(make.__doc__ or "", registry.by_id) for make in (*actions.ALL, *logs.ALL)}
