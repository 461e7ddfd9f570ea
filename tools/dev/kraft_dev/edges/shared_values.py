"""TLC values as Python values, where equal values are one object, so that edges compare them by identity."""

from typing import Any

import jpype

from kraft_dev.edges.edge import Edge, ModelRecord
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.records import like, named_record
from kraft_spec.tlc.values import Function, TlaValue, codec

_OBSERVED = ("before", "after", "reason", "effects", "completed", "kept")
"""Fields of `observed`: see Seen in Edges.tla."""


class SharedValues:
    """Python values of one enumeration; it keeps them all, so that their ids stay valid."""

    def __init__(self) -> None:
        self._codec = codec()
        self._record_class = jpype.JClass("tlc2.value.impl.RecordValue")
        self._values: dict[object, Any] = {}
        self._by_fingerprint: dict[int, Any] = {}
        self._refusable: dict[int, tuple[tuple[Any, str], ...]] = {}
        self._seed = jpype.JClass("tlc2.util.FP64").New()
        self._fields = {name: self._codec.encode(name) for name in _OBSERVED}

    def decoded(self, value: JavaObject) -> Any:
        """Return a TLC value as a Python value; equal parts are decoded once."""
        fingerprint = self.fingerprint(value)
        if fingerprint not in self._by_fingerprint:
            if type(value) is self._record_class:
                names, values = value.names, value.values
                entries = {str(names[place]): self.decoded(values[place]) for place in range(len(names))}
                self._by_fingerprint[fingerprint] = self._shared_record(named_record(entries) or entries)
            else:
                self._by_fingerprint[fingerprint] = self.shared(self._codec.decode(value))
        return self._by_fingerprint[fingerprint]

    def fingerprint(self, *values: JavaObject) -> int:
        """Return TLC's 64-bit fingerprint of these values, equal for equal ones.

        TLC's texts of equal sets may differ, and take several times as long.
        """
        fingerprint = self._seed
        for value in values:
            fingerprint = value.fingerPrint(fingerprint)
        return int(fingerprint)

    def refusable(self, events: JavaObject) -> tuple[tuple[Any, str], ...]:
        """Return the pairs of event and reason in a set like AskedEvents of Edges.tla, in a fixed order."""
        fingerprint = self.fingerprint(events)
        if fingerprint not in self._refusable:
            pairs: Any = sorted(self._codec.decode(events), key=str)  # type: ignore[arg-type]
            self._refusable[fingerprint] = tuple([(self.shared(event), str(reason)) for event, reason in pairs])
        return self._refusable[fingerprint]

    def encoded(self, value: object) -> Any:
        """Return the shared value of a Python value that TLC could have computed."""
        return self.decoded(self._codec.encode(value))

    def shared(self, value: TlaValue) -> Any:
        """Return the one object that equals a decoded value, with dicts in place of functions."""
        if isinstance(value, Function):
            return self._shared_record({key: self.shared(entry) for key, entry in value.items()})
        if isinstance(value, tuple):
            return self._shared_record(like(value, [self.shared(entry) for entry in value]))
        return value

    def _shared_record(self, value: Any) -> Any:
        """Return the one object that equals a dict or tuple of shared values."""
        # To Python <<FALSE, FALSE>> equals <<0, 0>>, and a record equals the tuple of its values.
        key: object = (
            frozenset((name, _identity(entry)) for name, entry in value.items())
            if type(value) is dict
            else (type(value), *map(_identity, value))
        )
        return self._values.setdefault(key, value)

    def edge(
        self, configuration: ModelRecord, event: ModelRecord, observed: JavaObject, *, constructed: bool = False
    ) -> Edge:
        """Return the edge of a step from its variable `observed`; a constructed one is not in the graph."""
        fields = {name: self.decoded(observed.select(field)) for name, field in self._fields.items()}
        return Edge(
            configuration=configuration,
            event=event,
            before=fields["before"],
            after=fields["after"],
            refusal=fields["reason"],
            effects=fields["effects"],
            completed=fields["completed"],
            kept=fields["kept"],
            in_graph=not constructed,
            constructed=constructed,
        )


def _identity(value: Any) -> object:
    """Return a hashable identity of a shared value."""
    return id(value) if isinstance(value, dict | tuple) else (type(value), value)
