"""TLC's counterexamples of the mutants, recorded in one file each for the pages of the rules."""

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


def counterexample_of(mutant: Mutant, report: ModelCheckReport) -> Counterexample:
    """Return TLC's counterexample in the broken model, in words.

    Raises:
        EditError: An edit does not fit the model.
        ValueTextError: A state is not printed as TLC prints values.
    """
    module = package_folder("kraft_spec") / "tla" / "KRaft.tla"
    # TLC names the line of an action in the mutant's module.
    broken = edited_texts(model_edits(mutant)).get(module)
    return in_words(report, next_actions() if broken is None else actions_of_next(broken))


def record_counterexample(name: str, text: str) -> None:
    """Write the counterexample of a mutant to its file.

    Raises:
        OSError: It cannot be written.
    """
    with atomic_file(Path(str(FOLDER / f"{name}.json"))) as output:
        output.write(text.encode())


def recorded_text(counterexample: Counterexample) -> str:
    """Return the file contents for a counterexample; deterministic."""
    return msgspec.json.format(msgspec.json.encode(counterexample, order="sorted"), indent=1).decode() + "\n"


def steps_in_words(text: str) -> str:
    """Return the steps of a counterexample in words, from the text of its file."""
    return text_of(msgspec.json.decode(text, type=Counterexample))


@cache
def recorded_counterexample(name: str) -> Counterexample:
    """Return the recorded counterexample of a mutant.

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
