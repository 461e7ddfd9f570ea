"""What the compiler knows of a piece of Java that it has written, and where a name of the TLA+ text stands in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from kraft_spec.tlc.jvm import JavaObject


class UnsupportedError(Exception):
    """The TLA+ text uses something that the compiler does not know; the message names module and line."""

    def __init__(self, what: str, node: JavaObject) -> None:
        place = node.getLocation()
        super().__init__(f"{place.source()}.tla:{place.beginLine()}:{place.beginColumn()}: {what} is not compiled")


class Kind(StrEnum):
    """The Java type of a term."""

    VALUE = "Value"
    """A TLC value of any kind."""
    INT = "int"
    BOOL = "boolean"


@dataclass(frozen=True, slots=True)
class Term:
    """An expression of Java."""

    code: str
    kind: Kind
    is_name: bool = False
    """Whether it is a name, which may stand anywhere as often as it likes."""

    def as_value(self) -> str:
        """The same as a TLC value."""
        return self.code if self.kind is Kind.VALUE else f"Values.box({self.code})"

    def as_int(self) -> str:
        """The same as a number."""
        return self.code if self.kind is Kind.INT else f"Values.number({self.as_value()})"

    def as_bool(self) -> str:
        """The same as a truth value."""
        return self.code if self.kind is Kind.BOOL else f"Values.truth({self.as_value()})"

    def as_kind(self, kind: Kind) -> str:
        """The same as a term of this type."""
        return {Kind.VALUE: self.as_value, Kind.INT: self.as_int, Kind.BOOL: self.as_bool}[kind]()


@dataclass(frozen=True, slots=True)
class Scope:
    """What the names of an expression stand for.

    Attributes:
        now: Java name of the state that variables are read from.
        later: Java name of the state that primed variables are read from; empty within a prime.
        terms: By the id of its node: what a parameter, a bound variable or a definition stands for.
        functions: By the id of its node: the Java function that an operator parameter or definition stands for.
        later_terms: What a parameter stands for within a prime, where it is used there.
    """

    now: str = "now"
    later: str = "later"
    terms: Mapping[int, Term] = field(default_factory=dict)
    functions: Mapping[int, str] = field(default_factory=dict)
    later_terms: Mapping[int, Term] = field(default_factory=dict)

    def binding(self, node: JavaObject, term: Term, later: Term | None = None) -> "Scope":
        """This scope with one more name, which may stand for something else within a prime."""
        uid = int(node.getUid())
        later_terms = self.later_terms if later is None else {**self.later_terms, uid: later}
        return replace(self, terms={**self.terms, uid: term}, later_terms=later_terms)

    def defining(self, node: JavaObject, function: str) -> "Scope":
        """This scope with one more operator."""
        return replace(self, functions={**self.functions, int(node.getUid()): function})

    def primed(self) -> "Scope":
        """The scope of a primed expression."""
        return replace(self, now=self.later, later="", terms={**self.terms, **self.later_terms}, later_terms={})

    def term(self, node: JavaObject) -> Term | None:
        """What a name stands for; None if it is not of this scope."""
        return self.terms.get(int(node.getUid()))

    def function(self, node: JavaObject) -> str | None:
        """The Java function of an operator of this scope; None if it is not of this scope."""
        return self.functions.get(int(node.getUid()))
