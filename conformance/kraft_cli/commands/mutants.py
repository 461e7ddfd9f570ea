"""`kraft-spec mutants`: the catalogue of rules broken on purpose."""

from typing import Annotated

import typer

from kraft_cli.commands.options import Json
from kraft_conformance.console import print_json, stdout
from kraft_conformance.failure import usage_error
from kraft_mutants import load_catalogue, model_edits, reference_edits
from kraft_spec.rules import load_registry

RuleId = Annotated[str | None, typer.Argument(help="Only the mutants that break this rule, or one of this group.")]
Omits = Annotated[bool, typer.Option("--omits", help="Only the mutants that omit a rule: a trace can name these.")]


def mutants(rule_id: RuleId = None, omits: Omits = False, as_json: Json = False) -> int:
    """List the mutants: rules broken on purpose in the model and the reference, for --mutant and for the checks."""
    registry = load_registry()
    rules = None if rule_id is None else {rule.id for rule in (*registry.matching(rule_id), *registry.group(rule_id))}
    chosen = [
        mutant
        for mutant in load_catalogue().mutants
        if (rules is None or rules & {*mutant.rules}) and (mutant.omits or not omits)
    ]
    if not chosen:
        raise usage_error(f"no mutant breaks {rule_id}; `kraft-spec mutants` lists the rules that have one")
    parts = [
        "model and reference" if model and reference else "model" if model else "reference"
        for model, reference in ((model_edits(mutant), reference_edits(mutant)) for mutant in chosen)
    ]
    if as_json:
        print_json(
            [
                {"name": mutant.name, "rules": mutant.rules, "omits": mutant.omits, "of": of, "bug": mutant.bug}
                for mutant, of in zip(chosen, parts, strict=True)
            ]
        )
        return 0
    for mutant, of in zip(chosen, parts, strict=True):
        stdout.print(f"[bold]{mutant.name}[/bold]")
        stdout.print(f"  {mutant.bug}\n  breaks {', '.join(mutant.rules)} ({of})", markup=False)
        if mutant.omits:
            stdout.print(f"  omits {', '.join(mutant.omits)}", markup=False)
    return 0
