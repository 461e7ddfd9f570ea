"""SARIF 2.1.0: what code hosts show beside the lines of a change.

A vector that fails is a result of the likeliest rule.  A result needs a place: it is the first file that the adapter's
command line names, as the vectors know nothing of the sources behind it.
"""

import json
import shlex
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from kraft_conformance.runner.outcome import FAILING, Outcome
from kraft_conformance.runner.output.results import Results
from kraft_conformance.runner.output.wording import visible
from kraft_conformance.runner.reports import details
from kraft_conformance.vectors.catalogue import Catalogue
from kraft_spec.rules import load_registry


def sarif(results: Results, catalogue: Catalogue) -> bytes:
    """The document: the same results give the same bytes."""
    failed = results.of_status(*FAILING)
    rules = list(dict.fromkeys(_rule(one, catalogue) for one in failed))
    about, registry = results.about, load_registry()
    driver = {
        "name": "kraft-spec",
        "semanticVersion": about.runner.version,
        "rules": [
            {
                "id": rule,
                "shortDescription": {"text": registry[rule].title},
                "fullDescription": {"text": registry[rule].statement},
            }
            for rule in rules
        ],
    }
    properties = {"suite": about.suite.version, "manifest": about.suite.manifest_sha256, "profile": about.profile}
    found = [_result(one, rules, results, catalogue) for one in failed]
    run = {"tool": {"driver": driver}, "results": found, "properties": properties}
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _rule(outcome: Outcome, catalogue: Catalogue) -> str:
    return (*outcome.rules, *catalogue.vector(outcome.id).rules)[0]


def _result(outcome: Outcome, rules: list[str], results: Results, catalogue: Catalogue) -> dict[str, Any]:
    rule = _rule(outcome, catalogue)
    said = visible(details(outcome, results.repetition(outcome)), keep="\n")
    place = {"artifactLocation": {"uri": _file_of(results.about.adapter)}, "region": {"startLine": 1}}
    return {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": "warning" if outcome.rule_level in ("SHOULD", "MAY") else "error",
        "message": {"text": f"{outcome.id}: {said}"},
        "locations": [{"physicalLocation": place, "logicalLocations": [{"fullyQualifiedName": outcome.id}]}],
        # What tells a result of the next run from a new one.
        "partialFingerprints": {"vector/v1": outcome.id},
    }


def _file_of(command: str) -> str:
    """As a URI, the first word of a command line that looks like a file below this folder, or its first word."""
    try:
        words = shlex.split(command)
    except ValueError:
        # Of a result that somebody else wrote: no shell would take it.
        words = command.split()
    files = [PurePath(word) for word in words]
    named = [one for one in files if one.suffix or len(one.parts) > 1]
    inside = [one for one in named if not one.is_absolute() and ".." not in one.parts]
    return quote((inside or files or [PurePath()])[0].as_posix())
