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
        alike.setdefault(_replica_words(replica), []).append(value_words(replica["key"]))
    said = [f"{', '.join(keys)}: {words}" for words, keys in alike.items()]
    said += sorted(f"on its way from {message['from']}: {sent_words(message, scene.keys)}" for message in scene.network)
    said += [f"nothing gets from {origin} to {to}" for origin, to in sorted(scene.cuts)]
    for name in sorted(scene.variables):
        if name not in _SAID_OTHERWISE:
            said.append(f"{field_name(name)} {value_words(scene.variables[name])}")
    return tuple(said)


def _replica_words(replica: Mapping[Any, Any]) -> str:
    """The fields that elections and voter changes turn on."""
    parts = [f"{replica['role']}", f"epoch {replica['epoch']}"]
    if replica["leader"] != -1:
        parts.append(f"leader {replica['leader']}")
    if replica["voted"] != NOBODY:
        parts.append(f"voted for {value_words(replica['voted'])}")
    parts.append(log_words(replica))
    if replica["highWatermark"] != -1:
        parts.append(f"high watermark {replica['highWatermark']}")
    newest = replica["voters"][-1]
    parts.append(f"voters {value_words(newest['voters'])}")
    if newest["target"]:
        parts.append(f"target {value_words(newest['target'])}")
    if replica["levels"][-1]["level"]:
        parts.append(f"kraft.version {replica['levels'][-1]['level']}")
    return ", ".join(parts)
