"""The counterexamples of the mutants, as TLC found them: recorded, one file each, for the pages of the rules."""

from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from kraft_mutants.catalogue import MutantError, model_edits
from kraft_mutants.mutant import Mutant
from kraft_spec.counterexamples import Counterexample, in_words, text_of
from kraft_spec.edits import edited_texts, package_folder
from kraft_spec.models import actions_of_next, next_actions
from kraft_spec.tlc.model_report import ModelCheckReport
from kraft_traces.streams import atomic_file

FOLDER = files("kraft_dev.mutants") / "counterexamples"
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


def record_counterexample(name: str, text: str) -> None:
    """Write the counterexample of a mutant to its file.

    Raises:
        OSError: It cannot be written.
    """
    with atomic_file(Path(str(FOLDER / f"{name}.json"))) as output:
        output.write(text.encode())


def recorded_text(counterexample: Counterexample) -> str:
    """A counterexample as its file has it: the same for the same counterexample."""
    return msgspec.json.format(msgspec.json.encode(counterexample, order="sorted"), indent=1).decode() + "\n"


def shown(text: str) -> str:
    """The steps of a counterexample in words, given the text of its file."""
    return text_of(msgspec.json.decode(text, type=Counterexample))


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
            f"no counterexample of {name} is recorded: python -m kraft_dev mutants {name} --tool evidence --record"
        ) from error
    except msgspec.DecodeError as error:
        raise MutantError(f"counterexamples/{name}.json: {error}") from error
