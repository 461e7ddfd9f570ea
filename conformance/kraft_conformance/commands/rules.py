"""`kraft-spec rules`: the rule registry."""

from typing import Annotated

import typer
from rich.markdown import Markdown

from kraft_conformance.console import print_json, stdout, table
from kraft_conformance.failure import usage_error
from kraft_spec.rules import Rule, UnknownRuleError, load_registry
from kraft_spec.rules.citations import check_citations

RuleId = Annotated[str | None, typer.Argument(help="A rule id, a group such as `prevote`, or a prefix with `.*`.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


def rules(rule_id: RuleId = None, as_json: Json = False) -> int:
    """Show the rules: all of them in a table, or one with everything that is known about it."""
    registry = load_registry()
    if rule_id is not None and rule_id in registry:
        return _one(registry[rule_id], as_json)
    if rule_id is None:
        chosen = tuple(registry)
    elif rule_id in registry.groups:
        chosen = tuple(registry.group(rule_id))
    else:
        chosen = tuple(registry.matching(rule_id))
        if not chosen:
            try:
                registry[rule_id]
            except UnknownRuleError as error:
                raise usage_error(str(error)) from error
    if as_json:
        print_json([rule.as_dict() for rule in chosen])
        return 0
    drawn = table(f"{len(chosen)} rules", "id", "level", "safety", "title")
    for rule in chosen:
        drawn.add_row(rule.id, str(rule.level), "yes" if rule.safety else "", rule.title)
    stdout.print(drawn)
    return 0


def _one(rule: Rule, as_json: bool) -> int:
    places = check_citations(load_registry()).of(rule.id)
    if as_json:
        print_json({**rule.as_dict(), "named_in": [str(place) for place in places]})
        return 0
    stdout.print(f"[bold]{rule.id}[/bold]  {rule.level}{'  safety' if rule.safety else ''}\n{rule.title}\n")
    stdout.print(Markdown(rule.statement))
    rows = (
        ("source", "; ".join(rule.source)),
        ("breaks", rule.breaks_text),
        ("Apache Kafka", rule.kafka),
        ("open", rule.open),
        ("example", rule.example),
    )
    for name, text in rows:
        if text:
            stdout.print(f"\n[bold]{name}[/bold]\n{text}", markup=True)
    stdout.print("\n[bold]named in[/bold]")
    for place in places:
        stdout.print(f"  {place}", markup=False)
    return 0
