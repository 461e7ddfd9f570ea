"""Modules of the TLA+ model, split at their definitions, each with the rules that it names, and the properties."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tools.site.pieces import Piece, operators_of, tla_blocks

from kraft_kafka.live.visible import VISIBLE
from kraft_spec.fingerprint import MODEL_MODULES, PARTITION_MODEL_MODULES
from kraft_spec.rules import PROPERTIES
from kraft_spec.rules.citations import CitationReport
from kraft_traces.check.compared import PROPERTIES as PROPERTY_FIELDS
from kraft_traces.state_types import TracedState

MODEL = "spec/kraft_spec/tla"

MODULES = (
    *MODEL_MODULES,
    "Properties",
    "Stability",
    "Liveness",
    "LocalForms",
    "MCLivenessChange",
    "MCLivenessAsking",
    "Observed",
    "RoleTable",
    "Forgetting",
    "Trace",
    *PARTITION_MODEL_MODULES,
    "PartitionProperties",
    "PartitionTrace",
)
"""Modules in the order of their dependencies; the other modules only set bounds."""

IN_PYTHON: Mapping[str, str] = {
    "Definitions": "kraft_reference.state",
    "Roles": "kraft_reference.transitions",
    "Elections": "kraft_reference.elections",
    "Leadership": "kraft_reference.leadership",
    "PendingChanges": "kraft_reference.pending_changes",
    "Replication": "kraft_reference.replication",
    "VoterChanges": "kraft_reference.voter_changes",
    "QuorumReassignment": "kraft_reference.quorum_reassignment",
    "Snapshots": "kraft_reference.snapshots",
    "Durability": "kraft_reference.durability",
    "KRaft": "kraft_reference.replica",
    "Properties": "kraft_simulation.invariants",
    "Liveness": "kraft_simulation.liveness",
    "MCLivenessAsking": "kraft_simulation.asking",
    "RoleTable": "kraft_reference.roles",
    "Forgetting": "kraft_simulation.checkpoint",
    "Trace": "kraft_traces.check",
    "Partitions": "kraft_partitions.reassignment",
    "PartitionReassignment": "kraft_partitions",
    "PartitionProperties": "kraft_partitions.properties",
}
"""Python module closest to each module of the model."""

SAME_AS: Mapping[str, str] = {"EventualCommit": "CommitProgress"}
"""Properties that another definition covers: docs/rules.md gives the reasons."""


def model_facts(repository: Path, report: CitationReport) -> dict[str, Any]:
    """Return the modules in the order of reading, and the properties with the block that defines each.

    Args:
        repository: The checkout.
        report: Citations of rules in it.
    """
    modules: dict[str, Any] = {}
    definitions: dict[str, Piece] = {}
    for name in MODULES:
        path = f"{MODEL}/{name}.tla"
        text = (repository / path).read_text(encoding="utf-8")
        extends = re.search(r"^EXTENDS (.+)$", text, re.MULTILINE)
        blocks = tla_blocks(path, text)
        named = sorted((place.line, place.rule_id) for place in report.citations if place.path == path)
        modules[name] = {
            "name": name,
            "path": path,
            "head": head_comment(text),
            "extends": [each.strip() for each in extends.group(1).split(",")] if extends else [],
            "reference": IN_PYTHON.get(name, ""),
            "blocks": [
                {
                    **asdict(block),
                    "rules": list(dict.fromkeys(rule for line, rule in named if block.first <= line <= block.last)),
                }
                for block in blocks
            ],
        }
        for block in blocks:
            for operator in operators_of(text, block):
                definitions.setdefault(operator, block)
    properties = {
        name: {
            **asdict(each),
            "same_as": SAME_AS.get(name, ""),
            "definition": definitions.get(name),
            "fields": [_with_whole_state(fields) for fields in PROPERTY_FIELDS.get(name, ())],
            "inferred": VISIBLE[name]._asdict() if name in VISIBLE else None,
        }
        for name, each in PROPERTIES.items()
    }
    return {"modules": modules, "properties": properties}


def _with_whole_state(fields: Iterable[str]) -> list[str]:
    """Return the fields of a line, with `state` in place of all its fields."""
    state = {f"state.{name}" for name in TracedState.__struct_fields__}
    rest = [name for name in fields if name not in state]
    return [*rest, "state"] if state <= set(fields) else list(fields)


def head_comment(text: str) -> str:
    """Return the first paragraph of a module's head comment.

    Args:
        text: Text of the module.
    """
    first = re.search(r"\(\*{10,}\)\n((?:\(\*.*\*\)\n)+)", text)
    words = re.sub(r"^\(\*|\*\)$", "", first.group(1), flags=re.MULTILINE) if first else ""
    summary = " ".join(re.split(r"\n\s*\n", words)[0].split()).strip("*() ")
    # A paragraph that ends in a colon includes the next one.
    return f"{summary.rpartition('. ')[0]}." if summary.endswith(":") else summary
