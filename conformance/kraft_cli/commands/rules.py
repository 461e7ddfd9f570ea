"""`kraft-spec rules`: the rule registry."""

from collections.abc import Iterable, Sequence
from typing import Annotated

import typer
from rich.markdown import Markdown

from kraft_cli.commands.options import Json
from kraft_conformance.console import print_json, show_table, stdout
from kraft_conformance.failure import usage_error
from kraft_mutants import load_catalogue
from kraft_mutants.evidence import Row, rows_about
from kraft_proofs.theorems import theorems
from kraft_spec.rules import Registry, Rule, UnknownRuleError, load_registry
from kraft_spec.rules.citations import Citation, citations_of
from kraft_spec.rules.scope import load_scope
from kraft_spec.rules.sources import reference_tests
from kraft_vectors.manifest import read_manifest

Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ID|WORD",
        help="A rule id, a group such as `prevote`, a prefix with `.*`, or words of titles, texts and sources.",
    ),
]


def rules(words: Words = None, as_json: Json = False) -> int:
    """Show the rules: all of them in a table, or one with everything that is known about it."""
    registry = load_registry()
    if words and len(words) == 1 and words[0] in registry:
        return _show_rule(registry[words[0]], as_json)
    chosen = _choose(registry, words) if words else tuple(registry)
    if as_json:
        print_json([rule.as_dict() for rule in chosen])
        return 0
    rows = [(rule.id, rule.level, "yes" if rule.safety else "", rule.status, rule.title) for rule in chosen]
    show_table(f"{len(chosen)} rules", ("id", "level", "safety", "status", "title"), rows)
    if words:
        rows_of_all = (row for rule in chosen for row in rows_about(rule.id, load_catalogue()))
        # A mutant that breaks several rules has a row for each.
        _show_mutants(list({row.bug: row for row in rows_of_all}.values()), with_rule=True)
    return 0


def _choose(registry: Registry, words: Sequence[str]) -> tuple[Rule, ...]:
    """Return the rules of a group or prefix, or else those in whose text all words occur."""
    name = words[0]
    if len(words) == 1 and name in registry.groups:
        return tuple(registry.group(name))
    if len(words) == 1 and "." in name:
        try:
            return tuple(registry.matching(name)) or (registry[name],)
        except UnknownRuleError as error:
            raise usage_error(str(error)) from error
    chosen = tuple(rule for rule in registry if _has_words(rule, words))
    if not chosen:
        raise usage_error(f"no rule has the id or the words {' '.join(words)!r}; `kraft-spec rules` lists them")
    return chosen


def _has_words(rule: Rule, words: Iterable[str]) -> bool:
    texts = (rule.id, rule.title, rule.statement, *rule.source, rule.kafka, rule.open, rule.example)
    text = " ".join(filter(None, texts)).casefold()
    return all(word.casefold() in text for word in words)


def _show_rule(rule: Rule, as_json: bool) -> int:
    places = citations_of(rule.id, load_registry())
    broken = rows_about(rule.id, load_catalogue())
    outside = load_scope().outside
    if as_json:
        without = [{"bug": row.bug, "verdict": row.verdict, "how": row.explanation} for row in broken]
        named_in = [str(place) for place in places]
        stated = {"vectors": _list_vectors(rule.id), "tests": _list_tests(rule.id, places)}
        theorems_of = [{"theorem": slug, "statement": statement} for slug, statement in _list_theorems(rule.id)]
        in_scope = {"outside": outside[rule.id]} if rule.id in outside else {}
        print_json(
            {**rule.as_dict(), **in_scope, "named_in": named_in, **stated, "without": without, "proved": theorems_of}
        )
        return 0
    stdout.print(f"[bold]{rule.id}[/bold]  {rule.level}{'  safety' if rule.safety else ''}\n{rule.title}\n")
    if not rule.is_active:
        by = f" by {', '.join(rule.by)}" if rule.by else ""
        stdout.print(f"[bold]does not hold any more: {rule.status}{by}[/bold]\n")
    if rule.id in outside:
        stdout.print(f"[bold]nothing here implements it:[/bold] {outside[rule.id]}\n")
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
            stdout.print(f"\n[bold]{name}[/bold]")
            stdout.print(text, markup=False)
    _show_mutants(broken, with_rule=False)
    if proved := _list_theorems(rule.id):
        stdout.print("\n[bold]proved for voter sets of every size[/bold] (kraft-spec prove theorems)")
    for slug, statement in proved:
        stdout.print(f"  {slug}: {statement}", markup=False)
    stdout.print("\n[bold]named in[/bold]")
    for place in places:
        stdout.print(f"  {place}", markup=False)
    for title, entries in (("vectors", _list_vectors(rule.id)), ("tests", _list_tests(rule.id, places))):
        if entries:
            stdout.print(f"\n[bold]{title}[/bold]")
            for entry in entries:
                stdout.print(f"  {entry}", markup=False)
    return 0


def _list_vectors(rule_id: str) -> list[str]:
    return [entry.id for entry in read_manifest().vectors if rule_id in entry.rules]


def _list_tests(rule_id: str, places: Iterable[Citation]) -> list[str]:
    """Return the tests of the reference for a rule, its vectors and scenarios first; none without a checkout."""
    if (source := reference_tests()) is None:
        return []
    replays = [f"{source.name}/test_vectors.py"] if _list_vectors(rule_id) else []
    plays = [f"{source.name}/test_scenarios.py"] if _decides_scenario(rule_id, places) else []
    return replays + plays + [f"{it.path}:{it.line}" for it in citations_of(rule_id, load_registry(), [source])]


def _decides_scenario(rule_id: str, places: Iterable[Citation]) -> bool:
    if not any(place.path.startswith("kraft_simulation/scenarios/") for place in places):
        return False
    # Imported here, because only this needs the cluster.
    from kraft_simulation.scenarios import SCENARIOS

    return any(rule_id in scenario.rules for scenario in SCENARIOS)


def _list_theorems(rule_id: str) -> list[tuple[str, str]]:
    """Return slug and statement of the theorems for a rule."""
    return [(theorem.slug, theorem.statement) for theorem in theorems() if rule_id in theorem.rules]


def _show_mutants(broken: Sequence[Row], *, with_rule: bool) -> None:
    if not broken:
        return
    stdout.print(f"\n[bold]without {'them' if with_rule else 'it'}[/bold]")
    for row in broken:
        rule = f"{row.rule}: " if with_rule else ""
        stdout.print(f"  {rule}{row.bug}\n    {row.verdict}: {row.explanation}", markup=False)
