"""Strict reader of a user's JSON."""

import json
from typing import Any

from kraft_kafka.wire.errors import Reason, WireError


def read_json(text: str) -> Any:
    """Parse a document; repeated fields and NaN or infinity are rejected.

    Raises:
        WireError: the text is no JSON.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_reject_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise WireError(Reason.NOT_JSON, where, "JSON", error.msg) from None
    except RecursionError:
        raise WireError(Reason.NOT_JSON, "$", "JSON of a depth that can be read", "a deeper one") from None
    except ValueError as error:
        if isinstance(error, WireError):
            raise
        # A whole number with more digits than Python converts.
        raise WireError(Reason.NOT_JSON, "$", "numbers of the protocol", str(error)) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for name, value in pairs:
        if name in document:
            raise WireError(Reason.NOT_JSON, f"{name!r}", "each field once", "it stands there twice")
        document[name] = value
    return document


def _reject_constant(name: str) -> Any:
    raise WireError(Reason.NOT_JSON, "$", "JSON", name)
