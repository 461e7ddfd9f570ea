"""A broken reference behind kraft-adapter/1: `python -m kraft_dev.matrix.mutant_adapter`.

It is the reference's own adapter in a process that imports an edited copy of `kraft_reference`.
"""

import argparse
import sys
from pathlib import Path

NOT_THE_MUTANT = "kraft_reference does not come from the edited copy"
"""What it says on standard error before it gives up: what it would show is the unbroken reference."""


def main() -> None:
    """Serve the copy."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--copy", type=Path, required=True, help="the folder with the edited copy")
    given = parser.parse_args()
    # Late, because a mutant may fail at this.
    from kraft_conformance.adapters import reference

    origin = sys.modules["kraft_reference"].__file__
    if origin is None or not Path(origin).is_relative_to(given.copy):
        sys.exit(NOT_THE_MUTANT)

    reference.serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
