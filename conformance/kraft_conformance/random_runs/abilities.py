"""Restriction of a workload to the features that all adapters of a cluster have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kraft_conformance.protocol.messages import HelloReply
from kraft_simulation.workload import Preset
from kraft_vectors.features import FEATURES, FEATURES_OF_KIPS, Feature

_PARTS: dict[str, tuple[Feature, ...]] = {
    "append_voters_interval_ms": ("append-voters", "voters-records"),
    "change_interval_ms": ("voter-changes", "voters-records", "observers"),
    "reassign_interval_ms": ("quorum-reassignment", "voter-changes", "voters-records", "observers"),
    "upgrade_interval_ms": ("kraft-version-upgrade", "voter-changes", "voters-records"),
    "snapshot_interval_ms": ("snapshots",),
    "replace_disk_chance": ("disk-replacement", "observers"),
    "new_endpoint_chance": ("voter-changes",),
    "fetch_max_records": ("fetch-limit",),
    "observers": ("observers",),
    "auto_join": ("auto-join", "voter-changes", "voters-records", "observers"),
    "static_voters": ("voter-changes",),
}
"""Features that the fields of a preset, its workload and its faults need.

Removed voters, and replicas with an empty disk, are observers.
A replica with a new endpoint, and every static voter, sends UpdateVoter to its leader."""

_ESSENTIAL: dict[str, tuple[str, ...]] = {
    "observers": ("observers",),
    "one-server": ("observers",),
    "static-voters": ("static_voters",),
    "voter-changes": ("change_interval_ms",),
    "snapshots": ("snapshot_interval_ms",),
    "hasty-snapshots": ("change_interval_ms", "snapshot_interval_ms"),
    "upgrade": ("upgrade_interval_ms", "static_voters"),
    "rolling-upgrade-static": ("static_voters",),
    "auto-join": ("auto_join",),
    "reassignments": ("reassign_interval_ms",),
    "hasty-changes": ("change_interval_ms",),
    "impatient-changes": ("change_interval_ms",),
    "old-voters": ("static_voters",),
    "hasty-reassignments": ("reassign_interval_ms",),
}
"""Fields without which a workload has no purpose."""


class UnsuitableAdaptersError(Exception):
    """The adapters cannot run the workload; the message has the reason."""


@dataclass(frozen=True, slots=True)
class RestrictedWorkload:
    """A workload restricted to the features of the adapters."""

    preset: Preset
    left_out: tuple[Feature, ...]
    """Features of the workload that the adapters lack."""


def missing_features(hellos: Iterable[HelloReply]) -> frozenset[Feature]:
    """Return the features that some adapter does not support, or whose KIP it does not implement."""
    missing: set[Feature] = set()
    for hello in hellos:
        missing.update(hello.unsupported)
        for kip, features in FEATURES_OF_KIPS.items():
            if hello.kip_levels.get(kip, "none") == "none":
                missing.update(features)
        if set(hello.kraft_versions) != {0, 1}:
            missing.add("kraft-version-upgrade")
    return frozenset(missing)


def restrict(preset: Preset, hellos: Sequence[HelloReply]) -> RestrictedWorkload:
    """Return the workload without the events of missing features.

    Raises:
        UnsuitableAdaptersError: a feature that the workload is about is missing.
    """
    for hello in hellos:
        if hello.kip_levels.get("KIP-595", "none") == "none":
            raise UnsuitableAdaptersError("needs KIP-595")
        level = 0 if preset.static_voters else 1
        if level not in hello.kraft_versions:
            raise UnsuitableAdaptersError(f"needs kraft.version {level}")
        if preset.workload.software_interval_ms:
            _check_can_be_replaced(hello)
    if any(hello.kip_levels.get("KIP-1186", "none") == "none" for hello in hellos):
        preset = _set(preset, "early_answers")
    missing = missing_features(hellos)
    essential = _ESSENTIAL.get(preset.name, ())
    needed = {feature for part in essential for feature in _PARTS[part]} & missing
    if needed:
        raise UnsuitableAdaptersError(f"needs {', '.join(_in_order(needed))}")
    left_out: set[Feature] = set()
    for part, features in _PARTS.items():
        without = missing & set(features)
        if without and _value(preset, part):
            if part == "static_voters":
                raise UnsuitableAdaptersError(f"needs {', '.join(_in_order(without))}")
            left_out |= without
            preset = _set(preset, part)
    return RestrictedWorkload(preset, _in_order(left_out))


def _check_can_be_replaced(hello: HelloReply) -> None:
    """Raise UnsuitableAdaptersError if an adapter cannot run a replica before or after its software is replaced."""
    if hello.kip_levels.get("KIP-853", "none") == "none":
        raise UnsuitableAdaptersError("needs KIP-853")
    if hello.has_pre_vote and not hello.state_injection:
        raise UnsuitableAdaptersError("needs state_injection: the new software starts on the disk of the old one")


def _in_order(features: Iterable[Feature]) -> tuple[Feature, ...]:
    wanted = set(features)
    return tuple(feature for feature in FEATURES if feature in wanted)


def _value(preset: Preset, part: str) -> Any:
    for holder in (preset.workload, preset.faults, preset):
        if hasattr(holder, part):
            return getattr(holder, part)
    raise AssertionError(f"{part} is no part of a workload")


def _set(preset: Preset, part: str) -> Preset:
    """Return the preset with this part set to 0."""
    nothing: Any = type(_value(preset, part))(0)
    if hasattr(preset.workload, part):
        return replace(preset, workload=replace(preset.workload, **{part: nothing}))
    if hasattr(preset.faults, part):
        return replace(preset, faults=replace(preset.faults, **{part: nothing}))
    return replace(preset, **{part: nothing})
