"""What must be reached against what was: the table of probes, and what is wrong with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

import msgspec

from kraft_dev.markdown import table
from kraft_dev.probes.kinds import KINDS, Kind
from kraft_dev.probes.simulated import SOURCES, Source
from kraft_dev.probes.tally import Tally
from kraft_dev.results import Measured, origin

Side = Literal["reference", "model"]


class Unreached(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that one side cannot reach."""

    kind: str
    name: str
    by: Side
    reason: str


class UnreachedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The list of them."""

    unreached: tuple[Unreached, ...] = ()


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """One thing that must be reached.

    Attributes:
        kind: Of which kind.
        name: Which.
        reference: How often the reference reached it, by source.
        model: How often the model did; None if the model was not probed.
        reasons: Why a side cannot.
        problems: What is wrong; empty if nothing is.
    """

    kind: str
    name: str
    reference: Mapping[Source, int]
    model: int | None
    reasons: tuple[str, ...]
    problems: tuple[str, ...]


def load_unreached() -> tuple[Unreached, ...]:
    """The list of what cannot be reached.

    Raises:
        msgspec.DecodeError: The list is malformed.
    """
    text = (files("kraft_dev.probes") / "unreached.toml").read_bytes()
    return msgspec.toml.decode(text, type=UnreachedFile).unreached


def rows(
    reference: Mapping[Source, Tally],
    model: Tally | None,
    unreached: Sequence[Unreached],
    kinds: Sequence[Kind] = KINDS,
) -> tuple[ProbeRow, ...]:
    """The table; what was counted but is of no kind, or is listed for nothing, has a row with a problem too."""
    listed = {(one.kind, one.name, one.by): one.reason for one in unreached}
    found: list[ProbeRow] = []
    for kind in kinds:
        names = kind.names()
        counted = {name for tally in (*reference.values(), *filter(None, [model])) for name in tally.names(kind.name)}
        for name in (*names, *sorted(counted - set(names))):
            by_source = {source: reference[source].count(kind.name, name) for source in SOURCES}
            by_model = None if model is None else model.count(kind.name, name)
            sides: tuple[tuple[Side, int | None], ...] = (("reference", sum(by_source.values())), ("model", by_model))
            problems = [] if name in names else ["is counted, but no source lists it"]
            reasons = []
            for side, times in sides:
                reason = listed.pop((kind.name, name, side), "")
                reasons += [f"{side}: {reason}"] if reason else []
                if times == 0 and not reason:
                    problems.append(f"is never reached by the {side}")
                if times and reason:
                    problems.append(f"is listed as out of reach of the {side}, which reaches it {times} times")
            found.append(ProbeRow(kind.name, name, by_source, by_model, tuple(reasons), tuple(problems)))
    stale = "is listed as out of reach, and nobody asks for it"
    found += [ProbeRow(k, n, dict.fromkeys(SOURCES, 0), None, (r,), (stale,)) for (k, n, _), r in listed.items()]
    return tuple(found)


class Probed(msgspec.Struct, frozen=True):
    """The recorded result: counts, and how much was run for them."""

    measured: Measured | None
    seeds: int
    steps: int
    walk_steps: int
    rows: tuple[ProbeRow, ...]


def markdown(probed: Probed) -> str:
    """The whole page."""
    lines = [
        "# Probes: what is reached",
        "",
        origin("probes", probed.measured),
        f"Simulated: {probed.seeds} seeds with every workload, {probed.steps} events each, the profiles in turn.",
        "By hand: short schedules for what no cluster does that keeps the rules (`kraft_dev/probes/schedules.py`).",
        f"Model: {probed.walk_steps} random steps through Next, by TLC, in the clusters of `Probes.tla`; "
        "nothing of the reference is involved.",
        "In the reference a row of the transition table counts when it is looked up, in the model when it explains a "
        "step.",
    ]
    for kind in dict.fromkeys(row.kind for row in probed.rows):
        of_kind = [row for row in probed.rows if row.kind == kind]
        lines += ["", f"## {kind}: {len(of_kind)}", ""]
        lines += table((kind, *SOURCES, "model", ""), map(_cells, of_kind))
    return "\n".join(lines) + "\n"


def _cells(row: ProbeRow) -> tuple[str, ...]:
    counts = [str(row.reference[source]) for source in SOURCES]
    model = "" if row.model is None else str(row.model)
    return row.name, *counts, model, "; ".join((*row.problems, *row.reasons))
