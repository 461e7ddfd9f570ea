"""The first state of a counterexample, summed up."""

from collections.abc import Mapping
from typing import Any

from kraft_spec.counterexamples.messages import sent_words
from kraft_spec.counterexamples.records import log_words
from kraft_spec.counterexamples.state import NOBODY, State, field_name, value_words

_SAID_OTHERWISE = ("replicas", "network", "cuts", "history", "config", "spent")


def scene_words(scene: State) -> tuple[str, ...]:
    """One phrase for each group of replicas that are alike, and for what is on its way or cut."""
    alike: dict[str, list[str]] = {}
    for _, replica in sorted(scene.replicas.items()):
        alike.setdefault(_replica_words(replica), []).append(value_words(replica["replica_key"]))
    said = [f"{', '.join(keys)}: {words}" for words, keys in alike.items()]
    said += sorted(
        f"on its way from {message['source']}: {sent_words(message, scene.keys)}" for message in scene.network
    )
    said += [f"nothing gets from {origin} to {to}" for origin, to in sorted(scene.cuts)]
    for name in sorted(scene.variables):
        if name not in _SAID_OTHERWISE:
            said.append(f"{field_name(name)} {value_words(scene.variables[name])}")
    return tuple(said)


def _replica_words(replica: Mapping[Any, Any]) -> str:
    """The fields that elections and voter changes turn on."""
    parts = [f"{replica['role']}", f"epoch {replica['epoch']}"]
    if replica["leader_id"] != -1:
        parts.append(f"leader {replica['leader_id']}")
    if replica["voted_key"] != NOBODY:
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
