"""JSON of a user: read strictly, with the place of what is wrong."""

import json
from typing import Any

from kraft_kafka.wire.errors import Reason, WireError


def read_json(text: str) -> Any:
    """The document; what it repeats or what no number is, is refused.

    Raises:
        WireError: it is no JSON.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise WireError(Reason.NOT_JSON, where, "JSON", error.msg) from None
    except RecursionError:
        raise WireError(Reason.NOT_JSON, "$", "JSON of a depth that can be read", "a deeper one") from None
    except ValueError as error:
        if isinstance(error, WireError):
            raise
        # A whole number of more digits than Python converts.
        raise WireError(Reason.NOT_JSON, "$", "numbers of the protocol", str(error)) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for name, value in pairs:
        if name in document:
            raise WireError(Reason.NOT_JSON, f"{name!r}", "each field once", "it stands there twice")
        document[name] = value
    return document


def _no_number(name: str) -> Any:
    raise WireError(Reason.NOT_JSON, "$", "JSON", name)
