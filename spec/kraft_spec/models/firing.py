"""Search for actions that can fire within the bounds of a check: breadth first, until each expected action has fired.

TLC's own coverage builds a tree with a node for each use of an operator. For a check of some thousand states this costs
several times as much as the check itself, whereas a first step of each action is found early.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from kraft_spec.models.check import ModelCheck
from kraft_spec.tlc.model_check import ModelCheckError

_LAST_WORDS = 2000


def firing_actions(check: ModelCheck, wanted: Iterable[str], disjuncts: Mapping[int, str], folder: Path) -> set[str]:
    """Return the expected actions that fire within the check's bounds.

    Args:
        check: The check.
        wanted: Names of actions of Next.
        disjuncts: Line of each disjunct of Next in KRaft.tla, and its action.
        folder: Folder of the modules and the configuration: see `write_model`.

    Raises:
        ModelCheckError: The search failed; the message ends with its last output.
    """
    question = {
        "folder": str(folder),
        "module": check.configuration.module,
        "configuration": check.name,
        "wanted": sorted(wanted),
        "disjuncts": sorted(disjuncts.items()),
    }
    # In a subprocess, because TLC keeps static state.
    command = [sys.executable, "-c", "from kraft_spec.models.firing import main; main()"]
    done = subprocess.run(command, input=json.dumps(question), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ModelCheckError(f"{check.name}: cannot tell which actions fire: {done.stderr.strip()[-_LAST_WORDS:]}")
    return set(json.loads(done.stdout))


def search(folder: Path, module: str, configuration: str, wanted: set[str], disjuncts: Mapping[int, str]) -> set[str]:
    """Search as `firing_actions`, in this process.

    Raises:
        SpecificationError: TLC cannot parse or evaluate the model.
        JvmError, JarMissing, JarMismatch, JavaMissing: TLC cannot be used.
    """
    # Imported late: only the process that searches starts Java in itself.
    from kraft_spec.tlc import jvm
    from kraft_spec.tlc.specification import Specification

    jvm.start(brief=True)
    specification = Specification(folder, module, configuration)
    tool = specification.tool
    actions = []
    for instance in tool.getActions():
        place = instance.pred.getLocation()
        of_next = disjuncts.get(int(place.beginLine())) if str(place.source()) == "KRaft" else None
        actions.append((of_next or str(instance.getName()), instance))
    missing = set(wanted)
    level = [state for state in specification.initial_states() if tool.isInModel(state)]
    fingerprints = {specification.fingerprint(state) for state in level}
    while level and missing:
        following = []
        for state in level:
            for name, instance in actions:
                successors = tool.getNextStates(instance, state)
                for index in range(successors.size()):
                    successor = successors.elementAt(index)
                    if not tool.isInActions(state, successor):
                        continue
                    missing.discard(name)
                    if not tool.isInModel(successor):
                        continue
                    fingerprint = specification.fingerprint(successor)
                    if fingerprint not in fingerprints:
                        fingerprints.add(fingerprint)
                        following.append(successor)
            if not missing:
                break
        level = following
    return wanted - missing


def main() -> None:
    """Read a search from standard input and print the actions that fired, both as JSON."""
    question = json.load(sys.stdin)
    fired = search(
        Path(question["folder"]),
        question["module"],
        question["configuration"],
        set(question["wanted"]),
        dict(question["disjuncts"]),
    )
    print(json.dumps(sorted(fired)))
