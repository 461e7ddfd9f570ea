"""The slices that start in the middle: is there a way of the protocol from the first start to theirs?

The search goes along the narrow way of `MCStarts.tla`, always on from the state that differs least from the start.
TLC says what the steps from it are. A rule that a slice leaves out, or an operator of the protocol that it replaces, is
in force on the way.
"""

import heapq
import json
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from kraft_dev.child import ChildError, run_child
from kraft_spec.fingerprint import MODEL_MODULES
from kraft_spec.models import CHECKS, Configuration, ModelCheck, model_directory, write_model
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.model_check import ModelCheckError
from kraft_spec.tlc.values import TlaValue, codec

if TYPE_CHECKING:
    from kraft_spec.tlc.specification import Specification

Goal = Mapping[str, str]
"""Of a start, the text of each variable that the way leads to: config, replicas, history."""

_VARIABLES = ("config", "replicas", "history")
_ROOT = "Reached"
_WAY = Configuration(
    "MCStarts",
    replaces={
        "Goal": "TheGoal",
        "Perform": "Step",
        "InFlight": "InLine",
        "DropMessage": "LosesNext",
        "MayDuplicate": "Never",
        "CutLink": "NeverTo",
        "HealLink": "NeverTo",
        "MayTimeOut": "MayTime",
        "MayTimeOutRequest": "GivesUp",
        "FetchTargets": "Asked",
        "MayAppend": "AppendsNext",
        "AddVoter": "NeverAdd",
        "RemoveVoter": "NeverRemove",
        "MayAppendVoters": "AppendsNextSet",
        "MayReassign": "AssignsNext",
        "Reassignments": "Targets",
        "MayTakeSnapshot": "TakesSnapshot",
        "MayShutDown": "ShutsDownNow",
        "MayCrash": "CrashesNow",
        "MayReplaceDisk": "GetsNewDisk",
        "Remember": "RememberAsGoal",
    },
)
_MOST_STATES = 5000
_NOT_COUNTED = {"awaiting", "fetchers", "crashes"}
"""Of a state: what is free again soon, and what would be counted as progress wherever it happens."""


def first_checks() -> dict[str, ModelCheck]:
    """The checks whose starts differ, by name: one for each module, predicate and bounds."""
    protocol = "".join((model_directory() / f"{name}.tla").read_text(encoding="utf-8") for name in MODEL_MODULES)
    of_protocol = set(re.findall(r"^(\w+)(?:\(.*?\))? ==", protocol, flags=re.MULTILINE))
    found: dict[object, ModelCheck] = {}
    for check in CHECKS:
        configuration = check.configuration
        bounds = frozenset(item for item in configuration.replaces.items() if item[0] not in of_protocol)
        if "Partition" not in configuration.module:
            found.setdefault((configuration.module, _predicate(configuration), bounds), check)
    return {check.name: check for check in found.values()}


def _predicate(configuration: Configuration) -> str:
    # The slices about liveness have a formula, which begins with Start.
    return "Start" if configuration.specification else configuration.init


def goals(check: ModelCheck) -> tuple[Goal, ...]:
    """The initial states of a check, without what the network may lose or cut off at any time.

    Raises:
        ModelCheckError: TLC cannot compute them.
    """
    configuration = check.configuration
    starting = Configuration(configuration.module, init=_predicate(configuration), replaces=configuration.replaces)
    with TemporaryDirectory(prefix="kraft-spec-start-") as temporary:
        folder = write_model(replace(check, configuration=starting, mutants=()), Path(temporary) / "model")
        found = _in_a_process("goals", folder, configuration.module, check.name)
    return tuple(found)


def reach(goal: Goal) -> int | None:
    """Search a way to a start, and return how many steps it has; None if there is none along the narrow way.

    Raises:
        ModelCheckError: TLC cannot compute a step, or the search is not over after 5,000 states.
    """
    fields = ", ".join(f"{name} |-> {goal[name]}" for name in _VARIABLES)
    module = (f"---- MODULE {_ROOT} ----", f"EXTENDS {_WAY.module}", f"TheGoal == [{fields}]", "====")
    with TemporaryDirectory(prefix="kraft-spec-start-") as temporary:
        folder = shutil.copytree(model_directory(), Path(temporary) / "model")
        (folder / f"{_ROOT}.tla").write_text("\n".join(module), encoding="utf-8")
        (folder / f"{_ROOT}.cfg").write_text(_WAY.text, encoding="utf-8")
        steps: int | None = _in_a_process("way", folder, _ROOT, _ROOT)
    return steps


def _in_a_process(task: str, folder: Path, module: str, configuration: str) -> Any:
    """What `main` prints there; a process of its own, because TLC keeps static state."""
    try:
        return json.loads(run_child("kraft_dev.starts", task, str(folder), module, configuration))
    except ChildError as error:
        raise ModelCheckError(f"{configuration}: no start, or no end: {error}") from error


def main(task: str, folder: str, module: str, configuration: str) -> None:
    """Print the initial states of a configuration, or the length of the way to its goal, as JSON."""
    # Late: only this process starts Java in itself.
    from kraft_spec.tlc import jvm
    from kraft_spec.tlc.specification import Specification

    jvm.start(brief=True)
    specification = Specification(Path(folder), module, configuration)
    print(json.dumps(_starts(specification) if task == "goals" else _way(specification)))


def _starts(specification: "Specification") -> list[Goal]:
    states = specification.initial_states()
    found = [{name: str(specification.lookup(state, name).toString()) for name in _VARIABLES} for state in states]
    return [json.loads(text) for text in dict.fromkeys(json.dumps(one) for one in found)]


def _way(specification: "Specification") -> int | None:
    (first,) = specification.initial_states()
    goal = codec().decode(specification.evaluate("TheGoal", first))
    assert isinstance(goal, Mapping)

    def rest(state: JavaObject) -> int:
        return sum(_difference(specification.decoded(state, name), goal[name]) for name in ("replicas", "history"))

    seen = {specification.fingerprint(first)}
    numbers = count()
    waiting = [(rest(first), next(numbers), 0, first)]
    while waiting:
        _, _, steps, state = heapq.heappop(waiting)
        if specification.holds("There", state):
            return steps
        for action in specification.actions.values():
            for after in specification.successors(action, state):
                if (fingerprint := specification.fingerprint(after)) not in seen:
                    seen.add(fingerprint)
                    if specification.holds("OnTheWay", after):
                        heapq.heappush(waiting, (rest(after), next(numbers), steps + 1, after))
        if len(seen) > _MOST_STATES:
            raise ModelCheckError(f"no way, and no end, after {_MOST_STATES} states")
    return None


def _difference(one: TlaValue, other: TlaValue) -> int:
    """How much two values differ, roughly: the fewer steps between two states, the less."""
    if one == other:
        return 0
    if isinstance(one, int) and isinstance(other, int):
        return abs(one - other)
    if isinstance(one, frozenset) and isinstance(other, frozenset):
        return len(one ^ other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return sum(map(_difference, one, other)) + 2 * abs(len(one) - len(other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        names = (one.keys() | other.keys()) - _NOT_COUNTED
        return sum(_difference(one[name], other[name]) if name in one and name in other else 1 for name in names)
    return 1


if __name__ == "__main__":
    main(*sys.argv[1:])
