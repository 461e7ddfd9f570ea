"""Reductions of the model checks lose no state that an invariant could distinguish from a kept one."""

from pathlib import Path
from tempfile import TemporaryDirectory

import jpype
import pytest
from tests.spec.own_process import in_own_process

from kraft_spec.models import find_check, write_model
from kraft_spec.tlc import jvm
from kraft_spec.tlc.specification import Specification


def visible_states(name: str) -> frozenset[int]:
    """Return the value of the module's `Visible` for each state that a check reaches."""
    check = find_check(name)
    jvm.start()
    with TemporaryDirectory() as temporary:
        folder = write_model(check, Path(temporary) / "model")
        specification = Specification(folder, check.configuration.module, name)
        tool, step = specification.tool, specification.tool.getNextStateSpec()
        start = jpype.JClass("tlc2.util.FP64").New()
        left = [state for state in specification.initial_states() if tool.isInModel(state)]
        fingerprints = {specification.fingerprint(state) for state in left}
        visible = set[int]()
        while left:
            state = left.pop()
            visible.add(int(specification.evaluate("Visible", state).fingerPrint(start)))
            successors = tool.getNextStates(step, state)
            for index in range(successors.size()):
                after = successors.elementAt(index)
                if tool.isInModel(after) and (fingerprint := specification.fingerprint(after)) not in fingerprints:
                    fingerprints.add(fingerprint)
                    left.append(after)
        return frozenset(visible)


@pytest.mark.nightly  # the whole slices have some ten thousand states, which TLC interprets here
@pytest.mark.parametrize("name", ["combined-small", "replication-small"])
def test_with_and_without_reductions_the_same_is_reached(name: str) -> None:
    reduced, whole = (in_own_process(visible_states, check) for check in (name, f"{name}-whole"))
    assert len(reduced) > 100
    assert reduced == whole
