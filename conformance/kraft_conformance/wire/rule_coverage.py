"""Which rules of the wire have a pair, and why others have none."""

import tomllib
from importlib.resources import files

from kraft_conformance.wire.generate import read_files


def rules_of_pairs() -> dict[str, tuple[str, ...]]:
    """The pairs and refusals of each rule that one names, by rule."""
    found: dict[str, list[str]] = {}
    for file in read_files():
        named = [(one.id, one.rules) for one in file.pairs] + [(one.id, one.rules) for one in file.refusals]
        for pair, rules in named:
            for rule in rules:
                found.setdefault(rule, []).append(pair)
    return {rule: tuple(pairs) for rule, pairs in found.items()}


def read_reasons() -> dict[str, str]:
    """Why a rule has no pair, by rule."""
    text = files("kraft_conformance").joinpath("wire", "without_pair.toml").read_text(encoding="utf-8")
    return {entry["rule"]: entry["reason"] for entry in tomllib.loads(text)["without"]}
