"""In which field of a trace the protocol's mutants are first seen, from the results of `kraft_dev mutants --json`."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_DIFFERS = re.compile(r"differs in ([^;]*)")
_INDEX = re.compile(r"\[\d+\]")
_TYPE = re.compile(r"<\w+>")


class SightingsError(ValueError):
    """The file is not what `python -m kraft_dev mutants --json` writes."""


def untyped(field: str) -> str:
    """A field as rejections name it, without the type of the message or effect and without positions."""
    return _TYPE.sub("", _INDEX.sub("[]", field))


def first_sightings(results: Path) -> dict[str, tuple[str, ...]]:
    """Mutants by the field, as `untyped` gives it, that the trace checker named first.

    Raises:
        SightingsError: The file has another form.
        OSError: It cannot be read.
    """
    try:
        document = json.loads(results.read_bytes())
        rows = [(row["name"], _attacks(row)) for row in document["seeded"]]
    except (ValueError, KeyError, TypeError) as error:
        raise SightingsError(
            f"{results}: expected the JSON of `python -m kraft_dev mutants --json`: {error!r}"
        ) from error
    found: dict[str, list[str]] = {}
    for name, attacks in rows:
        named = _DIFFERS.search(str(attacks.get("traces", {}).get("what", "")))
        if named is not None:
            found.setdefault(untyped(named.group(1).split(",")[0].split(" and ")[0].strip()), []).append(name)
    return {field: tuple(names) for field, names in found.items()}


def _attacks(row: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {attack["tool"]: attack for attack in row["attacks"]}
