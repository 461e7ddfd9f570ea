"""Parsing of a specification by TLC, and TLC's errors as Python exceptions with its messages."""

from pathlib import Path

import jpype

from kraft_spec.tlc import jvm
from kraft_spec.tlc.jar import TlcBridgeError
from kraft_spec.tlc.jvm import JavaObject

_POSITIONS_SHOWN = 3
"""Number of nested expressions that an error lists: the innermost are the most useful."""


class SpecificationError(TlcBridgeError):
    """TLC cannot parse the specification, or cannot evaluate an expression; the message is TLC's."""


def parsed_tool(directory: Path, module: str, configuration: str) -> JavaObject:
    """Return TLC's tool for a specification; an error includes TLC's output, as the exception may lack the line."""
    resolver = jpype.JClass("util.SimpleFilenameToStream")(str(directory))
    with jvm.temporary_folder(), jvm.captured_output() as output:
        try:
            return jpype.JClass("tlc2.tool.impl.FastTool")(str(directory), module, configuration, resolver)
        except jpype.JException as cause:
            printed = "\n".join(
                line
                for line in output.text().splitlines()
                if line.strip() and not line.startswith(("Parsing file ", "Semantic processing ", "Starting..."))
            )
            message = str(cause.getMessage() or cause)
            detail = f"{message}\n{printed}".strip()
            raise SpecificationError(f"TLC refuses {module} with {configuration}.cfg: {detail}") from cause


def evaluation_error(subject: str, cause: JavaObject, positions: str = "") -> SpecificationError:
    """Return the error for a Java exception during TLC's evaluation of `subject`.

    Args:
        subject: The evaluated part.
        cause: The exception.
        positions: TLC's list of nested expressions, outermost first; the innermost are kept.
    """
    while type(cause).__name__.endswith("InvocationTargetException"):
        cause = cause.getTargetException()
    if type(cause).__name__.endswith("StackOverflowError"):
        return SpecificationError(f"{subject}: TLC's stack overflows; is a recursion endless?")
    innermost = [line.split(". ", 1)[-1] for line in positions.splitlines() if line.strip()][-_POSITIONS_SHOWN:]
    where = "".join(f"\n  at {position}" for position in reversed(innermost))
    return SpecificationError(f"{subject}: {str(cause.getMessage() or cause).strip()}{where}")
