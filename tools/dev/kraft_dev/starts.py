"""The slices that start in the middle: is there a way of the protocol from the first start to theirs?

TLC searches for it along the narrow way of `MCStarts.tla`. A rule that a slice leaves out, or an operator of the
protocol that it replaces, is in force on the way.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kraft_spec.fingerprint import MODEL_MODULES
from kraft_spec.models import CHECKS, Configuration, ModelCheck, model_directory, write_model
from kraft_spec.tlc.model_check import ModelCheckError, ModelCheckOptions, check_model
from kraft_spec.tlc.model_report import ModelCheckReport

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
    },
    constraint="OnTheWay",
    invariants=("NeverThere",),
)
_LAST_WORDS = 2000


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
        folder = write_model(replace(check, configuration=starting, without=()), Path(temporary) / "model")
        # A process of its own, because TLC keeps static state.
        command = [sys.executable, "-m", __name__, str(folder), configuration.module, check.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ModelCheckError(f"{check.name}: no start: {done.stderr.strip()[-_LAST_WORDS:]}")
    return tuple(json.loads(done.stdout))


def reach(goal: Goal, time_limit_seconds: float = 600) -> ModelCheckReport:
    """Search a way to a start: there is one if NeverThere is found violated.

    Raises:
        ModelCheckError, JarMissing, JarMismatch, JavaMissing: TLC cannot be run.
    """
    fields = ", ".join(f"{name} |-> {goal[name]}" for name in _VARIABLES)
    module = (f"---- MODULE {_ROOT} ----", f"EXTENDS {_WAY.module}", f"TheGoal == [{fields}]", "====")
    with TemporaryDirectory(prefix="kraft-spec-start-") as temporary:
        folder = shutil.copytree(model_directory(), Path(temporary) / "model")
        (folder / f"{_ROOT}.tla").write_text("\n".join(module), encoding="utf-8")
        (folder / f"{_ROOT}.cfg").write_text(_WAY.text, encoding="utf-8")
        options = ModelCheckOptions(check_deadlock=False, brief=True, time_limit_seconds=time_limit_seconds)
        return check_model(folder, _ROOT, options=options)


def main(folder: str, module: str, configuration: str) -> None:
    """Print the initial states of a configuration as JSON."""
    # Late: only this process starts Java in itself.
    from kraft_spec.tlc import jvm
    from kraft_spec.tlc.specification import Specification

    jvm.start(brief=True)
    specification = Specification(Path(folder), module, configuration)
    states = specification.initial_states()
    found = [{name: str(specification.lookup(state, name).toString()) for name in _VARIABLES} for state in states]
    print(json.dumps([json.loads(text) for text in dict.fromkeys(json.dumps(one) for one in found)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
