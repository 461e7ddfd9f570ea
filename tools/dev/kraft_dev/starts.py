"""Reachability of the model checks that start in the middle: search a path from the initial state to each start.

The search follows the restricted paths of `MCStarts.tla`, and expands the state that differs least from the goal.
TLC computes the steps from it. A rule that a model check omits, or an operator of the protocol that it replaces, is
in force on the path.
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
"""Text of each variable of a start: config, replicas, history."""

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
"""State fields that are soon free again, or that would count as progress anywhere."""


def first_checks() -> dict[str, ModelCheck]:
    """Return the checks whose starts differ, by name: one for each module, predicate and bounds."""
    protocol = "".join((model_directory() / f"{name}.tla").read_text(encoding="utf-8") for name in MODEL_MODULES)
    of_protocol = set(re.findall(r"^(\w+)(?:\(.*?\))? ==", protocol, flags=re.MULTILINE))
    checks: dict[object, ModelCheck] = {}
    for check in CHECKS:
        configuration = check.configuration
        bounds = frozenset(item for item in configuration.replaces.items() if item[0] not in of_protocol)
        if "Partition" not in configuration.module:
            checks.setdefault((configuration.module, _predicate(configuration), bounds), check)
    return {check.name: check for check in checks.values()}


def _predicate(configuration: Configuration) -> str:
    # Liveness checks have a formula, which begins with Start.
    return "Start" if configuration.specification else configuration.init


def goals(check: ModelCheck) -> tuple[Goal, ...]:
    """Return the initial states of a check, without messages and links, which the network may lose or cut at any time.

    Raises:
        ModelCheckError: TLC cannot compute them.
    """
    configuration = check.configuration
    starting = Configuration(configuration.module, init=_predicate(configuration), replaces=configuration.replaces)
    with TemporaryDirectory(prefix="kraft-spec-start-") as temporary:
        folder = write_model(replace(check, configuration=starting, mutants=()), Path(temporary) / "model")
        texts = _in_a_process("goals", folder, configuration.module, check.name)
    return tuple(texts)


def path_length(goal: Goal) -> int | None:
    """Search a path to a start, and return its length; None if there is no restricted path.

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
    """Run `main` in a separate process, because TLC keeps static state, and return its output."""
    try:
        return json.loads(run_child("kraft_dev.starts", task, str(folder), module, configuration))
    except ChildError as error:
        raise ModelCheckError(f"{configuration}: no start, or no end: {error}") from error


def main(task: str, folder: str, module: str, configuration: str) -> None:
    """Print the initial states of a configuration, or the length of the path to its goal, as JSON."""
    # Imported late: only this process runs Java in itself.
    from kraft_spec.tlc import jvm
    from kraft_spec.tlc.specification import Specification

    jvm.start(brief=True)
    specification = Specification(Path(folder), module, configuration)
    print(json.dumps(_starts(specification) if task == "goals" else _way(specification)))


def _starts(specification: "Specification") -> list[Goal]:
    states = specification.initial_states()
    values = [{name: str(specification.lookup(state, name).toString()) for name in _VARIABLES} for state in states]
    return [json.loads(text) for text in dict.fromkeys(json.dumps(state_texts) for state_texts in values)]


def _way(specification: "Specification") -> int | None:
    (first,) = specification.initial_states()
    goal = codec().decode(specification.evaluate("TheGoal", first))
    assert isinstance(goal, Mapping)

    def rest(state: JavaObject) -> int:
        return sum(_difference(specification.decoded(state, name), goal[name]) for name in ("replicas", "history"))

    fingerprints = {specification.fingerprint(first)}
    numbers = count()
    waiting = [(rest(first), next(numbers), 0, first)]
    while waiting:
        _, _, steps, state = heapq.heappop(waiting)
        if specification.holds("There", state):
            return steps
        for action in specification.actions.values():
            for after in specification.successors(action, state):
                if (fingerprint := specification.fingerprint(after)) not in fingerprints:
                    fingerprints.add(fingerprint)
                    if specification.holds("OnTheWay", after):
                        heapq.heappush(waiting, (rest(after), next(numbers), steps + 1, after))
        if len(fingerprints) > _MOST_STATES:
            raise ModelCheckError(f"gave up after {_MOST_STATES} states")
    return None


def _difference(value: TlaValue, other: TlaValue) -> int:
    """Return an estimate of the number of steps between two values."""
    if value == other:
        return 0
    if isinstance(value, int) and isinstance(other, int):
        return abs(value - other)
    if isinstance(value, frozenset) and isinstance(other, frozenset):
        return len(value ^ other)
    if isinstance(value, tuple) and isinstance(other, tuple):
        return sum(map(_difference, value, other)) + 2 * abs(len(value) - len(other))
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        names = (value.keys() | other.keys()) - _NOT_COUNTED
        return sum(_difference(value[name], other[name]) if name in value and name in other else 1 for name in names)
    return 1


if __name__ == "__main__":
    main(*sys.argv[1:])
