"""Table of the partitions in a run of a KIP-455 scenario, a line for each event and partition."""

import re
from collections.abc import Sequence
from html import escape

from kraft_partitions.partition import Partition
from kraft_partitions.scenarios.scenario import PartitionScenarioRun

_HEADS = ("#", "event", "partition", "R", "I", "AR", "RR", "leader", "")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def table_of(run: PartitionScenarioRun) -> str:
    """Return the table as HTML; changed cells are highlighted."""
    before: dict[object, tuple[str, ...]] = {}
    rows: list[str] = []
    for occurrence in run.occurrences:
        event = _HUMP.sub(" ", type(occurrence.event).__name__).lower()
        refused = f"refused: {occurrence.refusal}" if occurrence.refusal else ""
        wrong = [name for name, sequence in sorted(run.violated.items()) if sequence == occurrence.sequence]
        remark = "; ".join([*([refused] if refused else []), *(f"\u2717 violates {name}" for name in wrong)])
        for place, (partition, state) in enumerate(sorted(occurrence.state.partitions.items())):
            cells = _cells(state)
            old = before.get(partition, cells)
            before[partition] = cells
            if place and cells == old:
                continue
            changed_cells = [_cell(cell, marked=cell != earlier) for cell, earlier in zip(cells, old, strict=True)]
            lead = [str(occurrence.sequence), event] if place == 0 else ["", ""]
            lead_cells = [_cell(text) for text in (*lead, str(partition))]
            rows.append("".join([*lead_cells, *changed_cells, _cell(remark if place == 0 else "")]))
    lasting = [name for name, sequence in sorted(run.violated.items()) if sequence is None]
    if lasting:
        rows.append(f'<td colspan="{len(_HEADS)}">\u2717 never happens: {escape(", ".join(lasting))}</td>')
    head = "".join(f"<th>{name}</th>" for name in _HEADS)
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f'<table class="docutils steps"><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>'


def _cells(state: Partition) -> tuple[str, ...]:
    return (
        _listed(state.replicas),
        _listed(sorted(state.in_sync)),
        _listed(state.adding),
        _listed(state.removing),
        "none" if state.leader is None else str(state.leader),
    )


def _listed(brokers: Sequence[int]) -> str:
    return ", ".join(map(str, brokers)) or "\u2013"


def _cell(text: str, *, marked: bool = False) -> str:
    return f"<td><strong>{escape(text)}</strong></td>" if marked else f"<td>{escape(text)}</td>"
