"""SARIF 2.1.0: what code hosts show beside the lines of a change.

A vector or case that fails is a result of the likeliest rule.  A result needs a place, or code hosts refuse it: it is
the first file that the command line of the adapter or the implementation names, as nothing is known of the sources
behind it, or where there is no command line the name of a release or the address of what runs already.
"""

import json
import re
import shlex
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from kraft_conformance.runner.outcome import FAILING, Outcome
from kraft_conformance.runner.output.run import Run
from kraft_conformance.runner.output.wording import visible
from kraft_conformance.runner.reports import details
from kraft_spec.rules import load_registry

_LINK = re.compile(r"(?<!\\)\[(?=[^\[\]]*\]\()")


def sarif(run: Run) -> bytes:
    """Return the document; the same results give the same bytes."""
    failed = run.of_status(*FAILING)
    rules = list(dict.fromkeys(_rule(outcome, run) for outcome in failed))
    registry = load_registry()
    driver = {
        "name": "kraft-spec",
        "semanticVersion": run.about.runner.version,
        "rules": [
            {
                "id": rule,
                "shortDescription": {"text": registry[rule].title},
                "fullDescription": {"text": registry[rule].statement},
            }
            for rule in rules
        ],
    }
    properties = {name: visible(run.facts[name]) for name in ("suite", "manifest", "profile") if name in run.facts}
    results = [_result(outcome, rules, run) for outcome in failed]
    done = {"tool": {"driver": driver}, "results": results, "properties": properties}
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [done]}
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _rule(outcome: Outcome, run: Run) -> str:
    return (*outcome.rules, *run.asked(outcome.id).rules)[0]


def _result(outcome: Outcome, rules: list[str], run: Run) -> dict[str, Any]:
    rule = _rule(outcome, run)
    message = _without_links(visible(details(outcome, run.repetition(outcome)), keep="\n"))
    place = {"artifactLocation": {"uri": _file_of(run.command)}, "region": {"startLine": 1}}
    return {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": "warning" if outcome.rule_level in ("SHOULD", "MAY") else "error",
        "message": {"text": f"{outcome.id}: {message}"},
        "locations": [{"physicalLocation": place, "logicalLocations": [{"fullyQualifiedName": outcome.id}]}],
        # Identifies the same result in the next run.
        "partialFingerprints": {f"{run.noun}/v1": outcome.id},
    }


def _without_links(text: str) -> str:
    """Return the text of a message in which an implementation's output cannot form a link ([text](target))."""
    return _LINK.sub(r"\\[", text)


def _file_of(command: str) -> str:
    """Return, as a URI, the first word of the command line that looks like a relative file, or the first word."""
    try:
        words = shlex.split(command)
    except ValueError:
        # A result file from elsewhere may have a command line that no shell accepts.
        words = command.split()
    files = [PurePath(word) for word in words]
    named = [file for file in files if file.suffix or len(file.parts) > 1]
    inside = [path for path in named if not path.is_absolute() and ".." not in path.parts]
    return quote((inside or files or [PurePath()])[0].as_posix())
