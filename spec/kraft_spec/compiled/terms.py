"""Java terms that the compiler has generated, and the scope that maps names of the TLA+ text to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from kraft_spec.tlc.jvm import JavaObject


class UnsupportedError(Exception):
    """The TLA+ text uses an unsupported construct; the message names module and line."""

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
    """A Java expression."""

    code: str
    kind: Kind
    is_name: bool = False
    """True if it can be repeated anywhere without cost or side effect."""

    def as_value(self) -> str:
        """Return it as a TLC value."""
        return self.code if self.kind is Kind.VALUE else f"Values.box({self.code})"

    def as_int(self) -> str:
        """Return it as a number."""
        return self.code if self.kind is Kind.INT else f"Values.number({self.as_value()})"

    def as_bool(self) -> str:
        """Return it as a truth value."""
        return self.code if self.kind is Kind.BOOL else f"Values.truth({self.as_value()})"

    def as_kind(self, kind: Kind) -> str:
        """Return it as a term of this type."""
        return {Kind.VALUE: self.as_value, Kind.INT: self.as_int, Kind.BOOL: self.as_bool}[kind]()


@dataclass(frozen=True, slots=True)
class Scope:
    """Meaning of the names in an expression.

    Attributes:
        now: Java name of the current state.
        later: Java name of the next state, for primed variables; empty within a prime.
        terms: Term of each parameter, bound variable or definition, by the id of its node.
        functions: Java function of each operator parameter or definition, by the id of its node.
        later_terms: Term of a parameter within a prime, if it is used there.
    """

    now: str = "now"
    later: str = "later"
    terms: Mapping[int, Term] = field(default_factory=dict)
    functions: Mapping[int, str] = field(default_factory=dict)
    later_terms: Mapping[int, Term] = field(default_factory=dict)

    def binding(self, node: JavaObject, term: Term, later: Term | None = None) -> "Scope":
        """Return this scope with another name, which may have another term within a prime."""
        uid = int(node.getUid())
        later_terms = self.later_terms if later is None else {**self.later_terms, uid: later}
        return replace(self, terms={**self.terms, uid: term}, later_terms=later_terms)

    def defining(self, node: JavaObject, function: str) -> "Scope":
        """Return this scope with another operator."""
        return replace(self, functions={**self.functions, int(node.getUid()): function})

    def primed(self) -> "Scope":
        """Return the scope of a primed expression."""
        return replace(self, now=self.later, later="", terms={**self.terms, **self.later_terms}, later_terms={})

    def term(self, node: JavaObject) -> Term | None:
        """Return the term of a name; None if this scope has none."""
        return self.terms.get(int(node.getUid()))

    def function(self, node: JavaObject) -> str | None:
        """Return the Java function of an operator; None if this scope has none."""
        return self.functions.get(int(node.getUid()))
