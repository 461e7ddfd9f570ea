"""The counterexamples of the mutants, as TLC found them: recorded, one file each, for the pages of the rules."""

from functools import cache
from importlib.resources import files

import msgspec

from kraft_mutants.catalogue import MutantError, model_edits
from kraft_mutants.mutant import Mutant
from kraft_spec.counterexamples import Counterexample, in_words
from kraft_spec.edits import edited_texts, package_folder
from kraft_spec.models import actions_of_next, next_actions
from kraft_spec.tlc.model_report import ModelCheckReport

FOLDER = files("kraft_dev.load_bearing") / "counterexamples"
"""One file `NAME.json` for each mutant whose evidence is an exhaustive search."""


def counterexample_of(mutant: Mutant, found: ModelCheckReport) -> Counterexample:
    """What TLC found in the model that the mutant breaks, in words.

    Raises:
        EditError: An edit does not fit the model any more.
        ValueTextError: A state is not printed as TLC prints values.
    """
    module = package_folder("kraft_spec") / "tla" / "KRaft.tla"
    # TLC says on which line an action stands: of the module as the mutant has it.
    broken = edited_texts(model_edits(mutant)).get(module)
    return in_words(found, next_actions() if broken is None else actions_of_next(broken))


def recorded_bytes(counterexample: Counterexample) -> bytes:
    """A counterexample as its file has it: the same for the same counterexample."""
    return msgspec.json.format(msgspec.json.encode(counterexample, order="sorted"), indent=1) + b"\n"


@cache
def recorded_counterexample(name: str) -> Counterexample:
    """The recorded counterexample of a mutant, given its name.

    Raises:
        MutantError: There is none, or its file is malformed; the message names the file and the field.
    """
    file = FOLDER / f"{name}.json"
    try:
        return msgspec.json.decode(file.read_bytes(), type=Counterexample)
    except FileNotFoundError as error:
        raise MutantError(
            f"no counterexample of {name} is recorded: "
            f"python -m kraft_dev load-bearing {name} --record-counterexamples {FOLDER}"
        ) from error
    except msgspec.DecodeError as error:
        raise MutantError(f"counterexamples/{name}.json: {error}") from error
