"""Parser of values printed by TLC into the same Python values as `kraft_spec.tlc.values`."""

import re
from collections.abc import Iterator

from kraft_spec.tlc.jar import TlcBridgeError
from kraft_spec.tlc.records import named_record
from kraft_spec.tlc.values import Function, ModelValue, TlaValue

_TOKEN = re.compile(r'\s*(<<|>>|\|->|:>|@@|\.\.|[{}\[\](),]|"(?:[^"\\]|\\.)*"|-?\d+|\w+)')
_END = ""


class ValueTextError(TlcBridgeError):
    """The text is not a value in TLC's format."""


def parsed_value(text: str) -> TlaValue:
    """Parse a value that TLC printed, on one or several lines.

    Raises:
        ValueTextError: It is not a value; the message has the unexpected and the expected token.
    """
    reader = _Reader(_tokenize(text))
    value = reader.value()
    reader.expect(_END)
    return value


def _tokenize(text: str) -> Iterator[str]:
    position, end = 0, len(text.rstrip())
    while position < end:
        token = _TOKEN.match(text, position)
        if token is None:
            raise ValueTextError(f"{text[position : position + 20]!r} in a value, expected a token of TLA+")
        yield token.group(1)
        position = token.end()
    yield _END


class _Reader:
    """Reads values in sequence, with one token of lookahead."""

    def __init__(self, tokens: Iterator[str]) -> None:
        self._tokenize = tokens
        self._token = next(tokens)

    def _next(self) -> str:
        token, self._token = self._token, next(self._tokenize, _END)
        return token

    def expect(self, expected: str) -> None:
        token = self._next()
        if token != expected:
            raise ValueTextError(f"{token or 'the end'!r} in a value, expected {expected or 'the end'!r}")

    def value(self) -> TlaValue:
        token = self._next()
        match token:
            case "{":
                return frozenset(self._listed("}"))
            case "<<":
                return tuple(self._listed(">>"))
            case "[":
                entries = dict(self._fields())
                return named_record(entries) or Function(entries)
            case "(":
                return self._function()
            case "TRUE" | "FALSE":
                return token == "TRUE"
        if token.startswith('"'):
            return re.sub(r"\\(.)", r"\1", token[1:-1])
        if re.fullmatch(r"-?\d+", token):
            return self._interval(int(token)) if self._token == ".." else int(token)
        if re.fullmatch(r"\w+", token):
            return ModelValue(token)
        raise ValueTextError(f"{token or 'the end'!r} in a value, expected the beginning of one")

    def _interval(self, first: int) -> TlaValue:
        self._next()
        last = self._next()
        if not re.fullmatch(r"-?\d+", last):
            raise ValueTextError(f"{last or 'the end'!r} in a value, expected the end of an interval")
        return frozenset(range(first, int(last) + 1))

    def _listed(self, closing: str) -> Iterator[TlaValue]:
        if self._token != closing:
            yield self.value()
        while self._token == ",":
            self._next()
            yield self.value()
        self.expect(closing)

    def _fields(self) -> Iterator[tuple[str, TlaValue]]:
        while True:
            name = self._next()
            self.expect("|->")
            yield name, self.value()
            if self._token != ",":
                break
            self._next()
        self.expect("]")

    def _function(self) -> TlaValue:
        """Parse `(key :> value @@ key :> value)`."""
        entries: dict[TlaValue, TlaValue] = {}
        while True:
            key = self.value()
            self.expect(":>")
            entries[key] = self.value()
            if self._token != "@@":
                break
            self._next()
        self.expect(")")
        if list(entries) == list(range(1, len(entries) + 1)):
            return tuple(entries.values())
        return Function(entries)
