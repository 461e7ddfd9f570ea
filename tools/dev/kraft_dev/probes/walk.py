"""What the model reaches: random walks through it, by TLC in this process.

TLC keeps one specification in static fields, so a probe of the model has a process of its own:
`python -m kraft_dev.probes.walk SEED STEPS`.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from random import Random
from shutil import copy, copytree
from typing import Any

from kraft_dev.child import run_child
from kraft_dev.probes.kinds import name_of
from kraft_dev.probes.rows import Brief, rows_taken
from kraft_dev.probes.tally import Tally
from kraft_reference.messages import Error
from kraft_reference.roles import Role, Transition
from kraft_spec.models.running import model_directory, next_actions
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.specification import Specification
from kraft_spec.tlc.values import codec

SEED = 1
STEPS = 12_000
"""Of all walks together."""
WALK_LENGTH = 40
"""After so many steps a walk begins anew, in the next initial state."""

MODULE = "Probes"
_WEIGHTS = {
    **dict.fromkeys(("Poll", "PollFetch", "Restart", "HealLink", "AdvanceReassignment"), 30),
    **dict.fromkeys(("ElectionTimeout", "FetchTimeout", "AppendVoters", "TakeSnapshot", "VoterChangeTimeout"), 3),
    **dict.fromkeys(("CheckQuorumTimeout", "BeginQuorumEpochTimeout", "Shutdown", "RequestTimeout"), 2),
    **dict.fromkeys(("Crash", "ReplaceDisk", "DropMessage", "CutLink", "UpdateFeatures"), 1),
    "AlterPartitionReassignments": 1,
}
_WEIGHT = 12
"""Of the rest: so that walks get further than elections that nobody wins."""
_CHANGING = 4
"""Walks that begin where voters change, for each that begins elsewhere: a change takes many steps."""
_CALM_CHANCE = 0.85
"""How often a step in which the replica dies, or a message is doubled, is put back for another."""
_FAULTS = {
    "Crash": "crash_interval_ms",
    "ReplaceDisk": "replace_disk_chance",
    "DropMessage": "drop_chance",
    "CutLink": "cut_interval_ms",
}
"""Actions that are a fault, and the name of it in `Faults`."""
"""The effects by their names in the model."""
_REFUSALS_EVERY = 50
"""Refusals are looked for in every so manieth state, because TLC searches for successors to find them."""


def probe_model(steps: int = STEPS, seed: int = SEED) -> Tally:
    """Count what random walks of so many steps reach, in a process of its own.

    Raises:
        ChildError: The process failed, or a step is not one of the transition table; the message is its last words.
    """
    return Tally(json.loads(run_child("kraft_dev.probes.walk", str(seed), str(steps))))


@contextmanager
def probes_model() -> Iterator[Path]:
    """Yield a folder with the model and Probes.tla, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="kraft-spec-probes-") as temporary:
        folder = Path(temporary) / "tla"
        copytree(model_directory(), folder)
        for name in (f"{MODULE}.tla", f"{MODULE}.cfg"):
            copy(str(files("kraft_dev.probes") / name), folder)
        yield folder


@dataclass(slots=True)
class Walk:
    """Random walks through one specification.

    Attributes:
        specification: That of Probes.tla.
        chance: Chooses every step.
        tally: What was reached.
    """

    specification: Specification
    chance: Random
    tally: Tally = field(default_factory=Tally)
    _known: dict[str, Any] = field(default_factory=dict)

    def go(self, steps: int) -> None:
        """Take so many steps in all.

        Raises:
            UnexplainedStepError: A step is not one of the transition table.
        """
        starts: list[JavaObject] = []
        actions = self._actions()
        for start in self.specification.initial_states():
            self._first_steps(start, dict(actions))
            starts += [start] * (_CHANGING if self._value("VotersChangeHere", start) else 1)
        self.chance.shuffle(starts)
        taken = walks = 0
        while taken < steps:
            state = starts[walks % len(starts)]
            walks += 1
            for _ in range(WALK_LENGTH):
                following = self._step(state, actions)
                if following is None:
                    break
                state = following
                taken += 1
                if taken % _REFUSALS_EVERY == 0:
                    self.tally.add_all("refusal", self._value("Refused", state))

    def _first_steps(self, start: JavaObject, actions: dict[str, JavaObject]) -> None:
        """Count all that can happen at once in an initial state: some are there for just that."""
        for name, instance in actions.items():
            found = self.specification.tool.getNextStates(instance, start)
            for index in range(found.size()):
                following = found.elementAt(index)
                self._count(name, self._label("label", following), start, following)

    def _actions(self) -> list[tuple[str, JavaObject]]:
        """The disjuncts of Next, the frequent ones several times."""
        names = next_actions(self.specification.directory)
        weighted: list[tuple[str, JavaObject]] = []
        for instance in self.specification.tool.getActions():
            name = names[int(instance.pred.getLocation().beginLine())]
            weighted += [(name, instance)] * _WEIGHTS.get(name, _WEIGHT)
        return weighted

    def _step(self, state: JavaObject, actions: list[tuple[str, JavaObject]]) -> JavaObject | None:
        """One random step within the bounds; None where there is none."""
        tried: set[str] = set()
        for name, instance in self.chance.sample(actions, len(actions)):
            if name in tried:
                continue
            tried.add(name)
            found = self.specification.tool.getNextStates(instance, state)
            for _ in range(found.size()):
                following = found.elementAt(self.chance.randrange(found.size()))
                label = self._label("label", following)
                is_calm = label is None or (
                    label["consumed"] == bool(self._label("arrived", following)) and not label["died"]
                )
                if is_calm or self.chance.random() > _CALM_CHANCE:
                    if self.specification.holds("Bounds", following):
                        self._count(name, label, state, following)
                        return following
                    break
        return None

    def _value(self, name: str, state: JavaObject, following: JavaObject | None = None) -> Any:
        return self._decoded(self.specification.evaluate(name, state, following))

    def _label(self, variable: str, state: JavaObject) -> Any:
        """The value of a variable that a step may leave open; None if it does."""
        value = self.specification.lookup(state, variable)
        return None if value is None else self._decoded(value)

    def _decoded(self, value: JavaObject) -> Any:
        """The same few values come back all the time, and one text costs less than a walk through a Java value."""
        text = str(value.toString())
        if text not in self._known:
            self._known[text] = codec().decode(value)
        return self._known[text]

    def _count(self, name: str, label: Any, state: JavaObject, following: JavaObject) -> None:
        tally = self.tally
        tally.add("event", name)
        if name in _FAULTS:
            tally.add("fault", _FAULTS[name])
        message, error, pre_vote = self._label("arrived", following) or ("", "", False)
        if message:
            tally.add("message", message)
        if name == "AnswerUnsupportedVersion":
            answers = self._value("OnTheirWay", following) - self._value("OnTheirWay", state)
            tally.add_all("error", (answer for _, answer in answers if answer))
        if label is not None:
            if label["reason"]:
                tally.add("refusal", label["reason"])
            tally.add_all("error", (answer for _, answer in label["sent"] if answer))
            tally.add_all("effect", label["done"])
            tally.add_all("effect", {"Answer" if sent == "Reply" else "Send" for sent, _ in label["sent"]})
            if label["moved"]:
                tally.add("fault", "new_endpoint_chance")
            if label["died"] and label["changing"]:
                tally.add("fault", "crash_in_change_chance")
            if label["died"] and name != "Crash":
                tally.add("fault", _FAULTS["Crash"])
            if message and not label["consumed"]:
                # A message that arrives and stays is one of several copies.
                tally.add("event", "DuplicateMessage")
                tally.add("fault", "duplicate_chance")
        gave_up = error == Error.UNSUPPORTED_VERSION or (message == "VoteResponse" and not pre_vote)
        for before, after in self._value("Changed", state, following):
            was, became = (Brief(Role(one[0]), *one[1:]) for one in (before, after))
            tally.add_all("transition", (name_of(row) for row in rows_of_step(name, was, became, gave_up)))


def rows_of_step(name: str, was: Brief, became: Brief, gave_up: bool) -> tuple[Transition, ...]:
    """The rows that a step of this action takes; `gave_up` says that an answer showed a voter without Pre-Vote.

    Raises:
        UnexplainedStepError: There is no way through the table.
    """
    if became.role is Role.STOPPED and was.role is not Role.STOPPED:
        # What else the step was about to do did not all happen.
        return rows_taken("Crash", was, was._replace(role=Role.STOPPED), pre_vote_unsupported=False)
    if name in ("ElectionTimeout", "FetchTimeout"):
        # Within one step a sole voter wins, which is then Leader; old software does not ask.
        gave_up = became.role is Role.CANDIDATE
    return rows_taken(name, was, became, pre_vote_unsupported=gave_up)


def main() -> None:
    """Walk, and print the counts as JSON."""
    seed, steps = int(sys.argv[1]), int(sys.argv[2])
    with probes_model() as folder:
        walk = Walk(Specification(folder, MODULE), Random(seed))
        walk.go(steps)
    print(json.dumps(walk.tally.as_dict()))


if __name__ == "__main__":
    main()
