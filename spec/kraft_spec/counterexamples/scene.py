"""Summary of the first state of a counterexample."""

from collections.abc import Mapping
from typing import Any

from kraft_spec.counterexamples.messages import sent_words
from kraft_spec.counterexamples.records import log_words
from kraft_spec.counterexamples.state import State, field_name, value_words
from kraft_spec.mapping_forms import NO_KEY

_NOT_LISTED = ("replicas", "network", "cuts", "history", "config", "spent")


def scene_words(scene: State) -> tuple[str, ...]:
    """Return a phrase for each group of equal replicas, and for in-flight messages and cut links."""
    alike: dict[str, list[str]] = {}
    for _, replica in sorted(scene.replicas.items()):
        alike.setdefault(_replica_words(replica), []).append(value_words(replica["replica_key"]))
    phrases = [f"{', '.join(keys)}: {words}" for words, keys in alike.items()]
    phrases += sorted(
        f"on its way from {message['source']}: {sent_words(message, scene.keys)}" for message in scene.network
    )
    phrases += [f"nothing gets from {origin} to {to}" for origin, to in sorted(scene.cuts)]
    for name in sorted(scene.variables):
        if name not in _NOT_LISTED:
            phrases.append(f"{field_name(name)} {value_words(scene.variables[name])}")
    return tuple(phrases)


def _replica_words(replica: Mapping[Any, Any]) -> str:
    """Return the fields that elections and voter changes depend on."""
    parts = [f"{replica['role']}", f"epoch {replica['epoch']}"]
    if replica["leader_id"] != -1:
        parts.append(f"leader {replica['leader_id']}")
    if replica["voted_key"] != NO_KEY:
        parts.append(f"voted for {value_words(replica['voted_key'])}")
    parts.append(log_words(replica))
    if replica["high_watermark"] != -1:
        parts.append(f"high watermark {replica['high_watermark']}")
    newest = replica["voters"][-1]
    parts.append(f"voters {value_words(newest['voters'])}")
    if newest["target"]:
        parts.append(f"target {value_words(newest['target'])}")
    if replica["versions"][-1]["kraft_version"]:
        parts.append(f"kraft.version {replica['versions'][-1]['kraft_version']}")
    return ", ".join(parts)
