"""Adapter of a mutant of the reference, with kraft-adapter/1: `python -m kraft_dev.mutants.mutant_adapter`.

It is the reference's own adapter in a process that imports an edited copy of `kraft_reference`.
"""

import os
import sys

from kraft_spec.edits import imported_from

NOT_THE_MUTANT = "kraft_reference does not come from the edited copy"
"""Message on standard error before the adapter exits, because it would show the unmodified reference."""


def main() -> None:
    """Serve the edited copy."""
    # Imported late, because a mutant may fail on import.
    from kraft_conformance.adapters import reference

    if not imported_from("kraft_reference", os.environ):
        sys.exit(NOT_THE_MUTANT)
    reference.serve(reference.ReferenceAdapter().answer, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
