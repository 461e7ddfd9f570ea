"""Extent to which the properties are judged in a trace that does not observe all replicas."""

from dataclasses import dataclass, replace

from kraft_traces.check.compared import Compared

NEED_WHOLE_HISTORY = frozenset(
    ("LeaderCompleteness", "CommittedNeverLost", "StateMachineSafety", "OnePendingChange", "ConfigOverlap")
)
"""Properties that compare with all committed records, of which unrecorded events may have committed more."""

IN_PART = frozenset(
    ("ElectionSafety", "OffsetEpochUnique", "LogMatching", "ConfigFollowsLog", "ConfigAgreement", "StateMachineSafety")
)
"""Properties that compare replicas with each other: they are judged among those that are observed.

Of StateMachineSafety this is that two replicas commit the same records.
"""

NOT_JUDGED = NEED_WHOLE_HISTORY - IN_PART


@dataclass(frozen=True, slots=True)
class Judged:
    """Extent to which the properties are judged in a trace; all others are judged in full, at each observed replica."""

    opaque: tuple[int, ...] = ()
    """Replicas that are not observed where the trace begins."""
    in_part: tuple[str, ...] = ()
    """Properties that are judged among the observed replicas only."""
    not_judged: tuple[str, ...] = ()
    """Properties that are not judged, because a replica that is not observed may have committed records."""

    def lines(self) -> tuple[str, ...]:
        """Return the sentences about it; none if all replicas are observed."""
        if not self.opaque:
            return ()
        which = f"replica{'s' * (len(self.opaque) > 1)} {', '.join(map(str, self.opaque))}"
        return (
            f"judged among the observed replicas only, because {which} "
            f"{'are' if len(self.opaque) > 1 else 'is'} not observed: {', '.join(self.in_part)}",
            f"not judged, because {which} may have committed records: {', '.join(self.not_judged)}",
        )


JUDGED_IN_FULL = Judged()


def judged_without(opaque: frozenset[int]) -> Judged:
    """Return the extent for a trace in whose header these replicas are not observed."""
    return (
        Judged(tuple(sorted(opaque)), tuple(sorted(IN_PART)), tuple(sorted(NOT_JUDGED))) if opaque else JUDGED_IN_FULL
    )


def compared_without(compared: Compared, opaque: frozenset[int]) -> Compared:
    """Return the extent of a comparison without the properties that are not judged."""
    if not opaque:
        return compared
    judged = {name: count for name, count in compared.properties.items() if name not in NOT_JUDGED}
    return replace(compared, properties=judged)
