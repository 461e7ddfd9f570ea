"""A page for each module of the TLA+ model, cut at its definitions, each with an anchor and the rules it names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tools.site.markup import prose, sentence
from tools.site.pieces import Piece, operators_of, tla_blocks

from kraft_dev.markdown import table
from kraft_spec.fingerprint import MODEL_MODULES, PARTITION_MODEL_MODULES
from kraft_spec.rules import PROPERTIES, Registry
from kraft_spec.rules.citations import CitationReport
from kraft_spec.rules.vocabulary import Property

FOLDER = "model"
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
"""In the order in which they build on each other; the others only set bounds."""

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
"""The Python module that is most like one of the model."""

SAME_AS: Mapping[str, str] = {"EventualCommit": "CommitProgress"}
"""Properties that another definition stands for: docs/rules.md says why."""


def model_pages(repository: Path, registry: Registry, report: CitationReport) -> Iterable[tuple[str, str]]:
    """Yield (path below docs, Markdown) for the index, every module and the properties."""
    yield f"{FOLDER}/index.md", _index(repository)
    for module in MODULES:
        path = f"{MODEL}/{module}.tla"
        text = (repository / path).read_text(encoding="utf-8")
        named: dict[int, list[str]] = {}
        for citation in report.citations:
            if citation.path == path:
                named.setdefault(citation.line, []).append(citation.rule_id)
        yield f"{FOLDER}/{module}.md", module_page(module, path, text, named)
    yield f"{FOLDER}/properties.md", properties_page(repository, registry)


def module_page(module: str, path: str, text: str, named: Mapping[int, Sequence[str]]) -> str:
    """The page of one module.

    Args:
        module: its name.
        path: the file in the repository.
        text: what is in it.
        named: line to the ids of the rules that it names.
    """
    lines = ["---", "orphan: true", "---", "", f"# {module}.tla", "", sentence(prose(head_comment(text))), ""]
    place = MODULES.index(module)
    around = [f"{word} [{n}]({n}.md)" for word, n in zip(("after", "before"), _neighbours(place), strict=True) if n]
    lines += [f"`{path}`, one of [the modules](index.md): {' and '.join(around)} in the order of reading."]
    if extends := re.search(r"^EXTENDS (.+)$", text, re.MULTILINE):
        names = [name.strip() for name in extends.group(1).split(",")]
        lines += ["It extends " + ", ".join(f"[{n}]({n}.md)" if n in MODULES else n for n in names) + "."]
    if counterpart := IN_PYTHON.get(module):
        lines += [f"In the reference: [{counterpart}](../api/{counterpart}.rst)."]
    lines += [""]
    for block in tla_blocks(path, text):
        if block.name:
            lines += [f"## {block.name}", ""]
        rules = [rule for line in range(block.first, block.last + 1) for rule in named.get(line, ())]
        lines += _included(block)
        if rules:
            lines += [":::{container} rules-of", *(f"`{rule}`" for rule in dict.fromkeys(rules)), ":::", ""]
    return "\n".join(lines) + "\n"


def _neighbours(place: int) -> tuple[str, str]:
    """The modules before and after one; empty where there is none."""
    return MODULES[place - 1] if place else "", MODULES[place + 1] if place + 1 < len(MODULES) else ""


def head_comment(text: str) -> str:
    """What a module begins with: the first paragraph of the comment at its head.

    Args:
        text: of the module.
    """
    first = re.search(r"\(\*{10,}\)\n((?:\(\*.*\*\)\n)+)", text)
    words = re.sub(r"^\(\*|\*\)$", "", first.group(1), flags=re.MULTILINE) if first else ""
    said = " ".join(re.split(r"\n\s*\n", words)[0].split()).strip("*() ")
    # What a colon announces is in the next paragraph.
    return f"{said.rpartition('. ')[0]}." if said.endswith(":") else said


def _included(block: Piece) -> list[str]:
    return [
        f"```{{literalinclude}} ../../{block.path}",
        ":language: tla",
        f":lines: {block.first}-{block.last}",
        ":lineno-match:",
        "```",
        "",
    ]


def _index(repository: Path) -> str:
    rows = []
    for module in MODULES:
        said = head_comment((repository / MODEL / f"{module}.tla").read_text(encoding="utf-8"))
        rows.append((f"[{module}]({module}.md)", prose(said.partition(". ")[0].rstrip("."))))
    lines = [
        "# The TLA+ modules",
        "",
        "Included from the files, in the order in which they build on each other; "
        "[The model](../model.md) says how they are made, and [Properties](properties.md) lists what is checked.",
        "The modules whose names begin with MC set bounds, and are not shown.",
        "",
        *table(("module", "what it begins with"), rows),
    ]
    return "\n".join(lines) + "\n"


def properties_page(repository: Path, registry: Registry) -> str:
    """All properties that a rule may break, with their TLA+ and the rules that they need."""
    lines = [
        "# Properties",
        "",
        "What the model checker judges: *safety* (nothing bad happens), *stability* (nothing needless does) and "
        "*liveness* (something good does).",
        "The field `breaks` of a rule names them.",
        "",
    ]
    blocks = _definitions(repository)
    for one in PROPERTIES.values():
        lines += _property(one, blocks, registry)
    return "\n".join(lines) + "\n"


def _property(one: Property, blocks: Mapping[str, Piece], registry: Registry) -> list[str]:
    breaking = [rule.id for rule in registry if one.name in rule.breaks]
    lines = [f"## {one.name}", "", f"*{one.kind}* · {prose(one.description)}", ""]
    if other := SAME_AS.get(one.name):
        lines += [f"Defined as `{other}`.", ""]
    else:
        lines += _included(blocks[one.name])
    if breaking:
        lines += [f"Needs {len(breaking)} rules:", "", ":::{container} rules-of"]
        lines += [*(f"`{rule}`" for rule in breaking), ":::", ""]
    return lines


def _definitions(repository: Path) -> dict[str, Piece]:
    """The block that defines each property."""
    found: dict[str, Piece] = {}
    for module in MODULES:
        path = f"{MODEL}/{module}.tla"
        text = (repository / path).read_text(encoding="utf-8")
        for block in tla_blocks(path, text):
            for operator in operators_of(text, block):
                if operator in PROPERTIES:
                    found.setdefault(operator, block)
    return found
